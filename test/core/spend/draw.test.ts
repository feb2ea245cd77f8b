import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDecimal } from '#core/decimal.ts'
import { NO_TOKENS } from '#core/pricing.ts'
import type { AllocationRule } from '#core/spend/allocate.ts'
import { drawMonth, linesOf, type SharedRule } from '#core/spend/draw.ts'
import { compileExchange } from '#core/spend/exchange.ts'
import type { StatementLine } from '#core/spend/statement.ts'
import type { DatedRow } from '#core/spend/statement-lines.ts'

const usd = (text: string) => parseDecimal(text)!
const row = (picoUsd: bigint, tags: Record<string, string>, over: Partial<DatedRow> = {}): DatedRow => ({
  day: '2026-11-01',
  provider: 'anthropic',
  model: 'm',
  tags,
  covered: 'metered',
  rate: 'card',
  calls: 1,
  partial: 0,
  tokens: NO_TOKENS,
  picoUsd,
  ...over,
})
const DOLLARS = { basis: 'equivalent', currency: 'USD', rates: compileExchange([]) } as const
const sum = (lines: Iterable<StatementLine>) => [...lines].reduce((n, { pico }) => n + pico, 0n)

const tenantName = fc.constantFrom('acme', 'globex', 'initech')
const rules = fc.array(
  fc.record({
    of: fc.constantFrom(['', ''], ['team', 'platform'], ['tenant', 'initech'], ['project', 'tools']),
    rule: fc.constantFrom<AllocationRule>(
      { kind: 'none' },
      { kind: 'proportional' },
      { kind: 'even' },
      { kind: 'fixed', shares: { acme: '33.3333', globex: '12.5' } },
    ),
  }),
)
const rows = fc.array(
  fc.record({
    pico: fc.bigInt({ min: 0n, max: 10n ** 15n }),
    tenant: fc.option(tenantName, { nil: undefined }),
    team: fc.constantFrom('platform', 'data', undefined),
    project: fc.constantFrom('tools', 'web', undefined),
    rate: fc.constantFrom('card' as const, 'fallback' as const),
  }),
  { maxLength: 30 },
)

describe('a month divided', () => {
  test('is the month: each row is in one place, whatever the rules', () => {
    fc.assert(
      fc.property(rows, rules, (list, chosen) => {
        const used = list.map(({ pico, rate, ...tags }) =>
          row(pico, Object.fromEntries(Object.entries(tags).filter(([, value]) => value !== undefined)) as never, {
            rate,
          }),
        )
        const unique = new Map(
          chosen.map(({ of: [key, value], rule }) => [`${key} ${value}`, { key, value, rule } as SharedRule]),
        )
        const drawn = drawMonth(used, { tenants: ['acme', 'globex'], rules: [...unique.values()] }, DOLLARS)
        const tenants = new Set([...drawn.own.keys(), 'acme', 'globex'])
        const billed = [...tenants].flatMap(tenant => linesOf(drawn, tenant))
        expect(sum(billed) + sum(drawn.shared.flatMap(({ left }) => left))).toBe(
          used.reduce((n, { picoUsd }) => n + picoUsd, 0n),
        )
      }),
    )
  })

  test('goes by the first rule that fits, by key and then by value, and never by two', () => {
    const used = [row(usd('10'), { tenant: 'acme', team: 'platform', project: 'tools' })]
    const drawn = drawMonth(
      used,
      {
        tenants: ['acme', 'globex'],
        rules: [
          { key: 'team', value: 'platform', rule: { kind: 'fixed', shares: { globex: '100' } } },
          { key: 'project', value: 'tools', rule: { kind: 'even' } },
        ],
      },
      DOLLARS,
    )
    expect(linesOf(drawn, 'acme')).toMatchObject([{ kind: 'allocated', of: 'project tools', pico: usd('5') }])
    expect(linesOf(drawn, 'globex')).toMatchObject([{ kind: 'allocated', of: 'project tools', pico: usd('5') }])
    expect(drawn.own.size).toBe(0)
  })

  test('keeps what is unattributed with the organisation while no rule says otherwise', () => {
    const drawn = drawMonth([row(usd('4'), {})], { tenants: ['acme'], rules: [] }, DOLLARS)
    expect(linesOf(drawn, 'acme')).toEqual([])
    expect(drawn.shared).toMatchObject([{ of: 'unattributed', left: [{ pico: usd('4') }] }])
  })
})
