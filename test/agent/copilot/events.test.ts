import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { copilot } from '#agent/clients/copilot/copilot.ts'
import type { CopilotUsageState } from '#agent/clients/copilot/events.ts'
import type { SessionUsage } from '#agent/clients/usage-source.ts'
import { pricingFrom } from '#agent/pricing/rate-card.ts'
import { picoToUsd, type UsageTokens } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'

const PAYLOADS = join(import.meta.dirname, '../../clients/payloads/copilot')
const recorded = (name: string): Record<string, unknown>[] =>
  JSON.parse(fs.readFileSync(join(PAYLOADS, `events.${name}.json`), 'utf8')).lines
const ID = '00000000-0000-4000-8000-000000000001'
const pricing = pricingFrom(builtInRates())

let dir: string
let home: ClientHome
let file: string
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'holdpoint-copilot-'))
  home = { homeDir: dir, env: {} }
  file = join(dir, '.copilot/session-state', ID, 'events.jsonl')
  fs.mkdirSync(join(file, '..'), { recursive: true })
})
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }))

type Usage = SessionUsage<CopilotUsageState>
/** Reads as a collector does that was restarted in between: only the marks are kept, and as JSON. */
function read(before?: Usage, bytes?: number): Usage {
  const state = before && (JSON.parse(JSON.stringify(copilot.usage.marksOf(before.state))) as CopilotUsageState)
  return copilot.usage.readSession(home, { sessionId: ID }, state, pricing, bytes === undefined ? undefined : { bytes })
}
const text = (lines: object[]) => lines.map(line => `${JSON.stringify(line)}\n`).join('')
const write = (lines: object[]) => fs.writeFileSync(file, text(lines))
const append = (...lines: object[]) => fs.appendFileSync(file, text(lines))
const short = ({ input, cacheRead, cacheWrite5m, cacheWrite1h, output }: UsageTokens) => [
  input,
  cacheRead,
  cacheWrite5m + cacheWrite1h,
  output,
]
const counts = ({ records }: Usage) => records.map(({ tokens }) => short(tokens))
const sum = (usages: Usage[]) => usages.flatMap(counts).reduce((a, b) => a.map((n, i) => n + b[i]!), [0, 0, 0, 0])

let n = 0
const event = (type: string, data: object, more: object = {}) => ({
  type,
  data,
  id: `event-${++n}`,
  timestamp: '2026-11-30T12:00:00.000Z',
  parentId: null,
  ...more,
})
const call = (usage: object, more: object = {}) =>
  event('session.usage_record', { usage: { model: 'gpt-5.5', apiCallId: `call-${++n}`, ...usage } }, more)
const start = () => event('session.start', { sessionId: ID, context: { cwd: '/home/dev/project' } })
const metric = (count: number, inputTokens: number, outputTokens: number, cacheReadTokens = 0) => ({
  requests: { count, cost: 0 },
  usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens: 0 },
})
const end = (modelMetrics: object, more: object = {}) => event('session.shutdown', { modelMetrics, ...more })

