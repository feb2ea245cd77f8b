import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isWholeUserCode, spellUserCode } from '#app/(public)/device/user-code.ts'
import { mailParts, ownPath } from '#app/(public)/mailbox/mail-parts.ts'
import { refusalWords } from '#app/(public)/refusal.ts'
import { organisationOf, pathWith, readAsked } from '#app/asked.ts'

const unknown = refusalWords('a-code-that-nobody-made')

test('every refusal that a sign-in door names has words of its own', () => {
  const doors = ['server/features/sign-in.ts', 'server/features/single-sign-on.ts', 'server/auth/oidc.ts']
  const named = doors.flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/^export type \w*Refusal =([\s\S]*?)\n\n/gm)].flatMap(([, union]) =>
      [...union!.matchAll(/'(\w+)'/g)].map(([, code]) => code!),
    ),
  )
  const whys = [
    'server/api/sign-in-doors.ts',
    'server/api/oidc-doors.ts',
    'server/features/session.ts',
    'server/features/one-time-sign-in.ts',
    'server/features/rate.ts',
    'server/auth/origin.ts',
  ].flatMap(file => [...readFileSync(file, 'utf8').matchAll(/\bwhy: '(\w+)'/g)].map(([, code]) => code!))
  expect(new Set([...named, ...whys]).size).toBeGreaterThan(15)
  expect([...named, ...whys].filter(code => refusalWords(code) === unknown)).toEqual([])
})

test('a code that nobody knows is told as a failure of ours, and none is told as nothing', () => {
  expect(unknown?.title).toContain('on our side')
  expect(refusalWords('constructor')).toBe(unknown)
  expect(refusalWords(undefined)).toBeUndefined()
})

test('what is typed as a user code is spelled as the command shows it', () => {
  expect(spellUserCode('bcdf ghjk')).toBe('BCDF-GHJK')
  expect(spellUserCode('BCDF-GHJKLM')).toBe('BCDF-GHJK')
  expect(spellUserCode('bc1')).toBe('BC')
  expect([isWholeUserCode('BCDF-GHJK'), isWholeUserCode('BCDF-GHJ')]).toEqual([true, false])
})

test('a mail is cut into words, codes and addresses, and nothing of it is lost', () => {
  const text = 'Type this:\n\n    123456\n\nOr open:\nhttp://localhost:3000/link?a=x&next=%2Facme\n\nNot 654321 here.\n'
  const parts = mailParts(text)
  expect(parts.map(part => part.text).join('')).toBe(text)
  expect(parts.filter(part => part.kind !== 'words')).toEqual([
    { kind: 'code', text: '    123456' },
    { kind: 'link', text: 'http://localhost:3000/link?a=x&next=%2Facme' },
  ])
})

test('only addresses of this control plane become links', () => {
  expect(ownPath('http://localhost:3000/link?a=x', 'http://localhost:3000')).toBe('/link?a=x')
  expect(ownPath('http://localhost:3001/link?a=x', 'http://localhost:3000')).toBeUndefined()
  expect(ownPath('https://evil.example/link', 'http://localhost:3000')).toBeUndefined()
  expect(ownPath('http://', 'http://localhost:3000')).toBeUndefined()
})

test('the organisation of a path is its first part, except on pages of no organisation', () => {
  expect(organisationOf('/acme/approvals/bnd-1')).toBe('acme')
  expect(organisationOf('/acme?x=1')).toBe('acme')
  for (const path of ['/device', '/sign-in?org=acme', '/', '//evil.example', undefined])
    expect(organisationOf(path)).toBeUndefined()
})

test('a name that stands twice in an address counts once, and an empty one not at all', async () => {
  const asked = await readAsked(Promise.resolve({ a: ['1', '2'], b: '', c: '3' }), 'a', 'b', 'c', 'd')
  expect(asked).toEqual({ a: '1', b: undefined, c: '3', d: undefined })
  expect(pathWith('/sign-in', { next: '/acme?x=1', org: undefined })).toBe('/sign-in?next=%2Facme%3Fx%3D1')
  expect(pathWith('/sign-in', {})).toBe('/sign-in')
})
