import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claude } from '#agent/clients/claude/claude.ts'
import type { UsageRecord, UsageSource } from '#agent/clients/usage-source.ts'
import { openHome } from '#agent/home.ts'
import { Attributor } from '#agent/usage/attribute.ts'
import { CallIndex } from '#agent/usage/call-index.ts'
import { Collector } from '#agent/usage/collect.ts'
import { Ledger, ledgerDays, readLedgerDay } from '#agent/usage/ledger.ts'
import { Marks } from '#agent/usage/marks.ts'
import type { Place } from '#agent/usage/place.ts'
import { NO_TOKENS } from '#core/pricing.ts'

const NOW = Date.parse('2026-11-30T12:00:00Z')
const DAY_MS = 24 * 3600_000
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-ledger-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const home = () => openHome(join(folder, 'home'))
const projects = () => join(folder, 'dev', '.claude', 'projects', '-work')
const place = (session = 's1', tags = {}): Place => ({ client: 'claude-code', session, repository: [], tags, from: {} })
const record = (key: string, output: number, more: Partial<UsageRecord> = {}): UsageRecord => ({
  key,
  model: 'claude-opus-4-6',
  atMs: NOW,
  tokens: { ...NO_TOKENS, output },
  ...more,
})
async function opened(now = NOW): Promise<Ledger> {
  const ledger = new Ledger(home(), () => now)
  await ledger.open()
  return ledger
}
async function all() {
  const calls = []
  for (const day of ledgerDays(home())) calls.push(...(await readLedgerDay(home(), day)))
  return calls
}
const outputs = async () => (await all()).map(({ tokens }) => tokens.output)

const line = (
  id: string | undefined,
  output: number,
  { request = `req_${id}` as string | undefined, at = NOW, cwd = '/work', session = 'a' } = {},
) =>
  `${JSON.stringify({
    type: 'assistant',
    sessionId: session,
    ...(request === undefined ? {} : { requestId: request }),
    timestamp: new Date(at).toISOString(),
    cwd,
    message: {
      ...(id === undefined ? {} : { id }),
      model: 'claude-opus-4-6',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 0, output_tokens: output },
    },
  })}\n`
function transcript(session: string, text: string): string {
  mkdirSync(projects(), { recursive: true })
  const path = join(projects(), `${session}.jsonl`)
  appendFileSync(path, text)
  return path
}
async function collect(now = NOW) {
  const ledger = new Ledger(home(), () => now)
  const marks = new Marks(home())
  const collector = new Collector({
    sources: [claude as unknown as UsageSource],
    clientHome: { homeDir: join(folder, 'dev'), env: {} },
    ledger,
    marks: () => marks,
    attributor: new Attributor(),
    now: () => now,
    knownSession: () => undefined,
  })
  await collector.run()
  return { ledger, collector }
}

