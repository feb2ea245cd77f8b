import { normaliseEmail } from '#core/email.ts'
import type { Tx } from '../db.ts'
import { makeKey } from '../keys/sign.ts'
import { type FeatureContext, newId } from './context.ts'
import { openLedger, recordEvidence } from './evidence.ts'
import { publishFirstRoot } from './root.ts'

/**
 * Makes an organisation with its first owner, keys, root document and ledger. The caller's actor is the system of the new
 * organisation; everything happens in the given transaction.
 */
export async function createOrganisation(
  tx: Tx,
  ctx: Pick<FeatureContext, 'now' | 'random'>,
  input: { slug: string; name: string; demo?: boolean; owner: { email: string; name: string } },
): Promise<{ orgId: string; ownerId: string }> {
  const orgId = newId(ctx, 'organisation')
  await tx.organisation.create({
    data: { id: orgId, slug: input.slug, name: input.name, demo: input.demo ?? false, createdAt: ctx.now },
  })
  const ownerId = newId(ctx, 'member')
  await tx.member.create({
    data: {
      id: ownerId,
      orgId,
      email: normaliseEmail(input.owner.email),
      name: input.owner.name,
      role: 'owner',
      joinedAt: ctx.now,
    },
  })
  await openLedger(tx, orgId)
  const system = { ...ctx, actor: { kind: 'system', orgId } as const }
  await recordEvidence(tx, system, { kind: 'organisation.created', subject: { kind: 'organisation', id: orgId } })
  await recordEvidence(tx, system, {
    kind: 'member.joined',
    subject: { kind: 'member', id: ownerId },
    data: { role: 'owner', how: 'created' },
  })
  for (const role of ['owner', 'ruleset', 'answer', 'fresh', 'ledger', 'registry'] as const)
    await makeKey(tx, orgId, role, ctx.now)
  await makeKey(tx, orgId, 'owner', ctx.now, true)
  await publishFirstRoot(tx, system)
  return { orgId, ownerId }
}
