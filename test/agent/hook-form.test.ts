import { expect, test } from 'vitest'
import { type Accounts, chooseForm } from '#agent/hook-form.ts'

const SYSTEM = [
  'root:x:0:0:root:/root:/bin/bash',
  'daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin',
  'sync:x:4:65534:sync:/bin:/bin/sync',
  'postgres:x:103:110:PostgreSQL,,,:/var/lib/postgresql:/bin/bash',
  'nobody:x:65534:65534:nobody:/nonexistent:/bin/sh',
]
const ADA = 'ada:x:1000:1000:Ada,,,:/home/ada:/bin/bash'
const BOB = 'bob:x:1001:1001::/home/bob:/usr/bin/zsh'
const machine = (lines: string[], more: Partial<Accounts> = {}) =>
  chooseForm({ platform: 'linux', uid: 1000, passwd: [...SYSTEM, ...lines, ''].join('\n'), ...more })

test('one person and the system’s own accounts: http', () => {
  expect(machine([ADA])).toEqual({ form: 'http', why: 'you are the only user who can log in on this machine' })
})

test('several people: command, and who the others are', () => {
  expect(machine([ADA, BOB])).toEqual({
    form: 'command',
    why: 'others can log in on this machine too (bob)',
  })
  const many = Array.from({ length: 5 }, (_, n) => `u${n}:x:${2000 + n}:100::/home/u${n}:/bin/sh`)
  expect(machine([ADA, ...many]).why).toContain('(u0, u1, u2 and 2 more)')
})

test('root counts as nobody for others, and is alone where nobody else can log in', () => {
  expect(machine([], { uid: 0 }).form).toBe('http')
  expect(machine([ADA], { uid: 0 })).toMatchObject({ form: 'command', why: expect.stringContaining('ada') })
})

test.each([
  ['/usr/sbin/nologin', 'http'],
  ['/bin/false', 'http'],
  ['/usr/bin/git-shell', 'command'],
  ['', 'command'],
])('another account whose shell is "%s" makes it %s', (shell, form) => {
  expect(machine([ADA, `other:x:1001:1001::/srv:${shell}`]).form).toBe(form)
})

test('a user that no file knows, as in a container, is still the only one', () => {
  expect(machine([], { uid: 123_456 }).form).toBe('http')
})

test('lines that are none say nothing', () => {
  expect(machine([ADA, '', '# comment', 'broken', 'x:y:z', 'a:b:12x:::/h:/bin/sh']).form).toBe('http')
})

test.each([
  ['passwd: files systemd', 'http'],
  ['passwd:\tcompat', 'http'],
  ['# passwd: ldap\npasswd: files # sss', 'http'],
  ['group: sss', 'http'],
  ['passwd: files sss', 'command'],
  ['passwd: files [NOTFOUND=return] ldap', 'command'],
  ['passwd: files winbind', 'command'],
])('nsswitch.conf with "%s": %s', (nsswitch, form) => {
  expect(machine([ADA], { nsswitch }).form).toBe(form)
})

test('users taken in from NIS by a + line may be anybody', () => {
  expect(machine([ADA, '+::::::'])).toMatchObject({ form: 'command', why: expect.stringContaining('NIS') })
})

test('accounts that cannot be read may be several', () => {
  expect(machine([], { passwd: undefined }).form).toBe('command')
})

test('macOS: people of the directory service’s list, services not', () => {
  const list = (...people: string[]) =>
    ['_mbsetupuser            248', 'daemon  1', 'nobody   -2', '_oahd  441', ...people, ''].join('\n')
  const mac = (dscl: string | undefined) => chooseForm({ platform: 'darwin', uid: 501, passwd: SYSTEM[0], dscl }).form
  expect(mac(list('ada      501'))).toBe('http')
  expect(mac(list('ada      501', 'bob   502'))).toBe('command')
  expect(mac(undefined)).toBe('command')
  expect(mac('')).toBe('command')
})

test('a system without users by number has the http form only', () => {
  expect(chooseForm({ platform: 'win32', uid: undefined }).form).toBe('http')
})
