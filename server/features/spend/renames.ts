import type { RuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import { NO_RENAMES, type RenameMap, renameMap } from '#core/usage/renames.ts'
import type { Tx } from '../../db.ts'
import { storedPayload } from '../../keys/stored.ts'
import { keptValues } from '../kept.ts'

/** Published versions never change, so what they come to is kept. */
const kept = keptValues<RenameMap>(500)

/**
 * What values of tags are called by the rules in force. Usage keeps the values it was recorded with; whatever reads it reads it
 * through this, so that no total changes and a rename can be taken back.
 */
export async function renamesInForce(tx: Tx, orgId: string): Promise<RenameMap> {
  const found = await tx.ruleSetVersion.findFirst({
    where: { orgId },
    orderBy: { version: 'desc' },
    select: { version: true, digest: true },
  })
  return found ? renamesOf(tx, orgId, found) : NO_RENAMES
}

/** The same by the rules that were in force at some moments, each by its number of milliseconds. */
export async function renamesAt(tx: Tx, orgId: string, moments: readonly Date[]): Promise<Map<number, RenameMap>> {
  const maps = new Map<number, RenameMap>()
  if (moments.length === 0) return maps
  const found = await tx.$queryRaw<{ at: Date; version: number | null; digest: string | null }[]>`
    select m.at, v.version, v.digest from unnest(${[...moments]}::timestamptz[]) m(at)
      left join lateral (
        select version, digest from "RuleSetVersion" where "orgId" = ${orgId} and "publishedAt" <= m.at order by version desc limit 1
      ) v on true`
  for (const { at, version, digest } of found)
    maps.set(at.getTime(), version === null ? NO_RENAMES : await renamesOf(tx, orgId, { version, digest: digest! }))
  return maps
}

async function renamesOf(
  tx: Tx,
  orgId: string,
  { version, digest }: { version: number; digest: string },
): Promise<RenameMap> {
  const key = `${orgId} ${version} ${digest}`
  const before = kept.get(key)
  if (before) return before
  const { jws } = await tx.ruleSetVersion.findUniqueOrThrow({
    where: { orgId_version: { orgId, version } },
    select: { jws: true },
  })
  const { renames } = readSpend(storedPayload<RuleSet>(jws))
  return kept.put(key, renames.length === 0 ? NO_RENAMES : renameMap(renames))
}
