import type { MemberActor } from '#core/actor.ts'
import type { FeatureContext } from './context.ts'

/** The organisation of a session, as every page's frame shows it. */
export async function currentOrganisation(
  ctx: FeatureContext<MemberActor>,
): Promise<{ id: string; slug: string; name: string; demo: boolean; restoredAt: Date | null }> {
  return ctx.db.organisation.findUniqueOrThrow({
    where: { id: ctx.actor.orgId },
    select: { id: true, slug: true, name: true, demo: true, restoredAt: true },
  })
}
