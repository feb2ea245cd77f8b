import { describe, expect, test } from 'vitest'
import { type InspectInput, inspectSettings } from '#agent/clients/claude/inspect.ts'
import { CLAUDE_HOOK_PATH, planInstall } from '#agent/clients/claude/settings.ts'
import type { HookInstall } from '#agent/clients/hook-editor.ts'

const REQUEST: HookInstall = {
  form: 'http',
  hookUrl: `http://127.0.0.1:7421${CLAUDE_HOOK_PATH}`,
  hookToken: 'hpk_token',
  hookCommand: { exe: '/home/dev/.holdpoint/bin/holdpoint-hook', args: [] },
  whenBroken: 'pass',
}
// biome-ignore lint/suspicious/noExplicitAny: settings are edited by hand in each case
type Edit = (settings: any) => void
function inspect(
  edit: Edit = () => {},
  more: Partial<InspectInput> = {},
  whenBroken: HookInstall['whenBroken'] = 'pass',
) {
  const settings = JSON.parse(planInstall(undefined, { ...REQUEST, whenBroken }).text)
  edit(settings)
  const user = { file: 'user', text: JSON.stringify(settings) }
  return inspectSettings({ user, projects: [], managed: [], env: {}, expected: REQUEST, version: '2.1.332', ...more })
}
const project = (settings: unknown) => ({ projects: [{ file: 'project', text: JSON.stringify(settings) }] })
const managed = (settings: unknown) => ({ managed: [{ file: 'managed', text: JSON.stringify(settings) }] })

test('an untouched installation is a user hook with nothing to say', () => {
  expect(inspect()).toEqual({ level: 'user-hook', form: 'http', whenBroken: 'pass', outdated: false, findings: [] })
  expect(inspect(() => {}, {}, 'block')).toMatchObject({ level: 'user-hook', whenBroken: 'block', outdated: true })
})

test('nothing of ours is not installed', () => {
  expect(inspect(() => {}, { user: undefined }).level).toBe('not-installed')
  expect(inspect(() => {}, { user: { file: 'user', text: '{"hooks":{}}' } }).level).toBe('not-installed')
})

const PROXY = { HTTP_PROXY: 'http://proxy' }
test.each<[string, string, Edit, Partial<InspectInput>]>([
  ['hooks_disabled', 'in user settings', s => (s.disableAllHooks = true), {}],
  ['hooks_disabled', 'in a project', () => {}, project({ disableAllHooks: true })],
  ['hook_removed', 'PreToolUse gone', s => delete s.hooks.PreToolUse, {}],
  ['hook_edited', 'narrowed', s => (s.hooks.PreToolUse[0].matcher = 'Read'), {}],
  ['hook_edited', 'filtered', s => (s.hooks.PreToolUse[0].hooks[0].if = 'Bash(git *)'), {}],
  ['hook_edited', 'async', s => (s.hooks.PreToolUse[0].hooks[0].async = true), {}],
  ['hook_edited', 'no time', s => (s.hooks.PreToolUse[0].hooks[0].timeout = 0.001), {}],
  [
    'foreign_entry_invalid',
    'unknown onFailure',
    s => s.hooks.PreToolUse.push({ hooks: [{ type: 'command', command: 'x', onFailure: 'stop' }] }),
    {},
  ],
  [
    'foreign_entry_invalid',
    'negative time-out',
    s => s.hooks.PreToolUse.push({ hooks: [{ type: 'command', command: 'x', timeout: -1 }] }),
    {},
  ],
  ['managed_hooks_only', 'managed', () => {}, managed({ allowManagedHooksOnly: true })],
  ['url_not_allowed', 'in user settings', s => (s.allowedHttpHookUrls = ['https://*']), {}],
  ['url_not_allowed', 'managed', () => {}, managed({ allowedHttpHookUrls: [] })],
  ['no_proxy_missing', 'with a proxy in the environment', s => delete s.env, { env: PROXY }],
  ['no_proxy_missing', 'with a proxy in a project', s => (s.env.NO_PROXY = 'corp'), project({ env: PROXY })],
  ['no_proxy_emptied', 'by a project with a proxy', () => {}, project({ env: { ...PROXY, NO_PROXY: '' } })],
])('broken by %s: %s', (code, _where, edit, more) => {
  const found = inspect(edit, more)
  expect(found.level).toBe('broken')
  expect(found.findings).toContainEqual(expect.objectContaining({ severity: 'off', code }))
})

test.each<[string, Edit, Partial<InspectInput>]>([
  ['no_proxy_missing', s => delete s.env, {}],
  ['no_proxy_emptied', () => {}, project({ env: { no_proxy: '' } })],
  ['hook_removed', s => delete s.hooks.SessionStart, {}],
  ['plugins', s => (s.enabledPlugins = { 'a@b': true }), {}],
  ['client_untested', () => {}, { version: '2.0.0' }],
  ['settings_unusable', () => {}, { projects: [{ file: 'project', text: '{' }] }],
])('%s is a risk, and said, while the hook still holds', (code, edit, more) => {
  const found = inspect(edit, more)
  expect(found.level).toBe('user-hook')
  expect(found.findings).toContainEqual(expect.objectContaining({ severity: 'risk', code }))
})

