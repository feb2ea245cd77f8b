import type { Attribution } from '#core/boundary/compile.ts'
import { type CompiledRules, type Evaluation, effectOf, strictness } from '#core/boundary/evaluate.ts'
import type { Action } from '#core/boundary/shape.ts'
import type { Figures } from '#core/figure.ts'

/** One call at a pause point, as the rules see it. */
export type Call = {
  actions: readonly Action[]
  figures: Figures
  attribution: Attribution
  /** Somebody is at the keyboard of a client that can ask them. */
  canAsk: boolean
  now: number
}

/** Something that lets rules go on: an answer of the organisation, or one given on this machine. */
export type Release = { id: string; handle: string; keys: readonly string[] }

export type Releases = {
  /** In force for this call already: answers for the whole session, and step answers that this same call has spent. */
  standing: readonly Release[]
  /** Step answers that nobody has spent. */
  steps: readonly Release[]
}

/** What to do with a call, and why. */
export type Plan = {
  effect: 'pass' | 'ask' | 'refuse' | 'request'
  /** The action that decided: of several the strictest. */
  action: Action
  evaluation: Evaluation
  /** Everything that the rules said, by action. */
  all: readonly { action: Action; evaluation: Evaluation }[]
  /** Step answers to be spent before the answer goes out. */
  spend: readonly Release[]
  /** Every release that lifted a rule of this call. */
  by: readonly Release[]
}

/**
 * Decides one call. A step answer is taken only when the call then really goes on: one that something else still holds
 * spends nothing. Each answer lifts its own rules and no others.
 */
export function decide(rules: CompiledRules, call: Call, releases: Releases): Plan {
  const lifted = new Set(releases.standing.flatMap(release => release.keys))
  const spend: Release[] = []
  for (;;) {
    const all = call.actions.map(action => {
      const { figures, attribution, now } = call
      return { action, evaluation: rules.decide({ action, figures, attribution, now, lifted }) }
    })
    const worst = all.reduce((a, b) => (strictness(b.evaluation) > strictness(a.evaluation) ? b : a))
    const effect = effectOf(worst.evaluation, { action: worst.action, canAsk: call.canAsk })
    const held = worst.evaluation.decidedBy
    const step =
      effect === 'pass' || worst.evaluation.outcome.kind === 'deny'
        ? undefined
        : releases.steps.find(
            release => !spend.includes(release) && held.some(match => release.keys.includes(match.key)),
          )
    if (step) {
      spend.push(step)
      for (const key of step.keys) lifted.add(key)
      continue
    }
    const goesOn = effect === 'pass' || effect === 'ask'
    const used = all.flatMap(({ evaluation }) => evaluation.lifted.map(match => match.key))
    const by = [...releases.standing, ...(goesOn ? spend : [])].filter(release =>
      release.keys.some(key => used.includes(key)),
    )
    // `hold` is for routes and figures, which no pause point decides
    return { effect: effect === 'hold' ? 'refuse' : effect, ...worst, all, spend: goesOn ? spend : [], by }
  }
}