describe('recorded events', () => {
  test('each call counts once, by the provider’s id, and so does what compacting used', () => {
    write(recorded('compacted'))
    const usage = read()
    expect(counts(usage)).toEqual([
      [300, 0, 0, 20],
      [11, 0, 0, 3],
      [12, 0, 0, 64],
      [5, 0, 0, 2],
    ])
    expect(usage.records.map(({ key }) => key.split('-')[0])).toEqual([
      'chatcmpl',
      'chatcmpl',
      'compaction 00000000',
      'chatcmpl',
    ])
    expect(usage).toMatchObject({ fresh: true, more: false, fallback: false, model: 'gpt-5.5' })
    expect(new Set(usage.records.map(({ cwd }) => cwd))).toEqual(new Set(['/home/dev/project']))
    // 328 input at 5 and 89 output at 30 dollars a million
    expect(picoToUsd(usage.costPicoUsd!)).toBe('0.00431')
  })

  test('cached tokens are inside the input, and are taken out of it', () => {
    write(recorded('responses'))
    expect(counts(read())).toEqual([
      [300, 1000, 50, 20],
      [11, 0, 0, 3],
    ])
  })

  test('a subagent’s calls stand in its session’s file under its own id', () => {
    write(recorded('subagent'))
    const { records } = read()
    expect(records.map(({ agentId }) => agentId !== undefined)).toEqual([false, true, true, false])
    expect(records).toHaveLength(4)
  })

  test('version 1.0.89 tells of sums that go on when a session is resumed: each is counted once', () => {
    const lines = recorded('cumulative')
    const at = lines.findIndex(({ type }) => type === 'session.resume')
    write(lines.slice(0, at))
    const first = read()
    append(...lines.slice(at))
    const second = read(first)
    expect([first.records.length, second.records.length]).toEqual([3, 1])
    expect(sum([first])).toEqual([351, 1000, 0, 27])
    expect(counts(second)).toEqual([[5, 900, 0, 2]])
  })

  test('version 1.0.50 tells of sums that begin anew when a session is resumed: they are added', () => {
    write(recorded('per-run'))
    const usage = read()
    expect(usage.records).toHaveLength(4)
    expect(sum([usage])).toEqual([356, 1900, 0, 29])
  })

  test('no text of theirs is in the state or the result', () => {
    write(recorded('subagent'))
    append(call({ inputTokens: 5, outputTokens: 5, prompt: 'SECRET', modelDisplayName: 'SECRET' }))
    expect(JSON.stringify(read(), (_, v) => (typeof v === 'bigint' ? `${v}` : v))).not.toMatch(/SECRET|\(cut\)/)
  })
})

describe('sums at the end of a run', () => {
  test('count as the calls that they name, and as none of a longer context', () => {
    write([start(), end({ 'gpt-5.5': metric(4, 400_001, 43, 100_000) })])
    const usage = read()
    expect(usage.records).toHaveLength(4)
    expect(sum([usage])).toEqual([300_001, 100_000, 0, 43])
    expect(counts(usage)[0]).toEqual([75_001, 25_000, 0, 11])
  })

  test('are left aside where the calls were told of one by one', () => {
    write([start(), call({ inputTokens: 10, outputTokens: 1 }), end({ 'gpt-5.5': metric(2, 30, 3) })])
    expect(counts(read())).toEqual([[10, 0, 0, 1]])
  })

  test('that hold what was told one by one before are less that, also after a restart', () => {
    write([
      start(),
      call({ inputTokens: 10, outputTokens: 1 }),
      end({ 'gpt-5.5': metric(1, 10, 1) }, { eventsFileSizeBytes: 1 }),
    ])
    const first = read()
    append(event('session.resume', {}), end({ 'gpt-5.5': metric(2, 30, 3) }, { eventsFileSizeBytes: 2 }))
    expect(counts(read(first))).toEqual([[20, 0, 0, 2]])
  })

  test('that fall begin anew, whatever they look like', () => {
    write([start(), end({ 'gpt-5.5': metric(2, 30, 3) }, { eventsFileSizeBytes: 1 })])
    const first = read()
    append(event('session.resume', {}), end({ 'gpt-5.5': metric(1, 20, 9) }, { eventsFileSizeBytes: 2 }))
    expect(counts(read(first))).toEqual([[20, 0, 0, 9]])
  })

  test('of a rewritten file are not held against those of the file before', () => {
    write([start(), end({ 'gpt-5.5': metric(1, 30, 3) }, { eventsFileSizeBytes: 1 })])
    const first = read()
    write([start(), end({ 'gpt-5.5': metric(1, 31, 4) }, { eventsFileSizeBytes: 1 })])
    expect(counts(read(first))).toEqual([[31, 0, 0, 4]])
  })

  test('that are not said to go on are of their own run, however they compare', () => {
    write([
      start(),
      end({ 'gpt-5.5': metric(1, 30, 3) }),
      event('session.resume', {}),
      end({ 'gpt-5.5': metric(1, 31, 4) }),
    ])
    expect(counts(read())).toEqual([
      [30, 0, 0, 3],
      [31, 0, 0, 4],
    ])
  })

  test('count where the run before was cut off in telling of its calls', () => {
    write([start(), call({ inputTokens: 10 }), event('session.resume', {}), end({ 'gpt-5.5': metric(1, 31, 4) })])
    expect(counts(read())).toEqual([
      [10, 0, 0, 0],
      [31, 0, 0, 4],
    ])
  })

  test('of a model with absurd counts are refused, the others stay', () => {
    write([start(), end({ bad: metric(-1, -30, 3.5), 'gpt-5.5': metric(1, 7, 1), odd: 7 })])
    expect(counts(read())).toEqual([[7, 0, 0, 1]])
  })
})

