import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HookEvent } from '#agent/clients/adapter.ts'
import { copilot } from '#agent/clients/copilot/copilot.ts'
import { HOOK_BODY_MAX } from '#core/limits.ts'

const NOW = 1_800_000_000_000
const folder = join(__dirname, '../../clients/payloads/copilot/hooks')
const recorded = (name: string) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
const bytes = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
/** As our program passes it on: its own JSON does not say which event it is. */
const parse = (value: unknown, event = 'preToolUse') =>
  copilot.parse(bytes(value), NOW, copilot.originFromHeaders({ 'x-holdpoint-event': event }))

const ROOT = '00000000-0000-4000-8000-000000000001'
const CHILD = '00000000-0000-4000-8000-000000000002'
const BASE = { sessionId: ROOT, atMs: NOW, cwd: '/home/dev/project' }

test.each<[string, string, object]>([
  ['sessionStart', 'sessionStart', { kind: 'session_start', source: 'new' }],
  ['userPromptSubmitted', 'userPromptSubmitted', { kind: 'prompt' }],
  ['preToolUse', 'preToolUse', { kind: 'tool_call', toolName: 'bash', startsSubagent: false }],
  ['preToolUse.task', 'preToolUse', { kind: 'tool_call', toolName: 'task', startsSubagent: true }],
  ['postToolUse', 'postToolUse', { kind: 'tool_done', toolName: 'bash', ok: true }],
  ['permissionRequest', 'permissionRequest', { kind: 'permission_prompt', toolName: 'bash' }],
  ['sessionEnd', 'sessionEnd', { kind: 'session_end', reason: 'complete' }],
])('%s, as it was recorded, is exactly its declared fields', (name, event, expected) => {
  expect(parse(recorded(name), event)).toEqual({ ...BASE, ...expected })
})

test('every event of a session with a subagent belongs to the session, and the subagent’s bear its name', () => {
  const events = (recorded('sequence.subagent') as { event: string; input: object }[]).map(
    ({ event, input }) => parse(input, event) as HookEvent,
  )
  expect(new Set(events.map(({ sessionId }) => sessionId))).toEqual(new Set([ROOT]))
  const own = events.filter(({ agentId }) => agentId === CHILD).map(({ kind }) => kind)
  expect(own).toEqual([
    'subagent_start',
    'subagent_start',
    'tool_call',
    'permission_prompt',
    'tool_done',
    'subagent_end',
    'subagent_end',
  ])
  expect(events.filter(({ agentId }) => agentId === undefined).map(({ kind }) => kind)).toEqual([
    'session_start',
    'prompt',
    'tool_call',
    'tool_done',
    'turn_end',
    'session_end',
  ])
})

test('a subagent of a subagent belongs to the session at the root', () => {
  const call = recorded('preToolUse')
  const agent = (agentId: string, parentAgentId: string) => ({ ...call, sessionId: agentId, agentId, parentAgentId })
  parse(agent('child-a', 'root-a'))
  expect(parse(agent('grandchild-a', 'child-a'))).toMatchObject({ sessionId: 'root-a', agentId: 'grandchild-a' })
  expect(parse(agent('great-a', 'grandchild-a'))).toMatchObject({ sessionId: 'root-a', agentId: 'great-a' })
  // of one that was never heard of, what started it is all that is known
  expect(parse(agent('lost', 'unheard'))).toMatchObject({ sessionId: 'unheard' })
})

test('the model that a call names for its subagent is told, and no other tool’s', () => {
  const task = recorded('preToolUse.task')
  const named = { ...task, toolArgs: { ...task.toolArgs, model: 'gpt-5.5-mini' } }
  expect(parse(named)).toMatchObject({ startsSubagent: true, subagentModel: 'gpt-5.5-mini' })
  expect(parse({ ...named, toolName: 'bash' })).not.toHaveProperty('subagentModel')
})

test('the end of an agent’s work is not held: refused, it would go on', () => {
  const event = parse({ ...recorded('preToolUse'), toolName: 'task_complete' }) as HookEvent
  expect(event.kind).toBe('other')
  expect(copilot.render({ outcome: 'refuse', text: 'no' }, event).command.exit).toBe(0)
})

test('nothing of what tools and prompts were given leaves it', () => {
  for (const { event, input } of recorded('sequence.subagent'))
    expect(JSON.stringify(parse(input, event))).not.toMatch(/echo|please run|final|stub/)
})

test.each<[string, unknown, object]>([
  ['not JSON', '{"sessionId":', { reason: 'not_json' }],
  ['no session', { ...recorded('preToolUse'), sessionId: undefined }, { reason: 'missing_field', field: 'sessionId' }],
  [
    'a session that is a path',
    { ...recorded('preToolUse'), sessionId: '../x' },
    { reason: 'bad_id', field: 'sessionId' },
  ],
  ['an agent that is a path', { ...recorded('preToolUse'), agentId: 'a/b' }, { reason: 'bad_id', field: 'agentId' }],
  ['no tool', { ...recorded('preToolUse'), toolName: null }, { reason: 'missing_field', field: 'toolName' }],
])('%s is a failure that names the field and no value', (_, input, failure) => {
  expect(parse(input)).toMatchObject({ kind: 'parse_failure', ...failure })
})

test('an event that nobody names is a failure, never a pass', () => {
  expect(copilot.parse(bytes(recorded('preToolUse')), NOW)).toMatchObject({ field: 'hook_event_name' })
})

test('too much and what is not UTF-8 are failures', () => {
  expect(copilot.parse(new Uint8Array(HOOK_BODY_MAX + 1), NOW)).toMatchObject({ reason: 'too_large' })
  expect(copilot.parse(new Uint8Array([0x7b, 0xff, 0x7d]), NOW)).toMatchObject({ reason: 'not_utf8' })
})

test('newer fields and newer events are let through', () => {
  expect(parse({ ...recorded('preToolUse'), toolCallId: 'x', more: [1] })).toEqual(parse(recorded('preToolUse')))
  expect(parse(recorded('preToolUse'), 'preDawn')).toMatchObject({ kind: 'other', name: 'preDawn' })
})

describe('answers', () => {
  const call = parse(recorded('preToolUse')) as HookEvent

  test('pass is silent', () => {
    expect(copilot.render({ outcome: 'pass', text: '' }, call).command).toEqual({ exit: 0, stdout: '', stderr: '' })
  })
  test.each(['refuse', 'ask'] as const)(
    '%s refuses by its exit code, with the words in the client’s own form',
    outcome => {
      const { exit, stdout, stderr } = copilot.render({ outcome, text: 'R' }, call).command
      expect({ exit, stderr }).toEqual({ exit: 2, stderr: 'R\n' })
      expect(JSON.parse(stdout)).toEqual({ permissionDecision: 'deny', permissionDecisionReason: 'R' })
    },
  )
  test('what is no call is never refused', () => {
    const prompt = parse(recorded('userPromptSubmitted'), 'userPromptSubmitted') as HookEvent
    expect(copilot.render({ outcome: 'refuse', text: 'R' }, prompt).command).toEqual({
      exit: 0,
      stdout: '',
      stderr: '',
    })
  })
  test('broken is exit 1, which our program turns into what was chosen', () => {
    expect(copilot.renderBroken('why').command).toEqual({ exit: 1, stdout: '', stderr: 'why\n' })
  })
})
