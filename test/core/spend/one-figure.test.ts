import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { spreadDifference } from '#core/invoice/reconcile.ts'
import { NO_TOKENS } from '#core/pricing.ts'
import type { AllocationRule } from '#core/spend/allocate.ts'
import { drawMonth, linesOf } from '#core/spend/draw.ts'
import { compileExchange, minorPlaces, minorUnit } from '#core/spend/exchange.ts'
import { columnText, moneyText, roundTo } from '#core/spend/round.ts'
import { totalsOf } from '#core/spend/statement.ts'
import type { DatedRow } from '#core/spend/statement-lines.ts'

/** What one tenant takes of something that is spread is one figure: beside the other tenants' parts, and among its own lines. */
const rates = compileExchange([
  { currency: 'EUR', from: '2026-01-01', perUsd: '0.917' },
  { currency: 'JPY', from: '2026-01-01', perUsd: '151.37' },
  { currency: 'KWD', from: '2026-01-01', perUsd: '0.30711' },
])
const TENANTS = ['acme', 'contoso', 'globex', 'initech', 'umbrella']
const rule = fc.oneof(
  fc.constantFrom<AllocationRule>({ kind: 'proportional' }, { kind: 'equivalent' }, { kind: 'even' }),
  fc.constant<AllocationRule>({ kind: 'fixed', shares: { acme: '33.3333', globex: '12.5', gone: '1' } }),
)
const pico = fc.bigInt({ min: 0n, max: 10n ** 15n })
const month = fc.record({
  currency: fc.constantFrom('USD', 'EUR', 'JPY', 'KWD'),
  tenants: fc.subarray(TENANTS, { minLength: 1 }),
  basis: fc.constantFrom('equivalent' as const, 'billed' as const),
  rows: fc.array(
    fc.record({
      picoUsd: pico,
      tenant: fc.constantFrom(undefined, ...TENANTS),
      model: fc.constantFrom('m', 'n', 'o'),
      covered: fc.constantFrom('plan' as const, 'metered' as const, 'unknown' as const),
      rate: fc.constantFrom('card' as const, 'fallback' as const),
    }),
    { maxLength: 20 },
  ),
  difference: fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }),
  unattributed: rule,
  spread: rule,
  weights: fc.array(fc.bigInt({ min: 0n, max: 10n ** 14n }), { minLength: 5, maxLength: 5 }),
})

describe('a part of what is spread', () => {
  test('is the same to the cent where it is spread and on the tenant’s bill, and all parts are the whole', () => {
    fc.assert(
      fc.property(month, ({ currency, tenants, basis, rows, difference, unattributed, spread, weights }) => {
        const used = rows.map(
          ({ tenant, ...row }): DatedRow => ({
            day: '2026-11-01',
            provider: 'anthropic',
            calls: 1,
            partial: 0,
            tokens: NO_TOKENS,
            ...row,
            tags: tenant ? { tenant } : {},
          }),
        )
        const rules = [{ key: '', value: '', rule: unattributed }]
        const drawn = drawMonth(used, { tenants, rules }, { basis, currency, rates })
        const own = new Map(tenants.map((tenant, i) => [tenant, weights[i]!]))
        const about = { provider: 'anthropic', invoice: '2026-11', currency }
        const { lines, left } = spreadDifference(difference, spread, own, about)
        const places = minorPlaces(currency)
        const parts = [...lines].map(([tenant, { pico: part }]) => [tenant, part] as const)
        expect(parts.reduce((sum, [, part]) => sum + part, left)).toBe(difference)
        const { cells } = columnText([...parts.map(([, part]) => part), left], { currency, places })
        for (const acceptBound of [false, true])
          for (const tenant of tenants) {
            const all = [...linesOf(drawn, tenant), ...(lines.get(tenant) ? [lines.get(tenant)!] : [])]
            for (const line of totalsOf({ lines: all, currency }, acceptBound).lines)
              if (line.of !== undefined) expect(line.shown).toBe(line.pico)
          }
        for (const [i, [, part]] of parts.entries()) expect(cells[i]).toBe(moneyText(part, { currency, places }))
        // Where the rule leaves nothing, what is left is less than the column shows.
        if (spread.kind !== 'fixed' && parts.length > 0) {
          expect(parts.reduce((sum, [, part]) => sum + part, 0n)).toBe(roundTo(difference, places))
          expect(2n * (left < 0n ? -left : left)).toBeLessThanOrEqual(minorUnit(currency))
        }
      }),
      { numRuns: 300 },
    )
  })
})
