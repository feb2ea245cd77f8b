import { beforeEach, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { type AnswerInput, answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { getApproval } from '#server/features/approval/read.ts'
import { changeRole, removeMember } from '#server/features/member.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

/** An answer is to one request as it was made: what the rules, the roles or a second click say later does not change it. */
const db = useDatabase()
let org: TestOrganisation
let machine: TestMachine
let lead: MemberActor
let owner: MemberActor

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'))
  lead = actorOf(org, await makeMember(db.prisma, org, 'lead', 'Lea'), 'lead')
  owner = actorOf(org, org.ownerId, 'owner')
})

async function file(): Promise<string> {
  const request = await makeRequest(db.prisma, machine)
  await fileRequest(contextOf(db.prisma, machine.actor), { request: machine.sign('holdpoint-request+jws', request) })
  return request.handle
}
const answer = (handle: string, by: MemberActor, over: Partial<AnswerInput> = {}) =>
  answerApproval(contextOf(db.prisma, by), { handle, decision: 'approve', scope: 'step', reason: '', ...over })
const read = (handle: string) => getApproval(contextOf(db.prisma, owner), { handle })

it('a rule of the same name that asks for less since does not let its lower role answer what the stricter one held', async () => {
  await publish(db.prisma, org, costRule('owner'))
  const handle = await file()
  await publish(db.prisma, org, costRule('lead'))
  await expect(answer(handle, lead)).rejects.toMatchObject({ code: 'NOT_APPROVER' })
  expect(await read(handle)).toMatchObject({ state: 'pending', role: 'owner' })
  const later = await file()
  expect(await answer(later, lead)).toEqual({ settled: true, missing: 0 })
})

it('the same decision again, in other words, with another scope or ceiling, meets the first result and changes nothing', async () => {
  await publish(db.prisma, org, costRule('lead'))
  const handle = await file()
  await answer(handle, lead, { reason: 'fine' })
  const before = await read(handle)
  const ledger = () => db.prisma.evidenceEntry.count({ where: { orgId: org.id } })
  const entries = await ledger()
  for (const over of [
    { reason: 'from another tab' },
    { scope: 'session' },
    { scope: 'session', until: [{ figure: 'session_cost_usd', op: '<', value: '99' }] },
  ] as Partial<AnswerInput>[])
    expect(await answer(handle, lead, over)).toEqual({ settled: true, missing: 0 })
  expect(await read(handle)).toEqual(before)
  expect(await ledger()).toBe(entries)
  // the opposite is told what stands, and leaves it
  await expect(answer(handle, lead, { decision: 'deny' })).rejects.toMatchObject({
    code: 'NOT_PENDING',
    details: { state: 'approved' },
  })
  expect(await read(handle)).toMatchObject({ state: 'approved', scope: 'step' })
})

it('an approval that was counted stays on record when its request is denied, withdrawn or its voter removed', async () => {
  await publish(db.prisma, org, costRule('lead', '    approvals: 2\n'))
  const handle = await file()
  await answer(handle, lead)
  await removeMember(contextOf(db.prisma, owner), { id: lead.memberId })
  await answer(handle, owner, { decision: 'deny', reason: 'no' })
  const { state, answeredBy } = await read(handle)
  expect(state).toBe('denied')
  expect(answeredBy.map(({ name, decision }) => ({ name, decision }))).toEqual(
    expect.arrayContaining([
      { name: 'Lea', decision: 'approve' },
      { name: 'Olga Owner', decision: 'deny' },
    ]),
  )
})

it('a vote whose voter lost the role is not shown as one that counts, and who can answer is who could right now', async () => {
  await publish(db.prisma, org, costRule('lead', '    approvals: 2\n'))
  const handle = await file()
  await answer(handle, lead)
  const names = async () => {
    const { votes, eligible } = await read(handle)
    return { votes, eligible: eligible.map(({ name }) => name).sort() }
  }
  expect(await names()).toEqual({ votes: 1, eligible: ['Lea', 'Olga Owner'] })
  await changeRole(contextOf(db.prisma, owner), { id: lead.memberId, role: 'member' })
  expect(await names()).toEqual({ votes: 0, eligible: ['Olga Owner'] })
  expect(await answer(handle, owner)).toEqual({ settled: false, missing: 1 })
  await changeRole(contextOf(db.prisma, owner), { id: lead.memberId, role: 'lead' })
  expect((await names()).votes).toBe(2)
  // nobody else is needed now: either of the two says it again
  expect(await answer(handle, owner)).toEqual({ settled: true, missing: 0 })
  expect(await read(handle)).toMatchObject({ state: 'approved', votes: 2 })
})

it('a vote whose voter has the role from the requester since does not count, as their answer would not', async () => {
  const requester = await makeMember(db.prisma, org, 'admin', 'Ria')
  machine = await makeMachine(db.prisma, org, requester)
  await publish(db.prisma, org, costRule('lead', '    approvals: 2\n'))
  const handle = await file()
  await answer(handle, lead)
  await changeRole(contextOf(db.prisma, owner), { id: lead.memberId, role: 'member' })
  await changeRole(contextOf(db.prisma, actorOf(org, requester, 'admin')), { id: lead.memberId, role: 'lead' })
  expect((await read(handle)).votes).toBe(0)
  expect(await answer(handle, owner)).toEqual({ settled: false, missing: 1 })
  expect(await read(handle)).toMatchObject({ state: 'pending', votes: 1 })
})
