/** By the examples of the client's documents: nothing here was recorded from it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HookEvent } from '#agent/clients/adapter.ts'
import { cursor } from '#agent/clients/cursor/cursor.ts'
import { HOOK_BODY_MAX } from '#core/limits.ts'

const NOW = 1_800_000_000_000
const { common, events } = JSON.parse(
  readFileSync(join(__dirname, '../../clients/payloads/cursor/documented.json'), 'utf8'),
) as { common: object; events: { hook_event_name: string }[] }
const documented = (name: string): Record<string, unknown> => ({
  ...common,
  ...events.find(event => event.hook_event_name === name),
})
const bytes = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const parse = (value: unknown) => cursor.parse(bytes(value), NOW)

const BASE = { sessionId: 'conv-456', atMs: NOW, cwd: '/project', provider: 'other' }
const MODEL = 'claude-opus-4-7-thinking-max'

test.each<[string, object]>([
  ['sessionStart', { kind: 'session_start', source: 'startup', model: MODEL }],
  ['beforeSubmitPrompt', { kind: 'prompt', model: MODEL }],
  [
    'preToolUse',
    { kind: 'tool_call', toolName: 'Shell', toolUseId: 'abc123', startsSubagent: false, model: 'claude-opus-4-7' },
  ],
  ['postToolUse', { kind: 'tool_done', toolName: 'Shell', toolUseId: 'abc123', ok: true, model: MODEL }],
  ['postToolUseFailure', { kind: 'tool_done', toolName: 'Shell', toolUseId: 'abc123', ok: false, model: MODEL }],
  [
    'subagentStart',
    {
      kind: 'tool_call',
      toolName: 'Task',
      toolUseId: 'tc-789',
      startsSubagent: true,
      subagentModel: 'claude-sonnet-4-20250514',
      agentId: 'abc-123',
      agentType: 'generalPurpose',
      model: MODEL,
    },
  ],
  ['subagentStop', { kind: 'subagent_end', agentType: 'generalPurpose', model: MODEL }],
  ['stop', { kind: 'turn_end', model: MODEL }],
  ['sessionEnd', { kind: 'session_end', reason: 'completed', model: MODEL }],
  ['afterAgentThought', { kind: 'other', name: 'afterAgentThought', model: MODEL }],
])('%s, as documented, is exactly its declared fields', (name, event) => {
  expect(parse(documented(name))).toEqual({ ...BASE, ...event })
})

test('what a subagent’s own conversation does belongs to the one that started it', () => {
  parse(documented('subagentStart'))
  expect(parse({ ...documented('preToolUse'), conversation_id: 'abc-123' })).toMatchObject({
    sessionId: 'conv-456',
    agentId: 'abc-123',
  })
})

test('an id of a call in a form of another maker’s is one all the same', () => {
  const call = { ...documented('preToolUse'), tool_use_id: 'call_1\nfc_2' }
  expect(parse(call)).toMatchObject({ toolUseId: 'call_1_fc_2' })
})

test('a background agent is nobody’s at a keyboard; anything else says nothing', () => {
  const start = documented('sessionStart')
  expect(parse({ ...start, is_background_agent: true })).toMatchObject({ attended: false })
  expect(parse(start)).not.toHaveProperty('attended')
})

test('nothing of what tools and prompts were given leaves it, nor who is signed in', () => {
  for (const { hook_event_name } of events)
    expect(JSON.stringify(parse(documented(hook_event_name)))).not.toMatch(/npm|Explore|example\.com|thinking text/)
})

test.each<[string, unknown, object]>([
  ['not JSON', '{"conversation_id":', { reason: 'not_json' }],
  ['no event', { ...documented('stop'), hook_event_name: undefined }, { field: 'hook_event_name' }],
  ['no conversation', { ...documented('stop'), conversation_id: undefined }, { field: 'conversation_id' }],
  ['a conversation that is a path', { ...documented('stop'), conversation_id: '../x' }, { reason: 'bad_id' }],
  ['no tool', { ...documented('preToolUse'), tool_name: 7 }, { reason: 'wrong_type', field: 'tool_name' }],
])('%s is a failure that names the field and no value', (_, input, failure) => {
  expect(parse(input)).toMatchObject({ kind: 'parse_failure', ...failure })
})

test('too much and what is not UTF-8 are failures', () => {
  expect(cursor.parse(new Uint8Array(HOOK_BODY_MAX + 1), NOW)).toMatchObject({ reason: 'too_large' })
  expect(cursor.parse(new Uint8Array([0x7b, 0xff, 0x7d]), NOW)).toMatchObject({ reason: 'not_utf8' })
})

describe('answers are JSON, always', () => {
  const said = (outcome: 'pass' | 'ask' | 'refuse', name: string) => {
    const { exit, stdout } = cursor.render({ outcome, text: 'R' }, parse(documented(name)) as HookEvent).command
    return { exit, ...JSON.parse(stdout) }
  }
  test.each(['preToolUse', 'subagentStart'])('%s', name => {
    expect(said('pass', name)).toEqual({ exit: 0, permission: 'allow' })
    const deny = { exit: 0, permission: 'deny', user_message: 'R', agent_message: 'R' }
    expect(said('refuse', name)).toEqual(deny)
    expect(said('ask', name)).toEqual(deny)
  })
  test('a prompt goes on, and what else there is, too', () => {
    expect(said('refuse', 'beforeSubmitPrompt')).toEqual({ exit: 0, continue: true })
    expect(said('refuse', 'stop')).toEqual({ exit: 0 })
  })
  test('broken is exit 1, a failed hook', () => {
    expect(cursor.renderBroken('why').command).toEqual({ exit: 1, stdout: '', stderr: 'why\n' })
  })
})
