import type { Tx } from '../../db.ts'

/** Dates of machines in a month that are looked at one by one; with more of them the month is read rather than told apart. */
const CHANGED_MOST = 4000

/**
 * Tells whether a month's usage is as it was: the same mark, the same usage. It is made of when the fleet's totals of the month were
 * made last, and of the days that have changed since. Undefined where that would take as long as reading.
 */
export async function monthMarks(tx: Tx, orgId: string, zone: string): Promise<(month: string) => string | undefined> {
  const rows = await tx.$queryRaw<{ month: string; made: string | null; changed: string | null; many: boolean }[]>`
    with stale as (
      select date_trunc('month', day::timestamp)::date as month, count(*) > ${CHANGED_MOST} as many
      from "UsageStale" where "orgId" = ${orgId} and zone = ${zone} group by 1
    ), changed as (
      select t.month, md5(string_agg(concat_ws(' ', s.day, s."machineId", d.day, d.seq, d.digest, d.cost, d."ruleVersion"), ',' order by s.day, s."machineId", d.day)) as mark
      from stale t join "UsageStale" s on s."orgId" = ${orgId} and s.zone = ${zone} and s.day >= t.month and s.day < t.month + interval '1 month'
        left join "UsageDay" d on d."orgId" = ${orgId} and d."machineId" = s."machineId" and d.day between s.day - 1 and s.day + 1
      where not t.many group by 1
    )
    select to_char(month, 'YYYY-MM') as month, m.made::text as made, c.mark as changed, coalesce(t.many, false) as many
    from (select month, made from "UsageMark" where "orgId" = ${orgId} and zone = ${zone}) m
      full join stale t using (month) left join changed c using (month)`
  const marks = new Map(
    rows.map(({ month, made, changed, many }) => [month, many ? undefined : `${made ?? ''} ${changed ?? ''}`]),
  )
  return month => (marks.has(month) ? marks.get(month) : '')
}
