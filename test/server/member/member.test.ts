import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import type { Role } from '#core/role.ts'
import { readActor } from '#server/auth/session.ts'
import { answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { inviteMember, revokeInvitation } from '#server/features/invitation.ts'
import { changeRole, listMembers, removeMember, reportLaptopLost, signOutEverywhere } from '#server/features/member.ts'
import { makeConsoleSignIn } from '#server/features/one-time-sign-in.ts'
import { beginSession } from '#server/features/session.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  serverEnvironment,
  type TestOrganisation,
} from '#test/support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
let n = 0

beforeAll(serverEnvironment)
beforeEach(async () => {
  org = await makeOrganisation(db.prisma, `org${++n}`)
})

const as = (id: string, role: Role, method: MemberActor['method'] = 'email_code') =>
  contextOf(db.prisma, actorOf(org, id, role, method))
const person = async (role: Role) => ({ id: await makeMember(db.prisma, org, role, `A ${role}`), role })
const kinds = async () =>
  (await db.prisma.evidenceEntry.findMany({ where: { orgId: org.id }, orderBy: { seq: 'asc' } })).map(
    entry => entry.kind,
  )

async function signIn(memberId: string, method: 'email_code' | 'device_link' = 'email_code'): Promise<string> {
  const member = await db.prisma.member.findUniqueOrThrow({ where: { id: memberId } })
  const visit = as(memberId, member.role)
  const begun = await db.prisma.$transaction(tx =>
    beginSession(tx, visit, member, {
      method,
      authnAt: visit.now,
      demo: false,
      ...(method === 'device_link' ? { parentToken: 'crd_x' } : {}),
    }),
  )
  return begun.token
}

describe('roles', () => {
  it.each([
    ['admin', 'member', 'admin', true],
    ['admin', 'member', 'owner', false],
    ['admin', 'owner', 'member', false],
    ['admin', 'admin', 'lead', true],
    ['owner', 'member', 'owner', true],
    ['lead', 'member', 'member', false],
    ['auditor', 'member', 'lead', false],
  ] as const)('an %s makes a %s a %s: %s', async (actorRole, from, to, allowed) => {
    const actor = await person(actorRole)
    const target = await person(from)
    const change = changeRole(as(actor.id, actorRole), { id: target.id, role: to })
    if (allowed) {
      await change
      expect(await db.prisma.member.findUniqueOrThrow({ where: { id: target.id } })).toMatchObject({
        role: to,
        roleChangedBy: actor.id,
      })
      expect(await kinds()).toContain('member.role_changed')
    } else {
      await expect(change).rejects.toMatchObject({ code: 'FORBIDDEN' })
      expect((await db.prisma.member.findUniqueOrThrow({ where: { id: target.id } })).role).toBe(from)
    }
  })

  it('the last owner stays, also when two owners demote each other at once', async () => {
    await expect(changeRole(as(org.ownerId, 'owner'), { id: org.ownerId, role: 'admin' })).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { why: 'last_owner' },
    })
    await expect(removeMember(as(org.ownerId, 'owner'), { id: org.ownerId })).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { why: 'last_owner' },
    })
    const second = await person('owner')
    const ends = await Promise.allSettled([
      changeRole(as(org.ownerId, 'owner'), { id: second.id, role: 'admin' }),
      changeRole(as(second.id, 'owner'), { id: org.ownerId, role: 'admin' }),
    ])
    expect(ends.filter(end => end.status === 'fulfilled')).toHaveLength(1)
    expect(await db.prisma.member.count({ where: { orgId: org.id, role: 'owner', removedAt: null } })).toBe(1)
  })

  it('of another organisation are not found', async () => {
    const other = await makeOrganisation(db.prisma, `other${n}`)
    for (const act of [
      () => changeRole(as(org.ownerId, 'owner'), { id: other.ownerId, role: 'member' }),
      () => removeMember(as(org.ownerId, 'owner'), { id: other.ownerId }),
      () => signOutEverywhere(as(org.ownerId, 'owner'), { id: other.ownerId }),
      () => reportLaptopLost(as(org.ownerId, 'owner'), { memberId: other.ownerId }),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
  })
})

