import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CANARY_HEARD, type HookEvent } from '#agent/clients/adapter.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type { HookInstall } from '#agent/clients/hook-editor.ts'
import { opencode } from '#agent/clients/opencode/opencode.ts'
import { builtPlugin, pluginText } from '#agent/clients/opencode/plugin-file.ts'
import { sendCanary } from '#agent/commands/canary.ts'
import { hookInstall } from '#agent/hook-programs.ts'
import { Machine } from '../daemon/world.ts'
import { asBuilt } from './installed-plugin.ts'

const NOW = 1_796_079_000_000
const parse = (fields: object) => opencode.parse(Buffer.from(JSON.stringify(fields)), NOW)
const CALL = {
  hook_event_name: 'PreToolUse',
  session_id: 'ses_root',
  cwd: '/work',
  agent_id: 'ses_child',
  agent_type: 'general',
  provider: 'anthropic',
  model: 'claude-opus-4-6',
  tool_name: 'bash',
  tool_use_id: 'call_1',
}

describe('what the module tells', () => {
  test('is a call with its subagent, model and seller; what else it holds is left', () => {
    expect(parse({ ...CALL, tool_input: { command: 'secret' }, more: 1 })).toEqual({
      kind: 'tool_call',
      sessionId: 'ses_root',
      atMs: NOW,
      cwd: '/work',
      agentId: 'ses_child',
      agentType: 'general',
      provider: 'anthropic',
      model: 'claude-opus-4-6',
      toolName: 'bash',
      toolUseId: 'call_1',
      startsSubagent: false,
    })
  })

  test('a seller that opencode alone knows is another one, and an id with points and colons is one all the same', () => {
    expect(parse({ ...CALL, provider: 'openrouter', tool_use_id: 'functions.bash:0' })).toMatchObject({
      provider: 'other',
      toolUseId: 'functions_bash_0',
    })
  })

  test('a call that starts a subagent has the model that will answer', () => {
    const task = { ...CALL, tool_name: 'task', subagent_model: 'claude-haiku-4-5' }
    expect(parse(task)).toMatchObject({ startsSubagent: true, subagentModel: 'claude-haiku-4-5' })
    expect(parse({ ...CALL, subagent_model: 'claude-haiku-4-5' })).not.toHaveProperty('subagentModel')
  })

  test.each([
    ['SessionStart', { source: 'resume' }, { kind: 'session_start', source: 'resume' }],
    ['SessionEnd', { reason: 'exit' }, { kind: 'session_end', reason: 'exit' }],
    ['UserPromptSubmit', {}, { kind: 'prompt' }],
    ['Stop', {}, { kind: 'turn_end' }],
    ['StopFailure', {}, { kind: 'turn_end' }],
    ['SubagentStart', {}, { kind: 'subagent_start' }],
    ['SubagentStop', {}, { kind: 'subagent_end' }],
    ['PostToolUse', {}, { kind: 'tool_done', toolUseId: 'call_1', ok: true }],
    ['PermissionRequest', {}, { kind: 'permission_prompt', toolName: 'bash' }],
    ['SomethingNewer', {}, { kind: 'other', name: 'SomethingNewer' }],
  ])('%s is known', (name, more, event) => {
    expect(parse({ ...CALL, hook_event_name: name, ...more })).toMatchObject(event)
  })

  test.each([
    [{ ...CALL, session_id: undefined }, 'missing_field', 'session_id'],
    [{ ...CALL, session_id: '../x' }, 'bad_id', 'session_id'],
    [{ ...CALL, tool_name: 7 }, 'wrong_type', 'tool_name'],
    [[], 'not_object', undefined],
  ])('what is missing or odd is named, never its value', (fields, reason, field) => {
    expect(parse(fields)).toMatchObject({ kind: 'parse_failure', reason, ...(field ? { field } : {}) })
  })
})

