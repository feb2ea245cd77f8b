import { AppError } from '#core/error.ts'
import { openJws } from '#core/jws.ts'
import type { JoinAnswer, JoinBody } from '#core/protocol.ts'
import { makeToken, tokenKind } from '#core/token.ts'
import { notify } from '../bus.ts'
import type { Tx } from '../db.ts'
import { crypto } from '../keys/crypto.ts'
import { hashToken } from '../keys/token-hash.ts'
import { type FeatureContext, newId } from './context.ts'
import { recordEvidence } from './evidence.ts'
import { lockJoining } from './member-end.ts'
import { allowAttempt } from './rate.ts'
import { rootsAfter } from './root.ts'

/** The same words for a token that never was, was used, or is too old. */
const refused = () =>
  new AppError('NOT_SIGNED_IN', 'This join line is not valid, or not any more.', {
    remedy: 'Make a new one on the Machines page; each works once, for fifteen minutes.',
  })

const TRIES = 10

/**
 * A machine joins: the one-time token names organisation and member, the proof shows that the machine holds the key
 * it brings. `address` is where the call came from, for the limit on guesses.
 */
export async function joinMachine(
  ctx: Omit<FeatureContext, 'actor'>,
  input: JoinBody,
  address: string,
): Promise<JoinAnswer> {
  const limit = { windowMs: 15 * 60_000, message: 'Too many attempts to join.' }
  await allowAttempt(ctx, `join-from:${address}`, { ...limit, most: 300 })
  if (tokenKind(input.token) !== 'join') throw refused()
  const hash = hashToken(input.token)
  await allowAttempt(ctx, `join:${hash}`, { ...limit, most: TRIES })
  proveKey(input, hash)
  return ctx.db.$transaction(tx => joinIn(tx, ctx, input, hash))
}

/** The proof is a JWS of the brought key over exactly this token's hash: one for another token, or another key's, does not fit. */
function proveKey(input: JoinBody, hash: string): void {
  const { value } = openJws(input.proof, 'holdpoint-join+jws', [input.key], crypto)
  const claim = value as Record<string, unknown>
  if (
    typeof value !== 'object' ||
    Array.isArray(value) ||
    Object.keys(claim).sort().join() !== 'token,v' ||
    claim.v !== 1 ||
    claim.token !== hash
  ) {
    throw new AppError('BAD_SIGNATURE', 'The proof is not about this join line.')
  }
}

async function joinIn(tx: Tx, ctx: Omit<FeatureContext, 'actor'>, input: JoinBody, hash: string): Promise<JoinAnswer> {
  const token = await tx.token.findUnique({ where: { hash }, include: { member: { include: { org: true } } } })
  if (token?.kind !== 'join') throw refused()
  // The member before the token, as whoever removes a member locks them.
  await lockJoining(tx, token.memberId)
  const [member] = await tx.$queryRaw<{ removedAt: Date | null }[]>`
    select "removedAt" from "Member" where id = ${token.memberId} for share`
  if (!member || member.removedAt) throw refused()
  // The database's clock decides, after the row was had: of two machines with one line, one joins.
  const taken = await tx.$executeRaw`
    update "Token" set "usedAt" = clock_timestamp() where id = ${token.id} and "usedAt" is null and "revokedAt" is null and "expiresAt" > clock_timestamp()`
  if (taken !== 1) throw refused()
  const machineId = newId(ctx, 'machine')
  await tx.machine.create({
    data: {
      id: machineId,
      orgId: token.orgId,
      memberId: token.memberId,
      label: input.label,
      platform: input.platform,
      connector: input.connector,
      publicKeyX: input.key.x,
      firstUsePin: !input.pinned,
      joinedAt: ctx.now,
      lastSeenAt: ctx.now,
    },
  })
  const machineToken = makeToken('machine', ctx.random(32))
  const tokenId = newId(ctx, 'credential')
  await tx.token.create({
    data: {
      id: tokenId,
      kind: 'machine',
      hash: hashToken(machineToken),
      orgId: token.orgId,
      memberId: token.memberId,
      machineId,
      createdAt: ctx.now,
    },
  })
  const roots = await rootsAfter(tx, token.orgId, 0)
  await notify(tx, { org: token.orgId, what: 'machine', machine: machineId })
  const actor = { kind: 'machine', machineId, memberId: token.memberId, orgId: token.orgId, tokenId } as const
  await recordEvidence(
    tx,
    { ...ctx, actor },
    {
      kind: 'machine.joined',
      subject: { kind: 'member', id: token.memberId },
      data: {
        machine: machineId,
        platform: input.platform,
        connector: input.connector,
        key: input.key.x,
        pinned: input.pinned ? 'digest' : 'first use',
      },
    },
  )
  return {
    machine: machineId,
    token: machineToken,
    member: { id: token.memberId, name: token.member.name },
    org: { id: token.orgId, slug: token.member.org.slug, name: token.member.org.name },
    roots,
  }
}
