import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claude } from '#agent/clients/claude/claude.ts'
import { addLoopback, planInstall, planUninstall } from '#agent/clients/claude/settings.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type { HookInstall } from '#agent/clients/hook-editor.ts'

const REQUEST: HookInstall = {
  form: 'http',
  hookUrl: `http://127.0.0.1:7421${claude.hookPath}`,
  hookToken: 'hpk_token',
  hookCommand: { exe: '/usr/bin/node', args: ['/home/dev/.holdpoint/bin/holdpoint-hook.mjs'] },
  whenBroken: 'pass',
}
const install = (text: string | undefined, more: Partial<HookInstall> = {}, env = {}) =>
  planInstall(text, { ...REQUEST, ...more }, env).text

const FOREIGN = `{
\t"model": "opus",   "unknown": [1,2 , 3],
\t"hooks": {
\t\t"PreToolUse": [
\t\t\t{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "audit.sh" } ] }
\t\t],
\t\t"PostToolUse": [ { "hooks": [ { "type": "command", "command": "format.sh" } ] } ]
\t},
\t"env": { "HTTP_PROXY": "http://proxy.corp:8080", "NO_PROXY": "corp.example, 10.0.0.0/8" },
\t"permissions": {
\t\t"allow": ["Bash(git *)"]
\t}
}
`

/** Both spellings are set, so that taking ours out again leaves nothing behind. */
const BOTH = FOREIGN.replace('"NO_PROXY"', '"no_proxy": "lower.example", "NO_PROXY"')

describe('what is installed', () => {
  test('a new file holds exactly these hooks', () => {
    expect(JSON.parse(install(undefined))).toEqual({
      hooks: {
        PreToolUse: [
          {
            matcher: '*',
            hooks: [
              {
                type: 'http',
                url: 'http://127.0.0.1:7421/hook/claude-code',
                timeout: 2,
                headers: { Authorization: 'Bearer hpk_token', 'X-Holdpoint-Entrypoint': '$CLAUDE_CODE_ENTRYPOINT' },
                allowedEnvVars: ['CLAUDE_CODE_ENTRYPOINT'],
              },
            ],
          },
        ],
        ...Object.fromEntries(
          ['SessionStart', 'UserPromptSubmit', 'Stop'].map(event => [
            event,
            [
              {
                hooks: [
                  {
                    type: 'command',
                    command: '/usr/bin/node',
                    args: ['/home/dev/.holdpoint/bin/holdpoint-hook.mjs', 'claude-code', event],
                    timeout: 5,
                  },
                ],
              },
            ],
          ]),
        ),
      },
      env: { NO_PROXY: '127.0.0.1,localhost,::1', no_proxy: '127.0.0.1,localhost,::1' },
    })
  })

  test('time-outs are seconds, never milliseconds', () => {
    const timeouts = [...install(undefined).matchAll(/"timeout": (\d+)/g)].map(m => Number(m[1]))
    expect(timeouts).toHaveLength(4)
    for (const timeout of timeouts) expect(timeout).toBeLessThanOrEqual(5)
  })

  test('onFailure stands there only when a broken hook shall block', () => {
    expect(install(undefined)).not.toContain('onFailure')
    expect(install(undefined, { whenBroken: 'block' }).match(/"onFailure": "block"/g)).toHaveLength(1)
  })

  test('an entry that could not be known again is never written', () => {
    expect(() => install(undefined, { hookUrl: 'http://127.0.0.1:1/other' })).toThrow(RangeError)
    expect(() => install(undefined, { hookUrl: `http://example.com${claude.hookPath}` })).toThrow(RangeError)
    expect(() => install(undefined, { hookCommand: { exe: '/usr/bin/node', args: ['/opt/x.mjs'] } })).toThrow(
      RangeError,
    )
  })
})

