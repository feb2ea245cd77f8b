import { base64url } from '#core/bytes.ts'
import { AppError } from '#core/error.ts'
import { KEY_ROLES, type KeyRole, type PublicKey } from '#core/key.ts'
import { demandFresh } from '#core/permission.ts'
import { followRoot, type Root, type RootEnvelope, type TrustedRoot, walkRoots } from '#core/root.ts'
import { notify } from '../bus.ts'
import type { Tx } from '../db.ts'
import { crypto } from '../keys/crypto.ts'
import { makeKey, signWith } from '../keys/sign.ts'
import { storedPayload } from '../keys/stored.ts'
import type { FeatureContext } from './context.ts'
import { recordEvidence } from './evidence.ts'

const asKey = (x: string): PublicKey => ({ kty: 'OKP', crv: 'Ed25519', x })

/** The chain of root documents, verified as a machine would. */
export async function rootChain(tx: Tx, orgId: string): Promise<TrustedRoot[]> {
  const rows = await tx.rootDocument.findMany({ where: { orgId }, orderBy: { seq: 'asc' } })
  return walkRoots(
    rows.map(row => JSON.parse(row.envelope) as RootEnvelope),
    orgId,
    crypto,
  )
}

/** Envelopes above a sequence number, as they are served. */
export async function rootsAfter(tx: Tx, orgId: string, after: number): Promise<RootEnvelope[]> {
  const rows = await tx.rootDocument.findMany({ where: { orgId, seq: { gt: after } }, orderBy: { seq: 'asc' } })
  return rows.map(row => JSON.parse(row.envelope) as RootEnvelope)
}

/** Root 1 of a new organisation, over the keys that were just made. */
export async function publishFirstRoot(tx: Tx, ctx: Pick<FeatureContext, 'actor' | 'now' | 'random'>): Promise<void> {
  const { orgId } = ctx.actor
  const keys = await tx.organisationKey.findMany({ where: { orgId } })
  const of = (role: KeyRole) => keys.filter(key => key.role === role).map(key => asKey(key.publicKeyX))
  const owner = keys.find(key => key.role === 'owner' && !key.next)!
  const next = keys.find(key => key.role === 'owner' && key.next)!
  const root: Root = {
    v: 1,
    org: orgId,
    seq: 1,
    custody: 'server',
    threshold: 1,
    owners: [asKey(owner.publicKeyX)],
    roles: Object.fromEntries(KEY_ROLES.map(role => [role, of(role)])) as Root['roles'],
    approvers: [],
    revoked: [],
    nextKeyThumbprint: next.kid,
  }
  await storeRoot(tx, ctx, root, [owner.kid])
}

async function storeRoot(
  tx: Tx,
  ctx: Pick<FeatureContext, 'actor' | 'now' | 'random'>,
  root: Root,
  kids: string[],
  previous?: TrustedRoot,
): Promise<void> {
  const signed: string[] = []
  for (const kid of kids) signed.push(await signWith(tx, kid, 'holdpoint-root+jws', root))
  const envelope: RootEnvelope = { signed }
  const trusted = previous ? followRoot(previous, envelope, crypto) : walkRoots([envelope], root.org, crypto)[0]!
  await tx.rootDocument.create({
    data: {
      orgId: root.org,
      seq: root.seq,
      digest: trusted.digest,
      envelope: JSON.stringify(envelope),
      createdAt: ctx.now,
    },
  })
  await recordEvidence(tx, ctx, {
    kind: 'root.published',
    subject: { kind: 'root', id: String(root.seq) },
    data: { seq: root.seq, digest: trusted.digest },
  })
  await notify(tx, { org: root.org, what: 'root' })
}

/**
 * Rotates the key of a role: a new root lists the new key and revokes the old one; what the old key still signs (the rule
 * set in force) is signed anew over the same bytes. For `owner`, the committed next key takes over and another is committed.
 */
export async function rotateKey(
  ctx: FeatureContext,
  input: { role: KeyRole | 'owner' },
): Promise<{ seq: number; kid: string }> {
  demandFresh(ctx.actor, 'keys.rotate', ctx.now)
  const { orgId } = ctx.actor
  return ctx.db.$transaction(async tx => {
    await tx.$queryRaw`select 1 from "Organisation" where id = ${orgId} for no key update`
    const previous = (await rootChain(tx, orgId)).at(-1)!
    const old = await tx.organisationKey.findFirst({
      where: { orgId, role: input.role, next: false, retiredAt: null },
      orderBy: { createdAt: 'desc' },
    })
    if (!old) throw new AppError('NOT_FOUND', `There is no ${input.role} key.`)
    const owner = await tx.organisationKey.findFirstOrThrow({
      where: { orgId, role: 'owner', next: false, retiredAt: null },
    })
    const base = { ...previous.root, seq: previous.root.seq + 1, prev: previous.digest }
    const revoked = [...base.revoked, { kid: old.kid, since: ctx.now.toISOString() }]
    let kid: string
    if (input.role === 'owner') {
      const committed = await tx.organisationKey.findFirstOrThrow({ where: { orgId, role: 'owner', next: true } })
      const following = await makeKey(tx, orgId, 'owner', ctx.now, true)
      kid = committed.kid
      await tx.organisationKey.update({ where: { kid }, data: { next: false } })
      const root: Root = { ...base, owners: [asKey(committed.publicKeyX)], revoked, nextKeyThumbprint: following.kid }
      await storeRoot(tx, ctx, root, [old.kid, kid], previous)
    } else {
      const made = await makeKey(tx, orgId, input.role, ctx.now)
      kid = made.kid
      const root: Root = { ...base, roles: { ...base.roles, [input.role]: [made.key] }, revoked }
      await storeRoot(tx, ctx, root, [owner.kid], previous)
    }
    await tx.organisationKey.update({ where: { kid: old.kid }, data: { retiredAt: ctx.now } })
    if (input.role === 'ruleset') await signRuleSetAnew(tx, orgId, kid)
    await recordEvidence(tx, ctx, {
      kind: 'key.rotated',
      subject: { kind: 'key', id: kid },
      data: { role: input.role, old: old.kid, new: kid },
    })
    return { seq: base.seq, kid }
  })
}

/** The newest rule set under a new key, over the very bytes of the old signature: one version keeps one content. */
async function signRuleSetAnew(tx: Tx, orgId: string, kid: string): Promise<void> {
  const newest = await tx.ruleSetVersion.findFirst({ where: { orgId }, orderBy: { version: 'desc' } })
  if (!newest) return
  const payload = storedPayload(newest.jws)
  const jws = await signWith(tx, kid, 'holdpoint-ruleset+jws', payload)
  if (base64url(crypto.sha256(Buffer.from(jws.split('.')[1]!, 'base64url'))) !== newest.digest) {
    throw new AppError('INTERNAL', 'Signing the rule set anew would change it.', {
      note: 'canonical form differs from the stored payload',
    })
  }
  await tx.ruleSetVersion.update({ where: { orgId_version: { orgId, version: newest.version } }, data: { jws, kid } })
  await notify(tx, { org: orgId, what: 'ruleset' })
}
