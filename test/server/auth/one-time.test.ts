import { afterAll, beforeAll, expect, it } from 'vitest'
import { consoleDoor, deviceLinkDoor } from '#server/api/sign-in-doors.ts'
import { database } from '#server/db.ts'
import { answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { openContext } from '#server/features/context.ts'
import { makeConsoleSignIn } from '#server/features/one-time-sign-in.ts'
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
  type TestOrganisation,
} from '#test/support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
beforeAll(async () => {
  serverEnvironment()
  org = await makeOrganisation(db.prisma, 'acme')
})
afterAll(async () => {
  await database().prisma.$disconnect()
  await database().pool.end()
})

async function makeAddress(): Promise<string> {
  const visit = openContext({ kind: 'system', orgId: org.id })
  const { url } = await db.prisma.$transaction(tx => makeConsoleSignIn(tx, visit, { id: org.ownerId, orgId: org.id }))
  return new URL(url).searchParams.get('t')!
}

it('the first start’s address signs the owner in once, as its own kind of session', async () => {
  const t = await makeAddress()
  const browser = new Browser()
  const other = new Browser()
  const ends = await Promise.all([browser.post(consoleDoor, { t }), other.post(consoleDoor, { t })])
  expect(ends.sort()).toEqual(['/acme', '/sign-in?error=link'])
  const actor = (await browser.actor()) ?? (await other.actor())
  expect(actor).toMatchObject({ memberId: org.ownerId, method: 'console', role: 'owner' })
})

it('a newer address ends the older one, and one kind does not open the other’s door', async () => {
  const older = await makeAddress()
  const t = await makeAddress()
  expect(await new Browser().post(consoleDoor, { t: older })).toBe('/sign-in?error=link')
  expect(await new Browser().post(deviceLinkDoor, { t })).toBe('/sign-in?error=link')
  expect(await new Browser().post(consoleDoor, { t })).toBe('/acme')
})

it('an address older than fifteen minutes is refused', async () => {
  const t = await makeAddress()
  await db.prisma.token.updateMany({
    where: { kind: 'console', usedAt: null },
    data: { expiresAt: new Date(Date.now() - 1) },
  })
  expect(await new Browser().post(consoleDoor, { t })).toBe('/sign-in?error=link')
})

it('its session answers other people’s requests and never its own member’s', async () => {
  await publish(db.prisma, org, costRule('lead'))
  const browser = new Browser()
  await browser.post(consoleDoor, { t: await makeAddress() })
  const actor = (await browser.actor())!
  const file = async (machine: TestMachine) => {
    const request = await makeRequest(db.prisma, machine)
    await fileRequest(contextOf(db.prisma, machine.actor), { request: machine.sign('holdpoint-request+jws', request) })
    return request.handle
  }
  const answer = (handle: string) =>
    answerApproval(openContext(actor), { handle, decision: 'approve', scope: 'step', until: [], reason: '' })
  await expect(answer(await file(await makeMachine(db.prisma, org, org.ownerId)))).rejects.toMatchObject({
    code: 'OWN_REQUEST',
  })
  await answer(await file(await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))))
})