describe('the command form', () => {
  const command = (text: string | undefined, more: Partial<HookInstall> = {}) =>
    planInstall(text, { ...REQUEST, form: 'command', ...more })

  test('a new file holds the program for every event, no token and no NO_PROXY', () => {
    const parsed = JSON.parse(command(undefined).text)
    expect(parsed.hooks.PreToolUse).toEqual([
      {
        matcher: '*',
        hooks: [
          {
            type: 'command',
            command: '/usr/bin/node',
            args: ['/home/dev/.holdpoint/bin/holdpoint-hook.mjs', 'claude-code', 'PreToolUse'],
            timeout: 5,
          },
        ],
      },
    ])
    expect(Object.keys(parsed)).toEqual(['hooks'])
    expect(JSON.stringify(parsed)).not.toContain('hpk_token')
  })

  test('onFailure stands at the pause point alone', () => {
    const { text } = command(undefined, { whenBroken: 'block' })
    expect(text.match(/"onFailure": "block"/g)).toHaveLength(1)
    expect(JSON.parse(text).hooks.PreToolUse[0].hooks[0].onFailure).toBe('block')
  })

  test.each([undefined, '{"a":1}', BOTH])(
    'changing the form there and back leaves one hook of ours and no trace',
    start => {
      const http = install(start)
      const there = command(http)
      expect(there.changes[0]).toBe('changed the PreToolUse hook from the http form to command')
      expect(there.text).toBe(command(start).text)
      expect(there.text).not.toContain('hpk_token')
      expect(command(there.text)).toEqual({ text: there.text, changes: [] })
      const back = planInstall(there.text, REQUEST)
      expect(back.changes[0]).toBe('changed the PreToolUse hook from the command form to http')
      expect(JSON.parse(back.text)).toEqual(JSON.parse(http))
    },
  )

  test('a NO_PROXY of the user’s own stays through install and uninstall', () => {
    const own = '{"env":{"NO_PROXY":"127.0.0.1,localhost,::1"}}'
    const { text } = command(own)
    expect(JSON.parse(text).env).toEqual(JSON.parse(own).env)
    expect(JSON.parse(planUninstall(text).text)).toEqual(JSON.parse(own))
  })

  test('uninstall takes it out and keeps the rest', () => {
    expect(planUninstall(command(BOTH).text).text).toBe(BOTH)
  })
})

describe('other people’s settings', () => {
  test('keep every byte; only lines of ours are added', () => {
    const after = install(FOREIGN)
    const kept = after.split('\n')
    const unchanged = FOREIGN.split('\n').filter(line => !line.includes('NO_PROXY'))
    // lines that now need a comma at their end count as ours
    for (const line of unchanged)
      expect(
        kept.some(k => k === line || k === `${line},`),
        line,
      ).toBe(true)
    const parsed = JSON.parse(after)
    expect(parsed.hooks.PreToolUse.map((g: { matcher: string }) => g.matcher)).toEqual(['Bash', '*'])
    expect(parsed.hooks.PostToolUse).toEqual(JSON.parse(FOREIGN).hooks.PostToolUse)
    expect(Object.keys(parsed)).toEqual(Object.keys(JSON.parse(FOREIGN)))
  })

  test('twice is once', () => {
    for (const start of [undefined, '', '{}', '{"a":1}', FOREIGN, FOREIGN.replaceAll('\n', '\r\n')]) {
      const once = install(start)
      const again = planInstall(once, REQUEST)
      expect(again).toEqual({ text: once, changes: [] })
    }
  })

  test('an upgrade replaces our entries where they stand', () => {
    const old = install(FOREIGN, { hookToken: 'hpk_old', hookUrl: `http://127.0.0.1:1${claude.hookPath}` })
    const plan = planInstall(old, { ...REQUEST, whenBroken: 'block' })
    expect(plan.changes).toEqual(['updated the PreToolUse hook'])
    expect(plan.text).not.toContain('hpk_old')
    expect(plan.text.match(/claude-code"/g)).toHaveLength(install(FOREIGN).match(/claude-code"/g)!.length)
  })

  test('a hook that someone narrowed goes back on every tool, and doubles go', () => {
    const edited = JSON.parse(install(undefined))
    edited.hooks.PreToolUse[0].matcher = 'Bash'
    edited.hooks.Stop.push(edited.hooks.Stop[0])
    const fixed = JSON.parse(install(JSON.stringify(edited)))
    expect(fixed.hooks.PreToolUse).toEqual(JSON.parse(install(undefined)).hooks.PreToolUse)
    expect(fixed.hooks.Stop).toHaveLength(1)
  })

  test('one line stays one line, CRLF stays CRLF', () => {
    expect(install('{"a":1}')).not.toContain('\n')
    expect(install(FOREIGN.replaceAll('\n', '\r\n')).replaceAll('\r\n', '')).not.toContain('\n')
  })

  test('uninstall takes our entries, prunes what they leave empty, and keeps the rest', () => {
    for (const start of ['{"a":1}', BOTH, '{\n  "a": 1\n}\n']) expect(planUninstall(install(start)).text).toBe(start)
    const touched = install(BOTH).replace('"opus"', '"haiku"')
    expect(planUninstall(touched).text).toBe(BOTH.replace('"opus"', '"haiku"'))
    expect(planUninstall(FOREIGN)).toEqual({ text: FOREIGN, changes: [] })
  })
})

