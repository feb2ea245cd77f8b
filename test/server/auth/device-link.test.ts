import { afterAll, beforeAll, expect, it } from 'vitest'
import { rightsOf } from '#core/permission.ts'
import { appRouter } from '#server/api/root.ts'
import { deviceLinkDoor, organisationDoor } from '#server/api/sign-in-doors.ts'
import { createCallerFactory } from '#server/api/trpc.ts'
import { database } from '#server/db.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { openContext } from '#server/features/context.ts'
import { makeDeviceLink } from '#server/features/one-time-sign-in.ts'
import { Browser } from '#test/support/browser.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  serverEnvironment,
  type TestMachine,
} from '#test/support/makers.ts'

const db = useDatabase()
beforeAll(serverEnvironment)
afterAll(async () => {
  await database().prisma.$disconnect()
  await database().pool.end()
})

it('a lead’s machine’s link answers nobody’s request and changes nothing, though its member could', async () => {
  const org = await makeOrganisation(db.prisma, 'acme')
  const lead = await makeMember(db.prisma, org, 'lead', 'Lea Lead')
  const colleague = await makeMember(db.prisma, org, 'member', 'Dana')
  const own = await makeMachine(db.prisma, org, lead)
  const theirs = await makeMachine(db.prisma, org, colleague)
  await publish(db.prisma, org, costRule('lead'))
  const file = async (machine: TestMachine) => {
    const request = await makeRequest(db.prisma, machine)
    await fileRequest(contextOf(db.prisma, machine.actor), { request: machine.sign('holdpoint-request+jws', request) })
    return request.handle
  }
  const [mine, colleagues] = [await file(own), await file(theirs)]
  const { url } = await makeDeviceLink(openContext(own.actor))
  const browser = new Browser()
  await browser.post(deviceLinkDoor, { t: new URL(url).searchParams.get('t')! })
  const actor = (await browser.actor())!
  expect(actor).toMatchObject({ memberId: lead, role: 'lead', method: 'device_link' })
  expect(rightsOf(actor)).toEqual([])
  const call = createCallerFactory(appRouter)({ actor })
  const at = { org: 'acme' }
  const answer = { ...at, decision: 'approve', scope: 'step', reason: '' } as const
  for (const act of [
    () => call.approval.answer({ ...answer, handle: colleagues }),
    () => call.approval.answer({ ...answer, handle: mine }),
    () => call.approval.answer({ ...answer, handle: colleagues, decision: 'deny' }),
    () => call.member.invite({ ...at, email: 'x@y.test', name: 'X', role: 'member' }),
    () => call.member.changeRole({ ...at, id: colleague, role: 'lead' }),
    () => call.machine.joinLine(at),
    () => call.boundary.publish({ ...at, text: costRule('member'), note: 'x', etag: '"0"' }),
    () => call.adminLogin.confirm({ userCode: 'BBBB-BBBB', allow: true }),
    () => call.settings.update({ ...at, selfAnswer: 'account' }),
  ]) {
    await expect(act(), String(act)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  }
  expect(await browser.post(organisationDoor, { org: 'acme' })).toBe('/sign-in/organisation?error=signed_out')
  expect(await db.prisma.approvalVote.count()).toBe(0)
  expect(await db.prisma.evidenceEntry.count({ where: { orgId: org.id, kind: 'approval.vote_refused' } })).toBe(3)
  // What it may: read, and take its own member's request back.
  expect((await call.approval.list({ ...at, state: 'waiting' })).items.map(item => item.mayAnswer)).toEqual([
    false,
    false,
  ])
  await expect(call.approval.withdraw({ ...at, handle: colleagues })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await call.approval.withdraw({ ...at, handle: mine })
  expect((await db.prisma.approvalRequest.findMany({ orderBy: { state: 'asc' } })).map(row => row.state)).toEqual([
    'pending',
    'withdrawn',
  ])
  // The machine's own token is no session at all.
  browser.jar.clear()
  for (const cookie of ['holdpoint-session', 'holdpoint-look']) {
    browser.jar.set(cookie, own.token)
    expect(await browser.actor()).toBeNull()
  }
})

it('the link of a machine that was revoked in between begins nothing', async () => {
  const org = await makeOrganisation(db.prisma, 'beta')
  const machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
  const { url } = await makeDeviceLink(openContext(machine.actor))
  await db.prisma.machine.update({ where: { id: machine.id }, data: { revokedAt: new Date() } })
  const browser = new Browser()
  expect(await browser.post(deviceLinkDoor, { t: new URL(url).searchParams.get('t')! })).toBe('/sign-in?error=link')
  expect(browser.jar.size).toBe(0)
})
