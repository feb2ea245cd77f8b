import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { codex } from '#agent/clients/codex/codex.ts'
import type { CodexUsageState } from '#agent/clients/codex/rollout.ts'
import type { SessionUsage } from '#agent/clients/usage-source.ts'
import { pricingFrom } from '#agent/pricing/rate-card.ts'
import { NO_TOKENS, picoToUsd } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import { type Recorded, recordedRollouts } from './recorded.ts'

const pricing = pricingFrom(builtInRates())
const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const MAIN = id(1)
const AT = Date.parse('2026-05-04T10:00:00.000Z')

let dir: string
let home: ClientHome
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'holdpoint-codex-'))
  home = { homeDir: dir, env: {} }
})
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }))

type Usage = SessionUsage<CodexUsageState>
/** Reads as a daemon does that was restarted in between: the state goes through JSON. */
function read(before?: Usage, about: { sessionId?: string; transcriptPath?: string; bytes?: number } = {}): Usage {
  const { sessionId = MAIN, transcriptPath, bytes } = about
  const state = before && (JSON.parse(JSON.stringify(before.state)) as CodexUsageState)
  const limits = bytes === undefined ? undefined : { bytes }
  return codex.usage.readSession(home, { sessionId, transcriptPath }, state, pricing, limits)
}
const usd = ({ costPicoUsd }: Usage) => (costPicoUsd === undefined ? undefined : picoToUsd(costPicoUsd))
const changed = (sinceMs = 0) => [...codex.usage.changedSessions(home, sinceMs)].flat()

