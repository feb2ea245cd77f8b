import type { MemberActor } from '#core/actor.ts'
import type { JsonObject } from '#core/boundary/rule.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { attributionToJson } from '#core/rules/json.ts'
import { sharePct } from '#core/usage/attribution.ts'
import { renamedValue, renameMap } from '#core/usage/renames.ts'
import { TAG_KEY } from '#core/usage/tags.ts'
import { Prisma } from '#generated/prisma/client.ts'
import type { FeatureContext } from '../context.ts'
import { spendInForce } from '../usage/in-force.ts'
import { shortest } from '../usage/price-day.ts'
import { readDays } from '../usage/unpriced.ts'
import { figuresSeenIn } from './grant.ts'
import { WITHHELD } from './sums.ts'

type Ctx = FeatureContext<MemberActor>
type Days = { from: string; to: string }
const { sql } = Prisma

export type TagValue = {
  value: string
  /** What it is called now, where it was renamed. */
  renamedTo: string | null
  /** Whether usage was ever recorded under it. */
  used: boolean
}
export type TagList = {
  key: string
  /** `tenant` and `project`, which every organisation has. */
  standing: boolean
  values: TagValue[]
  /** Values that usage carries and that are on the list no more. */
  former: TagValue[]
}

/** The lists, rules and renames in force, in the order in which the document has them. */
export async function attributionInForce({ db, actor: { orgId } }: Ctx) {
  const { version, tags, attribution, renames } = await spendInForce(db, orgId)
  const map = renameMap(renames)
  const used = await db.$queryRaw<{ key: string; value: string }[]>`
    select distinct t.key, t.value from "UsageSeries" s, jsonb_each_text(s.tags) t where s."orgId" = ${orgId} order by 1, 2`
  const isUsed = (key: string, value: string) => used.some(one => one.key === key && one.value === value)
  const asValue = (key: string, value: string): TagValue => {
    const now = renamedValue(map, key, value)
    return { value, renamedTo: now === value ? null : now, used: isUsed(key, value) }
  }
  const keys = [...new Set(['tenant', 'project', ...Object.keys(tags), ...used.map(({ key }) => key)])]
  const lists = keys.map((key): TagList => {
    const values = tags[key] ?? []
    return {
      key,
      standing: key === 'tenant' || key === 'project',
      values: values.map(value => asValue(key, value)),
      former: used.flatMap(one => (one.key === key && !values.includes(one.value) ? [asValue(key, one.value)] : [])),
    }
  })
  return {
    version,
    lists,
    rules: attribution.map((rule, index) => ({ ...rule, index, was: attributionToJson(rule) as JsonObject })),
    renames,
  }
}

/** Usage without a value of one key, from one machine, client and model. */
export type UnattributedRow = {
  /** Null: somebody else's, whose own figures the reader does not see. */
  machine: { id: string; label: string } | null
  member: string | null
  client: string
  provider: string
  model: string
  calls: number
  /** US dollars, bounds included; `atMost` of it is of models without a price. */
  cost: string
  atMost: string
  /** Of all usage of these days, whole percent. */
  sharePct: number
  /** Days of the organisation's zone. */
  first: string
  last: string
}

const ROWS_MOST = 1000

