import { expect, test } from 'vitest'
import { Counters } from '#agent/daemon/counters.ts'
import type { FigureReading } from '#core/figure.ts'
import { Machine } from './world.ts'

const HOUR = Date.parse('2030-01-01T10:00:00Z')
const pct = (name: 'plan_left_pct' | 'budget_used_pct', whole: number, qualifier: string): FigureReading => ({
  name,
  qualifier,
  value: whole * 1_000_000,
  unit: 'pct',
  observedAt: HOUR,
  source: 'status_line',
})
const usd = (whole: number): FigureReading => ({
  name: 'session_cost_usd',
  value: whole * 1_000_000,
  unit: 'usd',
  observedAt: HOUR,
  source: 'event',
})

test('an hour keeps of each figure the reading that is nearest to holding: the lowest of what is left, the highest of what is used', () => {
  const counters = new Counters(new Machine().home)
  for (const [left, week, used, cost] of [
    [60, 80, 10, 1],
    [15, 90, 70, 9],
    [40, 85, 30, 4],
  ] as const)
    counters.judged(
      {
        client: 'claude-code',
        action: 'continue',
        sessionRef: 's',
        figures: [
          pct('plan_left_pct', left, '5h'),
          pct('plan_left_pct', week, 'week'),
          pct('budget_used_pct', used, 'org:all'),
          usd(cost),
        ],
      },
      HOUR,
    )
  const [row] = counters.pending(10)
  expect(row!.calls).toBe(3)
  expect(row!.figures.map(({ name, qualifier, value }) => [name, qualifier, value])).toEqual([
    ['plan_left_pct', '5h', '15'],
    ['plan_left_pct', 'week', '80'],
    ['budget_used_pct', 'all', '70'],
    ['session_cost_usd', undefined, '9'],
  ])
})
