import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { codex } from '#agent/clients/codex/codex.ts'
import type { CodexUsageState } from '#agent/clients/codex/rollout.ts'
import type { SessionUsage } from '#agent/clients/usage-source.ts'
import { pricingFrom } from '#agent/pricing/rate-card.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import { recordedRollouts } from './recorded.ts'

const pricing = pricingFrom(builtInRates())
const MAIN = '00000000-0000-7000-8000-000000000001'
const CHILD = '00000000-0000-7000-8000-000000000002'
const NESTED = 'exec-00000000-0000-4000-8000-000000000003'
const AT = Date.parse('2026-05-04T10:00:00.000Z')

let dir: string
let home: ClientHome
let seconds: number
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'holdpoint-codex-'))
  home = { homeDir: dir, env: {} }
  seconds = 0
})
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }))

type Usage = SessionUsage<CodexUsageState>
function read(before?: Usage): Usage {
  const state = before && (JSON.parse(JSON.stringify(before.state)) as CodexUsageState)
  return codex.usage.readSession(home, { sessionId: MAIN }, state, pricing)
}
function add(file: string, ...lines: object[]): void {
  const path = join(dir, '.codex', file)
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.appendFileSync(path, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
}
/** The file of a thread, of the local day on which it began. */
const fileOf = (thread: string, at = new Date(AT)) => {
  const [year, month, day] = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(n => String(n).padStart(2, '0'))
  return `sessions/${year}/${month}/${day}/rollout-${year}-${month}-${day}T10-00-00-${thread}.jsonl`
}
const FILE = fileOf(MAIN)

const line = (type: string, payload: object) => ({
  timestamp: new Date(AT + 1000 * seconds++).toISOString(),
  type,
  payload,
})
const meta = (id = MAIN) => line('session_meta', { id, session_id: MAIN, cwd: '/work', model_provider: 'openai' })
const turn = () => line('turn_context', { model: 'gpt-5.5', cwd: '/work' })
const call = (call_id: string, name = 'exec_command', type = 'function_call') =>
  line('response_item', { type, name, arguments: '{"cmd":"SECRET"}', call_id })
const counted = (response_id: string, thread_id = MAIN) =>
  line('token_usage_record', {
    thread_id,
    session_id: MAIN,
    response_id,
    usage: { input_tokens: 0, output_tokens: 100_000 },
  })
const item = (item: object) => line('event_msg', { type: 'item_completed', thread_id: MAIN, item })
const command = (id: string, source = 'unified_exec_startup') =>
  item({ type: 'CommandExecution', id, command: ['SECRET'], source, status: 'completed', aggregated_output: 'SECRET' })
const ids = ({ toolUses }: Usage) => toolUses.map(({ toolUseId }) => toolUseId)
const results = ({ toolResults }: Usage) => toolResults.map(({ toolUseId, outcome }) => `${toolUseId} ${outcome}`)

test('a call is named once the response that asks for it is in the cost, and not before', () => {
  add(FILE, meta(), turn(), call('call_1'), call('call_2', 'apply_patch', 'custom_tool_call'))
  const first = read()
  expect(first).toMatchObject({ toolUses: [], isWhole: false })
  add(FILE, counted('r1'))
  const second = read(first)
  expect(second.toolUses).toMatchObject([
    { toolUseId: 'call_1', toolName: 'exec_command' },
    { toolUseId: 'call_2', toolName: 'apply_patch' },
  ])
  expect(second.isWhole).toBe(true)
  expect(second.costPicoUsd).toBeGreaterThan(0n)
  expect(JSON.stringify([second.toolUses, second.state])).not.toContain('SECRET')
})

test('what ran is told by the line that it leaves; what the next response finds without one did not run', () => {
  add(FILE, meta(), turn(), call('call_1'), call('call_2'), call('call_3', 'write_stdin'), counted('r1'))
  const first = read()
  add(FILE, command('call_1'))
  const second = read(first)
  expect(results(second)).toEqual(['call_1 ran'])
  add(FILE, call('call_4'), counted('r2'))
  const third = read(second)
  expect(results(third)).toEqual(['call_2 refused', 'call_3 refused'])
  // a program that was left running ends later, and has run all the same
  add(FILE, command('call_2'))
  const fourth = read(third)
  expect(ids(fourth)).toEqual(['call_2'])
  expect(results(fourth)).toEqual(['call_2 ran'])
})

test('a call from within a script is named when it has run; the script itself is no call of a tool', () => {
  add(FILE, meta(), turn(), call('call_1', 'exec', 'custom_tool_call'), counted('r1'))
  const first = read()
  expect(first.isWhole).toBe(true)
  add(FILE, command(NESTED), item({ type: 'FileChange', id: `${NESTED}4`, changes: { SECRET: 1 } }), counted('r2'))
  const second = read(first)
  expect(results(second)).toEqual([`${NESTED} ran`, `${NESTED}4 ran`, 'call_1 refused'])
})

test('what is told to a subagent is a call, that it has ended is none', () => {
  const activity = (id: string, kind: string) => item({ type: 'SubAgentActivity', id, kind, agent_thread_id: CHILD })
  add(FILE, meta(), turn(), activity('call_1', 'interacted'), activity(`subagent-completed-${CHILD}`, 'completed'))
  expect(results(read())).toEqual(['call_1 ran'])
})

test('what a person types, and what is typed into a program that runs, are no calls', () => {
  add(FILE, meta(), turn(), command('by-hand', 'user_shell'), command('typed', 'unified_exec_interaction'))
  expect(read()).toMatchObject({ toolUses: [], toolResults: [] })
})

test.each([
  ['one kind', { type: 'CollabAgentToolCall', id: 'call_1', tool: 'spawn_agent', receiver_thread_ids: [CHILD] }],
  ['the other', { type: 'SubAgentActivity', id: 'call_1', kind: 'started', agent_thread_id: CHILD }],
])('a subagent’s file (of %s) is found by its start, and what it costs counts during the turn', (_, started) => {
  add(FILE, meta(), turn(), call('call_1', 'spawn_agent'), counted('r1'))
  const first = read()
  add(FILE, item(started))
  const second = read(first)
  expect(results(second)).toEqual(['call_1 ran'])
  expect(second.costPicoUsd).toBe(first.costPicoUsd)
  add(fileOf(CHILD), meta(CHILD), turn(), call('call_9'), counted('r9', CHILD))
  const third = read(second)
  expect(third.costPicoUsd).toBe(first.costPicoUsd! * 2n)
  expect(third.toolUses).toMatchObject([{ toolUseId: 'call_9', agentId: CHILD }])
  // and is not looked for again
  expect(third.state.started ?? {}).toEqual({})
})

test('a subagent that leaves no file is not looked for without end', () => {
  add(
    FILE,
    meta(),
    turn(),
    call('call_1'),
    counted('r1'),
    item({ type: 'SubAgentActivity', id: 'x', kind: 'started', agent_thread_id: CHILD }),
  )
  vi.useFakeTimers({ now: AT, toFake: ['Date'] })
  const first = read(read())
  vi.setSystemTime(AT + 9 * 60_000)
  const second = read(first)
  expect(second.state.started).toHaveProperty(CHILD)
  vi.setSystemTime(AT + 11 * 60_000)
  expect(read(second).state.started).toEqual({})
  vi.useRealTimers()
})

test('recorded files: each call of a tool is named, once it is paid for', () => {
  const { files } = recordedRollouts('tool-call')
  for (const [path, lines] of Object.entries(files)) add(path, ...lines)
  const [changed] = [...codex.usage.changedSessions(home, 0)].flat()
  const usage = codex.usage.readSession(home, changed!, undefined, pricing)
  expect(usage.toolUses.length).toBeGreaterThan(0)
  expect(usage.isWhole).toBe(true)
})
