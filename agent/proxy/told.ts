import type { About } from '#agent/daemon/decision.ts'
import { clockOf, type Runtime } from '#agent/daemon/runtime.ts'
import { keptUnder } from '#agent/daemon/subject.ts'

export type Held = { decision: { text: string }; file: boolean }

/** Held subjects that are remembered; of older ones one more line is chained. */
const MOST = 5000

/**
 * What was held and chained already. Model requests come by the hundred while one question waits: each is held, and the first of a
 * session is the decision.
 */
export class Told {
  private readonly held = new Map<string, { handle: string; held: Held }>()
  private readonly seen = new Set<string>()

  constructor(private readonly runtime: Runtime) {}

  /** True the first time. */
  first(key: string): boolean {
    if (this.seen.has(key)) return false
    if (this.seen.size >= MOST) this.seen.clear()
    this.seen.add(key)
    return true
  }

  /** The answer that was given before, while what it said still holds. */
  again(about: About): Held | undefined {
    const known = this.held.get(keyOf(about))
    if (!known || !this.stands(known.handle, about)) return undefined
    about.recorded.push(known.handle)
    return { ...known.held, file: false }
  }

  note(about: About, hold: () => Held): Held {
    const held = hold()
    const handle = about.recorded[0]
    if (this.held.size >= MOST) this.held.clear()
    if (handle !== undefined) this.held.set(keyOf(about), { handle, held })
    return held
  }

  private stands(handle: string, { plan }: About): boolean {
    const { state } = this.runtime
    const now = clockOf(this.runtime)
    const target = state.decisions.get(handle)?.entry.question ?? handle
    const question = state.questions.get(target)
    if (question) return question.state === 'open' || (question.state === 'denied' && (question.standsUntil ?? 0) > now)
    const asked = state.requests.get(target)
    if (asked)
      return asked.state === 'pending'
        ? Date.parse(asked.request.expiresAt) > now
        : asked.state === 'denied' && (asked.standsUntil ?? 0) > now
    return plan.evaluation.outcome.kind === 'deny' && state.decisions.has(handle)
  }
}

/** The rules with their digests: one that has changed asks anew. */
function keyOf({ subject, session, plan, rules }: About): string {
  const held = plan.evaluation.decidedBy.map(({ key }) => `${key}@${rules.digests.get(key) ?? ''}`).sort()
  return `${keptUnder({ subject, session: session.id })}\n${session.id}\n${held.join()}`
}
