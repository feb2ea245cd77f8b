import { randomInt } from 'node:crypto'
import type { MemberActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { ADMIN_CREDENTIAL_MS } from '#core/limits.ts'
import { demand, demandFreshSignIn, isFreshSignIn } from '#core/permission.ts'
import { plainName } from '#core/plain-text.ts'
import { roleAtLeast } from '#core/role.ts'
import { makeToken } from '#core/token.ts'
import type { AdminLogin } from '#generated/prisma/client.ts'
import { hashToken } from '../keys/token-hash.ts'
import { type FeatureContext, newId, notFound, type Visit } from './context.ts'
import { recordEvidence } from './evidence.ts'
import { demandRate } from './rate.ts'

/** RFC 8628. The user code is typed by hand and never stands in an address: who follows a link cannot be made to confirm. */
const LOGIN_MS = 10 * 60_000
const POLL_S = 5
/** RFC 8628 section 6.1: twenty consonants, so that no word comes about. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

const userCode = () => Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
const spelled = (code: string) => `${code.slice(0, 4)}-${code.slice(4)}`
const typed = (text: string) => text.toUpperCase().replace(/[^A-Z]/g, '')

export type LoginStart = {
  deviceCode: string
  userCode: string
  verificationUrl: string
  expiresAt: Date
  intervalS: number
}

/** The command asks for a credential. `label` is the name of the machine it runs on, shown to whoever confirms. */
export async function startAdminLogin(visit: Visit, input: { org: string; label: string }): Promise<LoginStart> {
  const org = await visit.db.organisation.findUnique({
    where: { slug: input.org },
    select: { id: true, adminCredential: true },
  })
  if (!org) throw notFound('organisation')
  if (!org.adminCredential) throw switchedOff()
  const deviceCode = Buffer.from(visit.random(32)).toString('base64url')
  const code = userCode()
  const expiresAt = new Date(visit.now.getTime() + LOGIN_MS)
  await visit.db.adminLogin.deleteMany({ where: { expiresAt: { lt: visit.now } } })
  await visit.db.adminLogin.create({
    data: {
      id: newId(visit, 'credential'),
      deviceCodeHash: hashToken(deviceCode),
      userCode: code,
      orgId: org.id,
      label: plainName(input.label) || 'a machine',
      expiresAt,
    },
  })
  return {
    deviceCode,
    userCode: spelled(code),
    verificationUrl: `${visit.origin}/device`,
    expiresAt,
    intervalS: POLL_S,
  }
}

const switchedOff = () =>
  new AppError('FORBIDDEN', 'This organisation has switched off credentials for the command.', {
    details: { why: 'switched_off' },
  })

export type LoginPoll =
  | { state: 'pending' | 'slow_down' | 'expired' | 'denied' }
  | { state: 'issued'; token: string; expiresAt: Date; member: { id: string; name: string; role: string } }

/** The command asks how it stands. The credential is made and handed out exactly once, by the poll that finds it confirmed. */
export async function pollAdminLogin(visit: Visit, input: { deviceCode: string }): Promise<LoginPoll> {
  return visit.db.$transaction(async tx => {
    const hash = hashToken(input.deviceCode)
    await tx.$queryRaw`select 1 from "AdminLogin" where "deviceCodeHash" = ${hash} for update`
    const login = await tx.adminLogin.findUnique({ where: { deviceCodeHash: hash } })
    if (!login || login.takenAt || login.expiresAt <= visit.now) return { state: 'expired' }
    if (login.deniedAt) return { state: 'denied' }
    const early = login.lastPollAt && visit.now.getTime() - login.lastPollAt.getTime() < POLL_S * 1000 - 250
    await tx.adminLogin.update({ where: { id: login.id }, data: { lastPollAt: visit.now } })
    if (early) return { state: 'slow_down' }
    if (!login.confirmedAt || !login.memberId || !login.authnAt) return { state: 'pending' }
    // The organisation's switch stays as it is read here until the credential is there, to be ended with the others.
    await tx.$queryRaw`select 1 from "Organisation" where id = ${login.orgId} for share`
    const member = await tx.member.findFirst({
      where: { id: login.memberId, orgId: login.orgId, removedAt: null },
      include: { org: true },
    })
    if (!member || !roleAtLeast(member.role, 'admin') || !member.org.adminCredential) return { state: 'denied' }
    // Everybody signs in anew where the database was restored, and so does whoever confirmed this before.
    if (member.org.restoredAt && login.authnAt <= member.org.restoredAt) return { state: 'denied' }
    const token = makeToken('admin', visit.random(32))
    const id = newId(visit, 'credential')
    const expiresAt = new Date(visit.now.getTime() + ADMIN_CREDENTIAL_MS)
    await tx.adminLogin.update({ where: { id: login.id }, data: { takenAt: visit.now } })
    await tx.token.create({
      data: {
        id,
        kind: 'admin',
        hash: hashToken(token),
        orgId: login.orgId,
        memberId: member.id,
        createdAt: visit.now,
        expiresAt,
        authnAt: login.authnAt,
      },
    })
    const system = { ...visit, actor: { kind: 'system', orgId: login.orgId } as const }
    await recordEvidence(tx, system, {
      kind: 'credential.issued',
      subject: { kind: 'member', id: member.id },
      data: { credential: id, expiresAt: expiresAt.toISOString() },
    })
    return { state: 'issued', token, expiresAt, member: { id: member.id, name: member.name, role: member.role } }
  })
}

/** A login that waits, found by the code that the person typed; of their own organisation only. */
export async function getAdminLogin(
  ctx: FeatureContext<MemberActor>,
  input: { userCode: string },
): Promise<{ label: string; expiresAt: Date; freshEnough: boolean }> {
  const login = await findWaiting(ctx, input.userCode)
  return { label: login.label, expiresAt: login.expiresAt, freshEnough: isFreshSignIn(ctx.actor, ctx.now) }
}

async function findWaiting(ctx: FeatureContext<MemberActor>, code: string): Promise<AdminLogin> {
  demand(ctx.actor, 'credential.make')
  await demandRate(ctx, 'userCodeByMember', ctx.actor.memberId)
  const login = await ctx.db.adminLogin.findFirst({
    where: {
      userCode: typed(code),
      orgId: ctx.actor.orgId,
      confirmedAt: null,
      deniedAt: null,
      expiresAt: { gt: ctx.now },
    },
  })
  if (!login) throw notFound('login that waits under this code')
  return login
}

/** The person confirms or refuses. Takes an own sign-in of the last ten minutes, or one is asked for again. */
export async function confirmAdminLogin(
  ctx: FeatureContext<MemberActor>,
  input: { userCode: string; allow: boolean },
): Promise<void> {
  const { actor } = ctx
  const login = await findWaiting(ctx, input.userCode)
  if (input.allow) demandFreshSignIn(actor, ctx.now)
  await ctx.db.$transaction(async tx => {
    const org = await tx.organisation.findUniqueOrThrow({
      where: { id: actor.orgId },
      select: { adminCredential: true },
    })
    if (input.allow && !org.adminCredential) throw switchedOff()
    const { count } = await tx.adminLogin.updateMany({
      where: { id: login.id, confirmedAt: null, deniedAt: null },
      data: input.allow
        ? { confirmedAt: ctx.now, memberId: actor.memberId, authnAt: actor.authnAt }
        : { deniedAt: ctx.now },
    })
    if (count === 0) throw new AppError('CONFLICT', 'This login was answered already.')
  })
}

export type CredentialRow = { id: string; member: { id: string; name: string }; createdAt: Date; expiresAt: Date }

/** The organisation's credentials that still open something. */
export async function listCredentials(ctx: FeatureContext<MemberActor>): Promise<CredentialRow[]> {
  const rows = await ctx.db.token.findMany({
    where: { orgId: ctx.actor.orgId, kind: 'admin', revokedAt: null, expiresAt: { gt: ctx.now } },
    include: { member: { select: { id: true, name: true } } },
    orderBy: { createdAt: 'desc' },
  })
  return rows.map(row => ({ id: row.id, member: row.member, createdAt: row.createdAt, expiresAt: row.expiresAt! }))
}

/** Ends a credential: one's own (the command's `logout` does it with the credential itself), or anybody's for admins. */
export async function revokeCredential(ctx: FeatureContext<MemberActor>, input: { id: string }): Promise<void> {
  const { actor } = ctx
  if (actor.kind === 'member' && actor.method === 'device_link')
    throw new AppError('FORBIDDEN', "A session that began with a machine's link cannot do this.", {
      remedy: 'Sign in with your own account.',
    })
  await ctx.db.$transaction(async tx => {
    const token = await tx.token.findFirst({
      where: { id: input.id, orgId: actor.orgId, kind: 'admin', revokedAt: null },
    })
    if (!token) throw notFound('credential')
    if (token.memberId !== actor.memberId) demand(actor, 'settings.change')
    const { count } = await tx.token.updateMany({
      where: { id: token.id, revokedAt: null },
      data: { revokedAt: ctx.now },
    })
    if (count === 0) throw notFound('credential')
    await recordEvidence(tx, ctx, { kind: 'credential.revoked', subject: { kind: 'credential', id: token.id } })
  })
}
