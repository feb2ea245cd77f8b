import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { Role } from '#core/role.ts'
import { makeToken } from '#core/token.ts'
import { addConnection, openConnection, removeConnection } from '#server/features/connection.ts'
import { confirmAdminLogin, pollAdminLogin, revokeCredential, startAdminLogin } from '#server/features/credential.ts'
import { acceptInvitation, inviteMember, revokeInvitation } from '#server/features/invitation.ts'
import { reportLaptopLost, signOutEverywhere } from '#server/features/member.ts'
import { endSessions, switchOrganisation } from '#server/features/session.ts'
import { updateSettings } from '#server/features/settings.ts'
import { signInWithProvider } from '#server/features/single-sign-on.ts'
import { hashToken } from '#server/keys/token-hash.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  contextOf,
  makeMember,
  makeOrganisation,
  random,
  serverEnvironment,
  type TestOrganisation,
} from '#test/support/makers.ts'
import { during } from '#test/support/moment.ts'

/** Two acts in one moment: the second finds what the first has made of it, and the ledger tells of no act that had no effect. */
const db = useDatabase()
let org: TestOrganisation
let admin: string
beforeAll(serverEnvironment)
beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  admin = await makeMember(db.prisma, org, 'admin')
})

const as = (id: string, role: Role) => contextOf(db.prisma, actorOf(org, id, role, 'email_code'))
const owner = () => as(org.ownerId, 'owner')
const ledger = () => `select 1 from "Ledger" where "orgId" = '${org.id}' for update`
const told = (...kinds: string[]) =>
  db.prisma.evidenceEntry
    .findMany({ where: { orgId: org.id, kind: { in: kinds } }, orderBy: { seq: 'asc' } })
    .then(rows => rows.map(row => row.kind))
const ends = (settled: PromiseSettledResult<unknown>[]) =>
  settled.map(end => (end.status === 'fulfilled' ? 'done' : ((end.reason as { code?: string }).code ?? 'THROWN')))

/** A login of the command that the admin has confirmed and the command has not fetched. */
async function confirmedLogin(): Promise<string> {
  const login = await startAdminLogin(owner(), { org: org.slug, label: 'laptop' })
  await confirmAdminLogin(as(admin, 'admin'), { userCode: login.userCode, allow: true })
  return login.deviceCode
}
const openCredentials = () => db.prisma.token.count({ where: { orgId: org.id, kind: 'admin', revokedAt: null } })

it.each([
  ['the laptop is reported lost', () => reportLaptopLost(owner(), { memberId: admin })],
  ['the member is signed out everywhere', () => signOutEverywhere(owner(), { id: admin })],
  ['the organisation switches credentials off', () => updateSettings(owner(), { adminCredential: false })],
])('a credential that the command fetches while %s ends with the others', async (_, end) => {
  const deviceCode = await confirmedLogin()
  const settled = await during(db, ledger(), () => pollAdminLogin(owner(), { deviceCode }), end)
  expect(settled.map(each => each.status)).toEqual(['fulfilled', 'fulfilled'])
  expect(settled[0]).toMatchObject({ value: { state: 'issued' } })
  expect(await openCredentials()).toBe(0)
})

it('a login that was confirmed gives nothing once its member is signed out everywhere', async () => {
  const deviceCode = await confirmedLogin()
  await signOutEverywhere(owner(), { id: admin })
  expect(await pollAdminLogin(owner(), { deviceCode })).toEqual({ state: 'denied' })
  expect(await openCredentials()).toBe(0)
})

it('a credential that is ended twice at once ends once, and the ledger says so once', async () => {
  const deviceCode = await confirmedLogin()
  await pollAdminLogin(owner(), { deviceCode })
  const { id } = await db.prisma.token.findFirstOrThrow({ where: { orgId: org.id, kind: 'admin' } })
  const settled = await during(
    db,
    ledger(),
    () => revokeCredential(owner(), { id }),
    () => revokeCredential(as(admin, 'admin'), { id }),
  )
  expect(ends(settled)).toEqual(['done', 'NOT_FOUND'])
  expect(await told('credential.revoked')).toHaveLength(1)
})

