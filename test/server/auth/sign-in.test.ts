import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  codeDoor,
  deviceLinkDoor,
  emailDoor,
  linkDoor,
  organisationDoor,
  signOutDoor,
} from '#server/api/sign-in-doors.ts'
import { database } from '#server/db.ts'
import { closeMailers } from '#server/email/mailer.ts'
import { openContext } from '#server/features/context.ts'
import { makeDeviceLink } from '#server/features/one-time-sign-in.ts'
import { openWorker, type Worker } from '#server/jobs/worker.ts'
import { Browser } from '#test/support/browser.ts'
import { useDatabase } from '#test/support/db.ts'
import { makeMember, makeOrganisation, serverEnvironment, type TestOrganisation } from '#test/support/makers.ts'
import { catchMail, codeOf, linkOf } from '#test/support/smtp.ts'

const db = useDatabase()
let smtp: Awaited<ReturnType<typeof catchMail>>
let worker: Worker
let org: TestOrganisation
let n = 0

beforeAll(async () => {
  serverEnvironment()
  smtp = await catchMail()
  process.env.SMTP_URL = smtp.url
  org = await makeOrganisation(db.prisma, 'acme')
  worker = await openWorker({ ...database(), url: db.url }, { cron: false })
})
afterAll(async () => {
  await worker?.stop()
  closeMailers()
  await smtp?.close()
  await database().prisma.$disconnect()
  await database().pool.end()
})

let email: string
let memberId: string
beforeEach(async () => {
  await db.prisma.rateCount.deleteMany()
  memberId = await makeMember(db.prisma, org, 'lead', `Lead ${++n}`)
  email = `lead${n}@acme.test`
  await db.prisma.member.update({ where: { id: memberId }, data: { email } })
})

async function ask(browser: Browser, address = email): Promise<string> {
  const to = await browser.post(emailDoor, { email: address })
  expect(to).toMatch(/^\/sign-in\/code\?a=[A-Za-z0-9_-]{22}$/)
  return new URL(to, 'http://x').searchParams.get('a')!
}

