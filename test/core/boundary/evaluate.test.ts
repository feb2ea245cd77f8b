import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ScopedRule } from '#core/boundary/compile.ts'
import { compileRules, type Evaluation, evaluate, mergeRules, strictness } from '#core/boundary/evaluate.ts'
import { ACTIONS, type Rule, requirementText } from '#core/boundary/shape.ts'
import { costReading, type FigureReading, nameReading, percentReading } from '#core/figure.ts'
import { anyFigures, anyRule } from './any-rule.ts'

const now = 1e12

/** Rules of both scopes, each name once a scope. */
const anyRules: fc.Arbitrary<ScopedRule[]> = fc
  .tuple(fc.array(anyRule('local'), { maxLength: 4 }), fc.array(anyRule('organisation'), { maxLength: 4 }))
  .map(([local, organisation]) => mergeRules({ local: distinct(local), organisation: distinct(organisation) }))

function distinct(rules: readonly Rule[]): Rule[] {
  return [...new Map(rules.map(rule => [rule.name, rule])).values()]
}

const anyCall = fc.record({
  action: fc.constantFrom(...ACTIONS),
  figures: anyFigures,
  attribution: fc.constantFrom(undefined, { project: 'web' }, { tenant: 'acme', project: 'web', machine: 'mac_1' }),
})

function summary(evaluation: Evaluation) {
  const keys = (list: readonly { key: string }[]) => list.map(item => item.key).sort()
  return {
    outcome: requirementText(evaluation.outcome),
    answeredBy: evaluation.answeredBy,
    decidedBy: keys(evaluation.decidedBy),
    enforced: keys(evaluation.enforced),
    shadow: keys(evaluation.shadow),
    lifted: keys(evaluation.lifted),
    unread: keys(evaluation.unread),
  }
}

describe('whatever the rules and the figures', () => {
  it('adding a rule never loosens the outcome', () => {
    fc.assert(
      fc.property(anyRules, anyRule('local'), fc.boolean(), anyCall, (rules, rule, ours, call) => {
        const added = mergeRules(
          ours ? { organisation: [{ ...rule, name: 'added' }] } : { local: [{ ...rule, name: 'added' }] },
        )
        const before = evaluate(rules, { ...call, now })
        const after = evaluate([...rules, ...added], { ...call, now })
        expect(strictness(after)).toBeGreaterThanOrEqual(strictness(before))
        expect(after.enforced.map(m => m.key)).toEqual(expect.arrayContaining(before.enforced.map(m => m.key)))
      }),
      { numRuns: 1000 },
    )
  })

  it('the order of the rules changes nothing', () => {
    fc.assert(
      fc.property(anyRules, anyCall, fc.infiniteStream(fc.nat()), (rules, call, keys) => {
        const shuffled = rules
          .map(rule => [keys.next().value as number, rule] as const)
          .sort((a, b) => a[0] - b[0])
          .map(([, rule]) => rule)
        expect(summary(evaluate(shuffled, { ...call, now }))).toEqual(summary(evaluate(rules, { ...call, now })))
      }),
      { numRuns: 500 },
    )
  })

  it('lifting rules leaves the others as if those had never been there', () => {
    fc.assert(
      fc.property(anyRules, anyCall, fc.infiniteStream(fc.boolean()), (rules, call, coin) => {
        const lifted = new Set(rules.filter(() => coin.next().value as boolean).map(rule => rule.key))
        const withLifted = summary(evaluate(rules, { ...call, now, lifted }))
        const without = summary(
          evaluate(
            rules.filter(rule => !lifted.has(rule.key)),
            { ...call, now },
          ),
        )
        expect({ ...withLifted, lifted: [], shadow: [], unread: [] }).toEqual({
          ...without,
          lifted: [],
          shadow: [],
          unread: [],
        })
      }),
      { numRuns: 500 },
    )
  })

  it('lifting all that decided lets the next question through, until nothing but a denial is left', () => {
    fc.assert(
      fc.property(anyRules, anyCall, (rules, call) => {
        const lifted = new Set<string>()
        for (let i = 0; i <= rules.length; i++) {
          const evaluation = evaluate(rules, { ...call, now, lifted })
          if (evaluation.answeredBy === 'nobody') return
          expect(evaluation.decidedBy.length).toBeGreaterThan(0)
          for (const match of evaluation.decidedBy) lifted.add(match.key)
        }
        throw new Error('the questions never end')
      }),
      { numRuns: 500 },
    )
  })

  it('an unread figure satisfies no condition, unless its rule holds then', () => {
    fc.assert(
      fc.property(anyRules, fc.constantFrom(...ACTIONS), (rules, action) => {
        const { enforced, shadow, unread } = evaluate(rules, { action, figures: [], now })
        const matched = [...enforced, ...shadow].map(match => match.key).sort()
        const holding = rules.filter(
          ({ rule }) => 'when' in rule && rule.action === action && rule.onUnknown === 'hold',
        )
        expect(matched).toEqual(holding.map(rule => rule.key).sort())
        const concerned = rules.filter(({ rule }) => rule.action === action).map(rule => rule.key)
        expect(new Set(unread.map(u => u.key))).toEqual(new Set(concerned))
      }),
      { numRuns: 500 },
    )
  })

  it('a shadow rule changes nothing', () => {
    fc.assert(
      fc.property(anyRules, anyCall, (rules, call) => {
        const bare = rules.filter(({ rule }) => rule.stage === 'enforce')
        const { outcome, decidedBy } = summary(evaluate(rules, { ...call, now }))
        expect({ outcome, decidedBy }).toEqual({
          outcome: summary(evaluate(bare, { ...call, now })).outcome,
          decidedBy: summary(evaluate(bare, { ...call, now })).decidedBy,
        })
      }),
      { numRuns: 300 },
    )
  })

  it('a cost that rises never loosens a rule of >= or >', () => {
    const rule = fc.record({ op: fc.constantFrom('>=' as const, '>' as const), value: fc.nat(50_000_000) })
    fc.assert(
      fc.property(rule, fc.nat(60_000_000), fc.nat(60_000_000), ({ op, value }, a, b) => {
        const rules = mergeRules({
          local: [
            {
              name: 'r',
              action: 'continue',
              when: [{ figure: 'session_cost_usd', op, value }],
              require: { kind: 'deny' },
              stage: 'enforce',
              onUnknown: 'pass',
            },
          ],
        })
        const at = (micros: number) =>
          strictness(evaluate(rules, { action: 'continue', figures: [costReading(micros, now)], now }))
        expect(at(Math.max(a, b))).toBeGreaterThanOrEqual(at(Math.min(a, b)))
      }),
    )
  })
})