describe('what the module is told', () => {
  const call = parse(CALL) as HookEvent
  test('nothing lets the call run; words and exit 2 refuse it, for a question as well', () => {
    const pass = { exit: 0, stdout: '', stderr: '' }
    expect(opencode.render({ outcome: 'pass', text: '' }, call).command).toEqual(pass)
    for (const outcome of ['refuse', 'ask'] as const) {
      expect(opencode.render({ outcome, text: ' no ' }, call).command).toEqual({ exit: 2, stdout: '', stderr: 'no\n' })
      expect(opencode.render({ outcome, text: '' }, call).command.stderr.trim()).not.toBe('')
      const stop = parse({ ...CALL, hook_event_name: 'Stop' }) as HookEvent
      expect(opencode.render({ outcome, text: 'no' }, stop).command).toEqual(pass)
    }
    expect(opencode.renderBroken('why').command).toEqual({ exit: 1, stdout: '', stderr: 'why\n' })
  })
})

describe('the plugin in opencode’s folder', () => {
  let dir: string
  let home: ClientHome
  let request: HookInstall
  beforeEach(async () => {
    await asBuilt()
    dir = mkdtempSync(join(tmpdir(), 'holdpoint-opencode-'))
    home = { homeDir: join(dir, 'dev'), env: {} }
    const hook = join(dir, '.holdpoint/bin/hook.cjs')
    mkdirSync(dirname(hook), { recursive: true })
    writeFileSync(hook, '')
    const hookCommand = { exe: process.execPath, args: [hook] }
    request = {
      form: 'plugin',
      hookUrl: 'http://127.0.0.1:1/hook/opencode',
      hookToken: 'x',
      hookCommand,
      whenBroken: 'pass',
    }
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    rmSync(dir, { recursive: true, force: true })
  })
  const file = () => opencode.hooks.settingsPath(home)
  const install = (more: Partial<HookInstall> = {}, dryRun = false) =>
    opencode.hooks.install(home, { ...request, ...more }, { dryRun })
  const inspect = (more = {}, env: Record<string, string> = {}) =>
    opencode.hooks.inspect({ ...home, env }, { projectDirs: [], expected: request, ...more })
  const codes = (inspection: ReturnType<typeof inspect>) => inspection.findings.map(({ code }) => code)

  test('lies where XDG_CONFIG_HOME says, else below .config, whatever OPENCODE_CONFIG_DIR names', () => {
    expect(file()).toBe(join(dir, 'dev/.config/opencode/plugins/holdpoint.js'))
    const elsewhere = { ...home, env: { XDG_CONFIG_HOME: '/x', OPENCODE_CONFIG_DIR: '/y' } }
    expect(opencode.hooks.settingsPath(elsewhere)).toBe('/x/opencode/plugins/holdpoint.js')
  })

  test('is written once, a dry run writes nothing, and an uninstall leaves nothing behind', () => {
    expect(install({}, true).changes).toEqual(['added the plugin'])
    expect(existsSync(file())).toBe(false)
    expect(install().changes).toEqual(['added the plugin'])
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    const text = readFileSync(file(), 'utf8')
    expect(text.split('\n')[0]).toMatch(/^\/\/ Holdpoint 0\.0\.0 for opencode, sha256 [0-9a-f]{64}\. /)
    expect(install().changes).toEqual([])
    expect(readFileSync(file(), 'utf8')).toBe(text)
    expect(opencode.hooks.uninstall(home, { dryRun: true }).changes).toEqual(['removed the plugin'])
    expect(existsSync(file())).toBe(true)
    expect(opencode.hooks.uninstall(home, { dryRun: false })).toMatchObject({ changes: ['removed the plugin'] })
    expect(readdirSync(dirname(file()))).toEqual([])
    expect(opencode.hooks.uninstall(home, { dryRun: false }).changes).toEqual([])
  })

  test('is updated where the request is another, and an edited one is replaced and said so', () => {
    install()
    expect(install({ whenBroken: 'block' }).changes).toEqual(['updated the plugin'])
    expect(inspect()).toMatchObject({ level: 'user-hook', whenBroken: 'block', outdated: true })
    writeFileSync(file(), readFileSync(file(), 'utf8').replace('exit === 2', 'exit === 3'))
    expect(codes(inspect())).toContain('hook_edited')
    expect(install().changes).toEqual(['replaced the plugin, which had been edited'])
    expect(codes(inspect())).not.toContain('hook_edited')
    opencode.hooks.uninstall(home, { dryRun: false })
    expect(existsSync(file())).toBe(false)
  })

  test('an edited one is taken out whole', () => {
    install()
    writeFileSync(file(), `${readFileSync(file(), 'utf8')}// more\n`)
    opencode.hooks.uninstall(home, { dryRun: false })
    expect(existsSync(file())).toBe(false)
  })

  test.each([
    ['somebody else’s plugin', () => writeFileSync(file(), 'export default {}\n')],
    ['a folder', () => mkdirSync(file())],
    ['a link to nothing', () => symlinkSync('nowhere', file())],
  ])('%s of that name is not touched, and told of', (_, make) => {
    mkdirSync(dirname(file()), { recursive: true })
    make()
    expect(() => install()).toThrow(expect.objectContaining({ name: 'HookEditError', code: 'unsafe_file' }))
    expect(inspect()).toMatchObject({ level: 'not-installed', findings: [{ severity: 'off' }] })
    expect(opencode.hooks.probe(home)).toBeUndefined()
    expect(readdirSync(dirname(file()))).toEqual(['holdpoint.js'])
  })

  test('only a built connector can install it', () => {
    vi.unstubAllGlobals()
    expect(() => install()).toThrow('only the built holdpoint.cjs')
  })

  test('without one there is none; with one it is told how far it holds', () => {
    expect(inspect()).toEqual({ level: 'not-installed', outdated: false, findings: [] })
    install()
    expect(inspect()).toMatchObject({ level: 'user-hook', form: 'plugin', whenBroken: 'pass', outdated: false })
    // opencode fetches a package before it loads plugins
    expect(codes(inspect())).toEqual(['plugin_package'])
    mkdirSync(join(dirname(dirname(file())), 'node_modules/@opencode-ai/plugin'), { recursive: true })
    expect(codes(inspect())).toEqual([])
  })

  test.each<[string, () => ReturnType<typeof inspect>, string, 'off' | 'risk']>([
    ['plugins are switched off', () => inspect({}, { OPENCODE_PURE: '1' }), 'hooks_disabled', 'off'],
    ['it asks another home', () => inspect({ expected: elsewhere() }), 'hook_elsewhere', 'off'],
    ['the small program is gone', () => withoutProgram(), 'hook_program_missing', 'risk'],
    ['version 2 runs', () => inspect({ version: '2.0.24' }), 'client_untested', 'risk'],
    ['an old version runs', () => inspect({ version: '1.17.9' }), 'client_untested', 'risk'],
    ['a second one is loaded', () => inspect({}, { OPENCODE_CONFIG_DIR: second() }), 'second_plugin', 'risk'],
    [
      'a project has plugins',
      () => inspect({ projectDirs: [project('.opencode/plugin/x.ts', '')] }),
      'plugins',
      'risk',
    ],
    [
      'a project names plugins',
      () => inspect({ projectDirs: [project('opencode.json', '{"plugin": ["x"]}')] }),
      'plugins',
      'risk',
    ],
  ])('%s: that is found', (_, look, code, severity) => {
    install()
    mkdirSync(join(dirname(dirname(file())), 'node_modules/@opencode-ai/plugin'), { recursive: true })
    const found = look()
    expect(found.findings).toMatchObject([{ severity, code }])
    expect(found.level).toBe(severity === 'off' ? 'broken' : 'user-hook')
  })
  const withoutProgram = () => {
    rmSync(request.hookCommand.args[0]!)
    return inspect()
  }
  const elsewhere = () => ({ ...request, hookCommand: { ...request.hookCommand, args: ['/other/bin/hook.cjs'] } })
  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const project = (name: string, text: string) => {
    put(join(dir, 'project', name), text)
    return join(dir, 'project')
  }
  const second = () => {
    put(join(dir, 'cfg/plugins/holdpoint.js'), '')
    return join(dir, 'cfg')
  }

  test('what neither switches it off nor brings plugins is no finding', () => {
    install()
    mkdirSync(join(dirname(dirname(file())), 'node_modules/@opencode-ai/plugin'), { recursive: true })
    const projectDirs = [project('opencode.json', '{"plugin": [ ], "theme": "x"}'), join(dir, 'none')]
    expect(inspect({ projectDirs, version: '1.18.33' }, { OPENCODE_PURE: '0' }).findings).toEqual([])
    expect(inspect({ version: '1.19.0' }).findings).toEqual([])
  })

  test('a Node that an earlier install knew and that is there is as good as this one', () => {
    const node = join(dir, 'other', process.execPath.split('/').at(-1)!)
    put(node, '')
    install({ hookCommand: { ...request.hookCommand, exe: node } })
    expect(inspect().outdated).toBe(false)
    rmSync(node)
    expect(inspect()).toMatchObject({ outdated: true })
    expect(codes(inspect())).toContain('hook_program_missing')
  })
})