describe('signing in by e-mail', () => {
  it('a code from the mail signs in, with a session of twelve hours that records how it began', async () => {
    const browser = new Browser()
    const attempt = await ask(browser, ` ${email.toUpperCase()} `)
    const mail = await smtp.next(email)
    expect(mail.subject).toBe(`${codeOf(mail)} is your Holdpoint sign-in code`)
    expect(mail.text).toContain(`as ${email}`)
    expect(await browser.post(codeDoor, { a: attempt, code: codeOf(mail) })).toBe('/acme')
    expect(await browser.actor()).toMatchObject({
      memberId,
      orgSlug: 'acme',
      role: 'lead',
      method: 'email_code',
      how: 'web',
      demo: false,
    })
    const session = await db.prisma.session.findFirstOrThrow({ where: { memberId } })
    expect(session.expiresAt.getTime() - session.createdAt.getTime()).toBe(12 * 3600_000)
    expect([...browser.jar.values()]).not.toContain(session.tokenHash)
    const entry = await db.prisma.evidenceEntry.findFirstOrThrow({
      where: { orgId: org.id, kind: 'member.signed_in' },
      orderBy: { seq: 'desc' },
    })
    expect(Buffer.from(entry.bytes).toString()).not.toContain(email)
  })

  it('the link of the mail signs in where it was asked for, and leads to the page that was wanted', async () => {
    const browser = new Browser()
    await browser.post(emailDoor, { email, next: '/acme/approvals/bnd-0123456789ab' })
    const link = linkOf(await smtp.next(email))
    expect(link.pathname).toBe('/link')
    const fields = { a: link.searchParams.get('a')!, next: link.searchParams.get('next')! }
    expect(await browser.post(linkDoor, fields)).toBe('/acme/approvals/bnd-0123456789ab')
    expect((await browser.actor())?.memberId).toBe(memberId)
  })

  it('a wrong browser with the right code is refused and the original still signs in', async () => {
    const browser = new Browser()
    const attempt = await ask(browser)
    const code = codeOf(await smtp.next(email))
    const other = new Browser()
    expect(await other.post(codeDoor, { a: attempt, code })).toBe(`/sign-in/code?a=${attempt}&error=wrong_browser`)
    const third = new Browser()
    await ask(third, 'somebody-else@acme.test')
    expect(await third.post(codeDoor, { a: attempt, code })).toBe(`/sign-in/code?a=${attempt}&error=wrong_browser`)
    expect(await other.actor()).toBeNull()
    expect(await browser.post(codeDoor, { a: attempt, code })).toBe('/acme')
  })

  it('a wrong browser with the right link is refused and the original still signs in', async () => {
    const browser = new Browser()
    await ask(browser)
    const a = linkOf(await smtp.next(email)).searchParams.get('a')!
    expect(await new Browser().post(linkDoor, { a })).toBe('/sign-in?error=wrong_browser')
    // nor one that has asked for a link of its own
    const other = new Browser()
    await ask(other, 'somebody-else@acme.test')
    expect(await other.post(linkDoor, { a })).toBe('/sign-in?error=wrong_browser')
    expect(await other.actor()).toBeNull()
    expect(await browser.post(linkDoor, { a })).toBe('/acme')
    expect(await browser.post(linkDoor, { a })).toBe('/sign-in?error=wrong_browser')
  })

  it('five wrong codes end the attempt, the right one included; the organisation sees it', async () => {
    const browser = new Browser()
    const attempt = await ask(browser)
    const right = codeOf(await smtp.next(email))
    const wrong = right === '000000' ? '000001' : '000000'
    const at = `/sign-in/code?a=${attempt}`
    for (let i = 0; i < 4; i++)
      expect(await browser.post(codeDoor, { a: attempt, code: wrong })).toBe(`${at}&error=code`)
    expect(await browser.post(codeDoor, { a: attempt, code: wrong })).toBe(`${at}&error=dead`)
    expect(await browser.post(codeDoor, { a: attempt, code: right })).toBe(`${at}&error=dead`)
    const link = linkOf(await smtp.next(email)).searchParams.get('a')!
    expect(await browser.post(linkDoor, { a: link })).toBe('/sign-in?error=dead')
    expect(await browser.actor()).toBeNull()
    expect(await db.prisma.evidenceEntry.count({ where: { orgId: org.id, kind: 'member.sign_in_refused' } })).toBe(1)
  })

  it('twenty parallel guesses have five tries between them', async () => {
    const browser = new Browser()
    const attempt = await ask(browser)
    const right = codeOf(await smtp.next(email))
    const guesses = Array.from({ length: 20 }, (_, i) => String((Number(right) + 1 + i) % 1_000_000).padStart(6, '0'))
    await Promise.all(guesses.map(code => browser.post(codeDoor, { a: attempt, code })))
    expect((await db.prisma.signInAttempt.findUniqueOrThrow({ where: { id: attempt } })).tries).toBe(5)
    expect(await browser.post(codeDoor, { a: attempt, code: right })).toContain('error=dead')
  })

  it('GET and HEAD on every door and mailed address change nothing and set no cookie', async () => {
    const browser = new Browser()
    await ask(browser)
    const a = linkOf(await smtp.next(email)).searchParams.get('a')!
    const before = await db.prisma.signInAttempt.findMany({ orderBy: { id: 'asc' } })
    for (const door of [emailDoor, codeDoor, linkDoor, deviceLinkDoor, organisationDoor, signOutDoor]) {
      const head = door.HEAD()
      expect([head.status, head.headers.get('cache-control'), head.headers.get('set-cookie')]).toEqual([
        204,
        'no-store',
        null,
      ])
      const get = door.GET()
      expect([get.status, get.headers.get('set-cookie')]).toEqual([303, null])
    }
    expect(await db.prisma.signInAttempt.findMany({ orderBy: { id: 'asc' } })).toEqual(before)
    expect(await browser.post(linkDoor, { a })).toBe('/acme')
  })

  it('a body without a length is read no further than a form is long', async () => {
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(8 * 1024).fill(97))
        if (++sent > 1000) controller.close()
      },
    })
    const init = {
      method: 'POST',
      body: endless,
      duplex: 'half',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost:3000' },
    }
    const response = await emailDoor.POST(new Browser().request('/auth/email', init as RequestInit))
    expect(response.headers.get('location')).toBe('http://localhost:3000/sign-in?error=form')
    expect(sent).toBeLessThan(10)
  })

  it('a code works once, even for two requests at the same moment', async () => {
    const browser = new Browser()
    const attempt = await ask(browser)
    const code = codeOf(await smtp.next(email))
    const both = new Browser()
    for (const [name, value] of browser.jar) both.jar.set(name, value)
    const ends = await Promise.all([
      browser.post(codeDoor, { a: attempt, code }),
      both.post(codeDoor, { a: attempt, code }),
    ])
    expect(ends.filter(to => to === '/acme')).toHaveLength(1)
    expect(await db.prisma.session.count({ where: { memberId } })).toBe(1)
  })

  it('an unknown address gets the same answer and no mail', async () => {
    const known = new Browser()
    const unknown = new Browser()
    await ask(known)
    await smtp.next(email)
    const attempt = await ask(unknown, 'nobody@nowhere.test')
    expect([...unknown.jar.keys()]).toEqual([...known.jar.keys()])
    expect(await unknown.post(codeDoor, { a: attempt, code: '123456' })).toBe(`/sign-in/code?a=${attempt}&error=code`)
    await ask(known) // a later mail came, so the worker is past the unknown one
    await smtp.next(email, 1)
    expect(smtp.mails.filter(mail => mail.rcpt === 'nobody@nowhere.test')).toEqual([])
  })

  it('a sixth attempt within the hour is refused, alike for known and unknown addresses', async () => {
    for (const address of [email, `ghost${n}@nowhere.test`]) {
      const browser = new Browser()
      for (let i = 0; i < 5; i++) await ask(browser, address)
      expect(await browser.post(emailDoor, { email: address })).toBe('/sign-in?error=too_many')
    }
  })

  it('a code older than ten minutes is refused as such', async () => {
    const browser = new Browser()
    const attempt = await ask(browser)
    const code = codeOf(await smtp.next(email))
    await db.prisma.signInAttempt.update({ where: { id: attempt }, data: { expiresAt: new Date(Date.now() - 1) } })
    expect(await browser.post(codeDoor, { a: attempt, code })).toBe(`/sign-in/code?a=${attempt}&error=expired`)
  })

  it('two tabs of one browser each have their own attempt', async () => {
    const browser = new Browser()
    const first = await ask(browser)
    const one = codeOf(await smtp.next(email))
    const second = await ask(browser)
    const two = codeOf(await smtp.next(email, 1))
    const copy = new Browser()
    for (const [name, value] of browser.jar) copy.jar.set(name, value)
    expect(await browser.post(codeDoor, { a: first, code: one })).toBe('/acme')
    expect(await copy.post(codeDoor, { a: second, code: two })).toBe('/acme')
  })

  it('an address that could reach a second mailbox is refused', async () => {
    for (const bad of [
      'a@b.test,c@d.test',
      '"a@b.test" <c@d.test>',
      'a@b.test\r\nBcc: c@d.test',
      'a@b@c.test',
      'a b@c.test',
    ]) {
      expect(await new Browser().post(emailDoor, { email: bad })).toBe('/sign-in?error=address')
    }
  })

  it('signing in again drops the session before it', async () => {
    const browser = new Browser()
    for (let i = 0; i < 2; i++) {
      const attempt = await ask(browser)
      await browser.post(codeDoor, { a: attempt, code: codeOf(await smtp.next(email, i)) })
    }
    expect(await db.prisma.session.count({ where: { memberId } })).toBe(1)
  })

  it('signing out ends the session at the server', async () => {
    const browser = new Browser()
    const attempt = await ask(browser)
    await browser.post(codeDoor, { a: attempt, code: codeOf(await smtp.next(email)) })
    const stolen = new Browser()
    for (const [name, value] of browser.jar) stolen.jar.set(name, value)
    expect(await browser.post(signOutDoor)).toBe('/sign-in?signed-out=1')
    expect(await stolen.actor()).toBeNull()
  })
})