describe('sessions that a token began', () => {
  it.each(['device_link', 'admin_credential'] as const)(
    '%s invites, promotes, removes and reports nobody',
    async method => {
      const target = await person('member')
      const ctx = as(org.ownerId, 'owner', method)
      for (const act of [
        () => inviteMember(ctx, { email: 'x@y.test', name: 'X', role: 'member' }),
        () => changeRole(ctx, { id: target.id, role: 'lead' }),
        () => removeMember(ctx, { id: target.id }),
        () => signOutEverywhere(ctx, { id: target.id }),
        () => signOutEverywhere(ctx, { id: org.ownerId }),
        () => reportLaptopLost(ctx, { memberId: target.id }),
        () => reportLaptopLost(ctx, { memberId: org.ownerId }),
      ]) {
        await expect(act()).rejects.toMatchObject({ code: 'FORBIDDEN' })
      }
      expect(await db.prisma.invitation.count({ where: { orgId: org.id } })).toBe(0)
    },
  )
})

describe('invitations', () => {
  it('are never above one’s own role, and replace an open one to the same address', async () => {
    const admin = await person('admin')
    await expect(inviteMember(as(admin.id, 'admin'), { email: 'o@x.test', name: 'O', role: 'owner' })).rejects.toThrow(
      'Only an owner makes an owner.',
    )
    const first = await inviteMember(as(admin.id, 'admin'), {
      email: 'New@X.test',
      name: 'New\r\nBcc: evil',
      role: 'member',
    })
    const second = await inviteMember(as(admin.id, 'admin'), { email: 'new@x.test', name: 'New', role: 'lead' })
    const rows = await db.prisma.invitation.findMany({ where: { orgId: org.id }, orderBy: { createdAt: 'asc' } })
    expect(rows.map(row => [row.id, row.email, row.name, row.revokedAt !== null])).toEqual([
      [first.id, 'new@x.test', 'New Bcc: evil', true],
      [second.id, 'new@x.test', 'New', false],
    ])
    await revokeInvitation(as(admin.id, 'admin'), { id: second.id })
    expect((await listMembers(as(admin.id, 'admin'))).invitations).toEqual([])
    expect((await kinds()).slice(-4)).toEqual([
      'member.invited',
      'member.invitation_revoked',
      'member.invited',
      'member.invitation_revoked',
    ])
  })

  it('to the role of an owner are not an admin’s to revoke', async () => {
    const { id } = await inviteMember(as(org.ownerId, 'owner'), { email: 'o@x.test', name: 'O', role: 'owner' })
    const admin = await person('admin')
    await expect(revokeInvitation(as(admin.id, 'admin'), { id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})

/** A member with everything through which somebody can act. */
async function equipped() {
  const member = await person('admin')
  const machine = await makeMachine(db.prisma, org, member.id)
  await publish(db.prisma, org, costRule('lead'))
  const file = async () => {
    const request = await makeRequest(db.prisma, machine)
    await fileRequest(contextOf(db.prisma, machine.actor), { request: machine.sign('holdpoint-request+jws', request) })
    return request.handle
  }
  const waiting = await file()
  const granted = await file()
  await answerApproval(as(org.ownerId, 'owner', 'oidc'), {
    handle: granted,
    decision: 'approve',
    scope: 'session',
    until: [],
    reason: '',
  })
  const session = await signIn(member.id)
  const look = await signIn(member.id, 'device_link')
  await db.prisma.$transaction(tx => makeConsoleSignIn(tx, as(member.id, 'admin'), { id: member.id, orgId: org.id }))
  const states = async () => {
    const rows = await db.prisma.approvalRequest.findMany({ where: { handle: { in: [waiting, granted] } } })
    return [waiting, granted].map(handle => rows.find(row => row.handle === handle)?.state)
  }
  return { member, machine, session, look, states }
}

describe.each(['removal', 'lost laptop'] as const)('%s', what => {
  it('ends sessions, links, tokens and machines, withdraws requests and ends grants, in one act with its evidence', async () => {
    const { member, machine, session, look, states } = await equipped()
    expect(await states()).toEqual(['pending', 'approved'])
    if (what === 'removal') await removeMember(as(org.ownerId, 'owner'), { id: member.id })
    else
      expect(await reportLaptopLost(as(org.ownerId, 'owner'), { memberId: member.id })).toEqual({
        machines: 1,
        sessions: 2,
        tokens: 2,
      })
    expect(await readActor(db.prisma, { session, look }, new Date())).toBeNull()
    expect(await db.prisma.token.count({ where: { memberId: member.id, revokedAt: null } })).toBe(0)
    expect((await db.prisma.machine.findUniqueOrThrow({ where: { id: machine.id } })).revokedAt).not.toBeNull()
    expect(await states()).toEqual(['withdrawn', 'revoked'])
    expect((await kinds()).slice(-4)).toEqual([
      'approval.withdrawn',
      'approval.revoked',
      'machine.revoked',
      what === 'removal' ? 'member.removed' : 'member.laptop_lost',
    ])
    expect((await db.prisma.member.findUniqueOrThrow({ where: { id: member.id } })).removedAt !== null).toBe(
      what === 'removal',
    )
  })
})

it('a lost laptop is everybody’s own to report', async () => {
  const member = await person('member')
  await signIn(member.id)
  expect(await reportLaptopLost(as(member.id, 'member'), { memberId: member.id })).toEqual({
    machines: 0,
    sessions: 1,
    tokens: 0,
  })
  const other = await person('lead')
  await expect(reportLaptopLost(as(other.id, 'lead'), { memberId: member.id })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
})

it('signing out everywhere ends sessions and credentials, and machines go on', async () => {
  const { member, machine, session } = await equipped()
  expect(await signOutEverywhere(as(member.id, 'admin'), { id: member.id })).toEqual({ sessions: 2 })
  expect(await readActor(db.prisma, { session }, new Date())).toBeNull()
  expect(
    (await db.prisma.token.findMany({ where: { memberId: member.id, revokedAt: null } })).map(token => token.kind),
  ).toEqual(['machine'])
  expect((await db.prisma.machine.findUniqueOrThrow({ where: { id: machine.id } })).revokedAt).toBeNull()
})

it('the list tells who signed in last and when, who invited whom, and how many machines', async () => {
  const { member } = await equipped()
  const list = await listMembers(as(org.ownerId, 'owner'))
  expect(list.members.find(row => row.id === member.id)).toMatchObject({
    role: 'admin',
    machines: 1,
    self: false,
    lastSignedInAt: expect.any(Date),
  })
  expect(list.members.find(row => row.id === org.ownerId)).toMatchObject({ self: true, lastSignedInAt: null })
})

it('a removal and answers to the removed member’s own requests at the same moment both come to an end', async () => {
  const lead = await person('lead')
  const machine = await makeMachine(db.prisma, org, lead.id)
  await publish(db.prisma, org, costRule('lead'))
  const handles: string[] = []
  for (let i = 0; i < 6; i++) {
    const request = await makeRequest(db.prisma, machine)
    await fileRequest(contextOf(db.prisma, machine.actor), { request: machine.sign('holdpoint-request+jws', request) })
    handles.push(request.handle)
  }
  const answers = handles.map(
    handle => () =>
      answerApproval(as(lead.id, 'lead'), { handle, decision: 'approve', scope: 'session', until: [], reason: '' }),
  )
  const [removed] = await Promise.allSettled([
    removeMember(as(org.ownerId, 'owner'), { id: lead.id }),
    ...answers.map(answer => answer()),
  ])
  expect(removed!.status).toBe('fulfilled')
  const states = (await db.prisma.approvalRequest.findMany({ where: { machineId: machine.id } })).map(row => row.state)
  expect(
    states.every(state => state === 'withdrawn' || state === 'revoked'),
    states.join(),
  ).toBe(true)
})
