import { normaliseEmail } from '#core/email.ts'
import { AppError, isAppError } from '#core/error.ts'
import { UNDATED_SIGN_IN } from '#core/permission.ts'
import type { Member } from '#generated/prisma/client.ts'
import type { Tx } from '../db.ts'
import { log } from '../log.ts'
import { isInDomains, type OpenConnection } from './connection.ts'
import type { Visit } from './context.ts'
import { recordEvidence } from './evidence.ts'
import { type BegunSession, beginSession } from './session.ts'

/** What a provider asserted, its signature, issuer, audience and nonce already checked by the library. */
export type Claims = { iss: string; sub: string; email?: unknown; email_verified?: unknown; auth_time?: unknown }

/** Why a sign-in through a provider was refused; recorded with the refusal. */
export type SingleSignOnRefusal = 'issuer' | 'unverified' | 'domain' | 'no_member' | 'no_sso'

const REFUSALS: Record<SingleSignOnRefusal, string> = {
  issuer: 'The provider answered under another name than the one it is connected as.',
  unverified: 'The provider does not say that it has verified your e-mail address.',
  domain: 'This provider is not believed about addresses of that domain.',
  no_member: 'You are not a member of this organisation.',
  no_sso: 'This provider is not connected any more.',
}
const refuse = (why: SingleSignOnRefusal) =>
  new AppError('FORBIDDEN', REFUSALS[why], { remedy: 'Ask an owner or admin of the organisation.', details: { why } })

/**
 * Signs in through an organisation's provider. The account is keyed (connection, issuer, subject); the first time,
 * a verified address finds the member. Only members of the connection's own organisation are ever looked at, and none is made.
 */
export async function signInWithProvider(
  visit: Visit,
  connection: OpenConnection,
  claims: Claims,
  replaces: string | undefined,
): Promise<BegunSession> {
  try {
    return await visit.db.$transaction(async tx => {
      // Kept until the session is there: whoever removes the connection meanwhile ends it with the others.
      const open = await tx.$queryRaw<unknown[]>`
        select 1 from "OidcConnection" where id = ${connection.id} and "removedAt" is null for share`
      if (open.length === 0) throw refuse('no_sso')
      // One subject at a time: of two first sign-ins in one moment the second finds the account of the first.
      await tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${`account ${connection.id} ${claims.sub}`}, 0))::text`
      const member = await findMember(tx, visit, connection, claims)
      return beginSession(tx, visit, member, {
        method: 'oidc',
        authnAt: provedAt(visit, claims),
        demo: false,
        idpConnectionId: connection.id,
        replaces,
      })
    })
  } catch (error) {
    if (isAppError(error) && error.code === 'FORBIDDEN')
      await recordRefusal(visit, connection, String(error.details?.why))
    throw error
  }
}

/**
 * When the provider last asked the person (`auth_time`): an old sign-in there is not a fresh one here. A provider must say
 * it when it was sent `max_age` (OpenID Connect Core, sections 2 and 3.1.2.1), and need not otherwise. Where it does not,
 * nothing else tells: `iat` is when the token was made, which a session of last month at the provider makes just as well. So
 * the sign-in counts, undated, and stands behind nothing that takes a fresh one.
 */
function provedAt(visit: Visit, { auth_time }: Claims): Date {
  if (typeof auth_time !== 'number' || !(auth_time > 0)) return UNDATED_SIGN_IN
  return new Date(Math.min(auth_time * 1000, visit.now.getTime()))
}

async function findMember(tx: Tx, visit: Visit, connection: OpenConnection, claims: Claims): Promise<Member> {
  const { iss, sub } = claims
  if (iss !== connection.issuer) throw refuse('issuer')
  if (claims.email_verified !== true || typeof claims.email !== 'string') throw refuse('unverified')
  const email = normaliseEmail(claims.email)
  if (!isInDomains(email, connection.domains)) throw refuse('domain')
  const key = { connectionId: connection.id, iss, sub }
  const account = await tx.oidcAccount.findUnique({ where: { connectionId_iss_sub: key }, include: { member: true } })
  if (account && !account.member.removedAt) return account.member
  const member = await tx.member.findFirst({ where: { orgId: connection.orgId, email, removedAt: null } })
  if (!member) throw refuse('no_member')
  // Another subject with this address: the provider gave the address to somebody else. A person decides, not we.
  if (await tx.oidcAccount.findFirst({ where: { connectionId: connection.id, memberId: member.id } }))
    throw refuse('no_member')
  // A removed membership's account follows the person when they are a member anew.
  await tx.oidcAccount.deleteMany({ where: key })
  await tx.oidcAccount.create({ data: { ...key, memberId: member.id, orgId: connection.orgId, createdAt: visit.now } })
  return member
}

/** Written apart: the refused sign-in's own transaction was undone. No address stands in it. */
async function recordRefusal(visit: Visit, connection: OpenConnection, why: string): Promise<void> {
  log.warn('sign_in.provider_refused', { connection: connection.id, why })
  const system = { ...visit, actor: { kind: 'system', orgId: connection.orgId } as const }
  await visit.db.$transaction(tx =>
    recordEvidence(tx, system, {
      kind: 'member.sign_in_refused',
      subject: { kind: 'connection', id: connection.id },
      data: { why },
    }),
  )
}
