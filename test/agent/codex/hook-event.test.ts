import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codex } from '#agent/clients/codex/codex.ts'
import { HOOK_BODY_MAX } from '#core/limits.ts'

const PAYLOADS = join(import.meta.dirname, '../../clients/payloads/codex/hooks')
const recorded = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(PAYLOADS, `${name}.json`), 'utf8'))
const bytes = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const parse = (value: unknown) => codex.parse(bytes(value), 5)

const SESSION = '00000000-0000-4000-8000-000000000001'
const AGENT = '00000000-0000-4000-8000-000000000003'
const rollout = (thread: string) => `/home/dev/.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-${thread}.jsonl`
const BASE = {
  sessionId: SESSION,
  atMs: 5,
  cwd: '/home/dev/project',
  transcriptPath: rollout(SESSION),
  model: 'gpt-5.5',
}
const SUB = { ...BASE, model: 'stub-model', agentId: AGENT, agentType: 'default', transcriptPath: rollout(AGENT) }
const USE = { toolUseId: 'call_000000000000000000000001' }
const call = { kind: 'tool_call', toolName: 'Bash', startsSubagent: false }

test.each<[string, object]>([
  ['SessionStart', { ...BASE, kind: 'session_start', source: 'startup' }],
  ['UserPromptSubmit', { ...BASE, kind: 'prompt' }],
  ['PreToolUse', { ...BASE, ...USE, ...call }],
  ['PreToolUse.apply_patch', { ...BASE, ...USE, ...call, toolName: 'apply_patch' }],
  // the session is the one that a person began; the records are the subagent's own
  ['PreToolUse.in-subagent', { ...SUB, ...USE, ...call }],
  [
    'PreToolUse.spawn_agent',
    { ...BASE, ...USE, ...call, model: 'stub-model', toolName: 'spawn_agent', startsSubagent: true },
  ],
  [
    'PreToolUse.collaboration-spawn_agent',
    { ...BASE, ...USE, ...call, model: 'gpt-6-sol', toolName: 'collaborationspawn_agent', startsSubagent: true },
  ],
  ['PreToolUse.code-mode', { ...BASE, ...call, model: 'gpt-6-sol', toolUseId: `exec-${AGENT}`, isNested: true }],
  ['PostToolUse', { ...BASE, ...USE, kind: 'tool_done', toolName: 'Bash', ok: true }],
  ['PermissionRequest', { ...BASE, model: 'gpt-6-sol', kind: 'permission_prompt', toolName: 'Bash' }],
  ['Stop', { ...BASE, kind: 'turn_end' }],
  ['SubagentStart', { ...SUB, kind: 'subagent_start' }],
  ['SubagentStop', { ...SUB, transcriptPath: rollout(SESSION), kind: 'subagent_end' }],
])('%s, as it was recorded, is exactly its declared fields', (name, event) => {
  expect(parse(recorded(name))).toEqual(event)
})

test('an event that it knows nothing about is told by its name', () => {
  expect(parse(recorded('PreModelRequest'))).toMatchObject({ kind: 'other', name: 'PreModelRequest' })
})

test('no recorded text of a prompt, a command or a result is in any event', () => {
  const names = readdirSync(PAYLOADS).filter(name => /^[A-Z]/.test(name))
  expect(names.length).toBeGreaterThan(14)
  for (const name of names)
    expect(JSON.stringify(parse(readFileSync(join(PAYLOADS, name), 'utf8'))), name).not.toMatch(
      /stub:|echo|final|Patch|hi\\n/,
    )
})

test('the model that a subagent’s start names is kept, that of any other call is not', () => {
  const named = (name: string) => parse({ ...recorded(name), tool_input: { message: 'm', model: 'gpt-5.4-mini' } })
  expect(named('PreToolUse.spawn_agent')).toMatchObject({ subagentModel: 'gpt-5.4-mini' })
  expect(named('PreToolUse')).not.toHaveProperty('subagentModel')
})

test('an id of a call that another model’s server gave is taken as it is, and one that is none is left out', () => {
  const withId = (id: unknown) => parse({ ...recorded('PreToolUse'), tool_use_id: id })
  expect(withId('functions.exec_command:0')).toMatchObject({ kind: 'tool_call', toolUseId: 'functions.exec_command:0' })
  for (const id of ['', 'a b', 'x'.repeat(129), 7, null]) {
    expect(withId(id)).toMatchObject({ kind: 'tool_call' })
    expect(withId(id)).not.toHaveProperty('toolUseId')
  }
})

test('newer fields are let through; a missing or odd one that is needed is named, without its value', () => {
  const whole = recorded('PreToolUse')
  expect(parse({ ...whole, more: { deep: [1] } })).toEqual(parse(whole))
  expect(parse({ ...whole, session_id: undefined })).toMatchObject({ reason: 'missing_field', field: 'session_id' })
  expect(parse({ ...whole, session_id: '../../x' })).toMatchObject({ reason: 'bad_id', field: 'session_id' })
  expect(parse({ ...whole, agent_id: 'a/b' })).toMatchObject({ reason: 'bad_id', field: 'agent_id' })
  expect(parse({ ...whole, tool_name: 4 })).toMatchObject({ reason: 'wrong_type', field: 'tool_name' })
  // a run that keeps no file has no path
  expect(parse({ ...whole, transcript_path: null })).not.toHaveProperty('transcriptPath')
  expect(parse('[]')).toMatchObject({ reason: 'not_object' })
  expect(codex.parse(new Uint8Array(HOOK_BODY_MAX + 1), 5)).toMatchObject({ reason: 'too_large' })
  expect(codex.parse(new Uint8Array([0x7b, 0xff, 0x7d]), 5)).toMatchObject({ reason: 'not_utf8' })
})

test('what would be asked is refused, since Codex runs a call that it is told to ask about', () => {
  const event = parse(recorded('PreToolUse'))
  if (event.kind === 'parse_failure') throw new Error(event.reason)
  const asked = codex.render({ outcome: 'ask', text: 'across: $2 of $2' }, event)
  expect(asked.command).toEqual({ exit: 2, stdout: '', stderr: 'across: $2 of $2\n' })
  expect(codex.asks).toBe(false)
})
