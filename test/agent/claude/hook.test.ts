import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Decision, HookEvent } from '#agent/clients/adapter.ts'
import { claude } from '#agent/clients/claude/claude.ts'

const PAYLOADS = join(import.meta.dirname, '../../clients/payloads/claude')
const payload = (name: string) => readFileSync(join(PAYLOADS, `${name}.json`))
const parse = (value: unknown, origin = {}) =>
  claude.parse(value instanceof Uint8Array ? value : new TextEncoder().encode(JSON.stringify(value)), 5, origin)

const BASE = {
  sessionId: '00000000-0000-4000-8000-000000000001',
  atMs: 5,
  cwd: '/home/dev/project',
  transcriptPath: '/home/dev/.claude/projects/-home-dev-project/00000000-0000-4000-8000-000000000001.jsonl',
}
const USE = { toolUseId: 'toolu_000000000000000000000001' }
const SUB = { agentId: 'a0000000000000001', agentType: 'general-purpose' }

describe('recorded hook inputs become exactly the declared fields', () => {
  const bash = { ...BASE, ...USE, kind: 'tool_call', toolName: 'Bash', startsSubagent: false }
  test.each<[string, object]>([
    ['PreToolUse', bash],
    ['PreToolUse.read', { ...bash, toolName: 'Read' }],
    ['PreToolUse.write', { ...bash, toolName: 'Write' }],
    ['PreToolUse.interactive-auto-mode', bash],
    ['PreToolUse.in-subagent', { ...bash, ...SUB }],
    ['PreToolUse.agent', { ...bash, toolName: 'Agent', startsSubagent: true }],
    ['PermissionRequest', { ...BASE, kind: 'permission_prompt', toolName: 'Bash' }],
    ['PostToolUse', { ...BASE, ...USE, kind: 'tool_done', toolName: 'Bash', ok: true }],
    ['PostToolUseFailure', { ...BASE, ...USE, kind: 'tool_done', toolName: 'Bash', ok: false }],
    ['PostToolBatch', { ...BASE, kind: 'other', name: 'PostToolBatch' }],
    ['SessionStart', { ...BASE, kind: 'session_start', source: 'startup' }],
    ['SessionStart.interactive', { ...BASE, kind: 'session_start', source: 'startup', model: 'claude-opus-5-5' }],
    ['SessionStart.resume', { ...BASE, kind: 'session_start', source: 'resume' }],
    ['SessionEnd', { ...BASE, kind: 'session_end', reason: 'other' }],
    ['UserPromptSubmit', { ...BASE, kind: 'prompt' }],
    ['UserPromptSubmit.task-notification', { ...BASE, kind: 'prompt' }],
    ['Stop', { ...BASE, kind: 'turn_end' }],
    ['Stop.background-running', { ...BASE, kind: 'turn_end' }],
    ['SubagentStart', { ...BASE, ...SUB, kind: 'subagent_start' }],
    ['SubagentStop', { ...BASE, ...SUB, kind: 'subagent_end' }],
    ['MessageDisplay', { ...BASE, kind: 'other', name: 'MessageDisplay' }],
  ])('%s', (name, expected) => {
    expect(parse(payload(name))).toEqual(expected)
  })

  test('no recorded text of a prompt, a command or a result is in any event', () => {
    const names = readdirSync(PAYLOADS).filter(n => /^[A-Z]/.test(n))
    expect(names.length).toBeGreaterThan(20)
    for (const name of names) {
      const event = JSON.stringify(parse(readFileSync(join(PAYLOADS, name))))
      expect(event, name).not.toMatch(/stub:|echo|hello\.txt|final|Say hi|written/)
    }
  })

  test('the model that a subagent call names is kept, that of any other call is not', () => {
    const agent = JSON.parse(payload('PreToolUse.agent').toString())
    agent.tool_input.model = 'opus'
    expect(parse(agent)).toMatchObject({ startsSubagent: true, subagentModel: 'opus' })
    expect(parse({ ...agent, tool_name: 'Bash' })).not.toHaveProperty('subagentModel')
    expect(parse({ ...agent, tool_input: null })).not.toHaveProperty('subagentModel')
  })
})