describe('forms', () => {
  it('are refused from another origin, another port of localhost, and without an origin', async () => {
    const browser = new Browser()
    for (const origin of ['https://evil.test', 'http://localhost:3001', 'null']) {
      expect(await browser.post(emailDoor, { email }, { origin })).toBe('/sign-in?error=origin')
    }
    expect(await browser.post(emailDoor, { email }, { 'sec-fetch-site': 'same-site' })).toBe('/sign-in?error=origin')
    expect(await db.prisma.signInAttempt.count({ where: { email } })).toBe(0)
  })

  it('lead nowhere else than to ourselves', async () => {
    for (const next of ['//evil.test', 'https://evil.test', '/\\evil.test', '/a\r\nset-cookie: x=y']) {
      expect(await new Browser().post(emailDoor, { email: `x${n++}@y.test`, next })).toMatch(
        /^\/sign-in\/code\?a=[A-Za-z0-9_-]{22}$/,
      )
    }
  })
})

describe('a session', () => {
  it('has the role of now: whoever was demoted loses rights at the next request', async () => {
    const browser = new Browser()
    const attempt = await ask(browser)
    await browser.post(codeDoor, { a: attempt, code: codeOf(await smtp.next(email)) })
    await db.prisma.member.update({ where: { id: memberId }, data: { role: 'member' } })
    expect((await browser.actor())?.role).toBe('member')
    await db.prisma.member.update({ where: { id: memberId }, data: { removedAt: new Date() } })
    expect(await browser.actor()).toBeNull()
  })

  it('of one organisation becomes one of another with the same time of signing in; nobody else can change over', async () => {
    const beta = await makeOrganisation(db.prisma, `beta${n}`)
    const there = await makeMember(db.prisma, beta, 'admin', 'Same Person')
    await db.prisma.member.update({ where: { id: there }, data: { email } })
    const browser = new Browser()
    const attempt = await ask(browser)
    expect(await browser.post(codeDoor, { a: attempt, code: codeOf(await smtp.next(email)) })).toBe(
      '/sign-in/organisation',
    )
    const first = await browser.actor()
    expect(first).toMatchObject({ orgSlug: 'acme', role: 'lead' })
    expect(await browser.post(organisationDoor, { org: beta.slug })).toBe(`/${beta.slug}`)
    expect(await browser.actor()).toMatchObject({ orgSlug: beta.slug, role: 'admin', authnAt: first!.authnAt })
    expect(await db.prisma.session.count({ where: { memberId } })).toBe(0)
    const gamma = await makeOrganisation(db.prisma, `gamma${n}`)
    expect(await browser.post(organisationDoor, { org: gamma.slug })).toContain('error=not_found')
  })

  it('cannot change how it began: the database refuses', async () => {
    const browser = new Browser()
    const attempt = await ask(browser)
    await browser.post(codeDoor, { a: attempt, code: codeOf(await smtp.next(email)) })
    for (const change of [
      { method: 'passkey' as const },
      { authnAt: new Date() },
      { parentToken: 'x' },
      { demo: true },
    ]) {
      await expect(db.prisma.session.updateMany({ where: { memberId }, data: change })).rejects.toThrow(
        'session_beginning_stays',
      )
    }
  })
})