describe('the command form', () => {
  const COMMAND: HookInstall = {
    ...REQUEST,
    form: 'command',
    hookCommand: { exe: '/usr/bin/node', args: ['/home/dev/.holdpoint/bin/hook.cjs'] },
  }
  const isProgram = () => true
  const look = (edit: Edit = () => {}, more: Partial<InspectInput> = {}) => {
    const settings = JSON.parse(planInstall(undefined, COMMAND).text)
    edit(settings)
    const user = { file: 'user', text: JSON.stringify(settings) }
    const given = { projects: [], managed: [], env: {}, expected: COMMAND, isProgram, version: '2.1.332' }
    return inspectSettings({ user, ...given, ...more })
  }

  test('untouched is a user hook with nothing to say: no proxy and no list of addresses concerns it', () => {
    const clean = { level: 'user-hook', form: 'command', whenBroken: 'pass', outdated: false, findings: [] }
    expect(look()).toEqual(clean)
    expect(look(() => {}, { env: PROXY, ...managed({ allowedHttpHookUrls: [] }) })).toEqual(clean)
  })

  test.each<[string, Edit, Partial<InspectInput>]>([
    ['hook_elsewhere', s => (s.hooks.PreToolUse[0].hooks[0].args[0] = '/tmp/.holdpoint/bin/hook.cjs'), {}],
    ['hook_elsewhere', s => (s.hooks.PreToolUse[0].hooks[0].command = '/bin/true'), {}],
    ['hook_program_missing', () => {}, { isProgram: path => path !== '/usr/bin/node' }],
    ['hook_program_missing', () => {}, { isProgram: path => !path.endsWith('hook.cjs') }],
    ['hook_edited', s => (s.hooks.PreToolUse[0].hooks[0].async = true), {}],
    ['hook_removed', s => delete s.hooks.PreToolUse, {}],
    ['hooks_disabled', () => {}, project({ disableAllHooks: true })],
  ])('is broken by %s', (code, edit, more) => {
    const found = look(edit, more)
    expect(found.level).toBe('broken')
    expect(found.findings).toContainEqual(expect.objectContaining({ severity: 'off', code }))
  })

  test('another Node of the machine that runs our program is as good', () => {
    const edit: Edit = s => {
      for (const event of ['PreToolUse', 'SessionStart', 'UserPromptSubmit', 'Stop'])
        s.hooks[event][0].hooks[0].command = '/opt/node/bin/node'
    }
    expect(look(edit)).toMatchObject({ level: 'user-hook', outdated: false, findings: [] })
  })

  test.each([
    ['a module that Node is told to load', { NODE_OPTIONS: '--max-old-space-size=4096 --require ./x.cjs' }],
    ['the same in another spelling', { NODE_OPTIONS: '--import=./x.mjs' }],
    ['the same with a quote', { NODE_OPTIONS: '"-r" ./x.cjs' }],
    ['a wait for a debugger', { NODE_OPTIONS: '--inspect-brk' }],
    ['another OpenSSL configuration', { OPENSSL_CONF: './x.cnf' }],
    ['a library that the system is told to load', { LD_PRELOAD: './x.so' }],
  ])('a project that brings %s is said, with the file', (_, env) => {
    const found = look(() => {}, project({ env }))
    expect(found.findings).toEqual([
      expect.objectContaining({ severity: 'risk', code: 'code_planted', file: 'project' }),
    ])
    expect(inspect(() => {}, project({ env })).findings).toEqual([])
  })

  test('Node’s other options are nobody’s business', () => {
    expect(
      look(() => {}, project({ env: { NODE_OPTIONS: '--max-old-space-size=4096  --no-warnings' } })).findings,
    ).toEqual([])
  })

  test('installed in the other form than the one expected is outdated', () => {
    expect(look(() => {}, { expected: { ...COMMAND, form: 'http' } }).outdated).toBe(true)
  })
})

test('no project’s pattern of addresses can hold the daemon up', () => {
  const began = performance.now()
  const found = inspect(() => {}, project({ allowedHttpHookUrls: [`${'*'.repeat(20)}x`] }))
  expect(performance.now() - began).toBeLessThan(10_000)
  expect(found.findings).toContainEqual(expect.objectContaining({ code: 'url_not_allowed', file: 'project' }))
  expect(inspect(() => {}, project({ allowedHttpHookUrls: ['http://127.0.0.1:*'] })).level).toBe('user-hook')
})

test('a project’s proxy alone is no finding: the user’s NO_PROXY cures it (measured)', () => {
  expect(inspect(() => {}, project({ env: PROXY })).findings).toEqual([])
})

test('settings that the client would drop are broken, not absent', () => {
  const found = inspect(() => {}, { user: { file: 'user', text: '{"hooks":' } })
  expect(found).toMatchObject({ level: 'broken', findings: [{ severity: 'off', code: 'settings_unusable' }] })
})

test('block is told as unavailable in a version that ignores it', () => {
  const found = inspect(() => {}, { version: '2.1.294' }, 'block')
  expect(found).toMatchObject({ level: 'user-hook', findings: [{ code: 'client_too_old' }] })
  expect(inspect(() => {}, { version: '2.1.295' }, 'block').findings).toEqual([])
})

test('another address, token or program is outdated', () => {
  for (const more of [{ hookToken: 'x' }, { hookUrl: `http://127.0.0.1:1${CLAUDE_HOOK_PATH}` }])
    expect(inspect(() => {}, { expected: { ...REQUEST, ...more } }).outdated).toBe(true)
})
