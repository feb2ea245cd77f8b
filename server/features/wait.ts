import type { MachineActor } from '#core/actor.ts'
import { LONG_POLL_MS } from '#core/limits.ts'
import type { WaitAnswer } from '#core/protocol.ts'
import { nextSignal, type Signal } from '../bus.ts'
import type { FeatureContext } from './context.ts'
import { servedRules } from './fresh.ts'

export type WaitInput = { rules: string; answers: number; abort?: AbortSignal; timeoutMs?: number }

/**
 * Holds a machine's call until there is something newer than it names, or the time is over. It listens before it
 * looks, so that nothing which happens between the two is missed.
 */
export async function waitForNews(ctx: FeatureContext<MachineActor>, input: WaitInput): Promise<WaitAnswer> {
  const { machineId, orgId } = ctx.actor
  const until = Date.now() + (input.timeoutMs ?? LONG_POLL_MS)
  let rootMoved = false
  const concerns = (signal: Signal) => {
    if (signal.org !== orgId) return false
    if (signal.what === 'root') rootMoved = true
    return signal.what === 'ruleset' || signal.what === 'root' || signal.machine === machineId
  }
  for (;;) {
    const next = nextSignal(concerns, Math.max(0, until - Date.now()), input.abort)
    let news: WaitAnswer
    try {
      news = await look(ctx, input)
      // A new root may come with the very same rules: the poll that follows brings the freshness that names it.
      if (rootMoved) news.rules = true
    } catch (error) {
      next.cancel()
      throw error
    }
    if (news.rules || news.answers || input.abort?.aborted) {
      next.cancel()
      return news
    }
    if (!(await next.promise)) return news
  }
}

async function look(ctx: FeatureContext<MachineActor>, input: WaitInput): Promise<WaitAnswer> {
  const [served, machine] = await Promise.all([
    servedRules(ctx),
    ctx.db.machine.findUnique({
      where: { id: ctx.actor.machineId },
      select: { answerSeq: true, leftAt: true, revokedAt: true },
    }),
  ])
  // Behind what it has seen is news as well: a backup was put back, and places are given anew.
  // A machine that was revoked while it waited asks again, and is told.
  const gone = !machine || machine.leftAt !== null || machine.revokedAt !== null
  return { rules: gone || (served.etag ?? '') !== input.rules, answers: (machine?.answerSeq ?? 0) !== input.answers }
}