describe("a machine's link", () => {
  async function linkSession(): Promise<Browser> {
    const machine = await db.prisma.machine.create({
      data: {
        id: `mac_${String(n).padStart(16, '0')}`,
        orgId: org.id,
        memberId,
        label: 'laptop',
        platform: 'linux',
        connector: '0.1.0',
        publicKeyX: 'x',
        joinedAt: new Date(),
      },
    })
    const { url } = await makeDeviceLink(
      openContext({ kind: 'machine', machineId: machine.id, memberId, orgId: org.id, tokenId: 't' }),
    )
    const browser = new Browser()
    const t = new URL(url).searchParams.get('t')!
    expect(await browser.post(deviceLinkDoor, { t })).toBe('/acme')
    expect(await new Browser().post(deviceLinkDoor, { t })).toBe('/sign-in?error=link')
    return browser
  }

  it('begins a look-only session in a cookie of its own, once', async () => {
    const browser = await linkSession()
    expect([...browser.jar.keys()]).toEqual(['holdpoint-look'])
    expect(await browser.actor()).toMatchObject({ memberId, method: 'device_link' })
  })

  it('does not stand for anybody in the cookie of own sign-ins, and an own sign-in not in its', async () => {
    const browser = await linkSession()
    const moved = new Browser()
    moved.jar.set('holdpoint-session', browser.jar.get('holdpoint-look')!)
    expect(await moved.actor()).toBeNull()
    const own = new Browser()
    const attempt = await ask(own)
    await own.post(codeDoor, { a: attempt, code: codeOf(await smtp.next(email)) })
    const back = new Browser()
    back.jar.set('holdpoint-look', own.jar.get('holdpoint-session')!)
    expect(await back.actor()).toBeNull()
  })
})