describe('compileRules', () => {
  const rules = mergeRules({
    local: [
      {
        name: 'cost',
        action: 'continue',
        when: [{ figure: 'session_cost_usd', op: '>=', value: 20_000_000 }],
        require: { kind: 'ask' },
        stage: 'enforce',
        onUnknown: 'pass',
      },
    ],
  })

  it('gives one shared frozen value while nothing matches and everything is read', () => {
    const compiled = compileRules(rules)
    const first = compiled.decide({ action: 'continue', figures: [costReading(1, now)], now })
    const second = compiled.decide({ action: 'share', figures: [], now })
    expect(first).toBe(second)
    expect(Object.isFrozen(first)).toBe(true)
    expect(first.outcome).toEqual({ kind: 'pass' })
  })

  it('decides on the same input alike every time', () => {
    const compiled = compileRules(rules)
    const input = { action: 'continue' as const, figures: [costReading(20_140_000, now)], now }
    expect(compiled.decide(input)).toEqual(compiled.decide(input))
    expect(compiled.decide(input).decidedBy[0]?.crossed).toEqual([
      { figure: 'session_cost_usd', op: '>=', threshold: 20_000_000, reading: costReading(20_140_000, now) },
    ])
  })

  it('knows no action it was not built for', () => {
    for (const action of ['toString', 'constructor', '__proto__', '', 'tool_call']) {
      expect(compileRules(rules).decide({ action: action as 'continue', figures: [], now }).outcome).toEqual({
        kind: 'pass',
      })
    }
  })

  it('takes no nonsense for a reading', () => {
    const figures = (value: unknown): FigureReading[] => [{ ...costReading(0, now), value: value as number }]
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1.5, '25', null, undefined, 25n]) {
      const evaluation = evaluate(rules, { action: 'continue', figures: figures(value), now })
      expect(evaluation.outcome).toEqual({ kind: 'pass' })
      expect(evaluation.unread[0]).toMatchObject({ key: 'cost', why: 'unknown' })
    }
  })

  it('says why a figure is unread: missing, stale or unknown', () => {
    const plan = mergeRules({
      local: [
        {
          name: 'p',
          action: 'model_route',
          when: [
            { figure: 'plan_left_pct', op: '<', value: 5_000_000, qualifier: 'week' },
            { figure: 'model_tier', op: '>', value: 'haiku' },
          ],
          require: { kind: 'ask' },
          stage: 'enforce',
          onUnknown: 'pass',
        },
      ],
    })
    const stale = percentReading('plan_left_pct', 3, {
      qualifier: 'week',
      observedAt: now - 400_000,
      source: 'daemon',
    })!
    const why = (figures: FigureReading[]) =>
      evaluate(plan, { action: 'model_route', figures, now }).unread.map(u => [u.figure, u.why])
    expect(why([])).toEqual([
      ['plan_left_pct', 'missing'],
      ['model_tier', 'missing'],
    ])
    expect(why([stale, nameReading('model_tier', 'unknown', now)])).toEqual([
      ['plan_left_pct', 'stale'],
      ['model_tier', 'unknown'],
    ])
    expect(why([stale, nameReading('model_tier', 'haiku', now)])).toEqual([])
  })
})
