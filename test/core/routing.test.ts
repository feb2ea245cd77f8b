import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromUtf8, utf8 } from '#core/bytes.ts'
import { modelTier } from '#core/model-tier.ts'
import { chooseRoute, findModel, type Ranks, type RouteRule, withModel } from '#core/routing.ts'
import { parseLocalDocument } from '#core/rules/document.ts'

const read = (text: string) => parseLocalDocument(text, { zone: 'UTC', other: ['attribution', 'team'] })
const routing = (text: string) => read(`routing:\n${text}`)
const found = (text: string) => findModel(utf8(text))

describe('the model of a request', () => {
  test('is found and changed wherever it stands, and nothing else is', () => {
    const json = fc.jsonValue({ maxDepth: 4 })
    const around = fc.dictionary(
      fc.string().filter(key => key !== 'model' && key !== '__proto__'),
      json,
      { maxKeys: 5 },
    )
    fc.assert(
      fc.property(around, around, fc.string(), fc.constantFrom(0, 2), (before, after, model, space) => {
        const object = { ...before, model, ...after, model2: 'model' }
        const text = JSON.stringify(object, null, space)
        const place = found(text)
        expect(place?.model).toBe(model)
        const changed = fromUtf8(withModel(utf8(text), place!, 'claude-haiku-4-5'))
        expect(JSON.parse(changed)).toEqual({ ...JSON.parse(text), model: 'claude-haiku-4-5' })
        expect(fromUtf8(withModel(utf8(changed), found(changed)!, model))).toBe(text)
      }),
    )
  })

  test.each([
    '',
    '{}',
    '[]',
    'null',
    '"model"',
    '{"model":1}',
    '{"model":null}',
    '{"model":"a"',
    '{"model":"a"} x',
    '{"model":"a","model":"b"}',
    '{"model":"a","mod\\u0065l":"b"}',
    '{"a":{"model":"x"}}',
    '{"model":"a",}',
    '{"model" "a"}',
    '{"a":[1,2,"model":"x"}',
    '{"model":"a\\"}',
  ])('is left alone in %s', text => {
    expect(found(text)).toBeUndefined()
  })

  test('bytes that are no text elsewhere do not matter', () => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('","model":"m"}')])
    expect(findModel(body)).toMatchObject({ model: 'm' })
  })
})

const PRICES: Record<string, [bigint, bigint]> = {
  dear: [15n, 75n],
  mid: [5n, 25n],
  cheap: [1n, 5n],
  odd: [0n, 100n],
}
const ranks: Ranks = {
  tierOf: model => modelTier(model),
  priceOf: model => (PRICES[model] ? { input: PRICES[model][0], output: PRICES[model][1] } : undefined),
}
const rule = (from: string, to: string, more: Partial<RouteRule> = {}): RouteRule => ({
  name: to,
  from,
  to,
  when: [],
  ...more,
})
const choose = (rules: RouteRule[], model: string, more = {}) =>
  chooseRoute(rules, { provider: 'anthropic', model, subagent: false, figures: [], now: 0, ...more }, ranks)

describe('the choice of a route', () => {
  test('is the first rule that fits the whole id', () => {
    const rules = [rule('mi', 'cheap'), rule('*ear', 'mid'), rule('dear', 'cheap')]
    expect(choose(rules, 'dear').rule?.to).toBe('mid')
    expect(choose(rules, 'dearer').rule).toBeUndefined()
    expect(choose([rule('cheap', 'cheap')], 'cheap').rule).toBeUndefined()
  })

  test('never goes upward, on either side of a price, by tier, or where nobody can tell', () => {
    expect(choose([rule('cheap', 'mid'), rule('cheap', 'odd')], 'cheap')).toMatchObject({
      rule: undefined,
      upward: [{ to: 'mid' }, { to: 'odd' }],
    })
    expect(choose([rule('*', 'claude-haiku-4-5')], 'claude-opus-4-6').rule?.to).toBe('claude-haiku-4-5')
    expect(choose([rule('*', 'claude-opus-4-6')], 'claude-haiku-4-5').rule).toBeUndefined()
    expect(choose([rule('*', 'unheard-of')], 'claude-opus-4-6').rule).toBeUndefined()
    expect(choose([rule('*', 'cheap')], 'unheard-of').rule).toBeUndefined()
  })

  test('heeds provider, subagent, and what is left of the plan; unread it holds nothing', () => {
    expect(choose([rule('dear', 'mid', { provider: 'openai' })], 'dear').rule).toBeUndefined()
    expect(choose([rule('dear', 'mid', { subagent: true })], 'dear').rule).toBeUndefined()
    expect(choose([rule('dear', 'mid', { subagent: true })], 'dear', { subagent: true }).rule).toBeDefined()
    const { rules } = routing(
      '  rules: [{ name: a, from: dear, to: mid, when: { plan_left_pct: "< 20", window: week } }]\n',
    ).routing!
    const left = (value: number, qualifier = 'week', observedAt = 0) => ({
      figures: [{ name: 'plan_left_pct', qualifier, value: value * 1e6, unit: 'pct', observedAt, source: 'daemon' }],
    })
    expect(choose([...rules], 'dear').rule).toBeUndefined()
    expect(choose([...rules], 'dear', left(19)).rule).toBeDefined()
    expect(choose([...rules], 'dear', left(20)).rule).toBeUndefined()
    expect(choose([...rules], 'dear', left(1, '5h')).rule).toBeUndefined()
    expect(choose([...rules], 'dear', { ...left(1), now: 6 * 60_000 }).rule).toBeUndefined()
  })
})

