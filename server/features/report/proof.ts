import type { Report } from '#core/protocol.ts'
import { openRuleSetUnder } from '#core/rule-set.ts'
import type { Db } from '../../db.ts'
import { crypto } from '../../keys/crypto.ts'

/**
 * The rule set that a machine has in force, when its report carries it signed under any ruleset key this organisation ever had
 * (a rotation since then takes nothing from what was published before). Undefined when it does not: then the version is a
 * claim, and a single machine's claim stops nobody.
 */
export async function provenRuleSet(
  db: Db,
  orgId: string,
  { version, digest, proof }: Report['rules'],
): Promise<{ version: number; digest: string } | undefined> {
  if (proof === undefined) return undefined
  const rows = await db.organisationKey.findMany({ where: { orgId, role: 'ruleset' }, select: { publicKeyX: true } })
  const keys = rows.map(({ publicKeyX }) => ({ kty: 'OKP', crv: 'Ed25519', x: publicKeyX }) as const)
  try {
    const opened = openRuleSetUnder(proof, keys, orgId, crypto)
    return opened.set.version === version && opened.digest === digest ? { version, digest } : undefined
  } catch {
    return undefined
  }
}
