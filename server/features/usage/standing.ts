import { formatDecimal } from '#core/decimal.ts'
import { canonicalJson } from '#core/json.ts'
import type { UsageDay } from '#core/usage/upload.ts'
import type { Tx } from '../../db.ts'
import type { FeatureContext } from '../context.ts'
import { type PricedDay, shortest } from './price-day.ts'

type MachineKey = { orgId: string; machineId: string }

/** What is on record for a day: what was taken, and what waits in quarantine. Absent members: nothing of the kind. */
export type StandingDay = {
  seq?: number
  digest?: string
  cost?: string
  calls?: number
  version?: number
  waitingSeq?: number
}

export async function standingDays(
  tx: Tx,
  { orgId, machineId }: MachineKey,
  days: readonly string[],
): Promise<Map<string, StandingDay>> {
  const list = `{${days.join(',')}}`
  const taken = await tx.$queryRaw<
    { day: string; seq: number; digest: string; cost: string; calls: bigint; version: number }[]
  >`select day::text, seq, digest, cost::text, calls, "ruleVersion" as version from "UsageDay"
    where "orgId" = ${orgId} and "machineId" = ${machineId} and day = any(${list}::date[])`
  const waiting = await tx.$queryRaw<{ day: string; waitingSeq: number }[]>`
    select day::text, seq as "waitingSeq" from "UsageQuarantine"
    where "orgId" = ${orgId} and "machineId" = ${machineId} and day = any(${list}::date[])`
  const standing = new Map<string, StandingDay>()
  for (const { day, ...row } of taken) standing.set(day, { ...row, cost: shortest(row.cost), calls: Number(row.calls) })
  for (const { day, waitingSeq } of waiting) standing.set(day, { ...standing.get(day), waitingSeq })
  return standing
}

type TakenDay = { usageDay: UsageDay; digest: string; priced: PricedDay }

/** Writes down that days were taken with an upload, or were the same in it, and that none of them waits any more. */
export async function putDays(
  tx: Tx,
  { now }: Pick<FeatureContext, 'now'>,
  { orgId, machineId }: MachineKey,
  seq: number,
  taken: readonly TakenDay[],
  same: readonly string[],
): Promise<void> {
  if (taken.length > 0) {
    const rows = taken.map(({ usageDay, digest, priced }) => ({
      day: usageDay.day,
      computedAt: usageDay.computedAt,
      digest,
      buckets: priced.buckets.length,
      calls: priced.calls,
      cost: formatDecimal(priced.picoUsd),
      machineCost: formatDecimal(priced.machinePico),
      differing: priced.differing,
      ruleVersion: priced.version,
      unlisted: usageDay.unlisted ?? {},
    }))
    await tx.$executeRaw`
      insert into "UsageDay" ("orgId", "machineId", day, seq, "computedAt", "receivedAt", digest, buckets, calls, cost, "machineCost", differing, "ruleVersion", unlisted)
      select ${orgId}, ${machineId}, r.day, ${seq}::int, r."computedAt", ${now}::timestamptz, r.digest, r.buckets, r.calls, r.cost, r."machineCost", r.differing, r."ruleVersion", r.unlisted
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as r(day date, "computedAt" timestamptz, digest text, buckets int, calls bigint, cost numeric, "machineCost" numeric, differing int, "ruleVersion" int, unlisted jsonb)
      on conflict ("orgId", "machineId", day) do update set seq = excluded.seq, "computedAt" = excluded."computedAt", "receivedAt" = excluded."receivedAt",
        digest = excluded.digest, buckets = excluded.buckets, calls = excluded.calls, cost = excluded.cost, "machineCost" = excluded."machineCost",
        differing = excluded.differing, "ruleVersion" = excluded."ruleVersion", unlisted = excluded.unlisted`
  }
  if (same.length > 0)
    await tx.$executeRaw`
      update "UsageDay" set seq = ${seq}, "receivedAt" = ${now}
      where "orgId" = ${orgId} and "machineId" = ${machineId} and day = any(${`{${same.join(',')}}`}::date[])`
  const settled = [...taken.map(({ usageDay }) => usageDay.day), ...same]
  if (settled.length > 0)
    await tx.$executeRaw`
      delete from "UsageQuarantine"
      where "orgId" = ${orgId} and "machineId" = ${machineId} and day = any(${`{${settled.join(',')}}`}::date[])`
}

/** Keeps days of a clock ahead as they were sent. */
export async function putQuarantine(
  tx: Tx,
  { now }: Pick<FeatureContext, 'now'>,
  { orgId, machineId }: MachineKey,
  seq: number,
  ahead: readonly { usageDay: UsageDay; digest: string; releaseAt: Date }[],
): Promise<void> {
  for (const { usageDay, digest, releaseAt } of ahead) {
    const calls = usageDay.buckets.reduce((sum, bucket) => sum + bucket.calls, 0)
    await tx.$executeRaw`
      insert into "UsageQuarantine" ("orgId", "machineId", day, seq, digest, "computedAt", "receivedAt", "releaseAt", buckets, calls, content)
      values (${orgId}, ${machineId}, ${usageDay.day}::date, ${seq}, ${digest}, ${new Date(usageDay.computedAt)}, ${now}, ${releaseAt}, ${usageDay.buckets.length}, ${calls}, ${canonicalJson(usageDay)}::jsonb)
      on conflict ("orgId", "machineId", day) do update set seq = excluded.seq, digest = excluded.digest, "computedAt" = excluded."computedAt",
        "receivedAt" = excluded."receivedAt", "releaseAt" = excluded."releaseAt", buckets = excluded.buckets, calls = excluded.calls, content = excluded.content`
  }
}
