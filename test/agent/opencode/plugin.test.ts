import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UNJUDGED } from '#agent/clients/opencode/plugin/installed.ts'
import { socketPlace } from '#agent/hook/socket-place.ts'
import { until } from '#test/clients/bench.ts'
import { builtTexts, type Hooks, PluginPlace } from './installed-plugin.ts'

type Asked = { headers: IncomingMessage['headers']; fields: Record<string, string> }
type Said = { exit: number; stdout: string; stderr: string }
const PASS: Said = { exit: 0, stdout: '', stderr: '' }

let place: PluginPlace
let asked: Asked[]
let server: Server | undefined
/** What the door says to an event; a text is sent as it is, undefined is never answered. */
let say: (fields: Record<string, string>) => Said | string | undefined

beforeEach(() => {
  place = new PluginPlace()
  asked = []
  say = () => PASS
})
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise<void>(resolve => (server ? server.close(() => resolve()) : resolve()))
  server = undefined
  place.remove()
})

const folder = () => socketPlace(place.home)!.folder
async function openDoor(): Promise<void> {
  mkdirSync(folder(), { recursive: true, mode: 0o700 })
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk as Buffer))
    request.on('end', () => {
      const fields = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      asked.push({ headers: request.headers, fields })
      const answer = say(fields)
      if (answer !== undefined) response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
  })
  await new Promise<void>(resolve => server!.listen(socketPlace(place.home)!.path, resolve))
}
const calls = () => asked.filter(({ fields }) => fields.hook_event_name === 'PreToolUse')
const spooled = () => {
  const spool = join(place.home, 'spool')
  return existsSync(spool) ? readdirSync(spool).map(name => JSON.parse(readFileSync(join(spool, name), 'utf8'))) : []
}

