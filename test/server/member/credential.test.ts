import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { actorFromAdminToken } from '#server/auth/admin-token.ts'
import { database } from '#server/db.ts'
import { answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import {
  confirmAdminLogin,
  getAdminLogin,
  listCredentials,
  pollAdminLogin,
  revokeCredential,
  startAdminLogin,
} from '#server/features/credential.ts'
import { changeRole, removeMember } from '#server/features/member.ts'
import { updateSettings } from '#server/features/settings.ts'
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
let adminId: string
let n = 0

beforeAll(serverEnvironment)
afterAll(async () => {
  await database().prisma.$disconnect()
  await database().pool.end()
})
beforeEach(async () => {
  org = await makeOrganisation(db.prisma, `org${++n}`)
  adminId = await makeMember(db.prisma, org, 'admin', 'Ada')
})

const at = (ms: number) => new Date(Date.now() + ms)
const visit = (now = new Date()) => contextOf(db.prisma, actorOf(org, adminId, 'admin'), now)
const admin = (over: Partial<MemberActor> = {}, now = new Date()) =>
  contextOf(db.prisma, { ...actorOf(org, adminId, 'admin', 'email_code'), ...over }, now)

async function issue(): Promise<string> {
  const login = await startAdminLogin(visit(), { org: org.slug, label: 'ada-laptop' })
  await confirmAdminLogin(admin(), { userCode: login.userCode, allow: true })
  const poll = await pollAdminLogin(visit(), login)
  if (poll.state !== 'issued') throw new Error(poll.state)
  return poll.token
}
const who = (token: string, now = new Date()) => actorFromAdminToken(db.prisma, `Bearer ${token}`, now)

describe('team admin login', () => {
  it('gives a credential of twelve hours once, after the person typed the code and confirmed', async () => {
    const login = await startAdminLogin(visit(), { org: org.slug, label: 'ada\u202e-laptop\r\n' })
    expect(login.userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect(login.verificationUrl).toBe('http://localhost:3000/device')
    expect(await pollAdminLogin(visit(), login)).toEqual({ state: 'pending' })
    expect(await getAdminLogin(admin(), { userCode: login.userCode.toLowerCase().replace('-', ' ') })).toMatchObject({
      label: 'ada -laptop',
      freshEnough: true,
    })
    await confirmAdminLogin(admin(), { userCode: login.userCode, allow: true })
    const poll = await pollAdminLogin(visit(at(6000)), login)
    expect(poll).toMatchObject({ state: 'issued', token: expect.stringMatching(/^hpa_/), member: { id: adminId } })
    if (poll.state !== 'issued') return
    expect(await who(poll.token)).toMatchObject({
      memberId: adminId,
      method: 'admin_credential',
      how: 'team-cli',
      role: 'admin',
    })
    expect(await who(poll.token, at(13 * 3600_000))).toBeNull()
    expect(await pollAdminLogin(visit(at(12_000)), login)).toEqual({ state: 'expired' })
    expect(await db.prisma.evidenceEntry.count({ where: { orgId: org.id, kind: 'credential.issued' } })).toBe(1)
  })

  it('tells a command that asks too often to slow down, and an old or refused one that it is over', async () => {
    const login = await startAdminLogin(visit(), { org: org.slug, label: 'x' })
    await pollAdminLogin(visit(), login)
    expect(await pollAdminLogin(visit(at(1000)), login)).toEqual({ state: 'slow_down' })
    expect(await pollAdminLogin(visit(at(11 * 60_000)), login)).toEqual({ state: 'expired' })
    expect(await pollAdminLogin(visit(), { deviceCode: 'made-up' })).toEqual({ state: 'expired' })
    const refused = await startAdminLogin(visit(), { org: org.slug, label: 'x' })
    await confirmAdminLogin(admin(), { userCode: refused.userCode, allow: false })
    expect(await pollAdminLogin(visit(), refused)).toEqual({ state: 'denied' })
  })

  it('two polls at once get one credential between them', async () => {
    const login = await startAdminLogin(visit(), { org: org.slug, label: 'x' })
    await confirmAdminLogin(admin(), { userCode: login.userCode, allow: true })
    const polls = await Promise.all([pollAdminLogin(visit(), login), pollAdminLogin(visit(), login)])
    expect(polls.map(poll => poll.state).sort()).toEqual(['expired', 'issued'])
    expect(await db.prisma.token.count({ where: { orgId: org.id, kind: 'admin' } })).toBe(1)
  })

  it('is confirmed by a fresh own sign-in of an admin of that organisation only', async () => {
    const { userCode } = await startAdminLogin(visit(), { org: org.slug, label: 'x' })
    const confirm = (ctx: ReturnType<typeof admin>) => confirmAdminLogin(ctx, { userCode, allow: true })
    await expect(confirm(admin({ authnAt: at(-11 * 60_000) }))).rejects.toMatchObject({
      code: 'FORBIDDEN',
      details: { why: 'sign_in_again' },
    })
    await expect(confirm(admin({ role: 'lead' }))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(confirm(admin({ method: 'device_link' }))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(confirm(admin({ method: 'admin_credential' }))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const other = await makeOrganisation(db.prisma, `other${n}`)
    await expect(
      confirm(contextOf(db.prisma, actorOf(other, other.ownerId, 'owner', 'email_code'))),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await confirm(admin())
  })

  it('limits how many codes a member may look up', async () => {
    for (let i = 0; i < 20; i++)
      await expect(getAdminLogin(admin(), { userCode: 'BBBB-BBBB' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(getAdminLogin(admin(), { userCode: 'BBBB-BBBB' })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  })
})

describe('a credential', () => {
  it('ends with the role, the membership, its revocation, and the organisation’s switch', async () => {
    const owner = contextOf(db.prisma, actorOf(org, org.ownerId, 'owner', 'email_code'))
    const first = await issue()
    await changeRole(owner, { id: adminId, role: 'lead' })
    expect(await who(first)).toBeNull()
    await changeRole(owner, { id: adminId, role: 'admin' })
    expect(await who(first)).not.toBeNull()
    await revokeCredential(owner, { id: (await listCredentials(owner))[0]!.id })
    expect(await who(first)).toBeNull()
    const second = await issue()
    await updateSettings(owner, { adminCredential: false })
    expect(await who(second)).toBeNull()
    await expect(startAdminLogin(visit(), { org: org.slug, label: 'x' })).rejects.toMatchObject({
      details: { why: 'switched_off' },
    })
    await updateSettings(owner, { adminCredential: true })
    expect(await who(second)).toBeNull()
    const third = await issue()
    await removeMember(owner, { id: adminId })
    expect(await who(third)).toBeNull()
  })

  it('is not ended by a session that a machine’s link began', async () => {
    const token = await issue()
    const [row] = await listCredentials(admin())
    await expect(revokeCredential(admin({ method: 'device_link' }), { id: row!.id })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(await who(token)).not.toBeNull()
  })

  it('that is malformed, of another kind or missing is nobody', async () => {
    const token = await issue()
    for (const header of [
      null,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${token}`,
      `Bearer ${token} x`,
      'Bearer %%%',
      `Bearer ${'x'.repeat(5000)}`,
      token,
      `Bearer ${token.replace('hpa_', 'hpm_')}`,
    ]) {
      expect(await actorFromAdminToken(db.prisma, header, new Date())).toBeNull()
    }
  })

  it('answers another member’s request, recorded as from the command, and never its own member’s', async () => {
    await publish(db.prisma, org, costRule('lead'))
    const memberId = await makeMember(db.prisma, org, 'member', 'Dana')
    const actor = (await who(await issue()))!
    for (const [requester, outcome] of [
      [memberId, 'approved'],
      [adminId, 'refused'],
    ] as const) {
      const machine = await makeMachine(db.prisma, org, requester)
      const request = await makeRequest(db.prisma, machine)
      await fileRequest(contextOf(db.prisma, machine.actor), {
        request: machine.sign('holdpoint-request+jws', request),
      })
      const answer = answerApproval(contextOf(db.prisma, actor), {
        handle: request.handle,
        decision: 'approve',
        scope: 'step',
        until: [],
        reason: '',
      })
      if (outcome === 'approved') await answer
      else await expect(answer).rejects.toMatchObject({ code: 'OWN_REQUEST' })
      const votes = await db.prisma.approvalVote.findMany({ where: { handle: request.handle } })
      expect(votes.map(vote => [vote.how, vote.method])).toEqual(
        outcome === 'approved' ? [['team-cli', 'admin_credential']] : [],
      )
    }
  })
})