describe('the ledger has each call once', () => {
  test('however often it is told of, by whichever session, and over restarts', async () => {
    const ledger = await opened()
    ledger.add([record('msg_a', 10), record('msg_a', 10)], place('s1'))
    ledger.add([record('msg_a', 10, { atMs: NOW + 3 * DAY_MS })], place('s2', { tenant: 'x' }))
    ;(await opened()).add([record('msg_a', 10)], place('s3'))
    const calls = await all()
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({ atMs: NOW, place: { session: 's1', tags: {} } })
  })

  test('with the largest counts of a response that grew, on the day on which it was first seen', async () => {
    const ledger = await opened()
    ledger.add([record('msg_a', 10)], place())
    ledger.add([record('msg_a', 30, { atMs: NOW + DAY_MS })], place())
    ledger.add([record('msg_a', 20)], place())
    expect(await outputs()).toEqual([30])
    expect(ledgerDays(home())).toEqual(['2026-11-30'])
  })

  test('and two under one id with two request ids are two', async () => {
    const ledger = await opened()
    ledger.add([record('msg_a', 10, { requestId: 'r1' })], place('s1'))
    ledger.add([record('msg_a', 10, { requestId: 'r2' })], place('s2'))
    const again = await opened()
    again.add([record('msg_a', 10, { requestId: 'r1' }), record('msg_a', 10, { requestId: 'r2' })], place('s3'))
    expect(await outputs()).toEqual([10, 10])
  })

  test('marked as broken off until it is seen whole, with its provider and what covers it as its record says', async () => {
    const ledger = await opened()
    const broken = { partial: true, provider: 'openai', covered: 'plan' as const }
    ledger.add([record('msg_a', 10, broken), record('msg_b', 5)], { ...place(), covered: 'metered' })
    expect(await all()).toMatchObject([
      { partial: true, provider: 'openai', covered: 'plan' },
      { place: { covered: 'metered' } },
    ])
    const again = await opened()
    expect(again.has('claude-code', record('msg_a', 10, { partial: true }))).toBe(true)
    expect(again.has('claude-code', record('msg_a', 10))).toBe(false)
    again.add([record('msg_a', 10)], place())
    expect(await all()).toMatchObject([{ partial: false, tokens: { output: 10 } }, { tokens: { output: 5 } }])
  })

  test('and two ids with equal counts a moment apart are two', async () => {
    const ledger = await opened()
    ledger.add([record('msg_a', 10), record('msg_b', 10)], place())
    expect(await outputs()).toEqual([10, 10])
  })

  test('and nothing is written for what stands there', async () => {
    const ledger = await opened()
    ledger.add([record('msg_a', 10), record('msg_b', 20)], place())
    const { size } = statSync(join(home().usage, 'days', '2026-11-30.jsonl'))
    ;(await opened()).add([record('msg_a', 10), record('msg_b', 20)], place())
    expect(statSync(join(home().usage, 'days', '2026-11-30.jsonl')).size).toBe(size)
  })

  test('a half-written last line is left out and swallows nothing that follows', async () => {
    const ledger = await opened()
    ledger.add([record('msg_a', 10), record('msg_b', 20)], place())
    const path = join(home().usage, 'days', '2026-11-30.jsonl')
    truncateSync(path, statSync(path).size - 9)
    const again = await opened()
    again.add([record('msg_b', 20), record('msg_c', 30)], place())
    expect((await outputs()).sort()).toEqual([10, 20, 30])
  })

  test('what was written by somebody else and is no call is left out', async () => {
    const ledger = await opened()
    ledger.add([record('msg_a', 10)], place())
    appendFileSync(
      join(home().usage, 'days', '2026-11-30.jsonl'),
      '{"k":"msg_z","c":"claude-code","s":"s","m":"m","at":1,"n":[-5,0,0,0,0,0]}\n[]\nnull\n\u0000\n',
    )
    expect(await outputs()).toEqual([10])
  })

  test('counts that no call can have are told and left out', async () => {
    const ledger = await opened()
    ledger.add([record('msg_a', -1), record('msg_b', 1e15), record('msg_c', 1.5), record('msg_d', 4)], place())
    expect(await outputs()).toEqual([4])
    expect(ledger.unsound).toBe(3)
  })

  test('what is older than is kept is forgotten, and not taken in again', async () => {
    ;(await opened()).add([record('msg_a', 10)], place())
    const later = await opened(NOW + 401 * DAY_MS)
    expect(await outputs()).toEqual([])
    later.add([record('msg_a', 10)], place())
    expect(await outputs()).toEqual([])
    expect(later.tooOld).toBe(1)
  })
})

test('the index finds each of a hundred thousand keys', () => {
  const index = new CallIndex()
  for (let i = 0; i < 100_000; i++) index.set(`key ${i}`, { day: i % 500, request: i, counts: i })
  expect(index.size).toBe(100_000)
  for (let i = 0; i < 100_000; i += 97) expect(index.get(`key ${i}`)).toEqual({ day: i % 500, request: i, counts: i })
  expect(index.get('key 100000')).toBeUndefined()
})