describe('input of other versions', () => {
  const good = JSON.parse(payload('PreToolUse').toString())

  test('unknown fields and events are taken', () => {
    expect(parse({ ...good, new_field: { deep: [1] } })).toEqual(parse(good))
    expect(parse({ ...good, hook_event_name: 'Brand_New' })).toMatchObject({ kind: 'other', name: 'Brand_New' })
  })

  test.each(['hook_event_name', 'session_id', 'cwd', 'tool_name'])(
    'without %s it is a failure that names it',
    field => {
      const { [field]: _, ...rest } = good
      expect(parse(rest)).toMatchObject({ kind: 'parse_failure', reason: 'missing_field', field })
      expect(parse({ ...good, [field]: 7 })).toMatchObject({ kind: 'parse_failure', reason: 'wrong_type', field })
    },
  )

  test('a call without an id or a transcript is still judged', () => {
    const { tool_use_id, transcript_path, ...rest } = good
    expect(parse(rest)).toMatchObject({ kind: 'tool_call', toolName: 'Bash' })
  })

  test.each(['../../etc/passwd', 'a/b', 'a\0b', 'x'.repeat(129), '.'])('%j is no session id', session_id => {
    expect(parse({ ...good, session_id })).toMatchObject({ reason: 'bad_id', field: 'session_id' })
  })

  test('bytes that are no hook input are named failures', () => {
    const bytes = (text: string) => parse(new TextEncoder().encode(text))
    expect(bytes('{broken')).toMatchObject({ kind: 'parse_failure', reason: 'not_json', sizeBytes: 7 })
    expect(bytes('')).toMatchObject({ reason: 'not_json' })
    expect(bytes('[]')).toMatchObject({ reason: 'not_object' })
    expect(parse(new Uint8Array([0xff, 0xfe]))).toMatchObject({ reason: 'not_utf8' })
    expect(parse(new Uint8Array(8 * 1024 * 1024 + 1))).toMatchObject({ reason: 'too_large' })
  })
})

describe('who is at the keyboard', () => {
  test('only an explicit 1 means someone', () => {
    const from = (CLAUDE_CODE_SESSION_ATTENDED?: string) => claude.originFromEnv({ CLAUDE_CODE_SESSION_ATTENDED })
    expect(from('1').attended).toBe(true)
    expect(from('0').attended).toBe(false)
    expect(from('yes').attended).toBeUndefined()
    expect(from().attended).toBeUndefined()
  })

  test('our command hook passes on what it was told, unless the entry point says nobody', () => {
    const from = (attended: string, entrypoint: string) =>
      claude.originFromHeaders({ 'x-holdpoint-attended': attended, 'x-holdpoint-entrypoint': entrypoint }).attended
    expect([from('1', 'cli'), from('0', 'cli'), from('', 'cli'), from('1', 'sdk-cli')]).toEqual([
      true,
      false,
      undefined,
      false,
    ])
  })

  test('the entry-point header can only say that nobody is there', () => {
    const from = (value?: string) => claude.originFromHeaders({ 'x-holdpoint-entrypoint': value })
    expect(from('sdk-cli')).toEqual({ entrypoint: 'sdk-cli', attended: false })
    expect(from('cli')).toEqual({ entrypoint: 'cli', attended: undefined })
    expect(from('')).toEqual({ entrypoint: undefined, attended: undefined })
  })

  test('of an environment with keys in it, nothing else is taken', () => {
    const { env } = JSON.parse(payload('hook-environment').toString())
    const origin = claude.originFromEnv({ ...env, ANTHROPIC_API_KEY: 'secret' })
    expect(origin).toEqual({ entrypoint: 'sdk-cli', attended: false })
  })
})

