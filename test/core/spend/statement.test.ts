import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromUtf8 } from '#core/bytes.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { isAppError } from '#core/error.ts'
import { NO_TOKENS } from '#core/pricing.ts'
import { compileExchange } from '#core/spend/exchange.ts'
import {
  adjustmentsOf,
  type ClosedStatement,
  carriedCredit,
  closeStatement,
  type StatementDraft,
  type StatementLine,
  statementBytes,
  statementDigest,
  totalsOf,
} from '#core/spend/statement.ts'
import { type DatedRow, ownAmount, sharedLines, usageLines } from '#core/spend/statement-lines.ts'

const usd = (text: string) => parseDecimal(text)!
const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())
const line = (kind: StatementLine['kind'], amount: string, more: Partial<StatementLine> = {}): StatementLine => ({
  kind,
  ...more,
  pico: usd(amount),
})
const draft = (lines: StatementLine[], month = '2026-11'): StatementDraft => ({
  org: 'org_aaaaaaaaaaaaaaaa',
  tenant: { key: 'acme', name: 'Acme' },
  period: {
    month,
    start: `${month}-01T00:00:00Z`,
    end: month === '2026-11' ? '2026-12-01T00:00:00Z' : '2027-01-01T00:00:00Z',
    zone: 'UTC',
  },
  currency: 'USD',
  basis: 'equivalent',
  exchange: [],
  lines,
})
const AFTER = { at: '2027-01-02T00:00:00Z', state: 'draft', earlierOpen: false, acceptBound: false } as const
const close = (lines: StatementLine[], over: Partial<Parameters<typeof closeStatement>[1]> = {}): ClosedStatement =>
  closeStatement(draft(lines), { ...AFTER, ...over })
const why = (act: () => unknown): unknown => {
  try {
    act()
  } catch (error) {
    return isAppError(error) ? [error.code, error.details?.why] : error
  }
  return 'closed'
}

const usage = (amount: string, model = 'm', project = 'p') =>
  line('usage', amount, { model, project, provider: 'anthropic' })

describe('the total', () => {
  test('is the rounded sum of exact lines, and the lines as shown add up to it', () => {
    const { lines, total } = totalsOf(draft([usage('0.333'), usage('0.333', 'n'), usage('0.3341', 'o')]), false)
    expect(formatDecimal(total)).toBe('1')
    expect(lines.map(l => formatDecimal(l.shown))).toEqual(['0.33', '0.33', '0.34'])
  })

  test('never falls below nothing: what a credit does not find is carried', () => {
    const totals = totalsOf(draft([usage('3'), line('credit', '-10')]), false)
    expect([formatDecimal(totals.total), formatDecimal(totals.carried)]).toEqual(['0', '7'])
    expect(totals.lines.at(-1)).toMatchObject({ kind: 'carried', shown: usd('7') })
    expect(carriedCredit({ carried: '7', period: draft([]).period })).toEqual([
      line('credit', '-7', { month: '2026-11' }),
    ])
    expect(carriedCredit({ carried: '0', period: draft([]).period })).toEqual([])
  })

  test('leaves out what has no price and what nobody knows the cover of, and says both', () => {
    const lines = [usage('5'), line('bound', '2', { model: 'new' }), line('unknown', '1')]
    const totals = totalsOf(draft(lines), false)
    expect([totals.total, totals.atMost, totals.unknown]).toEqual([usd('5'), usd('2'), usd('1')])
    expect(totalsOf(draft(lines), true)).toMatchObject({ total: usd('7'), atMost: 0n, unknown: usd('1') })
  })

  test('of any lines is the sum of what is shown, and nothing is lost to carrying', () => {
    const anyLine = fc.record({
      kind: fc.constantFrom('usage', 'bound', 'unknown', 'allocated', 'adjustment', 'credit'),
      pico: fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
    }) as fc.Arbitrary<StatementLine>
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 20 }), fc.boolean(), (lines, accept) => {
        const { lines: all, total, carried, atMost, unknown } = totalsOf(draft(lines), accept)
        const sum = (list: { shown: bigint }[]) => list.reduce((n, l) => n + l.shown, 0n)
        expect(sum(all.filter(l => l.counted))).toBe(total)
        expect(total >= 0n).toBe(true)
        const exact = all.reduce((n, l) => n + l.pico, 0n) - carried
        expect(exact).toBe(lines.reduce((n, l) => n + l.pico, 0n))
        expect(all.filter(l => !l.counted).reduce((n, l) => n + l.pico, 0n)).toBe(atMost + unknown)
      }),
    )
  })
})