describe('reading the client’s records', () => {
  test('takes in three rows of one message without a request id as one call', async () => {
    transcript('a', line('msg_1', 5, { request: undefined }).repeat(3))
    await collect()
    expect(await outputs()).toEqual([5])
  })

  test('takes in a conversation that was copied into another file once, as the first one’s', async () => {
    const history = [1, 2, 3].map(i => line(`msg_${i}`, i)).join('')
    transcript('a', history)
    await new Promise(resolve => setTimeout(resolve, 20))
    transcript('b', history + line('msg_4', 4, { session: 'b' }))
    await collect()
    const calls = await all()
    expect(calls.map(({ tokens, place }) => [tokens.output, place.session])).toEqual([
      [1, 'a'],
      [2, 'a'],
      [3, 'a'],
      [4, 'b'],
    ])
  })

  test('reads on where it ended, and from the start what was rewritten or cut short', async () => {
    const path = transcript('a', line('msg_1', 1) + line('msg_2', 2).slice(0, 40))
    await collect()
    expect(await outputs()).toEqual([1])
    appendFileSync(path, line('msg_2', 2).slice(40))
    await collect()
    expect(await outputs()).toEqual([1, 2])
    writeFileSync(path, line('msg_2', 2) + line('msg_3', 3))
    await collect()
    expect(await outputs()).toEqual([1, 2, 3])
    rmSync(path)
    await collect()
    expect(await outputs()).toEqual([1, 2, 3])
  })

  test('lost marks cost a second reading and change nothing', async () => {
    transcript('a', [1, 2, 3].map(i => line(`msg_${i}`, i)).join(''))
    await collect()
    const days = readFileSync(join(home().usage, 'days', '2026-11-30.jsonl'), 'utf8')
    for (const damage of ['', '{"k":1}\n', '{"k":"claude-code\\na","m":{"v":1,"client":"claude-code","files":7}}\n']) {
      writeFileSync(join(home().usage, 'marks.jsonl'), damage)
      await collect()
    }
    expect(readFileSync(join(home().usage, 'days', '2026-11-30.jsonl'), 'utf8')).toBe(days)
  })

  test('takes in what subagents spent, as their session’s', async () => {
    transcript('a', line('msg_1', 1))
    mkdirSync(join(projects(), 'a', 'subagents'), { recursive: true })
    writeFileSync(join(projects(), 'a', 'subagents', 'agent-x1.jsonl'), line('msg_2', 2, { cwd: '/elsewhere' }))
    await collect()
    const calls = await all()
    expect(calls.map(({ subagent, place }) => [subagent, place.session, place.directory])).toEqual([
      [false, 'a', '/work'],
      [true, 'a', '/work'],
    ])
  })
})

test('killed at any of its writes and started again, it has each call once', async () => {
  const script = join(folder, 'collect.cjs')
  await build({
    entryPoints: [new URL('./collector-process.ts', import.meta.url).pathname],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    outfile: script,
  })
  const expected: number[] = []
  for (const session of ['a', 'b']) {
    for (let i = 0; i < 2; i++) {
      const output = expected.length + 1
      expected.push(output)
      transcript(session, line(`msg_${session}${i}`, output, { at: NOW - i * DAY_MS, session }))
    }
  }
  const run = (killAt: number) => spawnSync(process.execPath, [script, folder, String(killAt)], { encoding: 'utf8' })
  let killed = 0
  for (let killAt = 1; ; killAt++) {
    rmSync(home().root, { recursive: true, force: true })
    const first = run(killAt)
    if (first.signal === 'SIGKILL') killed++
    const again = run(0)
    expect(again.stdout).toContain('read')
    expect((await outputs()).sort((a, b) => a - b)).toEqual(expected)
    if (first.signal !== 'SIGKILL') break
  }
  // two sessions of two days each, their marks, and how far the walk has come
  expect(killed).toBe(7)
  expect(readdirSync(join(home().usage, 'days'))).toHaveLength(2)
}, 60_000)
