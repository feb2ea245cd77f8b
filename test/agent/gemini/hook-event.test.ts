import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HookEvent } from '#agent/clients/adapter.ts'
import { gemini } from '#agent/clients/gemini/gemini.ts'
import { HOOK_BODY_MAX } from '#core/limits.ts'

const NOW = 1_800_000_000_000
const recorded = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(__dirname, `../../clients/payloads/gemini/hooks/${name}.json`), 'utf8'))
const bytes = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const parse = (value: unknown) => gemini.parse(bytes(value), NOW)

const BASE = {
  sessionId: '00000000-0000-4000-8000-000000000001',
  atMs: NOW,
  cwd: '/home/dev/project',
  provider: 'google',
  transcriptPath: '/home/dev/.gemini/tmp/project/chats/session-2026-01-01T00-00-00000000.jsonl',
}

test.each<[string, object]>([
  ['SessionStart', { kind: 'session_start', source: 'startup' }],
  ['BeforeAgent', { kind: 'prompt' }],
  ['BeforeTool', { kind: 'tool_call', toolName: 'run_shell_command', startsSubagent: false }],
  ['BeforeTool.in-subagent', { kind: 'tool_call', toolName: 'run_shell_command', startsSubagent: false }],
  ['BeforeTool.invoke_agent', { kind: 'tool_call', toolName: 'invoke_agent', startsSubagent: true }],
  ['AfterTool', { kind: 'tool_done', toolName: 'run_shell_command', ok: true }],
  ['AfterAgent', { kind: 'turn_end' }],
  ['SessionEnd', { kind: 'session_end', reason: 'exit' }],
  ['BeforeModel', { kind: 'other', name: 'BeforeModel' }],
  ['Notification', { kind: 'other', name: 'Notification' }],
])('%s, as it was recorded, is exactly its declared fields', (name, event) => {
  expect(parse(recorded(name))).toEqual({ ...BASE, ...event })
})

test('nothing of what tools, prompts and models were given leaves it', () => {
  for (const name of ['BeforeTool', 'AfterTool', 'BeforeAgent', 'AfterAgent', 'BeforeModel', 'Notification'])
    expect(JSON.stringify(parse(recorded(name)))).not.toMatch(/echo|please run|final/)
})

test('the end of a subagent is not held: refused, it would go on asking its model', () => {
  const event = parse({ ...recorded('BeforeTool'), tool_name: 'complete_task' }) as HookEvent
  expect(event.kind).toBe('subagent_end')
  expect(gemini.render({ outcome: 'refuse', text: 'no' }, event).command.exit).toBe(0)
})

test.each<[string, unknown, object]>([
  ['not JSON', '{"session_id":', { reason: 'not_json' }],
  ['a list', [], { reason: 'not_object' }],
  [
    'no session',
    { ...recorded('BeforeTool'), session_id: undefined },
    { reason: 'missing_field', field: 'session_id' },
  ],
  [
    'a session that is a path',
    { ...recorded('BeforeTool'), session_id: '../x' },
    { reason: 'bad_id', field: 'session_id' },
  ],
  ['no tool', { ...recorded('BeforeTool'), tool_name: null }, { reason: 'missing_field', field: 'tool_name' }],
  ['a number for a folder', { ...recorded('BeforeTool'), cwd: 1 }, { reason: 'wrong_type', field: 'cwd' }],
])('%s is a failure that names the field and no value', (_, input, failure) => {
  expect(parse(input)).toMatchObject({ kind: 'parse_failure', ...failure })
})

test('too much and what is not UTF-8 are failures', () => {
  expect(gemini.parse(new Uint8Array(HOOK_BODY_MAX + 1), NOW)).toMatchObject({ reason: 'too_large' })
  expect(gemini.parse(new Uint8Array([0x7b, 0xff, 0x7d]), NOW)).toMatchObject({ reason: 'not_utf8' })
})

test('newer fields and newer events are let through', () => {
  expect(parse({ ...recorded('BeforeTool'), tool_call_id: 'x', more: [1] })).toEqual(parse(recorded('BeforeTool')))
  expect(parse({ ...recorded('BeforeTool'), hook_event_name: 'BeforeDawn' })).toMatchObject({ kind: 'other' })
})

describe('answers', () => {
  const call = parse(recorded('BeforeTool')) as HookEvent

  test('pass is silent', () => {
    expect(gemini.render({ outcome: 'pass', text: '' }, call).command).toEqual({ exit: 0, stdout: '', stderr: '' })
  })
  test.each(['refuse', 'ask'] as const)('%s refuses by exit 2 and words, whatever is printed around them', outcome => {
    expect(gemini.render({ outcome, text: 'R' }, call).command).toEqual({ exit: 2, stdout: '', stderr: 'R\n' })
  })
  test('a refusal without words has some: without, the client lets the call run', () => {
    expect(gemini.render({ outcome: 'refuse', text: ' ' }, call).command.stderr.trim()).not.toBe('')
  })
  test('what is no call is never refused, and a word for the person is JSON', () => {
    const prompt = parse(recorded('BeforeAgent')) as HookEvent
    expect(gemini.render({ outcome: 'refuse', text: 'R' }, prompt).command.exit).toBe(0)
    const told = gemini.render({ outcome: 'pass', text: '', systemMessage: 'S' }, prompt).command
    expect(JSON.parse(told.stdout)).toEqual({ systemMessage: 'S' })
  })
  test('broken is exit 1, at which the client lets the call run', () => {
    expect(gemini.renderBroken('why').command).toEqual({ exit: 1, stdout: '', stderr: 'why\n' })
  })
})
