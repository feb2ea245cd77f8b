import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluate, mergeRules } from '#core/boundary/evaluate.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import {
  budgetReadings,
  type FleetUse,
  fullest,
  isExhausted,
  mayDrawOn,
  nextRunCap,
  type ReadableBudget,
  remaining,
  stepsReached,
  type Use,
  usedPct,
  useSince,
} from '#core/budget/use.ts'
import { parseDecimal } from '#core/decimal.ts'
import { isFresh } from '#core/figure.ts'

const money = (text: string) => parseDecimal(text)!
const use = (used: string, limit: string): Use => ({ used: money(used), limit: money(limit) })

describe('how much of a budget is used', () => {
  test.each([
    ['0', '10', 0, false],
    ['5', '10', 50_000_000, false],
    ['10', '10', 100_000_000, false],
    ['1', '3', 33_333_333, true],
    ['0.000000000001', '1000000000', 0, true],
    ['25', '10', 250_000_000, false],
    ['-3', '10', 0, false],
  ])('%s of %s', (used, limit, value, cut) => {
    expect(usedPct(use(used, limit))).toEqual({ value, cut })
  })

  test('a budget of nothing is full from the start', () => {
    expect(usedPct(use('0', '0')).value).toBe(100_000_000)
    expect(isExhausted(use('0', '0'))).toBe(true)
    expect(remaining(use('0', '0'))).toBe(0n)
  })

  test('eleven draws of an eleventh use a budget up and do not exceed it', () => {
    const eleventh = money('1') // of eleven
    const sum = Array.from({ length: 11 }, () => eleventh).reduce((a, b) => a + b, 0n)
    expect(usedPct({ used: sum, limit: money('11') })).toEqual({ value: 100_000_000, cut: false })
    expect(stepsReached({ used: sum, limit: money('11') }, [100, 101])).toEqual([100])
    const tenths = Array.from({ length: 10 }, () => money('0.1')).reduce((a, b) => a + b, 0n)
    expect(tenths).toBe(money('1'))
  })

  test('the percentage lies on the true one or at most a millionth below it, and says so', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 22n }), fc.bigInt({ min: 1n, max: 10n ** 21n }), (used, limit) => {
        const { value, cut } = usedPct({ used, limit })
        if (value === 10 ** 15) return
        const exact = used * 100_000_000n
        expect(BigInt(value) * limit <= exact && exact < (BigInt(value) + 1n) * limit).toBe(true)
        expect(cut).toBe(BigInt(value) * limit !== exact)
      }),
    )
  })

  test('a threshold just passed holds, however little it was', () => {
    const text = (op: string) =>
      `boundaries:\n  - { name: a, action: spend, when: { budget_used_pct: "${op} 90" }, require: deny, stage: enforce }\n`
    const kind = (op: string, used: bigint) => {
      const { rules } = parseBoundaries(text(op), { scope: 'local' })
      const reading = { qualifier: 'b', use: { used, limit: money('10') }, observedAt: 0, source: 'daemon' as const }
      const figures = budgetReadings([reading], { tags: {} })
      return evaluate(mergeRules({ local: rules }), { action: 'spend', figures, now: 0 }).outcome.kind
    }
    expect(kind('>', money('9') + 1n)).toBe('deny')
    expect(kind('>', money('9'))).toBe('pass')
    expect(kind('>=', money('9'))).toBe('deny')
    expect(kind('>=', money('9') - 1n)).toBe('deny') // within a millionth of a point: held
    expect(kind('>=', money('8.99'))).toBe('pass')
  })
})

describe('steps', () => {
  const STEPS = [50, 75, 90, 100]

  test('are reached exactly', () => {
    expect(stepsReached(use('4.999999999999', '10'), STEPS)).toEqual([])
    expect(stepsReached(use('5', '10'), STEPS)).toEqual([50])
    expect(stepsReached(use('9.5', '10'), STEPS)).toEqual([50, 75, 90])
    expect(stepsReached(use('30', '10'), [100, 50, 100])).toEqual([50, 100])
  })

  test('nothing spent reaches no step, also of a budget of nothing', () => {
    expect(stepsReached(use('0', '0'), STEPS)).toEqual([])
    expect(stepsReached(use('0.01', '0'), STEPS)).toEqual(STEPS)
  })
})

test('the next run may spend the smallest amount left, and is told whose that is', () => {
  const budgets = [
    { name: 'month', ...use('3.5', '50') },
    { name: 'day', ...use('4.72', '5') },
    { name: 'week', ...use('1', '20') },
  ]
  const next = nextRunCap(budgets)!
  expect([next.cap, next.binding.name]).toEqual([money('0.28'), 'day'])
  expect(nextRunCap([...budgets, { name: 'spent', ...use('9', '8') }])!.cap).toBe(0n)
  expect(nextRunCap([])).toBeUndefined()
})

