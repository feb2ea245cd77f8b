import { beforeEach, describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { FRESH_SIGN_IN_MS } from '#core/limits.ts'
import { UNDATED_SIGN_IN } from '#core/permission.ts'
import { addConnection, removeConnection } from '#server/features/connection.ts'
import type { FeatureContext } from '#server/features/context.ts'
import { inviteMember } from '#server/features/invitation.ts'
import { changeRole, removeMember } from '#server/features/member.ts'
import { confirmRestore } from '#server/features/restore.ts'
import { rotateKey } from '#server/features/root.ts'
import { useDatabase } from '#test/support/db.ts'
import { actorOf, contextOf, makeMember, makeOrganisation, type TestOrganisation } from '#test/support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
let second: string
let connection: string
const discover = async () => {}
const provider = { name: 'x', issuer: 'https://login.example.com', clientId: 'x', clientSecret: 'y', domains: [] }

const now = new Date()
type Context = FeatureContext<MemberActor>
const owner = (authnAt: Date, method: MemberActor['method'] = 'email_code'): Context =>
  contextOf(db.prisma, { ...actorOf(org, org.ownerId, 'owner', method), authnAt }, now)
const at = (agoMs: number) => new Date(now.getTime() - agoMs)

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  second = await makeMember(db.prisma, org, 'owner', 'Second')
  connection = (await addConnection(owner(now), provider, discover)).id
  await db.prisma.organisation.update({ where: { id: org.id }, data: { restoredAt: now } })
})

/** Everything that only a fresh sign-in may do. */
const ACTS: [string, (ctx: Context) => Promise<unknown>][] = [
  ['rotating a key', ctx => rotateKey(ctx, { role: 'fresh' })],
  ['confirming a restored copy', ctx => confirmRestore(ctx)],
  ['connecting a provider', ctx => addConnection(ctx, provider, discover)],
  ['removing a provider', ctx => removeConnection(ctx, { id: connection })],
  ['inviting an owner', ctx => inviteMember(ctx, { email: 'new@owner.test', name: 'New', role: 'owner' })],
  [
    'making an owner',
    async ctx => changeRole(ctx, { id: await makeMember(db.prisma, org, 'admin', 'Adam'), role: 'owner' }),
  ],
  ['unmaking an owner', ctx => changeRole(ctx, { id: second, role: 'admin' })],
  ['removing an owner', ctx => removeMember(ctx, { id: second })],
]
const standing = async () => ({
  entries: await db.prisma.evidenceEntry.count({ where: { orgId: org.id } }),
  root: await db.prisma.rootDocument.count({ where: { orgId: org.id } }),
  owners: await db.prisma.member.count({ where: { orgId: org.id, role: 'owner', removedAt: null } }),
  connections: await db.prisma.oidcConnection.count({ where: { orgId: org.id, removedAt: null } }),
  invitations: await db.prisma.invitation.count({ where: { orgId: org.id } }),
  restored: (await db.prisma.organisation.findUniqueOrThrow({ where: { id: org.id } })).restoredAt,
})

describe.each(ACTS)('%s', (_, act) => {
  it.each([
    ['is older than ten minutes', () => at(FRESH_SIGN_IN_MS + 1), /^Your sign-in is older/],
    ['is dated by nobody', () => UNDATED_SIGN_IN, /does not say when/],
  ])('changes nothing when the sign-in %s', async (_, authnAt, message) => {
    const before = await standing()
    await expect(act(owner(authnAt()))).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringMatching(message),
      remedy: expect.stringContaining('Sign in again'),
      details: { why: 'sign_in_again' },
    })
    expect(await standing()).toEqual(before)
  })

  it.each(['email_code', 'console'] as const)('is done within ten minutes of signing in by %s', async method => {
    const before = await standing()
    await act(owner(at(FRESH_SIGN_IN_MS), method))
    expect(await standing()).not.toEqual(before)
  })
})

it('what is not of the highest power asks nobody again', async () => {
  const ctx = owner(at(11 * 60 * 60_000))
  const member = await makeMember(db.prisma, org, 'member', 'Mia')
  await inviteMember(ctx, { email: 'new@member.test', name: 'New', role: 'admin' })
  await changeRole(ctx, { id: member, role: 'admin' })
  await removeMember(ctx, { id: member })
})