/** What a call comes to: undefined = it runs, else the words of the refusal. */
async function call(hooks: Hooks, more: Partial<{ tool: string; sessionID: string; args: unknown }> = {}) {
  const { tool = 'bash', sessionID = 'ses_root', args = { command: 'secret-command' } } = more
  try {
    await hooks['tool.execute.before']({ tool, sessionID, callID: 'call_1' }, { args })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
const load = async (whenBroken: 'pass' | 'block' = 'pass', context: unknown = { directory: '/home/dev/project' }) =>
  (await place.load(whenBroken)).server(context)
const made = (id: string, more = {}) => ({ event: { type: 'session.created', properties: { info: { id, ...more } } } })

describe('a tool call', () => {
  test('runs when the daemon says nothing against it, and only declared fields leave opencode', async () => {
    await openDoor()
    const hooks = await load()
    expect(await call(hooks)).toBeUndefined()
    expect(calls()).toMatchObject([
      {
        headers: { 'x-holdpoint-form': 'command', host: 'holdpoint' },
        fields: { session_id: 'ses_root', cwd: '/home/dev/project', tool_name: 'bash', tool_use_id: 'call_1' },
      },
    ])
    expect(JSON.stringify(asked)).not.toContain('secret-command')
    expect(JSON.stringify(place.told())).not.toContain('secret-command')
  })

  test('is refused by an error with the daemon’s words and nothing else', async () => {
    await openDoor()
    say = () => ({ exit: 2, stdout: '', stderr: 'Over the limit of $20. Stop here.\n' })
    expect(await call(await load())).toBe('Over the limit of $20. Stop here.')
  })

  test('two at once are two questions, each with its own answer', async () => {
    await openDoor()
    say = ({ tool_name }) => (tool_name === 'read' ? PASS : { exit: 2, stdout: '', stderr: 'no bash' })
    const hooks = await load()
    expect(await Promise.all([call(hooks), call(hooks, { tool: 'read' })])).toEqual(['no bash', undefined])
    expect(calls()).toHaveLength(2)
  })

  test('is judged whatever the tool is given, and by an answer that has more fields than are known', async () => {
    await openDoor()
    say = () => JSON.stringify({ ...PASS, of_a_newer_version: [1] })
    const hooks = await load('block')
    const circle: Record<string, unknown> = {}
    circle.self = circle
    for (const args of ['x'.repeat(9 * 1024 * 1024), '\ud800', circle, undefined])
      expect(await call(hooks, { args })).toBeUndefined()
    expect(calls()).toHaveLength(4)
  })

  test('of a subagent is its root session’s, by what was seen or by what opencode says', async () => {
    await openDoor()
    const parents: Record<string, string> = { ses_old: 'ses_root' }
    const client = {
      session: { get: async ({ path: { id } }: { path: { id: string } }) => ({ data: { id, parentID: parents[id] } }) },
    }
    const hooks = await load('pass', { client, directory: '/work' })
    await hooks.event(made('ses_child', { parentID: 'ses_old', agent: 'general' }))
    await call(hooks, { sessionID: 'ses_child' })
    await call(hooks, { sessionID: 'ses_old' })
    expect(calls().map(({ fields }) => [fields.session_id, fields.agent_id, fields.agent_type])).toEqual([
      ['ses_root', 'ses_child', 'general'],
      ['ses_root', 'ses_old', undefined],
    ])
  })

  test('bears the model and the provider that answer, not those of the calls beside the session', async () => {
    await openDoor()
    const hooks = await load()
    const model = (modelID: string) => ({ message: { model: { providerID: 'anthropic', modelID }, agent: 'build' } })
    await hooks['chat.message']({ sessionID: 'ses_root' }, model('claude-opus-4-6'))
    await hooks['chat.params']({
      sessionID: 'ses_root',
      agent: 'title',
      model: { id: 'small', providerID: 'stub' },
      message: { agent: 'build' },
    })
    await call(hooks)
    await hooks['chat.params']({
      sessionID: 'ses_root',
      agent: 'build',
      model: { id: 'gpt-5.2', providerID: 'openai' },
      message: { agent: 'build' },
    })
    await call(hooks)
    expect(calls().map(({ fields }) => [fields.provider, fields.model])).toEqual([
      ['anthropic', 'claude-opus-4-6'],
      ['openai', 'gpt-5.2'],
    ])
  })

  test('that starts a subagent names the model that will answer: the agent’s, the command’s, else the session’s', async () => {
    await openDoor()
    let agents: unknown = [{ name: 'general' }, { name: 'cheap', model: { providerID: 'a', modelID: 'haiku' } }]
    const hooks = await load('pass', {
      client: { app: { agents: async () => ({ data: agents }) } },
      directory: '/work',
    })
    await hooks.config({
      agent: { configured: { model: 'openrouter/anthropic/claude-sonnet-4-5' } },
      command: { review: { model: 'anthropic/claude-opus-4-6' } },
    })
    await hooks['chat.message']({ sessionID: 'ses_root' }, { message: { model: { providerID: 'a', modelID: 'main' } } })
    const task = (args: object) => call(hooks, { tool: 'task', args: { prompt: 'secret-prompt', ...args } })
    await task({ subagent_type: 'general' })
    await task({ subagent_type: 'cheap' })
    await task({ subagent_type: 'general', command: 'review' })
    agents = undefined
    await task({ subagent_type: 'configured' })
    const models = ['main', 'haiku', 'claude-opus-4-6', 'anthropic/claude-sonnet-4-5']
    expect(calls().map(({ fields }) => fields.subagent_model)).toEqual(models)
    expect(JSON.stringify(asked)).not.toContain('secret-prompt')
  })

  test('is asked about in opencode 2, where version 1 has not asked already', async () => {
    await openDoor()
    say = () => ({ exit: 2, stdout: '', stderr: 'no' })
    const heard: ((event: object) => Promise<void>)[] = []
    const context = { tool: { hook: (_: string, fn: (event: object) => Promise<void>) => heard.push(fn) } }
    const later = await place.load()
    await later.setup(context)
    expect(heard).toHaveLength(1)
    await expect(heard[0]!({ tool: 'bash', sessionID: 'ses_2', input: {} })).rejects.toThrow('no')
    const first = await place.load()
    await first.server({})
    await first.setup(context)
    // version 1.18 calls this as well, and has no tools there
    await (await place.load()).setup({})
    expect(heard).toHaveLength(1)
  })
})

const UNHEARD: [string, (fields: Record<string, string>) => Said | string | undefined, string][] = [
  ['is too slow', () => undefined, 'slow'],
  ['answers what is no JSON', () => 'what', 'odd'],
  ['answers nothing', () => '', 'odd'],
  ['answers JSON of another form', () => '{"exit":"2"}', 'odd'],
]

describe('when nobody judges a call', () => {
  test.each(UNHEARD)('because the daemon %s, it runs, and the daemon is left to know', async (_, answer, why) => {
    await openDoor()
    say = answer
    const startedMs = performance.now()
    expect(await call(await load())).toBeUndefined()
    // opencode has no time-out: the bound is the module’s own
    expect(performance.now() - startedMs).toBeLessThan(4000)
    const body = { hook_event_name: 'PreToolUse', session_id: 'ses_root', tool_use_id: 'call_1' }
    expect(spooled()).toMatchObject([{ kind: 'hook_event', client: 'opencode', event: 'PreToolUse', why, body }])
  })

  test.each(UNHEARD)('because the daemon %s, it is refused where that was chosen, with words', async (_, answer) => {
    await openDoor()
    say = answer
    expect(await call(await load('block'))).toMatch(new RegExp(`^${UNJUDGED}: its daemon .*retrying does not help`))
  })

  test('because the daemon itself failed, it runs, or is refused where that was chosen', async () => {
    await openDoor()
    say = () => ({ exit: 1, stdout: '', stderr: 'the daemon failed to decide\n' })
    expect(await call(await load())).toBeUndefined()
    expect(await call(await load('block'))).toContain(`${UNJUDGED}: the daemon failed to decide.`)
    expect(spooled()).toEqual([])
  })

  test('because no daemon is there, it runs, and one is started, once for calls that come together', async () => {
    const hooks = await load()
    expect(await Promise.all([call(hooks), call(hooks), call(hooks)])).toEqual([undefined, undefined, undefined])
    // one that tells of the session, which has just been met, and one that starts the daemon
    await until('what was told', () => place.told().length === 2)
    expect(place.told()).toMatchObject([
      { args: ['opencode', 'SessionStart'], fields: { session_id: 'ses_root', source: 'resume' } },
      { args: ['opencode', 'SessionStart'], fields: { session_id: 'ses_root', cwd: '/home/dev/project' } },
    ])
    expect(await call(await load('block'))).toBe(
      `${UNJUDGED}: its daemon is not running. It is set to refuse what it cannot judge, so retrying does not help. Stop here and tell the user; \`holdpoint status\` says more.`,
    )
  })

  test('because the Node that an install knew is gone, it runs all the same', async () => {
    const hooks = await (await place.load('pass', { node: '/nowhere/node' })).server({})
    expect(await call(hooks)).toBeUndefined()
    await hooks['chat.message']({ sessionID: 'ses_root' }, {})
  })

  test.each([
    ['others may open', () => chmodSync(folder(), 0o755), 'has the mode 755 and must have 700'],
    ['is another user’s', () => chownSync(folder(), 65534, 65534), 'belongs to another user'],
  ])('because the socket lies in a folder that %s: nothing is said there', async (_, spoil, why) => {
    if (process.getuid?.() !== 0 && why.includes('user')) return
    await openDoor()
    spoil()
    expect(await call(await load())).toBeUndefined()
    expect(await call(await load('block'))).toContain(why)
    expect(asked).toEqual([])
    expect(spooled()[0]).toMatchObject({ why: 'odd' })
  })

  test('because opencode does not say whose session it is, it is judged as a session of its own, in time', async () => {
    await openDoor()
    const hang = () => new Promise(() => {})
    const client = { session: { get: hang }, app: { agents: hang } }
    const hooks = await load('pass', { client, directory: '/work' })
    const startedMs = performance.now()
    await call(hooks, { tool: 'task', sessionID: 'ses_x', args: { subagent_type: 'general' } })
    expect(performance.now() - startedMs).toBeLessThan(3000)
    expect(calls()).toMatchObject([{ fields: { session_id: 'ses_x', tool_name: 'task' } }])
  })
})

describe('sessions', () => {
  const told = () => place.told().map(({ args, fields }) => [args[1], fields.session_id, fields.source, fields.model])
  const message = { message: { model: { providerID: 'openai', modelID: 'gpt-5.2' } } }

  test('a start, a prompt and an end are told, the first two by the program that knows the environment', async () => {
    await openDoor()
    const hooks = await load()
    await hooks.event(made('ses_a'))
    await hooks['chat.message']({ sessionID: 'ses_a' }, message)
    await hooks['chat.message']({ sessionID: 'ses_old' }, message)
    await until('what was told', () => place.told().length === 4)
    expect(told().sort()).toEqual([
      ['SessionStart', 'ses_a', 'startup', 'gpt-5.2'],
      ['SessionStart', 'ses_old', 'resume', 'gpt-5.2'],
      ['UserPromptSubmit', 'ses_a', undefined, 'gpt-5.2'],
      ['UserPromptSubmit', 'ses_old', undefined, 'gpt-5.2'],
    ])
    await hooks.event({ event: { type: 'session.deleted', properties: { info: { id: 'ses_old' } } } })
    await hooks.dispose()
    const ends = asked.filter(({ fields }) => fields.hook_event_name === 'SessionEnd').map(({ fields }) => fields)
    expect(ends.map(({ session_id, reason }) => [session_id, reason]).sort()).toEqual([
      ['ses_a', 'exit'],
      ['ses_old', 'deleted'],
    ])
  })

  test('what ends, what has run and what opencode asks its user about is told, of subagents as theirs', async () => {
    await openDoor()
    const hooks = await load()
    await hooks.event(made('ses_a'))
    await hooks.event(made('ses_b', { parentID: 'ses_a' }))
    const event = (type: string, properties: object) => hooks.event({ event: { type, properties } })
    await event('session.idle', { sessionID: 'ses_a' })
    await event('session.idle', { sessionID: 'ses_b' })
    await event('session.error', { sessionID: 'ses_a', error: { data: { message: 'secret' } } })
    const tool = { messageID: 'm', callID: 'call_9' }
    await event('permission.asked', { sessionID: 'ses_a', permission: 'bash', tool, metadata: { command: 'secret' } })
    await hooks['tool.execute.after']({ tool: 'bash', sessionID: 'ses_b', callID: 'call_8' }, { output: 'secret' })
    await hooks.dispose()
    expect(
      asked.map(({ fields: f }) => [f.hook_event_name, f.session_id, f.agent_id, f.tool_name, f.tool_use_id]).sort(),
    ).toEqual([
      ['PermissionRequest', 'ses_a', undefined, 'bash', 'call_9'],
      ['PostToolUse', 'ses_a', 'ses_b', 'bash', 'call_8'],
      ['Stop', 'ses_a', undefined, undefined, undefined],
      ['StopFailure', 'ses_a', undefined, undefined, undefined],
      ['SubagentStart', 'ses_a', 'ses_b', undefined, undefined],
      ['SubagentStop', 'ses_a', 'ses_b', undefined, undefined],
    ])
    expect(JSON.stringify(asked)).not.toContain('secret')
  })

  test('nothing that opencode may send throws or is waited for', async () => {
    await openDoor()
    say = () => undefined
    const hooks = await load()
    const startedMs = performance.now()
    for (const properties of [undefined, null, 'x', {}, { info: null }, { sessionID: 7, tool: 'x' }])
      for (const type of ['session.created', 'session.idle', 'session.deleted', 'permission.asked', 'a.newer.one'])
        await hooks.event({ event: { type, properties } })
    await hooks['chat.message']({ sessionID: 'ses_a' }, undefined)
    await hooks['chat.params']({})
    await hooks['tool.execute.after']({ tool: 'bash', sessionID: 'ses_a' }, undefined)
    await sleep(0)
    expect(performance.now() - startedMs).toBeLessThan(1500)
  })
})

test('the module is one default export, small enough to be read, and needs nothing but Node’s own modules', async () => {
  const { plugin } = await builtTexts()
  expect(plugin.length).toBeLessThan(22 * 1024)
  expect(plugin.match(/^export /gm)).toHaveLength(1)
  expect(plugin).toContain('plugin_default as default')
  const imported = [...plugin.matchAll(/ from "([^"]+)"/g)].map(([, name]) => name!)
  expect(imported.filter(name => !name.startsWith('node:'))).toEqual([])
  rmSync(join(place.home, 'spool'), { recursive: true, force: true })
})
