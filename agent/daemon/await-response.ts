import { setTimeout as sleep } from 'node:timers/promises'
import { costReading, type Figures, nameReading } from '#core/figure.ts'
import { TIERS } from '#core/model-tier.ts'
import { MAX_MICROS, type Micros } from '#core/money.ts'
import type { Plan } from './decide.ts'
import { takeResults } from './results.ts'
import type { Runtime } from './runtime.ts'
import type { Session } from './session.ts'

/**
 * A client may write a response only after the hook for its tool call has arrived (Claude Code: 5 to 140 ms later, Copilot CLI: 30
 * to 75, measured), so that the cost which the hook reads lacks the very response that asks for the call.
 */
const WAIT_MS = 200
const POLL_MS = 4
/** A machine that lets the daemon look late lets the client write late, too. */
const LOOKS_LEAST = 10
/** What one response may cost before it is read: never less than this, or twice the dearest one of the session. */
const RESPONSE_LEAST: Micros = 500_000

/**
 * Whether the response behind a call is worth waiting for: it has not been read, and with it the call might go another way.
 *
 * A response may cost up to twice the dearest that the session has shown, at least half a dollar. In a session that has shown
 * none it may cost anything: the first call of a session waits wherever a rule in force compares the cost. One that waited in
 * vain (a client that keeps no transcript) does so once, until something is read again. The response also tells the session's
 * model, which a subagent has that names none (`needsModel`).
 */
export function isWorthWaiting(
  {
    runtime,
    session,
    comparesCost,
    needsModel,
  }: { runtime: Runtime; session: Session; comparesCost: boolean; needsModel: boolean },
  toolUse: string | undefined,
  figures: Figures,
  plan: Plan,
  planWith: (figures: Figures) => Plan,
): boolean {
  if (session.waitedInVain || isShown(runtime, session, toolUse)) return false
  const goesOtherwise = (others: Figures) => planWith(others).effect !== plan.effect
  if (needsModel && session.model === undefined) {
    const others = figures.filter(reading => reading.name !== 'model_tier')
    if (TIERS.some(tier => goesOtherwise([...others, nameReading('model_tier', tier, runtime.now())]))) return true
  }
  if (!comparesCost && runtime.state.grants.size === 0) return false
  const { cost, dearest } = session
  const more = dearest === undefined ? MAX_MICROS : Math.max(RESPONSE_LEAST, 2 * dearest)
  const others = figures.filter(reading => reading.name !== 'session_cost_usd')
  // while nothing was read a rule may hold for that alone: the least that a response costs lets it decide, too
  const possible = cost === undefined ? [0, more] : [Math.min(cost + more, MAX_MICROS)]
  return possible.some(micros => goesOtherwise([...others, costReading(micros, runtime.now())]))
}

/** Whether the response behind a call is in the cost. A call that its client names nowhere may have been named by its record by now. */
const isShown = ({ sessions, adapters }: Runtime, session: Session, toolUse: string | undefined): boolean =>
  toolUse === undefined ? adapters.get(session.client)?.recordsFirst === true : sessions.hasShown(session, toolUse)

/**
 * Whether a call would be asked about while what was answered to an earlier question of its session has not been read: the
 * client may write that the earlier call ran only after the hook of the next one has arrived.
 */
export function mayHaveBeenAnswered(
  { state, sessions }: Runtime,
  session: Session,
  toolUse: string | undefined,
  plan: Plan,
): boolean {
  if (plan.effect !== 'ask' || toolUse === undefined || session.waitedInVain) return false
  if (sessions.hasShown(session, toolUse)) return false
  return [...state.prompts.values()].some(handle => state.decisions.get(handle)?.entry.session === session.id)
}

/** Reads on until the transcript names the call, for as long as a hook may wait; resolves either way. `idOf`: the call's id by then. */
export async function awaitResponse(
  runtime: Runtime,
  session: Session,
  idOf: () => string | undefined,
  arrivedMs: number,
): Promise<void> {
  const before = session.responses
  for (let looks = 0; looks < LOOKS_LEAST || performance.now() - arrivedMs < WAIT_MS; looks++) {
    await sleep(POLL_MS)
    takeResults(runtime, session, runtime.sessions.observe(session))
    const toolUse = idOf()
    if (toolUse !== undefined && runtime.sessions.hasShown(session, toolUse)) return
  }
  if (session.responses === before) session.waitedInVain = true
}