const text = (lines: readonly object[]) => lines.map(line => `${JSON.stringify(line)}\n`).join('')
function put(path: string, content: string): string {
  const file = join(dir, '.codex', path)
  fs.mkdirSync(dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
  return file
}
const putAll = ({ files }: Recorded) => Object.entries(files).map(([path, lines]) => put(path, text(lines)))
/** A thread's file of the day on which its first line was written. */
const FILE = `sessions/2026/05/04/rollout-2026-05-04T10-00-00-${MAIN}.jsonl`
const write = (...lines: object[]) => put(FILE, text(lines))

let seconds = 0
beforeEach(() => {
  seconds = 0
})
/** Each line is written ten seconds after the one before. */
const line = (type: string, payload: object, atMs = AT + 10_000 * seconds++) => ({
  timestamp: new Date(atMs).toISOString(),
  type,
  payload,
})
const meta = (more: object = {}, atMs?: number) =>
  line('session_meta', { id: MAIN, session_id: MAIN, cwd: '/work', model_provider: 'openai', ...more }, atMs)
const turn = (model = 'gpt-5.5', atMs?: number) => line('turn_context', { model, cwd: '/work' }, atMs)
const usage = (input = 0, output = 0, cached = 0, write = 0) => ({
  input_tokens: input,
  cached_input_tokens: cached,
  cache_write_input_tokens: write,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: input + output,
})
const response = (response_id: string | undefined, counts: object = usage(0, 1_000_000), more: object = {}) =>
  line('token_usage_record', { thread_id: MAIN, session_id: MAIN, turn_id: 't1', response_id, usage: counts, ...more })
/** As versions before the responses' own lines told it: the sum, and what was added to it. */
const counted = (total: object | null, last?: object, atMs?: number, limits: object | null = null) =>
  line(
    'event_msg',
    {
      type: 'token_count',
      info: total && { total_token_usage: total, ...(last ? { last_token_usage: last } : {}) },
      rate_limits: limits,
    },
    atMs,
  )

describe('recorded sessions', () => {
  test.each([
    // 520 x 5 + 16800 x 0.5 + 300 x 5 + 49 x 30, in micro-dollars
    ['tool-call', '0.01397'],
    // three responses of the thread: those above, and 31 x 5 + 9000 x 0.5 + 7 x 30
    ['resumed-forked-archived', '0.018835'],
    // 199 x 5 + 31400 x 0.5 + 81 x 30
    ['subagent', '0.019125'],
    // gpt-6-sol: 109 x 2 + 155 x 10
    ['subagent-with-history', '0.001768'],
    // the summary is a response as well: 1013 x 5 + 8900 x 0.5 + 145 x 30
    ['compacted', '0.013865'],
    // gpt-5.5: 1 x 5 + 2 x 30; gpt-5.4-mini: 3 x 0.75 + 4 x 4.5
    ['model-changed', '0.00008525'],
  ])('%s: each response once, with the tokens that the model’s server gave out', (name, cost) => {
    const recorded = recordedRollouts(name)
    putAll(recorded)
    let all: Usage | undefined
    for (const { sessionId, transcriptPath } of changed()) if (sessionId === MAIN) all = read(all, { transcriptPath })
    expect(usd(all!)).toBe(cost)
    const records = new Map<string, Usage['records'][number]>()
    for (const { sessionId, transcriptPath } of changed())
      for (const record of read(undefined, { sessionId, transcriptPath }).records) records.set(record.key, record)
    expect([...records.values()].map(({ key, model, tokens }) => ({ key, model, tokens })).sort(byKey)).toEqual(
      recorded.served
        .map(served => ({ ...served, key: served.id, id: undefined }))
        .map(expected)
        .sort(byKey),
    )
    expect([...records.values()].every(({ cwd }) => cwd === '/home/dev/project')).toBe(true)
  })

  const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1)
  const expected = ({
    key,
    model,
    usage: u,
  }: {
    key: string
    model: string
    usage: Recorded['served'][0]['usage']
  }) => ({
    key,
    model,
    tokens: { ...NO_TOKENS, input: u.input, cacheRead: u.cache_read, cacheWrite5m: u.cache_5m, output: u.output },
  })

  test('a subagent’s thread belongs to its parent’s session and names itself', () => {
    putAll(recordedRollouts('subagent'))
    expect(changed().map(({ sessionId }) => sessionId)).toEqual([MAIN])
    const usage = read()
    expect(usage.records.map(({ agentId }) => agentId)).toEqual([undefined, undefined, undefined, id(4), id(4)])
    expect(usage.model).toBe('gpt-5.5')
    // a hint of either thread's file is enough
    const sub = `rollout-2026-11-30T19-52-34-${id(4)}.jsonl`
    expect(read(undefined, { transcriptPath: `/anywhere/${sub}` }).records).toHaveLength(5)
  })

  test('a thread that was put away goes on being read from where it was', () => {
    const recorded = recordedRollouts('resumed-forked-archived')
    const [archived, lines] = Object.entries(recorded.files).find(([path]) => path.startsWith('archived'))!
    const file = put(archived.replace('archived_sessions/', 'sessions/2026/11/30/'), text(lines.slice(0, -4)))
    const first = read()
    expect(first.records).toHaveLength(2)
    fs.appendFileSync(file, text(lines.slice(-4)))
    fs.mkdirSync(join(dir, '.codex/archived_sessions'))
    fs.renameSync(file, join(dir, '.codex', archived))
    const second = read(first)
    expect(second.records.map(record => record.tokens.output)).toEqual([7])
    expect(second.fresh).toBe(true)
    expect(usd(second)).toBe('0.018835')
  })

  test('at the keyboard the faster tier is the default: its prices are no list’s, so it has an id of its own', () => {
    const recorded = recordedRollouts('terminal')
    putAll(recorded)
    const usage = read()
    expect(usage.records).toMatchObject([{ model: 'gpt-6-sol:priority', tokens: { input: 100, cacheRead: 300 } }])
    expect(usage).toMatchObject({ fallback: true, unpricedModels: ['gpt-6-sol:priority'], model: 'gpt-6-sol:priority' })
    // the title's own request is in no file
    expect(recorded.served).toHaveLength(2)
  })

  test('no text of theirs is in the state or the result', () => {
    for (const name of ['tool-call', 'subagent']) putAll(recordedRollouts(name))
    let all: Usage | undefined
    for (const { transcriptPath } of changed()) all = read(all, { transcriptPath })
    const { costPicoUsd: _, ...rest } = all!
    expect(JSON.stringify(rest)).not.toMatch(/stub:|echo|final|Beauvoir|nickname/)
  })
})

