import type { MemberActor } from '#core/actor.ts'
import { openSignals } from '../../bus.ts'
import type { FeatureContext } from '../context.ts'

/**
 * Where the organisation's record stands: how many entries its ledger holds. Every change to a request writes one in its
 * own transaction, so whoever read requests after reading this has missed nothing up to it.
 */
export async function readPosition(ctx: FeatureContext<MemberActor>): Promise<number> {
  const where = { orgId: ctx.actor.orgId }
  return (await ctx.db.ledger.findUniqueOrThrow({ where, select: { size: true } })).size
}

/** `missed`: something may have changed since the reader looked, so look again. */
export type Change = { position: number; missed: boolean }

/**
 * Tells whoever read requests at a position when to read them anew. It listens before it looks where the record stands now,
 * so that nothing which happens between reading and listening is missed. The first message comes at once.
 */
export async function* approvalChanges(
  ctx: FeatureContext<MemberActor>,
  seen: number,
  signal?: AbortSignal,
): AsyncGenerator<Change> {
  const heard = openSignals(s => s.what === 'approval' && s.org === ctx.actor.orgId, signal)
  try {
    const position = await readPosition(ctx)
    yield { position, missed: position !== seen }
    for await (const _ of heard) yield { position: await readPosition(ctx), missed: true }
  } finally {
    await heard.return()
  }
}