const accept = (id: string) =>
  db.prisma.$transaction(tx => acceptInvitation(tx, owner(), { id, email: 'yara@new.test' }))

it.each([
  ['revoked', (id: string) => revokeInvitation(owner(), { id }), 'NOT_FOUND'],
  ['replaced', () => inviteMember(owner(), { email: 'yara@new.test', name: 'Yara', role: 'lead' }), 'CONFLICT'],
])('an invitation that is accepted while it is %s is accepted, and nothing else is told', async (_, end, code) => {
  const { id } = await inviteMember(owner(), { email: 'yara@new.test', name: 'Yara', role: 'member' })
  const settled = await during(
    db,
    ledger(),
    () => accept(id),
    () => end(id),
  )
  expect(ends(settled)).toEqual(['done', code])
  expect(await told('member.joined', 'member.invitation_revoked')).toEqual(['member.joined', 'member.joined'])
  expect(await db.prisma.invitation.findUnique({ where: { id } })).toMatchObject({ revokedAt: null })
  expect(await db.prisma.invitation.count({ where: { orgId: org.id } })).toBe(1)
})

async function provider() {
  const input = { name: 'x', issuer: 'https://login.example.com', clientId: 'x', clientSecret: 'y', domains: [] }
  const { id } = await addConnection(owner(), input, async () => {})
  const connection = (await openConnection(db.prisma, id))!
  const { email } = await db.prisma.member.findUniqueOrThrow({ where: { id: admin } })
  const claims = { iss: input.issuer, sub: 'sub-1', email, email_verified: true }
  return { id, signIn: () => signInWithProvider(owner(), connection, claims, undefined) }
}

it('a session that begins through a provider while it is removed ends with the others; afterwards none begins', async () => {
  const { id, signIn } = await provider()
  const settled = await during(db, ledger(), signIn, () => removeConnection(owner(), { id }))
  expect(ends(settled)).toEqual(['done', 'done'])
  expect(await db.prisma.session.count({ where: { orgId: org.id } })).toBe(0)
  // The connection was read before it was removed.
  await expect(signIn()).rejects.toMatchObject({ code: 'FORBIDDEN', details: { why: 'no_sso' } })
  expect(await db.prisma.session.count({ where: { orgId: org.id } })).toBe(0)
})

it('two first sign-ins through a provider at once make one account and two sessions', async () => {
  const { signIn } = await provider()
  expect(ends(await during(db, ledger(), signIn, signIn))).toEqual(['done', 'done'])
  expect(await db.prisma.oidcAccount.count({ where: { orgId: org.id } })).toBe(1)
  expect(await db.prisma.session.count({ where: { orgId: org.id } })).toBe(2)
})

it('whoever signs out while changing over to another organisation is signed out', async () => {
  const token = makeToken('session', random(32))
  const other = await makeOrganisation(db.prisma)
  const { email } = await db.prisma.member.findUniqueOrThrow({ where: { id: admin } })
  const there = await makeMember(db.prisma, other, 'member')
  await db.prisma.member.update({ where: { id: there }, data: { email } })
  const now = new Date()
  const { id } = await db.prisma.session.create({
    data: {
      id: 'ses_samemoment00000',
      tokenHash: hashToken(token),
      memberId: admin,
      orgId: org.id,
      method: 'email_code',
      authnAt: now,
      createdAt: now,
      expiresAt: new Date(now.getTime() + 3600_000),
    },
  })
  const ctx = contextOf(db.prisma, { ...actorOf(org, admin, 'admin', 'email_code'), email, sessionId: id })
  const settled = await during(
    db,
    `select 1 from "Session" where id = '${id}' for key share`,
    () => endSessions(db.prisma, [token]),
    () => switchOrganisation(ctx, { org: other.slug, token }),
  )
  expect(ends(settled)).toEqual(['done', 'NOT_FOUND'])
  expect(await db.prisma.session.count({ where: { memberId: { in: [admin, there] } } })).toBe(0)
})
