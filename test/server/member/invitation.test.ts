import { afterAll, beforeAll, expect, it } from 'vitest'
import { sessionRouter } from '#server/api/routers/session.ts'
import { codeDoor, emailDoor, invitationDoor } from '#server/api/sign-in-doors.ts'
import { createCallerFactory } from '#server/api/trpc.ts'
import { database } from '#server/db.ts'
import { openContext } from '#server/features/context.ts'
import { inviteMember, revokeInvitation } from '#server/features/invitation.ts'
import { openWorker, type Worker } from '#server/jobs/worker.ts'
import { Browser } from '#test/support/browser.ts'
import { useDatabase } from '#test/support/db.ts'
import { actorOf, makeOrganisation, serverEnvironment, type TestOrganisation } from '#test/support/makers.ts'
import { catchMail, codeOf } from '#test/support/smtp.ts'

const db = useDatabase()
let smtp: Awaited<ReturnType<typeof catchMail>>
let worker: Worker
let org: TestOrganisation
const session = createCallerFactory(sessionRouter)({ actor: null })

beforeAll(async () => {
  serverEnvironment()
  smtp = await catchMail()
  process.env.SMTP_URL = smtp.url
  org = await makeOrganisation(db.prisma, 'acme')
  worker = await openWorker({ ...database(), url: db.url }, { cron: false })
})
afterAll(async () => {
  await worker?.stop()
  await smtp?.close()
  await database().prisma.$disconnect()
  await database().pool.end()
})

const owner = () => openContext({ ...actorOf(org, org.ownerId, 'owner', 'email_code'), name: 'Olga Owner' })

async function invite(email: string): Promise<{ id: string; t: string }> {
  const { id } = await inviteMember(owner(), { email, name: 'Nia New', role: 'lead' })
  const mail = await smtp.next(email)
  expect(mail.subject).toBe('Olga Owner invites you to acme on Holdpoint')
  expect(mail.text).toContain(`Your account: ${email}`)
  return { id, t: new URL(/https?:\/\/\S+invitation\S+/.exec(mail.text!)![0]).searchParams.get('t')! }
}

it('an invitation is accepted by signing in as the invited address, and not before', async () => {
  const { t } = await invite('nia@new.test')
  expect(await session.invitation({ token: t })).toMatchObject({
    email: 'nia@new.test',
    role: 'lead',
    org: { slug: 'acme' },
    invitedBy: 'Olga Owner',
  })
  expect([invitationDoor.HEAD().status, invitationDoor.GET().status]).toEqual([204, 303])
  expect(await db.prisma.member.count({ where: { email: 'nia@new.test' } })).toBe(0)
  const browser = new Browser()
  const to = await browser.post(invitationDoor, { t })
  expect(await db.prisma.member.count({ where: { email: 'nia@new.test' } })).toBe(0)
  const code = codeOf(await smtp.next('nia@new.test', 1))
  expect(await browser.post(codeDoor, { a: new URL(to, 'http://x').searchParams.get('a')!, code })).toBe('/acme')
  expect(await browser.actor()).toMatchObject({
    email: 'nia@new.test',
    name: 'Nia New',
    role: 'lead',
    method: 'email_code',
  })
  expect(await session.invitation({ token: t })).toBeNull()
  expect(await new Browser().post(invitationDoor, { t })).toBe(`/invitation?t=${t}&error=invitation`)
})

it('whoever got the link forwarded cannot use it: the code goes to the invited address', async () => {
  const { t } = await invite('vic@new.test')
  const thief = new Browser()
  const to = await thief.post(invitationDoor, { t })
  expect(await thief.post(codeDoor, { a: new URL(to, 'http://x').searchParams.get('a')!, code: '000000' })).toContain(
    'error=code',
  )
  expect(smtp.mails.filter(mail => mail.subject?.includes('sign-in code')).map(mail => mail.rcpt)).not.toContain(
    'thief@new.test',
  )
  expect(await db.prisma.member.count({ where: { email: 'vic@new.test' } })).toBe(0)
})

it('an ordinary sign-in of the invited address does not accept it, and gets no mail', async () => {
  await invite('ann@new.test')
  await new Browser().post(emailDoor, { email: 'ann@new.test' })
  await invite('later@new.test') // the worker is past it
  expect(smtp.mails.filter(mail => mail.rcpt === 'ann@new.test')).toHaveLength(1)
})

it('an invitation that was revoked between mail and code makes nobody a member', async () => {
  const { id, t } = await invite('rex@new.test')
  const browser = new Browser()
  const to = await browser.post(invitationDoor, { t })
  const code = codeOf(await smtp.next('rex@new.test', 1))
  await revokeInvitation(owner(), { id })
  expect(await browser.post(codeDoor, { a: new URL(to, 'http://x').searchParams.get('a')!, code })).toContain(
    'error=invitation',
  )
  expect(await browser.actor()).toBeNull()
  expect(await db.prisma.member.count({ where: { email: 'rex@new.test' } })).toBe(0)
})
