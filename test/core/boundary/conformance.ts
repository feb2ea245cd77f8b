import { readFileSync } from 'node:fs'
import type { EvaluationInput, ScopedRule } from '#core/boundary/compile.ts'
import { mergeRules } from '#core/boundary/evaluate.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import type { Action, Rule, Scope } from '#core/boundary/shape.ts'
import { FIGURES, type FigureName, type FigureReading, type FigureSource } from '#core/figure.ts'
import { cutDecimal } from '#core/money.ts'

/** One row of the table that every place which evaluates boundaries shares. Rules are YAML, one string each. */
export interface ConformanceRow {
  name: string
  local?: string[]
  organisation?: string[]
  action: Action
  figures: { name: FigureName; value: string; qualifier?: string; source?: FigureSource; ageS?: number }[]
  attribution?: EvaluationInput['attribution']
  lifted?: string[]
  /** Somebody is at the keyboard of a client that can ask them. */
  canAsk: boolean
  expect: { outcome: string; decidedBy: string[]; effect: string; shadow?: string[]; unread?: string[] }
}

export const conformanceRows: readonly ConformanceRow[] = JSON.parse(
  readFileSync(new URL('./conformance.json', import.meta.url), 'utf8'),
)

/** The document text of one side of a row. */
export function conformanceText(rules: readonly string[]): string {
  return `boundaries:\n${rules.map(rule => `  - ${rule}\n`).join('')}`
}

/** The row's rules, merged; throws when the table itself is wrong. */
export function conformanceRules(row: ConformanceRow): ScopedRule[] {
  return mergeRules({ local: parse(row.local, 'local'), organisation: parse(row.organisation, 'organisation') })
}

function parse(rules: readonly string[] | undefined, scope: Scope): Rule[] {
  if (rules === undefined) return []
  const parsed = parseBoundaries(conformanceText(rules), { scope })
  if (parsed.errors.length > 0) throw new Error(`conformance row is wrong: ${JSON.stringify(parsed.errors)}`)
  return parsed.rules
}

/** The row's figures as readings taken before `now`. */
export function conformanceFigures(row: ConformanceRow, now: number): FigureReading[] {
  return row.figures.map(({ name, value, qualifier, source = 'event', ageS = 0 }) => {
    const { unit } = FIGURES[name]
    const read = unit === 'usd' || unit === 'pct' ? cutDecimal(value) : undefined
    return {
      name,
      ...(qualifier === undefined ? {} : { qualifier }),
      value: read?.floor ?? value,
      ...(read?.cut ? { cut: true } : {}),
      unit,
      observedAt: now - ageS * 1000,
      source,
    }
  })
}