describe('prices', () => {
  test.each([
    ['gpt-5.5-2026-04-23', '30', false],
    ['gpt-5.4-mini', '4.5', false],
    ['gpt-5.4', '15', false],
    ['openai/gpt-5.5', '30', false],
    // near to known ids and none of them: at the bound
    ['gpt-5.50', undefined, true],
    ['gpt-5.5-mini-preview', undefined, true],
  ])('a million output tokens of %s', (model, cost, fallback) => {
    write(meta(), turn(model), response('r1'))
    const usage = read()
    expect(usage.fallback).toBe(fallback)
    if (cost !== undefined) expect(usd(usage)).toBe(cost)
    expect(usage.records[0]).toMatchObject({ model, provider: 'openai' })
  })

  test('cached and written tokens are parts of the input, reasoned ones of the output', () => {
    write(meta(), turn(), response('r1', { ...usage(130_213, 700, 128_955, 1_253), reasoning_output_tokens: 600 }))
    expect(read().records[0]!.tokens).toEqual({
      ...NO_TOKENS,
      input: 5,
      cacheRead: 128_955,
      cacheWrite5m: 1_253,
      output: 700,
    })
  })

  test('searches of the provider count for the response that they were made for', () => {
    const step = (type: string) => line('response_item', { type: 'web_search_call', action: { type, query: 'x' } })
    const context = (turn_id: string) => line('turn_context', { model: 'gpt-5.5', turn_id })
    // those of a turn that a copied history holds have no response here
    const copied = [context('parent'), step('search'), context('own')]
    const own = [step('search'), step('search'), step('open_page'), context('own'), response('r1', usage(0, 1))]
    write(meta(), ...copied, ...own, response('r2', usage(0, 1)), step('search'), response('r3', usage(0, 1)))
    expect(read().records.map(({ tokens }) => tokens.webSearches)).toEqual([2, 0, 1])
    // three at a cent, and three tokens of output
    expect(usd(read())).toBe('0.03009')
  })

  test('a provider of one’s own is not OpenAI', () => {
    write(meta({ model_provider: 'my-gateway' }), turn(), response('r1'))
    expect(read().records[0]).toMatchObject({ provider: 'other' })
  })

  test('a plan is told by the account of limits that comes with an answer', () => {
    const window = (used_percent: number) => ({ primary: { used_percent, window_minutes: 300 } })
    const credits = { credits: { has_credits: true } }
    const accounts: [object, 'plan' | undefined][] = [
      [{ plan_type: 'plus', primary: null }, 'plan'],
      [{ plan_type: null, ...window(12), ...credits }, 'plan'],
      [{ plan_type: 'plus', ...window(100) }, 'plan'],
      // used up, so that credits may have paid
      [{ plan_type: 'plus', ...window(100), ...credits }, undefined],
      [{ plan_type: 'enterprise_cbp_usage_based', ...window(3) }, undefined],
      // a key
      [{ plan_type: null, primary: null, secondary: null }, undefined],
    ]
    const lines = accounts.flatMap(([account], n) => [
      response(`r${n}`, usage(n + 1, n)),
      counted(usage(n + 1, n), usage(n + 1, n), undefined, account),
    ])
    write(meta(), turn(), ...lines)
    expect(read().records.map(record => record.covered)).toEqual(accounts.map(([, covered]) => covered))
  })

  test('an answer that is read before its account of limits has the last one’s', () => {
    const file = write(meta(), turn(), response('r1'), counted(usage(), usage(), undefined, { plan_type: 'pro' }))
    const first = read()
    fs.appendFileSync(file, text([response('r2')]))
    expect(read(first).records.map(record => record.covered)).toEqual(['plan'])
  })
})