describe('NO_PROXY', () => {
  const env = (text: string) => JSON.parse(text).env

  test('what is there stays in front', () => {
    const both = 'corp.example, 10.0.0.0/8,127.0.0.1,localhost,::1'
    expect(env(install(FOREIGN))).toEqual({ HTTP_PROXY: 'http://proxy.corp:8080', NO_PROXY: both, no_proxy: both })
    expect(addLoopback('localhost')).toBe('localhost,127.0.0.1,::1')
    expect(addLoopback('*')).toBe('*')
  })

  test('a company’s list in the shell is not hidden by ours', () => {
    expect(env(install(undefined, {}, { no_proxy: '.corp' })).NO_PROXY).toBe('.corp,127.0.0.1,localhost,::1')
  })
})

describe('settings that must not be edited', () => {
  test.each<[string, string, string, number, number]>([
    ['unparsable', '{\n  "a": 1,\n}', 'expected a string', 3, 1],
    ['unparsable', '{ // no\n}', 'expected a string', 1, 3],
    ['unparsable', '{"a":1} x', 'something follows', 1, 9],
    ['unparsable', '{"hooks":{},"hooks":{}}', 'stands twice', 1, 13],
    ['unparsable', `${'['.repeat(5000)}`, 'nested too deep', 1, 102],
    ['unparsable', '\ufeff{}', 'expected a value', 1, 1],
    ['wrong_shape', '[]', 'not an object', 1, 1],
    ['wrong_shape', '{"hooks": []}', 'hooks is not an object', 1, 11],
    ['wrong_shape', '{"hooks": {\n"Stop": {}}}', 'hooks.Stop is not a list', 2, 9],
    ['wrong_shape', '{"hooks": {"PreToolUse": [{"matcher": "*"}]}}', 'has no list', 1, 27],
    ['wrong_shape', '{"env": {"NO_PROXY": 3}}', 'env.NO_PROXY is not a text', 1, 22],
  ])('%s: %s', (code, text, message, line, column) => {
    expect(() => install(text)).toThrow(
      expect.objectContaining({ code, line, column, message: expect.stringContaining(message) }),
    )
  })
})

