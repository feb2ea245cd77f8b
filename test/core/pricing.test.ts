import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  DEFAULT_UNPRICED,
  findPriced,
  NO_TOKENS,
  PRICE_AXES,
  picoToUsd,
  priceCall,
  type RateEntry,
  type RateRow,
  type UsageTokens,
  usdToPico,
} from '#core/pricing.ts'
import { builtInRates, RATE_CARD } from '#core/rate-card/built-in.ts'
import { compileRates } from '#core/rate-card/compile.ts'

const row = (id: string, entry: RateEntry, more: Partial<RateRow> = {}): RateRow => ({
  provider: 'anthropic',
  id,
  entries: [entry],
  ...more,
})
const card = (...rows: RateRow[]) => ({ name: 'test', rows })
const usd = (rows: RateRow[], model: string, tokens: Partial<UsageTokens>, atMs = 0) =>
  picoToUsd(
    priceCall(compileRates(card(...rows), DEFAULT_UNPRICED), { model, atMs, tokens: { ...NO_TOKENS, ...tokens } })
      .picoUsd,
  )

const sonnet = row('s', { input: '3', output: '15', cacheRead: '0.3', cacheWrite5m: '3.75', cacheWrite1h: '6' })
const opus = row('o', { input: '5', output: '25', cacheRead: '0.5', cacheWrite5m: '6.25', cacheWrite1h: '10' })
const haiku = row('h', { input: '0.8', output: '4', cacheRead: '0.08', cacheWrite5m: '1', cacheWrite1h: '1.6' })

describe('every axis is priced once, exactly', () => {
  test.each([
    ['a cache write is not input too', [sonnet], 's', { input: 3, cacheWrite5m: 12_304, output: 550 }, '0.054399'],
    ['a cache write is not a surcharge', [sonnet], 's', { cacheWrite5m: 1000 }, '0.00375'],
    ['a streamed write counts once', [opus], 'o', { input: 6, cacheWrite5m: 159_217, output: 2745 }, '1.06376125'],
    ['a cache read is not fresh input', [haiku], 'h', { input: 4, cacheRead: 2455, output: 23 }, '0.0002916'],
    ['a one-hour write has its own rate', [opus], 'o', { cacheWrite1h: 344_139 }, '3.44139'],
    ['mixed lifetimes', [opus], 'o', { cacheWrite5m: 600_000, cacheWrite1h: 400_000 }, '7.75'],
    ['a fraction of a micro-dollar stays', [opus], 'o', { cacheWrite5m: 159_217 }, '0.99510625'],
    ['one token', [haiku], 'h', { cacheRead: 1 }, '0.00000008'],
  ] as const)('%s', (_name, rows, model, tokens, expected) => {
    expect(usd([...rows], model, tokens)).toBe(expected)
  })

  test('every price of a card changes the result', () => {
    const base = { input: '1', output: '1', cacheRead: '1', cacheWrite5m: '1', cacheWrite1h: '1', webSearches: '1' }
    const tokens = { input: 7, output: 7, cacheRead: 7, cacheWrite5m: 7, cacheWrite1h: 7, webSearches: 7 }
    const before = usd([row('m', base)], 'm', tokens)
    for (const axis of PRICE_AXES) expect(usd([row('m', { ...base, [axis]: '2' })], 'm', tokens), axis).not.toBe(before)
  })

  test('a request of a priced tool costs per request', () => {
    expect(usd([row('m', { input: '1', output: '1', webSearches: '0.01' })], 'm', { webSearches: 3 })).toBe('0.03')
  })

  test('sums over parts equal the price of the sum, for any counts', () => {
    const rates = compileRates(card(opus), DEFAULT_UNPRICED)
    const count = fc.integer({ min: 0, max: 10_000_000 })
    const tokens = fc.record({
      input: count,
      cacheRead: count,
      cacheWrite5m: count,
      cacheWrite1h: count,
      output: count,
      webSearches: fc.constant(0),
    })
    fc.assert(
      fc.property(tokens, tokens, (a, b) => {
        const both = Object.fromEntries(PRICE_AXES.map(x => [x, a[x] + b[x]])) as UsageTokens
        const price = (t: UsageTokens) => priceCall(rates, { model: 'o', atMs: 0, tokens: t }).picoUsd
        expect(price(a) + price(b)).toBe(price(both))
      }),
    )
  })

  test('a price that is null is one that is absent', () => {
    const entry = { input: '3', output: '15', cacheRead: null, cacheWrite1h: null }
    const absent = { input: '3', output: '15' }
    const tokens = { cacheRead: 100, cacheWrite1h: 100, cacheWrite5m: 100 }
    expect(usd([row('m', entry)], 'm', tokens)).toBe(usd([row('m', absent)], 'm', tokens))
    expect(usd([row('m', absent)], 'm', tokens)).toBe('0.0009')
    // one-hour writes without a price of their own cost at least what five-minute ones do
    expect(usd([row('m', { ...absent, cacheWrite5m: '3.75' })], 'm', { cacheWrite1h: 1000 })).toBe('0.00375')
  })

  test.each(['-1', '1e3', '1.0000001', '', 'NaN', '1,5'])('%j is no price', price => {
    expect(() => compileRates(card(row('m', { input: price, output: '1' })), DEFAULT_UNPRICED)).toThrow('not a price')
  })

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('%d is no count of tokens', input => {
    const rates = compileRates(card(opus), DEFAULT_UNPRICED)
    expect(() => priceCall(rates, { model: 'o', atMs: 0, tokens: { ...NO_TOKENS, input } })).toThrow(
      'bad count of input',
    )
  })
})