test('the fullest is the one of which the largest part is used', () => {
  const a = use('1', '3')
  const b = use('0.33', '1')
  const nothing = use('0', '0')
  expect(fullest([b, a])).toBe(a)
  expect(fullest([a, use('2', '6')])).toBe(a)
  expect(fullest([a, nothing])).toBe(nothing)
  expect(fullest([nothing, a])).toBe(nothing)
  expect(fullest([])).toBeUndefined()
})

describe("the fleet's figure on a machine", () => {
  const fleet: FleetUse = { limit: money('100'), used: money('60'), own: money('20'), end: 1_000_000, cutAt: 900_000 }

  test("is the fleet's at its cut and the machine's own since", () => {
    expect(useSince(fleet, money('27.5'), 950_000)).toEqual(use('67.5', '100'))
    expect(useSince(fleet, money('20'), 950_000)).toEqual(use('60', '100'))
  })

  test('never falls below what the machine had reported, when its ledger was lost', () => {
    expect(useSince(fleet, 0n, 950_000)).toEqual(use('60', '100'))
  })

  test('says nothing once its window is over', () => {
    expect(useSince(fleet, money('27.5'), 999_999)).toBeDefined()
    expect(useSince(fleet, money('27.5'), 1_000_000)).toBeUndefined()
  })

  test('is unread five minutes after its cut, and its age is that of the cut', () => {
    const reading = budgetReadings([{ qualifier: 'org:m', use: fleet, observedAt: fleet.cutAt, source: 'fleet' }], {
      tags: {},
    })[0]!
    expect(reading).toEqual({
      name: 'budget_used_pct',
      qualifier: 'org:m',
      value: 60_000_000,
      unit: 'pct',
      observedAt: 900_000,
      source: 'fleet',
    })
    expect(isFresh(reading, fleet.cutAt + 5 * 60_000)).toBe(true)
    expect(isFresh(reading, fleet.cutAt + 5 * 60_000 + 1)).toBe(false)
  })
})

describe('whose budgets a call reads', () => {
  const budget = (qualifier: string, used: string, whom?: ReadableBudget['for']): ReadableBudget => ({
    qualifier,
    use: use(used, '10'),
    observedAt: 0,
    source: 'fleet',
    ...(whom === undefined ? {} : { for: whom }),
  })
  const budgets = [
    budget('org:all', '1'),
    budget('org:each', '9', { key: 'tenant', value: 'acme' }),
    budget('org:each', '2', { key: 'tenant', value: 'globex' }),
    budget('org:laptop', '3', { key: 'machine', value: 'mac_1' }),
    budget('org:ana', '4', { key: 'member', value: 'mem_ana' }),
  ]
  const read = (call: Parameters<typeof budgetReadings>[1]) =>
    budgetReadings(budgets, call).map(({ qualifier, value }) => `${qualifier} ${Number(value) / 1e6}`)

  test('its own, and those of everybody', () => {
    expect(read({ tags: { tenant: 'globex' }, machine: ['mac_2', 'laptop'], member: ['mem_ana'] })).toEqual([
      'org:all 10',
      'org:each 20',
      'org:ana 40',
    ])
  })

  test('all that may be its own, while that is unknown', () => {
    expect(read({ tags: { project: 'x' } })).toHaveLength(5)
    expect(mayDrawOn({ key: 'team', value: 'data' }, { tags: {} })).toBe(true)
    expect(mayDrawOn({ key: 'team', value: 'data' }, { tags: { team: 'web' } })).toBe(false)
  })

  test('of a budget per value the evaluator takes its own, or the fullest', () => {
    const { rules } = parseBoundaries(
      'boundaries:\n  - { name: a, action: spend, when: { budget_used_pct: ">= 90", budget: each }, require: deny, stage: enforce }\n',
      { scope: 'organisation' },
    )
    const outcome = (tags: Record<string, string>) =>
      evaluate(mergeRules({ organisation: rules }), {
        action: 'spend',
        figures: budgetReadings(budgets, { tags }),
        now: 0,
      }).outcome.kind
    expect(outcome({ tenant: 'acme' })).toBe('deny')
    expect(outcome({ tenant: 'globex' })).toBe('pass')
    expect(outcome({})).toBe('deny')
  })

  test('an unread one is not there, rather than zero', () => {
    expect(budgetReadings([{ ...budget('org:all', '1'), use: undefined }], { tags: {} })).toEqual([])
  })
})
