import fc from 'fast-check'
import { DAY_MS } from '#core/day.ts'
import { NO_TOKENS, PRICE_AXES, type UsageTokens } from '#core/pricing.ts'
import { COVERED, USAGE_CLIENTS } from '#core/usage/bucket.ts'
import type { UnpricedCall } from '#core/usage/price-metered.ts'

export const DAY = Date.parse('2026-11-29T00:00:00Z')

const count = fc.integer({ min: 0, max: 300_000 })
export const anyTokens: fc.Arbitrary<UsageTokens> = fc
  .tuple(count, count, count, count, count, fc.integer({ min: 0, max: 3 }))
  .map(counts => Object.fromEntries(PRICE_AXES.map((axis, i) => [axis, counts[i]!])) as UsageTokens)

export const anyTags = fc
  .record(
    {
      tenant: fc.constantFrom('acme', 'globex'),
      project: fc.constantFrom('billing-api', 'web'),
      team: fc.constant('data'),
    },
    { requiredKeys: [] },
  )
  .map(tags => ({ ...tags }) as Record<string, string>)

/** Calls of three UTC days, of models with and without a price, a threshold of size, and a name that is none. */
export const anyCall: fc.Arbitrary<UnpricedCall> = fc.record(
  {
    key: fc.integer({ min: 1, max: 40 }).map(n => `msg_${n}`),
    client: fc.constantFrom(...USAGE_CLIENTS),
    model: fc.constantFrom(
      'claude-opus-5-5',
      'claude-opus-4-6',
      'gpt-5.5',
      'us.anthropic.claude-haiku-4-5-20251001-v1:0',
      'nobody-knows',
      'not an id',
    ),
    atMs: fc.integer({ min: DAY, max: DAY + 3 * DAY_MS - 1 }),
    tokens: anyTokens,
    tags: anyTags,
    covered: fc.constantFrom(...COVERED),
    partial: fc.boolean(),
  },
  { requiredKeys: ['key', 'client', 'model', 'atMs', 'tokens', 'tags', 'covered'] },
)

export const ONE = { ...NO_TOKENS, input: 1 }
