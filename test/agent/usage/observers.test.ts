/** One call that its client's own records and telemetry tell of, in whatever order. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openHome } from '#agent/home.ts'
import { Ledger, type LedgerRecord, ledgerDays, readLedgerDay } from '#agent/usage/ledger.ts'
import { raisedTo } from '#agent/usage/observers.ts'
import type { Place } from '#agent/usage/place.ts'
import { NO_TOKENS, PRICE_AXES, type UsageTokens } from '#core/pricing.ts'
import { Organisation } from '../daemon/organisation.ts'
import { onCleanup, SESSION } from '../daemon/world.ts'
import { ToldMachine } from '../otlp/world.ts'

const NOW = Date.parse('2026-11-30T12:00:00Z')
const DAY_MS = 24 * 3600_000
const MODEL = 'claude-opus-4-6'
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-observers-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = (session: string, client = 'claude-code'): Place => ({ client, session, repository: [], tags: {}, from: {} })
const tokens = (some: Partial<UsageTokens>): UsageTokens => ({ ...NO_TOKENS, ...some })
const record = (key: string, counts: Partial<UsageTokens>, more: Partial<LedgerRecord> = {}): LedgerRecord => ({
  key,
  model: MODEL,
  atMs: NOW,
  tokens: tokens(counts),
  ...more,
})

/** What is told of one call, each by its own observer. */
const SEEN: Record<string, [LedgerRecord, Place]> = {
  partial: [record('msg_1', { input: 5, output: 1 }, { requestId: 'req_1', partial: true }), at('own')],
  final: [
    record('msg_1', { input: 5, cacheRead: 900, cacheWrite1h: 70, output: 400 }, { requestId: 'req_1' }),
    at('own'),
  ],
  /** Telemetry that does not tell how long a write is kept, and has counted one more token of output. */
  told: [
    record(
      'req_1',
      { input: 5, cacheRead: 900, cacheWrite5m: 70, output: 401 },
      { isTold: true, atMs: NOW + 900, provider: 'anthropic' },
    ),
    at('telemetry'),
  ],
  again: [
    record('req_1', { input: 5, output: 20 }, { isTold: true, atMs: NOW + 950, provider: 'anthropic' }),
    at('telemetry'),
  ],
  /** Another program that knows the message’s id alone, and counts what was cached as input. */
  elsewhere: [
    record('msg_1', { input: 975, output: 400 }, { isTold: true, atMs: NOW + 990, model: 'opus' }),
    at('x', 'other'),
  ],
}
const KINDS = Object.keys(SEEN)

async function opened(home = openHome(join(folder, 'home')), withRequests = true): Promise<Ledger> {
  const ledger = new Ledger(home, () => NOW)
  await ledger.open()
  if (withRequests) await ledger.knowRequests()
  return ledger
}
async function all(home = openHome(join(folder, 'home'))) {
  const calls = []
  for (const day of ledgerDays(home)) calls.push(...(await readLedgerDay(home, day)))
  return calls
}