/** Why usage has no value of a key: where it comes from, the dearest first. What a machine did not send is not known here. */
export async function whyUnattributed(
  ctx: Ctx,
  { key, ...days }: Days & { key: string },
): Promise<{ zone: string; rows: UnattributedRow[]; cost: string; of: string }> {
  const { db, actor } = ctx
  readDays(days)
  if (!TAG_KEY.test(key)) throw new AppError('BAD_INPUT', 'That is not a tag’s key.')
  const { orgId } = actor
  const seen = await figuresSeenIn(ctx)
  const { timeZone: zone } = await db.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { timeZone: true },
  })
  const visible = seen === 'everybody' ? sql`true` : sql`s."memberId" = any(${[...seen]}::text[])`
  type Row = Omit<UnattributedRow, 'machine' | 'sharePct' | 'calls'> & {
    machine: string
    label: string | null
    calls: bigint
  }
  const rows = await db.$queryRaw<Row[]>(sql`
    select case when ${visible} then s."machineId" else ${WITHHELD} end as machine, case when ${visible} then c.label end as label,
      case when ${visible} then m.name end as member, s.client, s.provider, s.model, sum(t.calls)::bigint as calls, sum(t.cost)::text as cost,
      coalesce(sum(t.cost) filter (where s.rate = 'fallback'), 0)::text as "atMost", min(t.start)::text as first, max(t.start)::text as last
    from "UsageSeries" s
      join "UsageTotal" t on t."orgId" = s."orgId" and t."machineId" = s."machineId" and t."seriesId" = s.id
      join "Machine" c on c."orgId" = s."orgId" and c.id = s."machineId" join "Member" m on m."orgId" = s."orgId" and m.id = s."memberId"
    where s."orgId" = ${orgId} and not s.tags ? ${key}::text
      and t.zone = ${zone} and t.span = 'day' and t.start >= ${days.from}::date and t.start < ${days.to}::date
    group by 1, 2, 3, 4, 5, 6 order by sum(t.cost) desc, 1, 4, 6`)
  const [all] = await db.$queryRaw<{ cost: string }[]>`
    select coalesce(sum(cost), 0)::text as cost from "UsageTotal"
    where "orgId" = ${orgId} and zone = ${zone} and span = 'day' and start >= ${days.from}::date and start < ${days.to}::date`
  const whole = parseDecimal(all!.cost)!
  const sum = rows.reduce((total, { cost }) => total + parseDecimal(cost)!, 0n)
  return {
    zone,
    rows: rows.slice(0, ROWS_MOST).map(({ machine, label, calls, cost, atMost, ...rest }) => ({
      ...rest,
      machine: machine === WITHHELD ? null : { id: machine, label: label ?? machine },
      calls: Number(calls),
      cost: shortest(cost),
      atMost: shortest(atMost),
      sharePct: sharePct(parseDecimal(cost)!, whole),
    })),
    cost: formatDecimal(sum),
    of: formatDecimal(whole),
  }
}

/** What a machine knows a value of, that is on no list of the organisation: the value stays there, its share is told. */
export type UnlistedRow = {
  key: string
  /** Null: of people whose own figures the reader does not see. */
  machine: { id: string; label: string } | null
  member: string | null
  cost: string
  /** Of all that the machine spent on these days. */
  sharePct: number
}

/** By key and machine, the largest first. UTC days, as machines reckon these. */
export async function unlistedShares(ctx: Ctx, days: Days): Promise<UnlistedRow[]> {
  const { db, actor } = ctx
  readDays(days)
  const seen = await figuresSeenIn(ctx)
  const visible = seen === 'everybody' ? sql`true` : sql`c."memberId" = any(${[...seen]}::text[])`
  const rows = await db.$queryRaw<
    { key: string; machine: string; label: string | null; member: string | null; cost: string; of: string }[]
  >(sql`
    with d as (
      select case when ${visible} then c.id else ${WITHHELD} end as machine, case when ${visible} then c.label end as label,
        case when ${visible} then m.name end as member, d.cost, d.unlisted
      from "UsageDay" d join "Machine" c on c."orgId" = d."orgId" and c.id = d."machineId" join "Member" m on m."orgId" = c."orgId" and m.id = c."memberId"
      where d."orgId" = ${actor.orgId} and d.day >= ${days.from}::date and d.day < ${days.to}::date),
    w as (select machine, sum(cost) as cost from d group by 1)
    select u.key, d.machine, d.label, d.member, sum(u.value::numeric)::text as cost, max(w.cost)::text as of
    from d join w on w.machine = d.machine, jsonb_each_text(d.unlisted) u group by 1, 2, 3, 4 order by sum(u.value::numeric) desc, 1, 2`)
  return rows.slice(0, ROWS_MOST).map(({ machine, label, member, key, cost, of }) => ({
    key,
    machine: machine === WITHHELD ? null : { id: machine, label: label ?? machine },
    member,
    cost: shortest(cost),
    sharePct: sharePct(parseDecimal(cost)!, parseDecimal(of)!),
  }))
}
