import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claude } from '#agent/clients/claude/claude.ts'
import { findStatusLine, planStatusLine, planStatusLineRemoval } from '#agent/clients/claude/statusline.ts'
import { installStatusLine, statusLineOf, uninstallStatusLine } from '#agent/clients/claude/statusline-file.ts'
import type { HookInstall } from '#agent/clients/hook-editor.ts'

const PROGRAM = { exe: '/usr/bin/node', script: '/home/dev/.holdpoint/bin/statusline.cjs' }
const OWN = '"/usr/bin/node" "/home/dev/.holdpoint/bin/statusline.cjs"'
const OTHER = `~/bin/line --colour 'é "quoted" $HOME' | head -n2`
const FOREIGN = `{
\t"model": "opus",   "unknown": [1,2 , 3],
\t"statusLine": { "type": "command",  "padding": 2, "command": ${JSON.stringify(OTHER)} },
\t"permissions": { "allow": ["Bash(git *)"] }
}
`
const HOOKS: HookInstall = {
  form: 'command',
  hookUrl: `http://127.0.0.1:7421${claude.hookPath}`,
  hookToken: 'hpk_token',
  hookCommand: { exe: '/usr/bin/node', args: ['/home/dev/.holdpoint/bin/hook.cjs'] },
  whenBroken: 'pass',
}

describe('the settings', () => {
  test('without a status line get ours, and give it back', () => {
    const { text } = planStatusLine('{ "model": "opus" }', PROGRAM)
    expect(JSON.parse(text)).toEqual({ model: 'opus', statusLine: { type: 'command', command: OWN } })
    expect(planStatusLineRemoval(text).text).toBe('{ "model": "opus" }')
  })

  test('with another one keep it within ours, as it was, and everything else byte for byte', () => {
    const { text, changes } = planStatusLine(FOREIGN, PROGRAM)
    expect(changes).toEqual(['put our status line around the one that is there'])
    const { command, padding } = JSON.parse(text).statusLine
    expect([command.startsWith(`${OWN} wrap `), padding]).toEqual([true, 2])
    expect(text.replace(JSON.stringify(command), JSON.stringify(OTHER))).toBe(FOREIGN)
    expect(findStatusLine(text)).toEqual({ isOurs: true, wrapped: OTHER, other: undefined })
    expect(planStatusLineRemoval(text).text).toBe(FOREIGN)
  })

  test('that have ours are left alone, and those of an older install are brought up to date around the same one', () => {
    const once = planStatusLine(FOREIGN, { ...PROGRAM, exe: '/opt/old "node' }).text
    expect(planStatusLine(once, { ...PROGRAM, exe: '/opt/old "node' }).changes).toEqual([])
    const again = planStatusLine(once, PROGRAM)
    expect(again.changes).toEqual(['brought our status line up to date'])
    expect(again.text).toBe(planStatusLine(FOREIGN, PROGRAM).text)
  })

  test.each([
    ['{ "statusLine": {"type": "command", }', 'unparsable', /line 1, column \d+/],
    ['{ "statusLine": "echo" }', 'wrong_shape', /form that runs a command/],
    ['{ "statusLine": { "type": "text", "command": "x" } }', 'wrong_shape', /form that runs a command/],
    ['[]', 'wrong_shape', /not an object/],
  ])('that cannot be edited safely are refused: %s', (text, code, words) => {
    expect(() => planStatusLine(text, PROGRAM)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(words) }),
    )
  })

  test('whose status line only looks like ours have another’s', () => {
    for (const command of [`${OWN}; rm -rf /`, `x ${OWN}`, '"a" "statusline.cjs"'])
      expect(findStatusLine(JSON.stringify({ statusLine: { type: 'command', command } })).isOurs).toBe(false)
  })
})

describe('on disk', () => {
  let folder: string
  let file: string
  const home = () => ({ homeDir: folder, env: {} })
  const install = (dryRun = false) => installStatusLine(home(), PROGRAM, { dryRun })
  const uninstall = () => uninstallStatusLine(home(), { dryRun: false })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'statusline-'))
    mkdirSync(join(folder, '.claude'))
    file = join(folder, '.claude', 'settings.json')
    writeFileSync(file, FOREIGN)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const text = () => readFileSync(file, 'utf8')

  test('a dry run writes nothing, an install twice changes nothing more, and uninstall gives the very bytes back', () => {
    expect(install(true).changes).toHaveLength(1)
    expect(text()).toBe(FOREIGN)
    install()
    const installed = text()
    expect(install().changes).toEqual([])
    expect(text()).toBe(installed)
    expect(statusLineOf(home())).toMatchObject({ file, isOurs: true, wrapped: OTHER })
    uninstall()
    expect(text()).toBe(FOREIGN)
    expect(readdirSync(join(folder, '.claude'))).toEqual(['settings.json'])
  })

  test('hooks and status line come and go in any order, each with its own way back', () => {
    claude.hooks.install(home(), HOOKS, { dryRun: false })
    const hooked = text()
    install()
    uninstall()
    expect(text()).toBe(hooked)
    install()
    claude.hooks.uninstall(home(), { dryRun: false })
    expect(statusLineOf(home())).toMatchObject({ isOurs: true, wrapped: OTHER })
    uninstall()
    expect(text()).toBe(FOREIGN)
  })

  test('what somebody has changed since stays, and the other status line comes back all the same', () => {
    install()
    writeFileSync(file, text().replace('"opus"', '"sonnet"'))
    uninstall()
    expect(text()).toBe(FOREIGN.replace('"opus"', '"sonnet"'))
  })

  test('where there was no file there is none again', () => {
    rmSync(file)
    install()
    expect(JSON.parse(text()).statusLine.command).toBe(OWN)
    uninstall()
    expect(readdirSync(join(folder, '.claude'))).toEqual([])
  })
})