describe('counting once', () => {
  test('a response that comes again, in the thread or in a copy of it, is one', () => {
    write(meta(), turn(), response('r1'), response('r1'), response('r2'))
    expect(usd(read())).toBe('60')
  })

  test('responses alike in everything but their ids are two', () => {
    write(meta(), turn(), response('r1', usage(7, 7)), response('r2', usage(7, 7)))
    expect(read().records).toHaveLength(2)
  })

  test('sums beside the responses are not counted', () => {
    write(meta(), turn(), response('r1'), counted(usage(0, 1_000_000), usage(0, 1_000_000)))
    expect(usd(read())).toBe('30')
  })

  test('a thread of an older version that a newer one goes on with', () => {
    const before = [counted(usage(0, 500_000), usage(0, 500_000)), counted(usage(0, 500_000), usage(0, 500_000))]
    write(meta(), turn(), ...before, response('r1'), counted(usage(0, 1_500_000), usage(0, 1_000_000)))
    expect(usd(read())).toBe('45')
  })

  test('without an id, a response is known by its thread and the sum that it made', () => {
    write(
      meta(),
      turn(),
      response(undefined, usage(5, 5), { thread_token_usage: usage(5, 5) }),
      response(undefined, usage(5, 5), { thread_token_usage: usage(10, 10) }),
      response(undefined, usage(5, 5), { thread_token_usage: usage(10, 10) }),
    )
    expect(read().records.map(({ key }) => key)).toEqual([`${MAIN}@5.0.0.5`, `${MAIN}@10.0.0.10`])
  })
})

describe('older versions, which tell sums', () => {
  test('a sum that is told again counts nothing, with whatever time and newest figures', () => {
    // the last one is what compaction writes: the same sum beside an estimate
    write(
      meta(),
      turn(),
      counted(usage(1000, 10, 400), usage(1000, 10, 400)),
      counted(usage(1000, 10, 400), usage(1000, 10, 400)),
      counted(usage(3300, 30, 1400), usage(2300, 20, 1000)),
      counted(usage(3300, 30, 1400), usage(0, 0)),
      counted(null),
    )
    const { records } = read()
    expect(records.map(({ tokens }) => [tokens.input, tokens.cacheRead, tokens.output])).toEqual([
      [600, 400, 10],
      [1300, 1000, 20],
    ])
  })

  test('two calls alike count two: their sums differ', () => {
    write(meta(), turn(), counted(usage(5, 5), usage(5, 5)), counted(usage(10, 10), usage(5, 5)))
    expect(read().records).toHaveLength(2)
  })

  test('sums alone are counted by what they rose', () => {
    write(meta(), turn(), counted(usage(100, 10, 40)), counted(usage(150, 12, 60)))
    expect(read().records.map(({ tokens }) => [tokens.input, tokens.cacheRead, tokens.output])).toEqual([
      [60, 40, 10],
      [30, 20, 2],
    ])
  })

  test('a fork begins with its parent’s history, written in one go: that was the parent’s', () => {
    const start = AT + 3600_000
    write(
      meta({ id: id(2), session_id: undefined, forked_from_id: id(1) }, start),
      meta({ id: id(1), session_id: undefined }, start + 3),
      turn('gpt-5.5', start + 5),
      counted(usage(0, 100), usage(0, 100), start + 10),
      counted(usage(0, 300), usage(0, 200), start + 40),
      turn('gpt-5.4', start + 60),
      counted(usage(0, 350), usage(0, 50), start + 7000),
      counted(usage(0, 420), usage(0, 70), start + 7400),
    )
    const usageOfFork = read(undefined, { sessionId: id(2), transcriptPath: join(dir, '.codex', FILE) })
    expect(usageOfFork.records.map(({ model, tokens }) => [model, tokens.output])).toEqual([
      ['gpt-5.4', 50],
      ['gpt-5.4', 70],
    ])
  })

  test('without a model’s name a call is still counted, at the bound', () => {
    write(meta(), counted(usage(0, 100), usage(0, 100)))
    expect(read()).toMatchObject({ records: [{ model: 'unknown' }], fallback: true })
  })

  test('a subagent that names its parent in its source alone is of its parent’s session', () => {
    write(meta({ session_id: undefined, source: { subagent: { thread_spawn: { parent_thread_id: id(9) } } } }))
    expect(changed()).toMatchObject([{ sessionId: id(9) }])
  })
})

