import type { FigureReading } from '#core/figure.ts'
import type { Attribution } from './compile.ts'
import { compileRules, mergeRules } from './evaluate.ts'
import type { Action, Rule, Scope } from './shape.ts'

/**
 * What a machine reported of one session's calls within an hour: fixed-list figures, of each the hour's reading that is
 * nearest to holding: the highest, of what is left of a plan the lowest.
 */
export interface Observation {
  machine: string
  sessionRef: string
  /** Milliseconds since 1970; the hour's start will do. */
  at: number
  action: Action
  client: string
  figures: readonly FigureReading[]
  calls: number
  attribution?: Attribution
}

export interface Count {
  calls: number
  sessions: number
  machines: number
}

export interface RuleReplay extends Count {
  rule: string
  /** Calls that could not be judged because a figure the rule reads was not reported (workflow and agent never are). */
  unjudgedCalls: number
}

export interface Replay {
  rules: RuleReplay[]
  /** Calls that at least one rule would have held; a rule that allows holds nothing. */
  held: Count
}

class Tally {
  private calls = 0
  private readonly sessions = new Set<string>()
  private readonly machines = new Set<string>()

  add({ calls, machine, sessionRef }: Observation): void {
    this.calls += calls
    this.sessions.add(`${machine} ${sessionRef}`)
    this.machines.add(machine)
  }

  count(): Count {
    return { calls: this.calls, sessions: this.sessions.size, machines: this.machines.size }
  }
}

/**
 * What draft rules would have done to calls that machines have reported, each rule as if enforced: "would have held
 * 41 calls in 3 sessions on 2 machines". An hour's figures are those nearest to holding, which need not have stood
 * together at any one call, so calls may be counted that would have passed: the preview errs toward holding.
 */
export function replay(
  rules: readonly Rule[],
  observations: Iterable<Observation>,
  scope: Scope = 'organisation',
): Replay {
  const enforced = rules.map(rule => ({ ...rule, stage: 'enforce' as const }))
  const compiled = compileRules(mergeRules(scope === 'local' ? { local: enforced } : { organisation: enforced }))
  const tallies = new Map(rules.map(rule => [rule.name, { matched: new Tally(), unjudgedCalls: 0 }]))
  const held = new Tally()
  for (const seen of observations) {
    const { action, figures, attribution, at: now } = seen
    const evaluation = compiled.decide({ action, figures, attribution, now })
    for (const match of evaluation.enforced) tallies.get(match.rule.name)?.matched.add(seen)
    if (evaluation.enforced.some(match => match.require.kind !== 'allow')) held.add(seen)
    const matched = new Set(evaluation.enforced.map(match => match.key))
    for (const key of new Set(evaluation.unread.map(unread => unread.key))) {
      const tally = tallies.get(scope === 'local' ? key : key.slice('org:'.length))
      if (tally !== undefined && !matched.has(key)) tally.unjudgedCalls += seen.calls
    }
  }
  return {
    rules: [...tallies].map(([rule, { matched, unjudgedCalls }]) => ({ rule, ...matched.count(), unjudgedCalls })),
    held: held.count(),
  }
}
