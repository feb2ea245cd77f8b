import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileRule, conditionsNow, judge } from '#core/boundary/compile.ts'
import { missingCases } from '#core/boundary/missing-cases.ts'
import { proposeCases } from '#core/boundary/propose-cases.ts'
import { costReading } from '#core/figure.ts'
import { anyRule } from './any-rule.ts'

test('what was proposed and written down is missing no more, and one that expects something else is no stand-in', () => {
  fc.assert(
    fc.property(anyRule('local'), rule => {
      const proposed = proposeCases(rule)
      expect(missingCases([rule], [])).toEqual(proposed)
      expect(
        missingCases(
          [rule],
          proposed.map(({ name: _, ...rest }) => rest),
        ),
      ).toEqual([])
      const turned = proposed.map(item => ({ ...item, rule: 'another-rule-of-the-document' }))
      expect(missingCases([rule], turned)).toEqual(proposed)
    }),
    { numRuns: 200 },
  )
})

test('each condition is told as the evaluator compares it', () => {
  fc.assert(
    fc.property(anyRule('local'), fc.integer({ min: 0, max: 50_000_000 }), (rule, cost) => {
      const compiled = compileRule({ key: rule.name, scope: 'local', rule })
      const input = { action: rule.action, figures: [costReading(cost, 0)], now: 0 }
      const now = conditionsNow(compiled, input)
      expect(now).toHaveLength(rule.when.length)
      for (const { figure, reading, holds, why } of now) {
        expect(reading === undefined).toBe(figure !== 'session_cost_usd')
        expect(holds === undefined).toBe(reading === undefined)
        expect(why).toBe(reading === undefined ? 'missing' : undefined)
      }
      if (now.some(({ holds }) => holds === false)) expect(judge(compiled, input)).toBe(0)
      if (now.every(({ holds }) => holds === true)) expect(judge(compiled, input)).toBe(1)
    }),
    { numRuns: 300 },
  )
})