describe('files that move while they are read', () => {
  test('a half-written last line is read when it is whole', () => {
    const whole = text([meta(), turn(), response('r1'), response('r2')])
    const file = put(FILE, whole.slice(0, -20))
    const first = read()
    expect(first.records.map(({ key }) => key)).toEqual(['r1'])
    fs.writeFileSync(file, whole)
    expect(read(first).records.map(({ key }) => key)).toEqual(['r2'])
  })

  test('slices of a few bytes come to the same, what lines say of later ones included', () => {
    write(meta(), turn(), ...Array.from({ length: 20 }, (_, n) => response(`r${n}`, usage(n, n + 1))))
    const whole = read()
    let usageNow = read(undefined, { bytes: 700 })
    const records = [...usageNow.records]
    for (let n = 0; usageNow.more && n < 100; n++) {
      usageNow = read(usageNow, { bytes: 700 })
      records.push(...usageNow.records)
    }
    expect(usageNow.more).toBe(false)
    expect(records).toEqual(whole.records)
    expect(usd(usageNow)).toBe(usd(whole))
  })

  test('cut short or replaced, a file is read from its start, and the figure does not fall', () => {
    const file = write(meta(), turn(), response('r1'), response('r2'))
    const first = read()
    fs.writeFileSync(file, text([meta(), turn('gpt-5.4'), response('r3')]))
    const second = read(first)
    expect(second.records).toMatchObject([{ key: 'r3', model: 'gpt-5.4' }])
    expect(usd(second)).toBe('75')
  })

  test('marks alone are enough to read on from: nothing is read again', () => {
    const file = write(meta(), turn(), response('r1'))
    const { state } = read()
    fs.appendFileSync(file, text([response('r2')]))
    const again = codex.usage.readSession(home, { sessionId: MAIN }, codex.usage.marksOf(state), pricing)
    expect(again.records).toMatchObject([{ key: 'r2', model: 'gpt-5.5', cwd: '/work', provider: 'openai' }])
    expect(JSON.stringify(codex.usage.marksOf(state))).not.toContain('r1')
  })

  test('other prices are applied from the start', () => {
    write(meta(), turn(), response('r1'))
    const first = read()
    const dearer = { rateCard: 'other', price: () => ({ picoUsd: 5n, fallback: false }) }
    expect(codex.usage.readSession(home, { sessionId: MAIN }, first.state, dearer)).toMatchObject({
      costPicoUsd: 30_000_000_000_000n,
      records: [{ key: 'r1' }],
    })
  })

  test('a line longer than any is dropped, and what follows it is read', () => {
    const long = line('response_item', { type: 'message', text: 'x'.repeat(33 * 1024 * 1024) })
    write(meta(), turn(), long, response('r1'))
    let now = read()
    while (now.more) now = read(now)
    expect(now.records).toMatchObject([{ key: 'r1' }])
  })
})