describe('with a daemon', () => {
  let machine: Machine
  beforeEach(async () => {
    await asBuilt()
    machine = new Machine()
    mkdirSync(machine.home.bin, { recursive: true })
    writeFileSync(join(machine.home.bin, 'holdpoint-hook.cjs'), '')
  })
  afterEach(() => void vi.unstubAllGlobals())
  const home = () => ({ homeDir: join(machine.folder, 'dev'), env: {} })
  const request = () =>
    hookInstall(machine.home, opencode, { port: 1, hookToken: 'x' }, { form: 'plugin', whenBroken: 'pass' })
  const file = () => opencode.hooks.settingsPath(home())

  test('the installed module is tried by a Node that loads it, and the daemon hears it', async () => {
    await machine.start()
    opencode.hooks.install(home(), request(), { dryRun: false })
    const canary = () => sendCanary(opencode.hooks.probe(home()), { PATH: process.env.PATH }, machine.home.root)
    expect(await canary()).toMatchObject({ ok: true, form: 'plugin' })
    expect(CANARY_HEARD).not.toBe('')
    expect(machine.entries('failure')).toEqual([])
    // one that does not load is told of
    writeFileSync(file(), `${readFileSync(file(), 'utf8')}\n)`)
    expect(await canary()).toMatchObject({ ok: false, code: 'refused' })
    await machine.daemon.stop()
    opencode.hooks.install(home(), request(), { dryRun: false })
    expect(await canary()).toMatchObject({ ok: false })
  })

  test('one of another version is written anew when the daemon starts; an edited one and another home’s are not', async () => {
    const version = (text: string) => text.split(' ')[2]
    const old = () => {
      const hook = request().hookCommand.args[0]!
      return pluginText(builtPlugin()!, {
        version: '0.0.0-old',
        node: process.execPath,
        hook,
        home: machine.home.root,
        whenBroken: 'block',
      })
    }
    mkdirSync(dirname(file()), { recursive: true })
    writeFileSync(file(), old())
    await machine.start()
    expect(version(readFileSync(file(), 'utf8'))).toBe('0.0.0')
    expect(readFileSync(file(), 'utf8')).toContain('"whenBroken":"block"')
    for (const text of [`${old()}// edited\n`, old().replaceAll(machine.home.root, '/elsewhere')]) {
      await machine.daemon.stop()
      writeFileSync(file(), text)
      await machine.start()
      expect(readFileSync(file(), 'utf8')).toBe(text)
    }
    await machine.daemon.stop()
    rmSync(file())
    await machine.start()
    expect(existsSync(file())).toBe(false)
  })
})