describe('routing: in config.yaml', () => {
  test('has defaults for everything, and own upstreams beside or in place of them', () => {
    expect(read('boundaries: []\n').routing).toBeUndefined()
    expect(routing('  mode: active\n').routing).toMatchObject({ mode: 'active', hardStop: false, rules: [] })
    const { upstreams } = routing(
      '  upstreams:\n    openai: https://gateway.example.com/llm/\n    deepseek: https://api.deepseek.com\n    own: { url: "http://127.0.0.1:8080", provider: openai }\n',
    ).routing!
    expect(upstreams).toEqual([
      { name: 'anthropic', url: 'https://api.anthropic.com', provider: 'anthropic' },
      { name: 'openai', url: 'https://gateway.example.com/llm', provider: 'openai' },
      { name: 'deepseek', url: 'https://api.deepseek.com', provider: 'deepseek' },
      { name: 'own', url: 'http://127.0.0.1:8080', provider: 'openai' },
    ])
  })

  test.each([
    ['  mode: on\n', 'bad_value', 2, 9],
    ['  mood: active\n', 'unknown_key', 2, 3],
    ['  hard_stop: maybe\n', 'bad_value', 2, 14],
    ['  rules: [{ name: a, from: x }]\n', 'missing', 2, 13],
    ['  rules: [{ name: a, from: x, to: "y*" }]\n', 'bad_value', 2, 35],
    ['  rules: [{ name: a, from: x, to: x }]\n', 'bad_value', 2, 35],
    ['  rules: [{ name: A b, from: x, to: y }]\n', 'bad_name', 2, 19],
    ['  rules: [{ name: a, from: x, to: y }, { name: a, from: z, to: y }]\n', 'duplicate', 2, 48],
    ['  rules: [{ name: a, from: x, to: y, when: { session_cost_usd: "> 1" } }]\n', 'unknown_condition', 2, 46],
    ['  rules: [{ name: a, from: x, to: y, when: { window: week } }]\n', 'lone_qualifier', 2, 46],
    ['  rules: [{ name: a, from: x, to: y, provider: nobody }]\n', 'bad_value', 2, 48],
    ['  upstreams: { own: "http://example.com" }\n', 'bad_value', 2, 21],
    ['  upstreams: { own: "https://name:word@example.com" }\n', 'bad_value', 2, 21],
    ['  upstreams: { own: nonsense }\n', 'bad_value', 2, 21],
    ['  upstreams: { s: https://example.com }\n', 'bad_name', 2, 16],
    ['  upstreams: { holdpoint: https://example.com }\n', 'bad_name', 2, 16],
    ['  upstreams: { own: { url: "https://example.com", key: 1 } }\n', 'unknown_key', 2, 51],
  ] as const)('refuses %s at its place', (text, code, line, column) => {
    expect(routing(text).errors).toMatchObject([{ code, line, column }])
  })

  test('an organisation’s document has no such section', async () => {
    const { parseRuleDocument } = await import('#core/rules/document.ts')
    expect(parseRuleDocument('routing: { mode: active }\n').errors).toMatchObject([{ code: 'unknown_key' }])
  })
})