describe('closing', () => {
  test.each([
    [{ state: 'closed' as const }, [usage('1')], 'already_closed'],
    [{ at: '2026-11-30T23:59:59Z' }, [usage('1')], 'not_over'],
    [{ earlierOpen: true }, [usage('1')], 'earlier_open'],
    [{}, [usage('1'), line('bound', '1', { model: 'new-model' })], 'unpriced'],
  ])('is refused with its reason: %j', (over, lines, reason) => {
    expect(why(() => close(lines, over))).toEqual(['CONFLICT', reason])
  })

  test('takes the first instant after the month, an empty month, and an accepted bound', () => {
    expect(close([usage('1')], { at: '2026-12-01T00:00:00Z' }).total).toBe('1')
    expect(close([])).toMatchObject({ total: '0', lines: [], boundAccepted: false })
    const accepted = close([usage('1'), line('bound', '2', { model: 'new' })], { acceptBound: true })
    expect(accepted).toMatchObject({ total: '3', boundAccepted: true })
    expect(close([usage('1')], { acceptBound: true }).boundAccepted).toBe(false)
  })

  test('gives bytes that a digest pins: the same statement the same, another cent another', () => {
    const bytes = statementBytes(close([usage('1.005')]))
    expect(JSON.parse(fromUtf8(bytes))).toMatchObject({
      v: 1,
      total: '1.01',
      lines: [{ amount: '1.005', shown: '1.01' }],
    })
    const digest = statementDigest(bytes, sha256)
    expect(digest).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(statementDigest(statementBytes(close([usage('1.005')])), sha256)).toBe(digest)
    expect(statementDigest(statementBytes(close([usage('1.006')])), sha256)).not.toBe(digest)
  })
})

describe('after closing', () => {
  const closed = close([
    usage('10'),
    usage('5', 'n'),
    line('allocated', '1', { of: 'unattributed', rule: 'in equal parts' }),
  ])

  test('nothing changed is no line', () => {
    expect(
      adjustmentsOf(closed, [usage('10'), usage('5', 'n'), line('allocated', '1', { of: 'unattributed' })]),
    ).toEqual([])
  })

  test('late and lowered usage are lines of the closed month, once', () => {
    const now = [usage('12.5'), usage('4', 'n'), usage('1', 'o'), line('allocated', '1', { of: 'unattributed' })]
    const changes = adjustmentsOf(closed, now)
    expect(changes.map(c => [c.kind, c.month, c.adjusts, c.model, formatDecimal(c.pico)])).toEqual([
      ['adjustment', '2026-11', 'usage', 'm', '2.5'],
      ['adjustment', '2026-11', 'usage', 'n', '-1'],
      ['adjustment', '2026-11', 'usage', 'o', '1'],
    ])
    expect(adjustmentsOf(closed, now, changes)).toEqual([])
    const later = adjustmentsOf(closed, [usage('13'), ...now.slice(1)], changes)
    expect(later.map(c => formatDecimal(c.pico))).toEqual(['0.5'])
  })

  test('a bound that was accepted and then priced gives back the difference', () => {
    const bound = close([line('bound', '9', { model: 'new', project: 'p', provider: 'other' })], { acceptBound: true })
    const now = [line('usage', '2', { model: 'new', project: 'p', provider: 'other' })]
    expect(adjustmentsOf(bound, now)).toMatchObject([{ kind: 'adjustment', model: 'new', pico: usd('-7') }])
  })

  test('late usage without a price waits for a price or an acceptance, and is then billed once', () => {
    const late = line('bound', '3', { model: 'new', project: 'p', provider: 'other' })
    const now = [usage('10'), usage('5', 'n'), line('allocated', '1', { of: 'unattributed' }), late]
    const [waiting, ...rest] = adjustmentsOf(closed, now)
    expect([waiting, rest]).toEqual([{ ...late, month: '2026-11' }, []])
    expect(why(() => closeStatement(draft([waiting!], '2026-12'), AFTER))).toEqual(['CONFLICT', 'unpriced'])
    expect(adjustmentsOf(closed, now, [waiting!])).toEqual([])
    const priced = now.map(l => (l === late ? { ...late, kind: 'usage' as const, pico: usd('1') } : l))
    expect(adjustmentsOf(closed, priced, [waiting!])).toMatchObject([{ pico: usd('-2'), model: 'new' }])
  })

  test('lines about an earlier month in a closed statement are not taken for its own', () => {
    const older = { month: '2026-10', model: 'm', project: 'p' }
    const lines = [usage('4'), line('adjustment', '2', { ...older, adjusts: 'usage' }), line('bound', '1', older)]
    const second = close(lines, { acceptBound: true })
    expect(second.total).toBe('7')
    expect(adjustmentsOf(second, [usage('4')])).toEqual([])
    // and what was accepted for that month was not accepted for this one
    const late = line('bound', '3', { model: 'new' })
    expect(adjustmentsOf(second, [usage('4'), late])).toEqual([{ ...late, month: '2026-11' }])
  })

  test('whatever the ledger becomes, what was billed and the adjustments are the ledger', () => {
    const anyLines = fc
      .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.bigInt({ min: 0n, max: 10n ** 14n })), {
        selector: ([m]) => m,
      })
      .map(list => list.map(([model, pico]): StatementLine => ({ kind: 'usage', model, pico })))
    const sum = (lines: readonly { pico: bigint }[]) => lines.reduce((n, l) => n + l.pico, 0n)
    fc.assert(
      fc.property(anyLines, anyLines, anyLines, (then, now, last) => {
        const frozen = close(then)
        const first = adjustmentsOf(frozen, now)
        expect(sum(then) + sum(first)).toBe(sum(now))
        expect(sum(then) + sum(first) + sum(adjustmentsOf(frozen, last, first))).toBe(sum(last))
      }),
    )
  })
})