describe('one call', () => {
  test('that is told of twice counts once, and two ids with equal counts are two', () => {
    const one = call({ inputTokens: 10, outputTokens: 1, apiCallId: 'same' })
    write([start(), one, { ...one, id: 'other' }, call({ inputTokens: 10, outputTokens: 1, apiCallId: 'second' })])
    expect(read().records.map(({ key }) => key)).toEqual(['same', 'second'])
  })

  test('without an id of the provider’s goes by its event’s', () => {
    write([start(), event('session.usage_record', { usage: { model: 'gpt-5.5', inputTokens: 4 } }, { id: 'event-x' })])
    expect(read().records).toMatchObject([{ key: 'event-x', tokens: { input: 4 } }])
  })

  test('with negative counts counts none of those, and without a model is nobody’s', () => {
    write([start(), call({ inputTokens: -5, outputTokens: 2, model: '' })])
    expect(read().records).toMatchObject([{ model: 'unknown', tokens: { input: 0, output: 2 } }])
  })

  test.each([
    ['claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['claude-opus-4.6', 'claude-opus-4-6'],
    ['claude-sonnet-4', 'claude-sonnet-4'],
    ['claude-sonnet-4.5-thinking', 'claude-sonnet-4.5-thinking'],
    ['gpt-5.5', 'gpt-5.5'],
    ['gemini-2.5-pro', 'gemini-2.5-pro'],
  ])('of %s is one of %s', (told, model) => {
    write([start(), call({ model: told, inputTokens: 1 })])
    expect(read().records[0]?.model).toBe(model)
  })

  test('whose cache is kept for an hour has written for an hour', () => {
    write([start(), call({ inputTokens: 90, cacheWriteTokens: 80, cacheTtlSeconds: 3600 })])
    expect(read().records[0]?.tokens).toMatchObject({ input: 10, cacheWrite1h: 80, cacheWrite5m: 0 })
  })

  test('with a key of one’s own is paid by the call; of GitHub’s own nobody knows', () => {
    const own = { isByok: true, byokKind: 'remote_user', modelProvider: 'openai', inputTokens: 1 }
    write([
      start(),
      call(own),
      call({ inputTokens: 1 }),
      call({ ...own, byokKind: 'local_user', modelProvider: 'other' }),
    ])
    const [first, second, third] = read().records
    expect(first).toMatchObject({ provider: 'openai', covered: 'metered' })
    for (const one of [second, third]) {
      expect(one?.provider).toBeUndefined()
      expect(one?.covered).toBeUndefined()
    }
  })

  test('of a compaction that failed counts and is marked so', () => {
    const used = { compactionTokensUsed: { input: 30, cachedInput: 10, output: 4 } }
    write([start(), event('session.compaction_complete', { success: false, model: 'gpt-5.5', ...used })])
    expect(read().records).toMatchObject([
      { partial: true, model: 'gpt-5.5', tokens: { input: 20, cacheRead: 10, output: 4 } },
    ])
  })
})

describe('reading on', () => {
  test('every split of the bytes gives the same calls', () => {
    const lines = [...recorded('compacted'), ...recorded('responses')]
    write(lines)
    const expected = counts(read())
    const bytes = Buffer.from(text(lines))
    for (let at = 1; at < bytes.length; at += 499) {
      fs.writeFileSync(file, bytes.subarray(0, at))
      const first = read()
      fs.appendFileSync(file, bytes.subarray(at))
      expect([...counts(first), ...counts(read(first))], `split at ${at}`).toEqual(expected)
    }
  })

  test('in small pieces comes to the same end', () => {
    write(recorded('subagent'))
    const expected = counts(read())
    const found: number[][] = []
    let usage: Usage | undefined
    do {
      usage = read(usage, 512)
      found.push(...counts(usage))
    } while (usage.more)
    expect(found).toEqual(expected)
  })

  test('text that looks like an event counts nothing', () => {
    const fake = JSON.stringify(call({ inputTokens: 999 }))
    write([
      start(),
      event('user.message', { content: fake }),
      event('tool.execution_complete', { result: { type: 'session.usage_record', data: JSON.parse(fake) } }),
    ])
    expect(read().records).toEqual([])
  })

  test('lines that are no JSON, or of another shape, are left out', () => {
    write([start(), call({ inputTokens: 1 })])
    fs.appendFileSync(
      file,
      '{"type":"session.usage_record"\nnull\n{"type":"session.usage_record","data":null}\n{"type":"session.shutdown","data":{"modelMetrics":[]}}\n',
    )
    append(call({ inputTokens: 2 }))
    expect(counts(read())).toEqual([
      [1, 0, 0, 0],
      [2, 0, 0, 0],
    ])
  })
})

describe('a file that may not be read', () => {
  test.each([
    ['a link', (path: string) => fs.symlinkSync('/etc/hostname', path), 'not_a_file'],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path]), 'not_a_file'],
    ['nothing', () => {}, 'no_transcript'],
  ])('%s in its place is told and not followed', (_, make, problem) => {
    make(file)
    expect(read()).toMatchObject({ fresh: false, problem, records: [] })
  })

  test('a session id that leads elsewhere is not taken', () => {
    write([start(), call({ inputTokens: 1 })])
    for (const sessionId of ['..', '../session-state', '.', '', 'a/b'])
      expect(copilot.usage.readSession(home, { sessionId }, undefined, pricing)).toMatchObject({
        problem: 'no_transcript',
      })
  })

  test('a linked session folder is not followed, and not found as one', () => {
    write([start(), call({ inputTokens: 1 })])
    fs.renameSync(join(file, '..'), join(dir, 'elsewhere'))
    fs.symlinkSync(join(dir, 'elsewhere'), join(file, '..'))
    expect(read()).toMatchObject({ problem: 'no_transcript' })
    expect([...copilot.usage.changedSessions(home, 0)].flat()).toEqual([])
  })
})

