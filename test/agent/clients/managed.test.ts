import type { Stats } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { claudeManaged } from '#agent/clients/claude/managed.ts'
import { codexManaged } from '#agent/clients/codex/managed.ts'
import { copilotManaged } from '#agent/clients/copilot/managed.ts'
import { managedLevel, whoMayChange } from '#agent/clients/managed.ts'
import { MANAGED_PROGRAM } from '#agent/hook/home-place.ts'

const REQUEST = { exe: '/usr/bin/node', program: MANAGED_PROGRAM, whenBroken: 'pass' as const }
const whole = { whole: true, coversLoopback: true }
const USER = 1000

describe('the level managed', () => {
  const of = (over: Partial<Parameters<typeof managedLevel>[0]> = {}) =>
    managedLevel({ found: whole, isRoots: true, listener: { uid: 999, isInit: false }, developerUid: USER, ...over })

  test('wants all of it: root’s files, a listener of another user or the first process, and loopback kept from proxies', () => {
    expect(of()).toBe('managed')
    expect(of({ listener: { uid: USER, isInit: true } })).toBe('managed')
  })

  test.each([
    ['the daemon is the developer’s own', { listener: { uid: USER, isInit: false } }, 'managed-hook-user-daemon'],
    ['nobody knows who listens', { listener: { uid: undefined, isInit: false } }, 'managed-hook-user-daemon'],
    ['nobody knows whose home it is', { developerUid: undefined }, 'managed-hook-user-daemon'],
    ['the developer is root', { developerUid: 0 }, 'managed-hook-user-daemon'],
    ['a proxy may divert loopback', { found: { whole: true, coversLoopback: false } }, 'managed-hook-user-daemon'],
    ['others may write the file', { isRoots: false }, undefined],
    ['the hook is not whole', { found: { whole: false, coversLoopback: true } }, undefined],
  ])('is not told where %s', (_, over, level) => expect(of(over)).toBe(level))
})

describe('who may change a file', () => {
  const tree =
    (over: Record<string, Partial<{ uid: number; mode: number; kind: 'file' | 'folder' | 'link' }>> = {}) =>
    (path: string) => {
      const { uid = 0, mode = 0o755, kind = path === '/etc/x/file' ? 'file' : 'folder' } = over[path] ?? {}
      const is = (what: string) => () => kind === what
      return {
        uid,
        mode,
        isFile: is('file'),
        isDirectory: is('folder'),
        isSymbolicLink: is('link'),
      } as unknown as Stats
    }
  test('nobody where it and every folder above it are root’s alone', () =>
    expect(whoMayChange('/etc/x/file', tree())).toBeUndefined())
  test.each([
    [{ '/etc/x/file': { uid: USER } }, '/etc/x/file does not belong to root'],
    [{ '/etc/x/file': { mode: 0o664 } }, '/etc/x/file may be written by others than root'],
    [{ '/etc/x': { mode: 0o777 } }, '/etc/x may be written by others than root'],
    [{ '/etc': { uid: USER } }, '/etc does not belong to root'],
    [{ '/etc/x': { kind: 'link' as const } }, '/etc/x is a link'],
  ])('%j: %s', (over, why) => expect(whoMayChange('/etc/x/file', tree(over))).toBe(why))
})

describe.each([
  ['Claude Code', claudeManaged],
  ['Codex', codexManaged],
  ['Copilot CLI', copilotManaged],
])('%s', (_, editor) => {
  const { text } = editor.install(undefined, REQUEST, {})
  test.each(['pass', 'block'] as const)('is found whole as it was installed, for %s', whenBroken => {
    const installed = editor.install(undefined, { ...REQUEST, whenBroken }, {})
    expect(editor.find(installed.text)).toMatchObject({ whole: true, troubles: [] })
    expect(editor.find(installed.text)!.programs).toEqual(expect.arrayContaining(['/usr/bin/node', MANAGED_PROGRAM]))
  })
  test('installing again changes nothing, removing leaves nothing', () => {
    expect(editor.install(text, REQUEST, {})).toEqual({ text, changes: [] })
    expect(editor.remove(text).text).toBeUndefined()
  })
  test('is not found where there is none of ours, nor in what cannot be read', () => {
    expect(editor.find('')).toBeUndefined()
    expect(editor.find('{ broken = ')).toBeUndefined()
  })
})

test('a company’s own NO_PROXY stays in what Claude Code is given', () => {
  const { text } = claudeManaged.install(undefined, REQUEST, { NO_PROXY: '.corp.example' })
  expect(JSON.parse(text).env.NO_PROXY).toBe('.corp.example,127.0.0.1,localhost,::1')
  expect(claudeManaged.find(text)).toMatchObject({ coversLoopback: true })
})

test.each(['{"permissions":{}}', 'not json'])(
  'a file of Claude Code or Copilot CLI that is not ours is left alone: %s',
  before => {
    expect(() => claudeManaged.install(before, REQUEST, {})).toThrow('not ours')
    expect(() => copilotManaged.install(before, REQUEST, {})).toThrow('not ours')
    expect(claudeManaged.remove(before)).toEqual({ text: before, changes: [] })
  },
)

describe('Codex’s requirements of an administrator', () => {
  const OTHERS = '# ours\nallowed_approval_policies = ["never"]\n\n[features]\nhooks = true\n'
  test('stay as they are before our block, and alone once it is gone', () => {
    const { text } = codexManaged.install(OTHERS, REQUEST, {})
    expect(text.startsWith(OTHERS)).toBe(true)
    expect(text.match(/^\[features\]$/gm)).toHaveLength(1)
    expect(codexManaged.find(text)).toMatchObject({ whole: true })
    expect(codexManaged.remove(text)).toEqual({ text: OTHERS, changes: ['removed the hooks of every user'] })
  })
  test.each([
    ['[features]\nhooks = false\n', 'hooks = true does not stand'],
    ['[features]\nother = true\n', 'hooks = true does not stand'],
    ['[hooks]\nmanaged_dir = "/opt"\n', 'hooks of its own'],
    ['not = [toml', 'not valid TOML'],
  ])('that cannot be added to are refused, with what to add: %j', (before, why) => {
    expect(() => codexManaged.install(before, REQUEST, {})).toThrow(why)
    expect(() => codexManaged.install(before, REQUEST, {})).toThrow('[[hooks.PreToolUse]]')
  })
  test('without the pinned feature the hooks are told as what a flag switches off', () => {
    const { text } = codexManaged.install(undefined, REQUEST, {})
    const found = codexManaged.find(text.replace('[features]\nhooks = true\n', ''))
    expect(found).toMatchObject({ whole: false, troubles: [expect.stringContaining('--disable hooks')] })
  })
})
