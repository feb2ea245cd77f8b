import type { MemberActor, TokenActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { type Dimension, OWN_DIMENSIONS } from '#core/spend/group.ts'
import { STANDING_KEYS } from '#core/usage/tags.ts'
import { budgetsInForce, type InForce } from '../budget/in-force.ts'
import type { FeatureContext } from '../context.ts'

export type SpendKeys = {
  /** The organisation's zone, whose clock periods are cut by. */
  zone: string
  /** Keys of tags: tenant and project always, then those of the lists in force and those that usage still carries. */
  tags: string[]
  /** The first month with usage, `2026-11`; null: there is none yet. */
  firstMonth: string | null
  /** The lists in force, tenant's and project's though they be empty; usage has other values only from before. */
  lists: { key: string; values: readonly string[] }[]
  /** The budgets in force, as they are written. */
  budgets: InForce['budgets']
}

/** Keys of tags that usage carries, also of those that are on no list any more. */
async function carriedKeys({ db, actor: { orgId } }: Pick<FeatureContext<MemberActor | TokenActor>, 'db' | 'actor'>) {
  const rows = await db.$queryRaw<{ key: string }[]>`
    select distinct jsonb_object_keys(tags) as key from "UsageSeries" where "orgId" = ${orgId} order by 1`
  return rows.map(({ key }) => key)
}

/**
 * Refuses a tag that is and was none of the organisation's: a slip of the pen is not a report of which everything is unattributed.
 * @throws AppError BAD_INPUT naming what there is
 */
export async function demandKnown(
  ctx: FeatureContext<MemberActor | TokenActor>,
  dimensions: readonly Dimension[],
): Promise<void> {
  const asked = dimensions.flatMap(one => (one.startsWith('tag:') ? one.slice(4) : []))
  // most reports ask for nothing else, and are spared a look at the rules
  if (asked.every(key => STANDING_KEYS.some(standing => standing === key))) return
  const { tags } = await budgetsInForce(ctx.db, ctx.actor.orgId)
  const listed = [...new Set([...STANDING_KEYS, ...Object.keys(tags)])]
  if (asked.every(key => listed.includes(key))) return
  const known = [...new Set([...listed, ...(await carriedKeys(ctx))])]
  const other = asked.find(key => !known.includes(key))
  if (other === undefined) return
  const own = OWN_DIMENSIONS.filter(one => one !== 'day' && one !== 'month')
  throw new AppError('BAD_INPUT', `There is no tag ${other}, and nothing else of that name to group or filter by.`, {
    remedy: `There are the tags ${known.join(', ')}, and ${own.join(', ')}.`,
    details: { tags: known, others: own },
  })
}

/** What spend can be grouped by and budgeted for, and from when on there is any. */
export async function spendKeys(ctx: FeatureContext<MemberActor>): Promise<SpendKeys> {
  const { db, actor } = ctx
  const { orgId } = actor
  const { timeZone: zone } = await db.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { timeZone: true },
  })
  const { tags, budgets } = await budgetsInForce(db, orgId)
  const carried = await carriedKeys(ctx)
  const [first] = await db.$queryRaw<{ month: string | null }[]>`
    select to_char(min(start), 'YYYY-MM') as month from "UsageTotal" where "orgId" = ${orgId} and zone = ${zone} and span = 'month'`
  const listed = [...new Set(['tenant', 'project', ...Object.keys(tags)])]
  const keys = new Set([...listed, ...carried])
  return {
    zone,
    tags: [...keys],
    firstMonth: first?.month ?? null,
    lists: listed.map(key => ({ key, values: tags[key] ?? [] })),
    budgets,
  }
}
