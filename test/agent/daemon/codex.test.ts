/** What of the daemon's work is not as in Claude Code: sessions of Codex, whose calls come from scripts and subagents too. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { RULE } from './organisation.ts'
import { Machine, SESSION } from './world.ts'

let machine: Machine
let seconds = 0
beforeEach(() => {
  machine = new Machine()
})

const CHILD = '00000000-0000-7000-8000-00000000000c'
const nested = (n: number) => `exec-00000000-0000-4000-8000-00000000000${n}`
/** The file of a thread, begun today. */
function fileOf(thread = SESSION): string {
  const now = new Date(machine.now())
  const [year, month, day] = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map(n => String(n).padStart(2, '0'))
  const name = `rollout-${year}-${month}-${day}T00-00-00-${thread}.jsonl`
  return join(machine.folder, 'dev/.codex/sessions', year!, month!, day!, name)
}
function write(thread: string, ...lines: [type: string, payload: object][]): void {
  const path = fileOf(thread)
  mkdirSync(dirname(path), { recursive: true })
  for (const [type, payload] of lines) {
    const timestamp = new Date(machine.now() + ++seconds).toISOString()
    writeFileSync(path, `${JSON.stringify({ timestamp, type, payload })}\n`, { flag: 'a' })
  }
}
const begin = (thread = SESSION, model = 'gpt-5.5') =>
  write(
    thread,
    ['session_meta', { id: thread, session_id: SESSION, cwd: machine.cwd, model_provider: 'openai' }],
    ['turn_context', { model, cwd: machine.cwd }],
  )
const asks = (call_id: string, thread = SESSION) =>
  write(thread, ['response_item', { type: 'function_call', name: 'exec_command', call_id }])
/** A response that costs so many dollars of gpt-5.5's output, at $30 a million. */
const costs = (usd: number, thread = SESSION) =>
  write(thread, [
    'token_usage_record',
    {
      thread_id: thread,
      response_id: `r${seconds}`,
      usage: { input_tokens: 0, output_tokens: Math.round((usd / 30) * 1e6) },
    },
  ])

async function call(fields: Record<string, unknown> = {}) {
  const began = performance.now()
  const body = JSON.stringify({
    session_id: SESSION,
    transcript_path: fileOf(),
    cwd: machine.cwd,
    hook_event_name: 'PreToolUse',
    model: 'gpt-5.5',
    tool_name: 'Bash',
    tool_use_id: 'call_1',
    ...fields,
  })
  const { json } = await machine.ask('POST', '/hook/codex', {
    token: 'hook',
    headers: { 'x-holdpoint-form': 'command' },
    body,
  })
  return { ...(json as { exit: number; stdout: string; stderr: string }), ms: performance.now() - began }
}
const status = async () => (await machine.ask('GET', '/api/status', { token: 'api' })).json

test('a call whose response is still being written is judged with it', async () => {
  machine.config(RULE('deny', 2))
  await machine.start()
  begin()
  asks('call_1')
  const answered = call()
  await new Promise(resolve => setTimeout(resolve, 40))
  costs(2.1)
  expect(await answered).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining('$2.10') })
})

test('a call from within a script does not wait for a line that comes only once it has run', async () => {
  machine.config(RULE('deny', 2))
  await machine.start()
  begin()
  asks('call_script')
  costs(1.9)
  const { sessions } = machine.daemon.runtime
  let looks = 0
  const observe = sessions.observe.bind(sessions)
  sessions.observe = (...given) => {
    looks++
    return observe(...given)
  }
  expect(await call({ tool_use_id: nested(1) })).toMatchObject({ exit: 0 })
  expect(looks).toBe(1)
  asks('call_other')
  const answered = call({ tool_use_id: nested(2) })
  costs(0.2)
  expect(await answered).toMatchObject({ exit: 2 })
})

test('what a subagent costs holds it and whoever started it, during the turn', async () => {
  machine.config(RULE('deny', 2))
  await machine.start()
  begin()
  asks('call_1')
  costs(1)
  expect(await call()).toMatchObject({ exit: 0 })
  const item = { type: 'SubAgentActivity', id: 'call_1', kind: 'started', agent_thread_id: CHILD }
  write(SESSION, ['event_msg', { type: 'item_completed', item }])
  begin(CHILD)
  asks('call_2', CHILD)
  costs(1.2, CHILD)
  const inside = { agent_id: CHILD, agent_type: 'default', transcript_path: fileOf(CHILD), tool_use_id: 'call_2' }
  expect(await call(inside)).toMatchObject({ exit: 2, stderr: expect.stringContaining('$2.20') })
  asks('call_3')
  costs(0.1)
  expect(await call({ tool_use_id: 'call_3' })).toMatchObject({ exit: 2 })
  const { sessions } = await status()
  expect(sessions).toHaveLength(1)
})

test('a subagent that names no model has that of whoever starts it', async () => {
  machine.config(
    'boundaries:\n  - { name: big, action: subagent_model, when: { model_tier: "> sonnet" }, require: deny, stage: enforce }\n',
  )
  await machine.start()
  begin(SESSION, 'gpt-6-sol')
  const spawn = { tool_name: 'collaborationspawn_agent', tool_input: { message: 'm' } }
  expect(await call({ ...spawn, model: 'gpt-6-sol' })).toMatchObject({ exit: 2 })
  expect(await call({ ...spawn, model: 'gpt-6-sol', tool_input: { model: 'gpt-5.4-mini' } })).toMatchObject({ exit: 0 })
  // asked for by a subagent on a smaller model
  expect(await call({ ...spawn, model: 'gpt-5.4-mini', agent_id: CHILD, agent_type: 'default' })).toMatchObject({
    exit: 0,
  })
  expect(await call(spawn)).toMatchObject({ exit: 0 })
})

test('two clients that use one id have two sessions, each with its own cost, after a restart too', async () => {
  machine.config(RULE('deny', 20))
  await machine.start()
  begin()
  costs(3)
  machine.spend(5, { toolUses: ['toolu_1'] })
  await call()
  await machine.hook()
  const clients = (await status()).sessions.map(({ client }: { client: string }) => client)
  expect(clients.sort()).toEqual(['claude-code', 'codex'])
  await machine.daemon.stop()
  await machine.start()
  const { sessions } = machine.daemon.runtime
  expect(sessions.get('codex', SESSION)?.cost).toBe(3_000_000)
  expect(sessions.get('claude-code', SESSION)?.cost).toBe(5_000_000)
})