describe('what cannot be counted', () => {
  test.each([
    ['negative', { input_tokens: -5, output_tokens: 7 }],
    ['negative of what is cached', { input_tokens: 5, cached_input_tokens: -9, output_tokens: 7 }],
    ['more than any model takes', { input_tokens: 1e15, output_tokens: 7 }],
    ['no number', { input_tokens: '12', output_tokens: 7 }],
    ['a fraction', { input_tokens: 1.5, output_tokens: 7 }],
  ])('%s: not in the figure, told to whoever keeps calls, and the rest is counted', (_, counts) => {
    write(meta(), turn(), response('bad', counts), response('r1'))
    const usage = read()
    expect(usd(usage)).toBe('30')
    expect(usage.records.map(({ key }) => key)).toEqual(['bad', 'r1'])
  })

  test('more cached than read: that source counts otherwise, and nothing is taken off', () => {
    write(meta(), turn(), response('r1', usage(10, 1, 400)))
    expect(read().records[0]!.tokens).toMatchObject({ input: 10, cacheRead: 400 })
  })

  test('lines that are none of the client’s are left out', () => {
    const file = write(meta(), turn(), response('r1'))
    fs.appendFileSync(file, '{"type":"token_usage_record"\n{"type":"token_usage_record"}\nnull\n"token_count"\n\n')
    fs.appendFileSync(file, text([line('token_usage_record', { usage: 7 }), response('r2')]))
    expect(read().records.map(({ key }) => key)).toEqual(['r1', 'r2'])
  })

  test('a message that quotes such lines is a message', () => {
    const quoted = JSON.stringify(response('stolen'))
    write(meta(), turn(), line('response_item', { type: 'message', content: [{ text: quoted }] }), response('r1'))
    expect(read().records.map(({ key }) => key)).toEqual(['r1'])
  })
})

describe('where files are looked for', () => {
  test('in the client’s home, where its variable moves it', () => {
    write(meta(), turn(), response('r1'))
    home = { homeDir: '/nowhere', env: { CODEX_HOME: join(dir, '.codex') } }
    expect(usd(read())).toBe('30')
    expect(changed()).toMatchObject([{ sessionId: MAIN }])
  })

  test('a hint leads nowhere else', () => {
    const other = join(dir, `rollout-2026-05-04T10-00-00-${MAIN}.jsonl`)
    fs.writeFileSync(other, text([meta(), turn(), response('r1')]))
    expect(read(undefined, { transcriptPath: other })).toMatchObject({ problem: 'no_transcript', records: [] })
  })

  test('a file of another session is not taken on a hint', () => {
    const file = write(meta(), turn(), response('r1'))
    expect(read(undefined, { sessionId: id(7), transcriptPath: file })).toMatchObject({ problem: 'no_transcript' })
  })

  test('links and pipes are not read, and do not block', () => {
    const outside = join(dir, 'outside')
    fs.mkdirSync(outside)
    fs.writeFileSync(join(outside, `rollout-2026-05-05T10-00-00-${id(2)}.jsonl`), text([meta({ id: id(2) })]))
    fs.mkdirSync(join(dir, '.codex/sessions/2026/05/04'), { recursive: true })
    fs.symlinkSync(outside, join(dir, '.codex/sessions/2026/05/05'))
    fs.symlinkSync(join(outside, `rollout-2026-05-05T10-00-00-${id(2)}.jsonl`), join(dir, '.codex', FILE))
    execFileSync('mkfifo', [join(dir, '.codex', FILE.replace(MAIN, id(3)))])
    expect(changed()).toEqual([])
    expect(read()).toMatchObject({ problem: 'not_a_file', records: [] })
    expect(read(undefined, { sessionId: id(3) })).toMatchObject({ problem: 'not_a_file' })
    expect(read(undefined, { sessionId: id(2) })).toMatchObject({ problem: 'no_transcript' })
  })

  test('only what changed since, told with when', () => {
    const file = write(meta(), turn(), response('r1'))
    const [one] = changed()
    expect(one).toMatchObject({ sessionId: MAIN, transcriptPath: file })
    expect(changed(one!.changedMs)).toHaveLength(1)
    expect(changed(one!.changedMs + 1)).toEqual([])
  })

  test('a first line still being written: another time', () => {
    const file = put(FILE, text([meta()]).slice(0, -30))
    expect(changed()).toEqual([])
    fs.writeFileSync(file, text([meta()]))
    expect(changed()).toHaveLength(1)
  })

  test('nothing at all', () => {
    expect(changed()).toEqual([])
    expect(read()).toMatchObject({ fresh: false, problem: 'no_transcript', costPicoUsd: undefined })
  })
})