describe('answers', () => {
  const call = parse(payload('PreToolUse')) as HookEvent
  const render = (decision: Decision, event: HookEvent | undefined = call) => claude.render(decision, event)

  test('pass is an empty 200 and a silent exit 0', () => {
    const pass = { http: { status: 200, body: '' }, command: { exit: 0, stdout: '', stderr: '' } }
    expect(render({ outcome: 'pass', text: '' })).toEqual(pass)
  })

  test('refuse and ask in the exact forms', () => {
    const body = (permissionDecision: string) =>
      `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"${permissionDecision}","permissionDecisionReason":"why"}}`
    expect(render({ outcome: 'refuse', text: 'why' })).toEqual({
      http: { status: 200, body: body('deny') },
      command: { exit: 2, stdout: '', stderr: 'why\n' },
    })
    expect(render({ outcome: 'ask', text: 'why' })).toEqual({
      http: { status: 200, body: body('ask') },
      command: { exit: 0, stdout: body('ask'), stderr: '' },
    })
  })

  test('a refusal never goes out without a reason', () => {
    const { http, command } = render({ outcome: 'refuse', text: '  ' })
    expect(JSON.parse(http.body).hookSpecificOutput.permissionDecisionReason).not.toBe('')
    expect(command.stderr.trim()).not.toBe('')
  })

  test('nothing but a tool call is ever held', () => {
    for (const name of ['Stop', 'UserPromptSubmit', 'SessionStart', 'PostToolUse', 'SubagentStop']) {
      const event = parse(payload(name)) as HookEvent
      const { http, command } = render({ outcome: 'refuse', text: 'why' }, event)
      expect([http.body, command.exit, command.stderr], name).toEqual(['', 0, ''])
    }
  })

  test('a message for the person goes with any outcome', () => {
    expect(JSON.parse(render({ outcome: 'ask', text: 'why', systemMessage: 'note' }).http.body).systemMessage).toBe(
      'note',
    )
    expect(JSON.parse(render({ outcome: 'pass', text: '', systemMessage: 'note' }).http.body)).toEqual({
      systemMessage: 'note',
    })
  })

  test('broken is a failed hook, not a decision', () => {
    expect(claude.renderBroken('down')).toMatchObject({ http: { status: 500 }, command: { exit: 1, stdout: '' } })
  })
})

describe('what the real client was measured to do with these forms', () => {
  type Row = {
    case: string
    tool_ran: string | null
    tool_result_seen_by_model: string | null
    terminal_reason: string
  }
  const rows: Row[] = JSON.parse(payload('effects.PreToolUse').toString())
  const ran = (name: string) => {
    const row = rows.find(r => r.case === name)
    if (!row) throw new Error(`no measured case ${name}`)
    return row.tool_ran === 'ran'
  }
  // our form -> measured cases of that form, and whether the call ran
  test.each<[string, string[], boolean]>([
    ['http pass', ['http/200-empty', 'http-onFailure-block/200-empty'], true],
    ['http refuse', ['http/200-deny'], false],
    ['http ask, nobody there', ['http/200-ask', 'http-onFailure-block/ask2'], false],
    ['command pass', ['allowrule/exit0-empty', 'onFailure-block/exit0-empty'], true],
    ['command refuse', ['allowrule/exit2-stderr', 'norule/exit2-stderr'], false],
    ['command ask, nobody there', ['allowrule/ask', 'onFailure-block/ask'], false],
    ['http broken, pass when broken', ['http/500'], true],
    ['http broken, block when broken', ['http-onFailure-block/500', 'http-onFailure-block/refused'], false],
    ['command broken, pass when broken', ['allowrule/exit1-stderr'], true],
    ['command broken, block when broken', ['onFailure-block/exit1'], false],
  ])('%s', (_form, cases, expected) => {
    for (const name of cases) expect(ran(name), name).toBe(expected)
  })
})
