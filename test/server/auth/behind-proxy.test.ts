import { afterAll, beforeAll, expect, it } from 'vitest'
import { libraryDoor, singleSignOnDoor } from '#server/api/oidc-doors.ts'
import { codeDoor, emailDoor, linkDoor, signOutDoor } from '#server/api/sign-in-doors.ts'
import { discoverProvider } from '#server/auth/oidc-discovery.ts'
import { database } from '#server/db.ts'
import { closeMailers } from '#server/email/mailer.ts'
import { addConnection } from '#server/features/connection.ts'
import { openContext } from '#server/features/context.ts'
import { openWorker, type Worker } from '#server/jobs/worker.ts'
import { Browser } from '#test/support/browser.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  makeMember,
  makeOrganisation,
  serverEnvironment,
  type TestOrganisation,
} from '#test/support/makers.ts'
import { signInAt, startProvider } from '#test/support/provider.ts'
import { catchMail, codeOf, linkOf } from '#test/support/smtp.ts'

/** Behind a proxy that ends TLS: requests come in by plain http under an inner name, browsers know the public address only. */
const PUBLIC = 'https://localhost:8443'
const INNER = 'http://10.0.0.7:3000'

class OutsideBrowser extends Browser {
  override request(path: string, init: RequestInit = {}): Request {
    const { pathname, search } = new URL(path, PUBLIC)
    const headers = new Headers(init.headers)
    if (this.jar.size > 0) headers.set('cookie', this.cookie())
    headers.set('host', '10.0.0.7:3000')
    headers.set('x-forwarded-proto', 'http')
    headers.set('x-forwarded-host', 'somebody.invalid')
    return new Request(`${INNER}${pathname}${search}`, { ...init, headers, redirect: 'manual' })
  }

  /** A browser drops what breaks the rules of the prefix, and so would begin a loop. */
  override keep(response: Response): Response {
    for (const line of response.headers.getSetCookie())
      expect(line).toMatch(/^__Host-[^;]+; (?=.*Path=\/(;|$))(?=.*Secure)(?=.*HttpOnly)(?!.*Domain=)/i)
    return super.keep(response)
  }
}

const db = useDatabase()
let smtp: Awaited<ReturnType<typeof catchMail>>
let worker: Worker
let org: TestOrganisation
let memberId: string
let email: string

beforeAll(async () => {
  process.env.HOLDPOINT_PUBLIC_URL = PUBLIC
  serverEnvironment()
  smtp = await catchMail()
  process.env.SMTP_URL = smtp.url
  org = await makeOrganisation(db.prisma, 'acme')
  memberId = await makeMember(db.prisma, org, 'lead', 'Lea')
  email = (await db.prisma.member.findUniqueOrThrow({ where: { id: memberId } })).email
  worker = await openWorker({ ...database(), url: db.url }, { cron: false })
})
afterAll(async () => {
  await worker?.stop()
  closeMailers()
  await smtp?.close()
  await database().prisma.$disconnect()
  await database().pool.end()
})

const attemptOf = (to: string) => new URL(to, PUBLIC).searchParams.get('a')!

it('a code signs in and stays signed in, a link leads to the public address, and signing out ends it', async () => {
  const browser = new OutsideBrowser()
  const attempt = attemptOf(await browser.post(emailDoor, { email }))
  const mail = await smtp.next(email)
  expect(linkOf(mail).origin).toBe(PUBLIC)
  expect(await browser.post(codeDoor, { a: attempt, code: codeOf(mail) })).toBe('/acme')
  for (let i = 0; i < 3; i++) expect(await browser.actor()).toMatchObject({ memberId, method: 'email_code' })
  await browser.post(signOutDoor)
  expect(await browser.actor()).toBeNull()

  await browser.post(emailDoor, { email })
  const link = linkOf(await smtp.next(email, 1))
  expect(await browser.post(linkDoor, { a: link.searchParams.get('a')! })).toBe('/acme')
  expect((await browser.actor())?.memberId).toBe(memberId)
})

it('a form that comes from the inner address is refused', async () => {
  const browser = new OutsideBrowser()
  expect(await browser.post(emailDoor, { email }, { origin: INNER })).toBe('/sign-in?error=origin')
})

it('an organisation’s provider sends the browser back to the public address, and it is signed in there', async () => {
  const provider = await startProvider({ claimsInIdToken: true })
  try {
    const { issuer, clientId, clientSecret } = provider
    const owner = openContext(actorOf(org, org.ownerId, 'owner', 'email_code'))
    const { id } = await addConnection(
      owner,
      { name: 'login', issuer, clientId, clientSecret, domains: [] },
      discoverProvider,
    )
    provider.allow(`${PUBLIC}/api/auth/callback/${id}`)
    provider.person = { sub: 'sub-1', email, email_verified: true }
    const browser = new OutsideBrowser()
    const begun = browser.keep(
      await singleSignOnDoor.POST(
        browser.request('/auth/sso', {
          method: 'POST',
          body: 'org=acme',
          headers: { 'content-type': 'application/x-www-form-urlencoded', origin: PUBLIC },
        }),
      ),
    )
    const start = /url=([^"]+)"/.exec(await begun.text())![1]!.replaceAll('&amp;', '&')
    expect(new URL(start).searchParams.get('redirect_uri')).toBe(`${PUBLIC}/api/auth/callback/${id}`)
    const back = await signInAt(start, `${PUBLIC}/api/auth/callback/${id}`)
    const done = browser.keep(await libraryDoor.GET(browser.request(back), ['callback', id]))
    expect([done.status, done.headers.get('location')]).toEqual([303, `${PUBLIC}/acme`])
    expect(await browser.actor()).toMatchObject({ memberId, method: 'oidc' })
  } finally {
    await provider.close()
  }
})
