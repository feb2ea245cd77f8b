import fc from 'fast-check'
import { expect, it } from 'vitest'
import { termsOf } from '#core/approval/terms.ts'
import { isBelowCeilings, stepCeilings } from '#core/boundary/ceiling.ts'
import { crossedFigures } from '#core/boundary/crossed.ts'
import { evaluate, mergeRules } from '#core/boundary/evaluate.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import type { Action } from '#core/boundary/shape.ts'
import { costReading, type FigureReading, percentReading } from '#core/figure.ts'
import { MAX_MICROS } from '#core/money.ts'

const now = Date.parse('2026-11-30T12:00:00Z')

function read(lines: readonly string[]) {
  const { rules, errors } = parseBoundaries(`boundaries:\n${lines.map(line => `  - ${line}\n`).join('')}`, {
    scope: 'organisation',
    budgets: ['monthly', 'daily'],
  })
  if (errors.length > 0) throw new Error(JSON.stringify(errors))
  return rules
}

/** The ceilings of one call, as the machine sets them and as the control plane does from the machine's request. */
function bothOf(lines: readonly string[], figures: readonly FigureReading[], action: Action = 'continue') {
  const rules = read(lines)
  const { decidedBy } = evaluate(mergeRules({ organisation: rules }), { action, figures, now })
  const there = termsOf(rules, 'account', crossedFigures(decidedBy))!.ceilings
  return { machine: stepCeilings(decidedBy), there }
}

const COST =
  '{ name: r, action: continue, when: { session_cost_usd: ">= 20" }, require: approver:lead, stage: enforce, step: 20 }'
const budgetRule = (name: string, budget: string | undefined, step: string) =>
  `{ name: ${name}, action: spend, when: { budget_used_pct: ">= 1"${budget ? `, budget: ${budget}` : ''} }, require: approver:lead, stage: enforce, step: ${step} }`
const budget = (measured: string, qualifier: string) =>
  percentReading('budget_used_pct', measured, { qualifier: `org:${qualifier}`, observedAt: now, source: 'fleet' })!

it("a rule's step lets an answer hold until the figure has grown by it, not a millionth further", () => {
  const { machine, there } = bothOf([COST], [costReading(20_140_000, now)])
  expect(machine).toEqual([{ figure: 'session_cost_usd', op: '<', value: '40.14' }])
  expect(there).toEqual(machine)
  expect(isBelowCeilings(machine, [costReading(40_139_999, now)])).toBe(true)
  expect(isBelowCeilings(machine, [costReading(40_140_000, now)])).toBe(false)
  expect(isBelowCeilings(machine, [{ ...costReading(40_139_999, now), cut: true }])).toBe(false)
  expect(isBelowCeilings([], [])).toBe(true)
})

it('releases nothing while the figure cannot be seen', () => {
  expect(isBelowCeilings([{ figure: 'session_cost_usd', op: '<', value: '40' }], [])).toBe(false)
  expect(isBelowCeilings([{ figure: 'session_cost_usd', op: '<', value: 'x' }], [costReading(1, now)])).toBe(false)
})

it("sets none for a rule without a step, and reads the organisation's budget by its plain name", () => {
  const { machine, there } = bothOf([COST.replace(', step: 20', '')], [costReading(20_140_000, now)])
  expect([machine, there]).toEqual([[], []])
  const ceiling = [{ figure: 'budget_used_pct', qualifier: 'monthly', op: '<', value: '95' }] as const
  expect(isBelowCeilings(ceiling, [budget('95', 'monthly')])).toBe(false)
  expect(isBelowCeilings([{ ...ceiling[0], value: '95.01' }], [budget('95', 'monthly')])).toBe(true)
})

it('the largest figure there is has a ceiling that can still be read', () => {
  const { machine, there } = bothOf([COST], [costReading(MAX_MICROS - 1, now)])
  expect(machine).toEqual([{ figure: 'session_cost_usd', op: '<', value: '1000000000' }])
  expect(there).toEqual(machine)
  expect(isBelowCeilings(machine, [costReading(MAX_MICROS - 1, now)])).toBe(true)
  expect(isBelowCeilings(machine, [costReading(MAX_MICROS, now)])).toBe(false)
})

it('of several rules that hold one call the lowest ceiling counts, each budget by itself', () => {
  const { machine, there } = bothOf(
    [budgetRule('a', 'monthly', '10'), budgetRule('b', 'monthly', '5'), budgetRule('c', 'daily', '1')],
    [budget('40', 'monthly'), budget('90', 'daily')],
    'spend',
  )
  expect(machine).toEqual([
    { figure: 'budget_used_pct', qualifier: 'monthly', op: '<', value: '45' },
    { figure: 'budget_used_pct', qualifier: 'daily', op: '<', value: '91' },
  ])
  expect(there).toEqual(machine)
})

it('a rule that names no budget reads the fullest, and its step holds from there at the control plane too', () => {
  const { machine, there } = bothOf(
    [budgetRule('any', undefined, '5')],
    [budget('40', 'monthly'), budget('90', 'daily')],
    'spend',
  )
  expect(machine).toEqual([{ figure: 'budget_used_pct', op: '<', value: '95' }])
  expect(there).toEqual(machine)
})

const places = fc.tuple(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 0, max: 99_999_999 }))
const asText = ([whole, part]: readonly [number, number]) => `${whole}.${String(part).padStart(8, '0')}`
const exact = ([whole, part]: readonly [number, number]) => BigInt(whole) * 100_000_000n + BigInt(part)

it('whatever digits a figure has, machine and control plane set one ceiling, and nothing that grew by the step is below it', () => {
  fc.assert(
    fc.property(places, places, fc.integer({ min: 1, max: 20 }), fc.boolean(), (first, grown, step, near) => {
      const later = near
        ? ([first[0] + step, Math.max(0, first[1] + (grown[1] % 200) - 100) % 100_000_000] as const)
        : grown
      const { machine, there } = bothOf(
        [budgetRule('r', 'monthly', String(step))],
        [budget(asText(first), 'monthly')],
        'spend',
      )
      expect(there).toEqual(machine)
      const released = isBelowCeilings(machine, [budget(asText(later), 'monthly')])
      if (exact(later) - exact(first) >= BigInt(step) * 100_000_000n) expect(released).toBe(false)
      // And it holds no more than two millionths of a point early.
      if (exact(later) - exact(first) < BigInt(step) * 100_000_000n - 200n) expect(released).toBe(true)
    }),
  )
})