test('sessions are found by when they changed, below COPILOT_HOME where that is set', () => {
  write([start()])
  const found = (sinceMs: number, of = home) =>
    [...copilot.usage.changedSessions(of, sinceMs)].flat().map(one => one.sessionId)
  expect(found(0)).toEqual([ID])
  expect(found(Date.now() + 3600_000)).toEqual([])
  expect(found(0, { homeDir: '/nonexistent', env: { COPILOT_HOME: join(dir, '.copilot') } })).toEqual([ID])
  expect(found(0, { homeDir: '/nonexistent', env: {} })).toEqual([])
})

test('calls of tools are told before they run and again when they have, a subagent’s with its name', () => {
  fs.writeFileSync(file, text(recorded('subagent')))
  const { toolUses, toolResults } = read()
  expect(toolUses.map(({ toolName, agentId }) => [toolName, agentId])).toEqual([
    ['task', undefined],
    ['bash', '00000000-0000-4000-8000-000000000014'],
  ])
  expect(toolResults.map(({ toolUseId, outcome }) => [toolUseId, outcome])).toEqual(
    [...toolUses].reverse().map(({ toolUseId }) => [toolUseId, 'ran']),
  )
})

test('the end of an agent’s work is no call', () => {
  const lines = recorded('subagent').map(line =>
    line.type === 'tool.execution_start'
      ? { ...line, data: { ...(line.data as object), toolName: 'task_complete' } }
      : line,
  )
  fs.writeFileSync(file, text(lines))
  expect(read().toolUses).toEqual([])
})

test('a call that did not succeed is not told of as run: a refusal looks the same', () => {
  const lines = recorded('subagent').map(line =>
    line.type === 'tool.execution_complete' ? { ...line, data: { ...(line.data as object), success: false } } : line,
  )
  fs.writeFileSync(file, text(lines))
  expect(new Set(read().toolResults.map(({ outcome }) => outcome))).toEqual(new Set(['refused']))
})