describe('prices have dates and sizes', () => {
  const dated = row('d', { input: '10', output: '10' })
  dated.entries.push({ from: '2026-03-13', input: '5', output: '5' })

  test('a call costs what it cost on its own day', () => {
    const at = (iso: string) => usd([dated], 'd', { input: 1_000_000 }, Date.parse(iso))
    expect(at('2026-03-12T23:59:59.999Z')).toBe('10')
    expect(at('2026-03-13T00:00:00Z')).toBe('5')
  })

  test('a long call is dearer above the threshold and not at it', () => {
    const long = row('l', { input: '3', output: '15', long: { above: 200_000, input: '6', output: '22.5' } })
    expect(usd([long], 'l', { input: 150_000, cacheRead: 50_000 })).toBe('0.6')
    expect(usd([long], 'l', { input: 150_000, cacheRead: 50_001 })).toBe('1.200006')
  })
})

describe('a model is found by its whole id only', () => {
  const rates = builtInRates()

  test.each([
    ['claude-opus-5-5', 'claude-opus-5-5'],
    ['claude-opus-5-5[1m]', 'claude-opus-5-5'],
    ['anthropic/claude-opus-5-5', 'claude-opus-5-5'],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 'claude-haiku-4-5'],
    ...['us', 'eu', 'apac', 'jp', 'au', 'us-gov', 'global'].map(region => [
      `${region}.anthropic.claude-sonnet-4-5-20250929-v1:0`,
      'claude-sonnet-4-5',
    ]),
    ['anthropic.claude-opus-4-1-20250805-v1', 'claude-opus-4-1'],
    ['claude-haiku-4-5@20251001', 'claude-haiku-4-5'],
    ['claude-haiku-4-5@default', 'claude-haiku-4-5'],
    ['claude-sonnet-4-20250514', 'claude-sonnet-4-0'],
    ['claude-opus-4-1-20250805', 'claude-opus-4-1'],
  ])('%s is %s', (id, expected) => {
    expect(findPriced(rates, id)?.id).toBe(expected)
  })

  test.each([
    'claude-haiku-5-5',
    'claude-opus-4.1',
    'claude-opus-5-5-mini',
    'xclaude-opus-5-5',
    'openai/claude-opus-5-5',
    'ch.anthropic.claude-opus-4-1-20250805-v1:0',
    'claude-haiku-4-5@latest',
    'claude-opus',
    '',
  ])('%j is unknown', id => {
    expect(findPriced(rates, id)?.id).toBeUndefined()
  })

  test('where one id begins another, each has its own price', () => {
    const ids = [...rates.byId.keys()]
    const pairs = ids.flatMap(a => ids.filter(b => b !== a && b.startsWith(a)).map(b => [a, b] as const))
    expect(pairs.length).toBeGreaterThan(20)
    for (const [a, b] of pairs) {
      expect(rates.byId.get(a)!.map(r => r.id)).toContain(findPriced(rates, a)?.id)
      expect(rates.byId.get(b)!.map(r => r.id)).toContain(findPriced(rates, b)?.id)
    }
  })
})

