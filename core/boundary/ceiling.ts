import type { Ceiling } from '#core/approval/answer.ts'
import type { Figures } from '#core/figure.ts'
import { formatMicros, MAX_MICROS, type Micros, parseMicros } from '#core/money.ts'
import type { Crossing } from './compile.ts'
import { isUnsupported, type Rule, type UnsupportedRule } from './shape.ts'

/** A rule that holds a call, and the readings it did so by. */
export type Reached = {
  rule: Rule | UnsupportedRule
  crossed: readonly Pick<Crossing, 'figure' | 'qualifier' | 'reading'>[]
}

/**
 * The ceilings that the rules' own `step:` sets on an answer given now: the figure's reading plus the step, of several
 * the lowest. A reading that was cut counts at its upper end, as it does in {@link isBelowCeilings}: both ends rounded
 * up and compared by `<`, no figure that really grew by the step or more is let through.
 */
export function stepCeilings(reached: readonly Reached[]): Ceiling[] {
  const lowest = new Map<string, { ceiling: Ceiling; micros: number }>()
  for (const { rule, crossed } of reached) {
    if (isUnsupported(rule) || rule.step === undefined) continue
    for (const { figure, qualifier, reading } of crossed) {
      if (figure !== 'session_cost_usd' && figure !== 'budget_used_pct') continue
      if (typeof reading?.value !== 'number') continue
      const micros = Math.min(upperEnd(reading.value, reading.cut) + rule.step, MAX_MICROS)
      const key = `${figure} ${qualifier ?? ''}`
      if ((lowest.get(key)?.micros ?? Number.POSITIVE_INFINITY) <= micros) continue
      const ceiling = {
        figure,
        ...(qualifier === undefined ? {} : { qualifier }),
        op: '<',
        value: formatMicros(micros),
      } as const
      lowest.set(key, { ceiling, micros })
    }
  }
  return [...lowest.values()].map(({ ceiling }) => ceiling)
}

const upperEnd = (value: Micros, cut: boolean | undefined): Micros => (cut ? value + 1 : value)

/**
 * True while every figure with a ceiling is known to be below it. An unread figure is not: an answer that holds up to
 * a figure releases nothing while the figure cannot be seen. A budget named plainly is read as the organisation's too.
 */
export function isBelowCeilings(ceilings: readonly Ceiling[], figures: Figures): boolean {
  return ceilings.every(({ figure, qualifier, value }) => {
    const limit = parseMicros(value)
    const readings = figures.filter(
      reading =>
        reading.name === figure &&
        (qualifier === undefined || reading.qualifier === qualifier || reading.qualifier === `org:${qualifier}`),
    )
    return (
      limit !== undefined &&
      readings.length > 0 &&
      readings.every(reading => typeof reading.value === 'number' && upperEnd(reading.value, reading.cut) < limit)
    )
  })
}
