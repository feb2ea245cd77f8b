import type { MemberActor } from '#core/actor.ts'
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

/** What spend can be grouped by and budgeted for, and from when on there is any. */
export async function spendKeys({ db, actor: { orgId } }: FeatureContext<MemberActor>): Promise<SpendKeys> {
  const { timeZone: zone } = await db.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { timeZone: true },
  })
  const { tags, budgets } = await budgetsInForce(db, orgId)
  const carried = await db.$queryRaw<{ key: string }[]>`
    select distinct jsonb_object_keys(tags) as key from "UsageSeries" where "orgId" = ${orgId} order by 1`
  const [first] = await db.$queryRaw<{ month: string | null }[]>`
    select to_char(min(start), 'YYYY-MM') as month from "UsageTotal" where "orgId" = ${orgId} and zone = ${zone} and span = 'month'`
  const listed = [...new Set(['tenant', 'project', ...Object.keys(tags)])]
  const keys = new Set([...listed, ...carried.map(({ key }) => key)])
  return {
    zone,
    tags: [...keys],
    firstMonth: first?.month ?? null,
    lists: listed.map(key => ({ key, values: tags[key] ?? [] })),
    budgets,
  }
}