describe('on disk', () => {
  let dir: string
  let home: ClientHome
  let file: string
  beforeEach(() => {
    dir = fs.mkdtempSync(join(tmpdir(), 'holdpoint-settings-'))
    home = { homeDir: dir, env: {} }
    file = claude.hooks.settingsPath(home)
    fs.mkdirSync(join(dir, '.claude'))
  })
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }))
  const read = () => fs.readFileSync(file, 'utf8')
  const go = { dryRun: false }

  test('uninstall restores the very bytes when nobody touched the file since', () => {
    // bytes that no structural edit would give back
    for (const text of ['{ }', '', '{"hooks": { "Stop": [ ] } ,\n"env":{}}\n', FOREIGN]) {
      fs.writeFileSync(file, text, { mode: 0o640 })
      const change = claude.hooks.install(home, REQUEST, go)
      expect(fs.readFileSync(change.backup!, 'utf8')).toBe(text)
      claude.hooks.install(home, { ...REQUEST, hookToken: 'newer' }, go)
      claude.hooks.uninstall(home, go)
      expect(read()).toBe(text)
      expect(fs.readdirSync(join(dir, '.claude'))).toEqual(['settings.json'])
    }
  })

  test('where there was no file, none is left', () => {
    claude.hooks.install(home, REQUEST, go)
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    claude.hooks.uninstall(home, go)
    expect(fs.readdirSync(join(dir, '.claude'))).toEqual([])
  })

  test('what was edited since is kept', () => {
    fs.writeFileSync(file, BOTH)
    claude.hooks.install(home, REQUEST, go)
    fs.writeFileSync(file, read().replace('"opus"', '"haiku"'))
    claude.hooks.uninstall(home, go)
    expect(read()).toBe(BOTH.replace('"opus"', '"haiku"'))
  })

  test('no other user of the machine can read the token: the mode is tightened, said, and never widened', () => {
    const modes: [number, number][] = [
      [0o644, 0o600],
      [0o660, 0o600],
      [0o600, 0o600],
      [0o400, 0o400],
    ]
    for (const [before, after] of modes) {
      fs.rmSync(file, { force: true })
      fs.writeFileSync(file, FOREIGN)
      fs.chmodSync(file, before)
      const planned = claude.hooks.install(home, REQUEST, { dryRun: true })
      expect(fs.statSync(file).mode & 0o777).toBe(before)
      const { changes } = claude.hooks.install(home, REQUEST, go)
      expect(changes).toEqual(planned.changes)
      expect(fs.statSync(file).mode & 0o777).toBe(after)
      const said = `changed the file’s mode from ${before.toString(8)} to 600`
      expect(changes.some(change => change.startsWith(said))).toBe(before !== after)
    }
  })

  test('the command form has no token in the file, so its mode stays', () => {
    fs.writeFileSync(file, FOREIGN)
    fs.chmodSync(file, 0o644)
    const { changes } = claude.hooks.install(home, { ...REQUEST, form: 'command' }, go)
    expect(fs.statSync(file).mode & 0o777).toBe(0o644)
    expect(changes.join()).not.toContain('mode')
    claude.hooks.install(home, REQUEST, go)
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    claude.hooks.uninstall(home, go)
    expect(read()).toBe(FOREIGN)
  })

  test('a file with our hooks that was widened since is tightened by the next install, and by that alone', () => {
    claude.hooks.install(home, REQUEST, go)
    fs.chmodSync(file, 0o604)
    const was = read()
    expect(claude.hooks.install(home, REQUEST, go).changes).toHaveLength(1)
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    expect(read()).toBe(was)
    expect(claude.hooks.install(home, REQUEST, go).changes).toEqual([])
  })

  test('a link stays a link, and no temporary file is left', () => {
    const target = join(dir, 'dotfiles.json')
    fs.writeFileSync(target, FOREIGN)
    fs.chmodSync(target, 0o644)
    fs.symlinkSync(target, file)
    claude.hooks.install(home, REQUEST, go)
    expect(fs.lstatSync(file).isSymbolicLink()).toBe(true)
    expect(fs.statSync(target).mode & 0o777).toBe(0o600)
    expect(fs.readFileSync(target, 'utf8')).toBe(install(FOREIGN))
    expect(fs.readdirSync(dir).filter(n => n.endsWith('.tmp'))).toEqual([])
  })

  test('a dry run tells and writes nothing', () => {
    fs.writeFileSync(file, FOREIGN)
    const change = claude.hooks.install(home, REQUEST, { dryRun: true })
    expect(change).toMatchObject({ before: FOREIGN, after: install(FOREIGN), dryRun: true })
    expect(change.changes).toContain('added a PreToolUse hook')
    expect(read()).toBe(FOREIGN)
    expect(fs.readdirSync(join(dir, '.claude'))).toEqual(['settings.json'])
  })

  test('an unparsable file is refused with its place and left alone', () => {
    fs.writeFileSync(file, '{\n"a": }\n')
    for (const act of [() => claude.hooks.install(home, REQUEST, go), () => claude.hooks.uninstall(home, go)])
      expect(act).toThrow(expect.objectContaining({ code: 'unparsable', file, line: 2, column: 6 }))
    expect(read()).toBe('{\n"a": }\n')
    expect(fs.readdirSync(join(dir, '.claude'))).toEqual(['settings.json'])
  })

  test('a folder or a dangling link in its place is refused', () => {
    fs.mkdirSync(file)
    expect(() => claude.hooks.install(home, REQUEST, go)).toThrow(expect.objectContaining({ code: 'unsafe_file' }))
    fs.rmdirSync(file)
    fs.symlinkSync(join(dir, 'nowhere'), file)
    expect(() => claude.hooks.install(home, REQUEST, go)).toThrow(expect.objectContaining({ code: 'unsafe_file' }))
  })

  test('CLAUDE_CONFIG_DIR is where the client looks', () => {
    const elsewhere = { homeDir: dir, env: { CLAUDE_CONFIG_DIR: join(dir, 'other') } }
    claude.hooks.install(elsewhere, REQUEST, go)
    expect(fs.existsSync(join(dir, 'other/settings.json'))).toBe(true)
    expect(fs.existsSync(file)).toBe(false)
  })
})
