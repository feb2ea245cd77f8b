import { type MemberActor, memberActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { SESSION_MS } from '#core/limits.ts'
import { makeToken } from '#core/token.ts'
import type { Member, SessionMethod } from '#generated/prisma/client.ts'
import type { Db, Tx } from '../db.ts'
import { hashToken } from '../keys/token-hash.ts'
import { type FeatureContext, newId, notFound, type Visit } from './context.ts'
import { recordEvidence } from './evidence.ts'

/** A session that was just begun; `token` goes into the cookie and exists nowhere else. */
export type BegunSession = { token: string; expiresAt: Date; orgSlug: string; memberId: string }

export type Beginning = {
  method: Exclude<SessionMethod, 'admin_credential'>
  /** When the person last proved who they are; switching organisation keeps it. */
  authnAt: Date
  demo: boolean
  idpConnectionId?: string
  parentToken?: string
  /** The browser's session before: signing in again drops it. */
  replaces?: string | undefined
}

/**
 * Begins a session, with its evidence, in the caller's transaction. How it began never changes (trigger): another sign-in is
 * another row, and the one it replaces goes.
 */
export async function beginSession(tx: Tx, visit: Visit, member: Member, begin: Beginning): Promise<BegunSession> {
  const { replaces, idpConnectionId = null, parentToken = null, ...how } = begin
  const token = makeToken('session', visit.random(32))
  const org = await tx.organisation.findUniqueOrThrow({ where: { id: member.orgId }, select: { slug: true } })
  if (replaces) await tx.session.deleteMany({ where: { tokenHash: hashToken(replaces) } })
  const expiresAt = new Date(visit.now.getTime() + SESSION_MS)
  const id = newId(visit, 'session')
  await tx.session.create({
    data: {
      id,
      tokenHash: hashToken(token),
      memberId: member.id,
      orgId: member.orgId,
      ...how,
      idpConnectionId,
      parentToken,
      expiresAt,
      createdAt: visit.now,
    },
  })
  const { method, authnAt, demo } = begin
  const actor = memberActor(member, org.slug, { method, authnAt, demo, sessionId: id, how: 'web' })
  await recordEvidence(
    tx,
    { ...visit, actor },
    {
      kind: 'member.signed_in',
      subject: { kind: 'member', id: member.id },
      data: {
        method: begin.method,
        ...(begin.demo ? { demo: true } : {}),
        ...(idpConnectionId ? { connection: idpConnectionId } : {}),
      },
    },
  )
  return { token, expiresAt, orgSlug: org.slug, memberId: member.id }
}

/**
 * The organisations that this person could work in by this very sign-in: all with their address for an e-mail code, which
 * proved the address; its own alone for every other way (a provider of one organisation says nothing to another).
 */
export async function organisationsOf(
  db: Db | Tx,
  actor: Pick<MemberActor, 'email' | 'method' | 'orgId'>,
): Promise<{ slug: string; name: string }[]> {
  return db.organisation.findMany({
    where:
      actor.method === 'email_code'
        ? { members: { some: { email: actor.email, removedAt: null } } }
        : { id: actor.orgId },
    select: { slug: true, name: true },
    orderBy: { name: 'asc' },
  })
}

/** Changes over to another organisation of the same address: a new session with the old one's time of signing in. */
export async function switchOrganisation(
  ctx: FeatureContext<MemberActor>,
  input: { org: string; token: string },
): Promise<BegunSession> {
  const { actor } = ctx
  if (actor.method !== 'email_code') {
    throw new AppError('FORBIDDEN', 'This session belongs to one organisation.', {
      remedy: 'Sign out and sign in with an e-mail code.',
      details: { why: 'no_switch' },
    })
  }
  return ctx.db.$transaction(async tx => {
    const tokenHash = hashToken(input.token)
    // Whoever ends this session right now has it first, and nothing is left to change over.
    await tx.$queryRaw`select 1 from "Session" where "tokenHash" = ${tokenHash} for update`
    const held = await tx.session.findUnique({ where: { tokenHash } })
    const member = await tx.member.findFirst({
      where: { email: actor.email, removedAt: null, org: { slug: input.org } },
    })
    if (!held || held.id !== actor.sessionId || !member) throw notFound('organisation')
    return beginSession(tx, ctx, member, {
      method: 'email_code',
      authnAt: held.authnAt,
      demo: held.demo,
      replaces: input.token,
    })
  })
}

/** Ends the sessions of these cookie values, whatever they are. */
export async function endSessions(db: Db | Tx, tokens: readonly string[]): Promise<void> {
  if (tokens.length > 0) await db.session.deleteMany({ where: { tokenHash: { in: tokens.map(hashToken) } } })
}