describe('an unknown model is never free unless someone chose so', () => {
  const rows = [
    sonnet,
    opus,
    row('p', { input: '90', output: '1' }, { provider: 'other' }),
    row('i', { input: '70', output: '70' }, { chat: false }),
  ]
  const call = { model: 'nobody-knows', atMs: 0, tokens: { ...NO_TOKENS, input: 1_000_000, output: 1_000_000 } }

  test('it costs the dearest of each axis among the chat models of the enabled providers, which are named', () => {
    const priced = priceCall(compileRates(card(...rows), DEFAULT_UNPRICED), call)
    expect(picoToUsd(priced.picoUsd)).toBe('30')
    expect(priced).toMatchObject({ rate: 'fallback', pricedAs: ['o'] })
    const both = compileRates(card(...rows), { onUnpricedModel: 'max_rate', providers: ['anthropic', 'other'] })
    expect(priceCall(both, call)).toMatchObject({ picoUsd: usdToPico('115'), pricedAs: ['p', 'o'] })
  })

  test('the prices of large calls and of any day are among the dearest', () => {
    const long = row('l', { input: '4', output: '4', long: { above: 10, input: '8', output: '99' } })
    const once = row('d', { input: '70', output: '1' })
    once.entries.push({ from: '2026-01-01', input: '1', output: '1' })
    const priced = priceCall(compileRates(card(sonnet, long, once), DEFAULT_UNPRICED), call)
    expect([picoToUsd(priced.picoUsd), priced.pricedAs]).toEqual(['169', ['d', 'l']])
  })

  test('zero and a stand-in are said', () => {
    const zero = compileRates(card(...rows), { onUnpricedModel: 'zero', providers: ['anthropic'] })
    expect(priceCall(zero, call)).toEqual({ picoUsd: 0n, rate: 'zero', pricedAs: [], long: false })
    const standIn = compileRates(card(...rows), { onUnpricedModel: { model: 's' }, providers: ['anthropic'] })
    expect(priceCall(standIn, call)).toMatchObject({
      picoUsd: usdToPico('18'),
      rate: 'substitute',
      pricedAs: ['s'],
      entry: 'card:anthropic/s@ever',
    })
  })

  test('a stand-in that is unknown itself falls to the bound', () => {
    const rates = compileRates(card(...rows), { onUnpricedModel: { model: 'gone' }, providers: ['anthropic'] })
    expect(priceCall(rates, call).rate).toBe('fallback')
  })

  test('with no chat model to take a bound from, the card is refused', () => {
    expect(() => compileRates(card(sonnet), { onUnpricedModel: 'max_rate', providers: ['nobody'] })).toThrow(
      'no chat model',
    )
  })
})

test('an override replaces the whole row and is priced by the same code', () => {
  const override = row('s', { input: '3', output: '15', cacheRead: '0.3', cacheWrite5m: '3.75', cacheWrite1h: '6' })
  const call = { model: 's', atMs: 0, tokens: { ...NO_TOKENS, input: 100, cacheWrite5m: 700, cacheRead: 200 } }
  const plain = priceCall(compileRates(card(sonnet), DEFAULT_UNPRICED), call)
  expect(priceCall(compileRates(card(sonnet), DEFAULT_UNPRICED, card(override)), call)).toEqual({
    ...plain,
    rate: 'override',
    entry: 'override:anthropic/s@ever',
  })
  const half = priceCall(
    compileRates(card(sonnet), DEFAULT_UNPRICED, card(row('s', { input: '1', output: '1' }))),
    call,
  )
  expect(picoToUsd(half.picoUsd)).toBe('0.001')
})

test('the shipped card holds no price that falls to zero and names its source', () => {
  expect(RATE_CARD.name).toMatch(/^@pydantic\/genai-prices@\d/)
  const rates = builtInRates()
  expect(rates.bound.setBy.output).toBe('claude-3-opus-latest')
  const tokens = { ...NO_TOKENS, input: 1, cacheRead: 1, cacheWrite5m: 1, cacheWrite1h: 1, output: 1 }
  for (const { id, provider } of RATE_CARD.rows)
    if (provider === 'anthropic')
      expect(priceCall(rates, { model: id, atMs: 0, tokens }).picoUsd, id).toBeGreaterThan(0n)
})

test('dollars go to pico-dollars and back', () => {
  for (const text of ['0', '20', '0.25', '1.06376125', '0.000000000001']) expect(picoToUsd(usdToPico(text))).toBe(text)
  expect(picoToUsd(-usdToPico('0.5'))).toBe('-0.5')
})
