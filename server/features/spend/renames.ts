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
export const renamesInForce = (tx: Tx, orgId: string): Promise<RenameMap> => renamesWhere(tx, orgId, {})

/** The same by the rules that were in force at a moment. */
export const renamesAt = (tx: Tx, orgId: string, at: Date): Promise<RenameMap> =>
  renamesWhere(tx, orgId, { publishedAt: { lte: at } })

async function renamesWhere(tx: Tx, orgId: string, which: { publishedAt?: { lte: Date } }): Promise<RenameMap> {
  const found = await tx.ruleSetVersion.findFirst({
    where: { orgId, ...which },
    orderBy: { version: 'desc' },
    select: { version: true, digest: true },
  })
  if (!found) return NO_RENAMES
  const { version, digest } = found
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