describe('lines of a tenant', () => {
  const row = (over: Partial<DatedRow> & { usd: string }): DatedRow => ({
    day: '2026-11-05',
    provider: 'anthropic',
    model: 'm',
    calls: 1,
    partial: 0,
    tokens: { ...NO_TOKENS, input: 7, webSearches: 2 },
    picoUsd: usd(over.usd),
    rate: 'card',
    covered: 'metered',
    tags: { tenant: 'acme', project: 'p' },
    ...over,
  })
  const rates = compileExchange([
    { currency: 'EUR', from: '2026-11-01', perUsd: '0.9' },
    { currency: 'EUR', from: '2026-11-20', perUsd: '0.8' },
  ])
  const rows = [
    row({ usd: '1' }),
    row({ usd: '10', day: '2026-11-25', covered: 'plan' }),
    row({ usd: '2', covered: 'unknown' }),
    row({ usd: '4', rate: 'fallback', model: 'new' }),
    row({ usd: '8', rate: 'fallback', model: 'new', covered: 'unknown' }),
    row({ usd: '16', tags: {} }),
  ]
  const lines = (basis: 'equivalent' | 'billed', currency: string) =>
    usageLines(rows, { basis, currency, rates }).map(l => [l.kind, l.project, l.model, l.calls, formatDecimal(l.pico)])

  test('are by project and model, with the bound apart', () => {
    expect(lines('equivalent', 'USD')).toEqual([
      ['bound', 'p', 'new', 2, '12'],
      ['usage', 'p', 'm', 3, '13'],
      ['usage', undefined, 'm', 1, '16'],
    ])
    expect(usageLines(rows, { basis: 'equivalent', currency: 'USD', rates })[1]!.tokens).toBe(21)
  })

  test('of billed cost have nothing for what a plan covers, and the unknown apart', () => {
    expect(lines('billed', 'USD')).toEqual([
      ['bound', 'p', 'new', 1, '4'],
      ['unknown', 'p', 'm', 1, '2'],
      ['unknown', 'p', 'new', 1, '8'],
      ['usage', 'p', 'm', 2, '1'],
      ['usage', undefined, 'm', 1, '16'],
    ])
  })

  test('are converted at the rate of each day', () => {
    expect(lines('equivalent', 'EUR')[1]).toEqual(['usage', 'p', 'm', 3, '10.7'])
  })

  test('get their part of what is shared, with what has no price apart, and all of it is the ledger', () => {
    const as = { basis: 'equivalent', currency: 'EUR', rates } as const
    const mine = new Map([
      ['acme', usageLines(rows.slice(0, 3), as)],
      ['globex', usageLines([row({ usd: '5', tags: { tenant: 'globex' } })], as)],
      ['idle', []],
    ])
    const own = new Map([...mine].map(([tenant, list]) => [tenant, ownAmount(list)]))
    const shared = sharedLines(
      'unattributed',
      rows.slice(3),
      { kind: 'fixed', shares: { acme: '50', idle: '25' } },
      own,
      as,
    )
    expect(shared.lines.get('acme')!.map(l => [l.kind, l.of, formatDecimal(l.pico)])).toEqual([
      ['bound', 'unattributed', '5.4'],
      ['allocated', 'unattributed', '7.2'],
    ])
    expect(shared.lines.has('globex')).toBe(false)
    const all = [...shared.lines.values(), shared.left].flat()
    const sum = (list: readonly StatementLine[]) => list.reduce((n, l) => n + l.pico, 0n)
    expect(sum(all)).toBe(sum(usageLines(rows.slice(3), as)))
    const proportional = sharedLines('unattributed', rows.slice(3), { kind: 'proportional' }, own, as)
    expect([...proportional.lines.keys()]).toEqual(['acme', 'globex'])
    expect(sum([...proportional.lines.values()].flat())).toBe(sum(all))
    expect(proportional.left).toEqual([])
  })

  test('of a shared bound that got a price are one adjusted line, not two', () => {
    const bound = close([line('bound', '4', { of: 'unattributed', rule: 'in equal parts' })], { acceptBound: true })
    const now = [line('allocated', '1', { of: 'unattributed', rule: 'in equal parts' })]
    expect(adjustmentsOf(bound, now)).toEqual([
      line('adjustment', '-3', { month: '2026-11', adjusts: 'allocated', of: 'unattributed', rule: 'in equal parts' }),
    ])
  })
})
