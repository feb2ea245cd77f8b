import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDecimal } from '#core/decimal.ts'
import { DAY_TAG_SETS_MAX } from '#core/limits.ts'
import { NO_TOKENS } from '#core/pricing.ts'
import { boundTags, tagSets } from '#core/usage/bound-tags.ts'
import type { Bucket } from '#core/usage/bucket.ts'
import { readUpload, splitDays, toWire } from '#core/usage/upload.ts'

/** A machine's day has an end to the combinations of tags that are kept apart, and nothing of it is lost by that. */
const bucket = (tags: Record<string, string>, picoUsd = 10n ** 12n, quarter = 0): Bucket => ({
  quarter,
  client: 'codex',
  provider: 'openai',
  model: 'm',
  long: false,
  tags,
  covered: 'metered',
  rate: 'card',
  calls: 1,
  partial: 0,
  tokens: { ...NO_TOKENS, input: 10 },
  picoUsd,
})
const sums = (buckets: readonly Bucket[]) => ({
  calls: buckets.reduce((n, { calls }) => n + calls, 0),
  input: buckets.reduce((n, { tokens }) => n + tokens.input, 0),
  pico: buckets.reduce((n, { picoUsd }) => n + picoUsd, 0n),
})
const tagged = (buckets: readonly Bucket[], key: string) =>
  buckets.reduce((n, { tags, picoUsd }) => (key in tags ? n + picoUsd : n), 0n)
const upload = (days: unknown) => ({
  v: 1,
  org: `org_${'a'.repeat(16)}`,
  machine: `mac_${'a'.repeat(16)}`,
  seq: 1,
  at: '2026-11-01T13:00:00.000Z',
  days,
})

describe('a day of too many combinations', () => {
  it('keeps calls, tokens, cost and the dearest tags, tells what went up without, and stays below the limit', () => {
    const value = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(value, fc.option(value, { nil: undefined }), fc.integer({ min: 0, max: 9 })), {
          maxLength: 60,
        }),
        fc.integer({ min: 1, max: 12 }),
        (list, most) => {
          const buckets = list.map(([project, tenant, cost], i) =>
            bucket({ project, ...(tenant ? { tenant } : {}) }, BigInt(cost) * 10n ** 12n, i % 96),
          )
          const day = boundTags({ buckets, unlisted: { project: '2' } as Record<string, string> }, most)
          expect(tagSets(day.buckets)).toBeLessThanOrEqual(most)
          expect(sums(day.buckets)).toEqual(sums(buckets))
          for (const key of ['tenant', 'project'])
            expect(tagged(day.buckets, key) + parseDecimal(day.unlisted[key] ?? '0')!).toBe(
              tagged(buckets, key) + (key === 'project' ? 2n * 10n ** 12n : 0n),
            )
        },
      ),
    )
  })

  it('loses the rest’s other tags and keeps its tenant where that is enough', () => {
    const buckets = Array.from({ length: 9 }, (_, i) => bucket({ tenant: 'acme', project: `p${i}` }, BigInt(i + 1)))
    const { buckets: sent } = boundTags({ buckets }, 3)
    expect(sent.map(({ tags, calls }) => [tags, calls])).toEqual([
      [{ tenant: 'acme', project: 'p7' }, 1],
      [{ tenant: 'acme', project: 'p8' }, 1],
      [{ tenant: 'acme' }, 7],
    ])
  })

  it('is refused as it is, with what to do, and goes up bounded', () => {
    const buckets = Array.from({ length: DAY_TAG_SETS_MAX + 1 }, (_, i) => bucket({ project: `p${i}` }))
    const day = { day: '2026-11-01', computedAt: '2026-11-01T12:00:00.000Z', buckets }
    expect(() => readUpload(upload([{ ...day, buckets: buckets.map(toWire) }]))).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE', remedy: expect.stringContaining('Update the connector') }),
    )
    const [days] = splitDays([day])
    const read = readUpload(upload(days))
    expect(tagSets(read.days[0]!.buckets)).toBe(DAY_TAG_SETS_MAX)
    expect(read.days[0]!.unlisted).toEqual({ project: '2' })
  })
})
