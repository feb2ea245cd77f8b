import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { Role } from '#core/role.ts'
import { makeToken } from '#core/token.ts'
import { answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { joinMachine } from '#server/features/join.ts'
import { revokeMachine } from '#server/features/machine.ts'
import { changeRole, removeMember, reportLaptopLost } from '#server/features/member.ts'
import { makeDeviceLink, redeemOneTime } from '#server/features/one-time-sign-in.ts'
import { hashToken } from '#server/keys/token-hash.ts'
import { joinBody } from '#test/support/connector.ts'
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
  random,
  serverEnvironment,
  type TestMachine,
  type TestOrganisation,
} from '#test/support/makers.ts'
import { during } from '#test/support/moment.ts'

/** What people and machines do in the same moment; the moments are made with locks that another connection holds. */
const db = useDatabase()
let org: TestOrganisation
beforeAll(serverEnvironment)
beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  await publish(db.prisma, org, costRule('lead'))
})

const as = (id: string, role: Role) => contextOf(db.prisma, actorOf(org, id, role, 'email_code'))
const owner = () => as(org.ownerId, 'owner')

async function file(machine: TestMachine): Promise<string> {
  const request = await makeRequest(db.prisma, machine)
  await fileRequest(contextOf(db.prisma, machine.actor), { request: machine.sign('holdpoint-request+jws', request) })
  return request.handle
}
const approve = (handle: string, by: string, role: Role) =>
  answerApproval(as(by, role), { handle, decision: 'approve', scope: 'session', reason: '' })

const ledger = () => `select 1 from "Ledger" where "orgId" = '${org.id}' for update`

async function joinToken(memberId: string): Promise<string> {
  const token = makeToken('join', random(32))
  await db.prisma.token.create({
    data: {
      id: `crd_${token.slice(-16)}`,
      kind: 'join',
      hash: hashToken(token),
      orgId: org.id,
      memberId,
      createdAt: new Date(),
      expiresAt: new Date(Date.now() + 900_000),
    },
  })
  return token
}
const join = (token: string) => joinMachine(owner(), joinBody(token).body as never, '127.0.0.1')

it('an answer that is on its way keeps its answerer’s role until it is committed: no approval stands after the demotion in the ledger', async () => {
  const lead = await makeMember(db.prisma, org, 'lead')
  const handle = await file(await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member')))
  const ends = await during(
    db,
    'lock table "ApprovalVote" in exclusive mode',
    () => approve(handle, lead, 'lead'),
    () => changeRole(owner(), { id: lead, role: 'member' }),
  )
  expect(ends.map(end => end.status)).toEqual(['fulfilled', 'fulfilled'])
  const entries = await db.prisma.evidenceEntry.findMany({
    where: { orgId: org.id, kind: { in: ['approval.approved', 'member.role_changed'] } },
    orderBy: { seq: 'asc' },
  })
  expect(entries.map(entry => entry.kind)).toEqual(['approval.approved', 'member.role_changed'])
})

it('a session that a machine’s link begins while the laptop is reported lost ends with it', async () => {
  const member = await makeMember(db.prisma, org, 'lead')
  const machine = await makeMachine(db.prisma, org, member)
  const { url } = await makeDeviceLink(contextOf(db.prisma, machine.actor))
  const token = new URL(url).searchParams.get('t')!
  const [redeemed, lost] = await during(
    db,
    ledger(),
    () => redeemOneTime(owner(), { token, kind: 'deviceLink' }),
    () => reportLaptopLost(owner(), { memberId: member }),
  )
  expect([redeemed!.status, lost!.status]).toEqual(['fulfilled', 'fulfilled'])
  expect(await db.prisma.session.count({ where: { memberId: member } })).toBe(0)
})

it('a request that comes in while its machine is revoked is refused, and nothing waits for a machine that is gone', async () => {
  const machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
  const [revoked, filed] = await during(
    db,
    ledger(),
    () => revokeMachine(owner(), { id: machine.id }),
    () => file(machine),
  )
  expect(revoked!.status).toBe('fulfilled')
  expect(filed).toMatchObject({ status: 'rejected', reason: { code: 'NOT_SIGNED_IN' } })
  expect(await db.prisma.approvalRequest.count({ where: { machineId: machine.id } })).toBe(0)
})

it.each(['removal', 'lost laptop'])('a machine that joins at the moment of a %s ends with the others', async what => {
  const member = await makeMember(db.prisma, org, 'member')
  const token = await joinToken(member)
  const [joined, ended] = await during(
    db,
    ledger(),
    () => join(token),
    () =>
      what === 'removal' ? removeMember(owner(), { id: member }) : reportLaptopLost(owner(), { memberId: member }),
  )
  expect([joined!.status, ended!.status]).toEqual(['fulfilled', 'fulfilled'])
  expect(await db.prisma.machine.count({ where: { memberId: member, revokedAt: null } })).toBe(0)
  expect(await db.prisma.machine.count({ where: { memberId: member } })).toBe(1)
})

it('removals, joins, requests, answers, demotions and publications at once never wait for each other in a circle', async () => {
  const deadlocks = async () =>
    Number(
      (await db.admin.query('select deadlocks from pg_stat_database where datname = current_database()')).rows[0]
        .deadlocks,
    )
  const before = await deadlocks()
  const refused: string[] = []
  for (let round = 0; round < 6; round++) {
    const people = await Promise.all([0, 1, 2].map(() => makeMember(db.prisma, org, 'lead')))
    const machines = await Promise.all(people.map(id => makeMachine(db.prisma, org, id)))
    const handles = await Promise.all(machines.map(file))
    const tokens = await Promise.all(people.map(joinToken))
    const acts = [
      ...people.map(id => () => removeMember(owner(), { id })),
      ...people.map(id => () => changeRole(owner(), { id, role: 'owner' })),
      ...people.map((id, i) => () => approve(handles[(i + 1) % 3]!, id, 'lead')),
      ...people.map((id, i) => () => approve(handles[i]!, id, 'lead')),
      ...machines.map(machine => () => file(machine)),
      ...tokens.map(token => () => join(token)),
      () => publish(db.prisma, org, costRule('lead', `    note: round ${round}\n`)),
    ]
    acts.sort(() => Math.random() - 0.5)
    for (const end of await Promise.allSettled(acts.map(act => act())))
      if (end.status === 'rejected') refused.push((end.reason as { code?: string }).code ?? String(end.reason))
    expect(await db.prisma.machine.count({ where: { memberId: { in: people }, revokedAt: null } })).toBe(0)
  }
  const ours = ['NOT_FOUND', 'NOT_APPROVER', 'NOT_PENDING', 'NOT_SIGNED_IN', 'CONFLICT']
  expect(refused.filter(code => !ours.includes(code))).toEqual([])
  expect(await deadlocks()).toBe(before)
}, 60_000)