describe('a call of several observers', () => {
  test('is the same one call whoever came first, however often, and over restarts', async () => {
    const others = fc.array(fc.constantFrom(...KINDS, 'restart'), { maxLength: 8 })
    const orders = fc
      .tuple(fc.shuffledSubarray(KINDS, { minLength: KINDS.length }), others)
      .chain(([once, more]) => fc.shuffledSubarray([...once, ...more], { minLength: once.length + more.length }))
    let i = 0
    await fc.assert(
      fc.asyncProperty(orders, async order => {
        const home = openHome(join(folder, `home${i++}`))
        let ledger = await opened(home)
        for (const what of order) {
          if (what === 'restart') ledger = await opened(home)
          else ledger.add([SEEN[what]![0]], SEEN[what]![1])
        }
        expect((await all(home)).map(({ partial = false, ...call }) => ({ ...call, partial }))).toEqual([
          expect.objectContaining({
            key: 'claude-code msg_1',
            model: MODEL,
            provider: 'anthropic',
            atMs: NOW,
            tokens: tokens({ input: 5, cacheRead: 900, cacheWrite1h: 70, output: 401 }),
            place: expect.objectContaining({ client: 'claude-code', session: 'own' }),
            partial: false,
          }),
        ])
      }),
      { numRuns: 150 },
    )
  })

  test('is counted by its own records as soon as these are larger, on the day on which it was first told of', async () => {
    const ledger = await opened()
    const midnight = Date.parse('2026-12-01T00:00:00Z')
    ledger.add([record('req_1', { output: 10 }, { isTold: true, atMs: midnight - 5 })], at('telemetry'))
    ledger.add([record('msg_1', { output: 50 }, { requestId: 'req_1', atMs: midnight + 5 })], at('own'))
    expect(await all()).toMatchObject([{ tokens: { output: 50 }, atMs: midnight - 5, place: { session: 'own' } }])
    expect(ledgerDays(openHome(join(folder, 'home')))).toEqual(['2026-11-30'])
  })

  test('has its own records’ broken end, which a teller may not know of', async () => {
    const ledger = await opened()
    ledger.add([record('req_1', { output: 1 }, { isTold: true })], at('telemetry'))
    ledger.add([record('msg_1', { output: 1 }, { requestId: 'req_1', partial: true })], at('own'))
    expect(await all()).toMatchObject([{ partial: true, tokens: { output: 1 } }])
    expect(ledger.brokeOff).toBe(1)
  })

  test('of two models is both records, and what was told adds to them only what neither has', async () => {
    const ledger = await opened()
    const beside = { requestId: 'req_1' }
    ledger.add([record('req_1', { input: 130, output: 40 }, { isTold: true })], at('telemetry'))
    ledger.add([record('msg_1', { cacheRead: 60, output: 30 }, beside)], at('own'))
    ledger.add([record('msg_1#1', { cacheRead: 60, output: 5 }, { ...beside, model: 'claude-haiku-4-5' })], at('own'))
    expect((await all()).map(({ model, tokens }) => [model, tokens.input, tokens.cacheRead, tokens.output])).toEqual([
      [MODEL, 10, 60, 35],
      ['claude-haiku-4-5', 0, 60, 5],
    ])
  })

  test('leaves other calls alone: one turn’s responses are as many calls, whatever is told of one of them', async () => {
    const ledger = await opened()
    const turn = { requestId: 'turn_1' }
    ledger.add([record('resp_1', { output: 1 }, turn), record('resp_2', { output: 2 }, turn)], at('own', 'codex'))
    ledger.add([record('resp_2', { output: 3 }, { isTold: true })], at('x', 'other'))
    ledger.add([record('resp_9', { output: 9 }, { isTold: true })], at('x', 'other'))
    expect((await all()).map(({ tokens }) => tokens.output)).toEqual([1, 3, 9])
  })

  test('is never below what anybody told of it, and what only stands on another axis adds nothing', () => {
    const count = fc.nat({ max: 1000 })
    const counts = fc.record(Object.fromEntries(PRICE_AXES.map(axis => [axis, count]))) as fc.Arbitrary<UsageTokens>
    const side = (t: UsageTokens) => t.input + t.cacheRead + t.cacheWrite5m + t.cacheWrite1h
    fc.assert(
      fc.property(counts, counts, (own, told) => {
        const raised = raisedTo(own, told)
        for (const axis of PRICE_AXES) expect(raised[axis]).toBeGreaterThanOrEqual(own[axis])
        expect(side(raised)).toBe(Math.max(side(own), side(told)))
        expect(raised.output).toBe(Math.max(own.output, told.output))
      }),
    )
  })
})

describe('on a machine', () => {
  const REQUEST = { 'session.id': SESSION, request_id: 'req_msg_1' }

  test('the day that was sent with what was told is sent again with what the client recorded, as one call', async () => {
    const org = new Organisation()
    const machine = new ToldMachine()
    // in the middle of a day, so that a few minutes to and fro stay in it
    machine.offset = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2 - Date.now()
    org.clock = machine.now
    await org.listen()
    onCleanup(() => org.close())
    machine.join(org)
    await machine.start()
    const sync = () => machine.ask('POST', '/api/sync', { token: 'api', body: '{}' })
    const sent = () => [...org.usage.values()].flatMap(({ sent }) => sent.buckets)
    await machine.tell('logs', machine.logs([machine.request(REQUEST)]))
    machine.offset += 121_000
    await sync()
    expect(sent()).toMatchObject([{ calls: 1, tokens: { input: 100, output: 50 } }])
    machine.spend(1, { id: 'msg_1', at: machine.now() - 121_000 })
    await machine.daemon.stop()
    await machine.start()
    await sync()
    await machine.tell('logs', machine.logs([machine.request(REQUEST)]))
    machine.offset += 121_000
    await sync()
    const [bucket, ...others] = sent()
    expect(others).toEqual([])
    // what was read and written stands in the telling alone
    expect(bucket).toMatchObject({ calls: 1, tokens: { output: 40_000, cacheWrite1h: 7, cacheWrite5m: 30 } })
  })

  test('a request that the client’s records have left out counts, once, as its telemetry tells it', async () => {
    const machine = new ToldMachine()
    await machine.start()
    machine.spend(1, { id: 'msg_1' })
    await machine.counted()
    const batch = machine.logs([machine.request(REQUEST), machine.request({ ...REQUEST, request_id: 'req_title' })])
    await machine.tell('logs', batch)
    await machine.tell('logs', batch)
    expect((await machine.counted()).map(({ tokens }) => tokens.output)).toEqual([40_000, 50])
    expect(await machine.told()).toMatchObject({ calls: 1, own: 3 })
    // and if they have it after all, it is that call
    machine.spend(1, { id: 'msg_title', at: machine.now() })
    await machine.tell('logs', machine.logs([machine.request({ ...REQUEST, request_id: 'req_msg_title' })]))
    expect(await machine.counted()).toHaveLength(3)
  })
})
