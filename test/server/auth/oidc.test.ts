import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { demandFreshSignIn, isFreshSignIn, UNDATED_SIGN_IN } from '#core/permission.ts'
import { libraryDoor, singleSignOnDoor } from '#server/api/oidc-doors.ts'
import { deviceLinkDoor } from '#server/api/sign-in-doors.ts'
import { discoverProvider } from '#server/auth/oidc-discovery.ts'
import { database } from '#server/db.ts'
import { addConnection, removeConnection } from '#server/features/connection.ts'
import { openContext } from '#server/features/context.ts'
import { makeDeviceLink } from '#server/features/one-time-sign-in.ts'
import { Browser } from '#test/support/browser.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  makeMember,
  makeOrganisation,
  serverEnvironment,
  type TestOrganisation,
} from '#test/support/makers.ts'
import { type Person, signInAt, startProvider } from '#test/support/provider.ts'

const db = useDatabase()
const PUBLIC = 'http://localhost:3000'
type RunningProvider = Awaited<ReturnType<typeof startProvider>>
type Side = { org: TestOrganisation; provider: RunningProvider; connection: string; member: string }
let a: Side
let b: Side

beforeAll(async () => {
  process.env.HOLDPOINT_PUBLIC_URL = PUBLIC
  serverEnvironment()
  const sides: Side[] = []
  for (const slug of ['alpha', 'beta']) {
    const org = await makeOrganisation(db.prisma, slug)
    const provider = await startProvider({ claimsInIdToken: slug === 'alpha' })
    const { issuer, clientId, clientSecret } = provider
    const owner = openContext(actorOf(org, org.ownerId, 'owner', 'email_code'))
    const { id } = await addConnection(
      owner,
      { name: `${slug} login`, issuer, clientId, clientSecret, domains: slug === 'alpha' ? [] : ['beta.test'] },
      discoverProvider,
    )
    provider.allow(`${PUBLIC}/api/auth/callback/${id}`)
    sides.push({ org, provider, connection: id, member: await makeMember(db.prisma, org, 'lead', `Lead of ${slug}`) })
  }
  ;[a, b] = sides as [Side, Side]
})
afterAll(async () => {
  await a?.provider.close()
  await b?.provider.close()
  await database().prisma.$disconnect()
  await database().pool.end()
})

beforeEach(async () => {
  await db.prisma.rateCount.deleteMany()
  await db.prisma.oidcAccount.deleteMany()
  await db.prisma.session.deleteMany()
})

const emailOf = async (id: string) => (await db.prisma.member.findUniqueOrThrow({ where: { id } })).email

/** The whole dance: our form, the provider, its way back. Gives where the browser ends. */
async function signIn(
  browser: Browser,
  side: Side,
  person: Person,
  fields: Record<string, string> = {},
): Promise<string> {
  side.provider.person = person
  const start = await begin(browser, side, fields)
  const back = await signInAt(start, `${PUBLIC}/api/auth/callback/${side.connection}`)
  return finish(browser, back)
}

async function begin(browser: Browser, side: Side, fields: Record<string, string> = {}): Promise<string> {
  const response = browser.keep(
    await singleSignOnDoor.POST(
      browser.request('/auth/sso', {
        method: 'POST',
        body: new URLSearchParams({ org: side.org.slug, ...fields }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: PUBLIC },
      }),
    ),
  )
  expect(response.status).toBe(200)
  return /url=([^"]+)"/.exec(await response.text())![1]!.replaceAll('&amp;', '&')
}

async function finish(browser: Browser, back: string): Promise<string> {
  const path = new URL(back).pathname.split('/').slice(3)
  const response = browser.keep(await libraryDoor.GET(browser.request(back), path))
  expect(response.status).toBe(303)
  return new URL(response.headers.get('location')!).href.slice(PUBLIC.length)
}

const refusals = (org: TestOrganisation) =>
  db.prisma.evidenceEntry
    .findMany({ where: { orgId: org.id, kind: 'member.sign_in_refused' }, orderBy: { seq: 'asc' } })
    .then(rows =>
      rows.map(row => (JSON.parse(Buffer.from(row.bytes).toString()) as { data: { why: string } }).data.why),
    )

describe("signing in through an organisation's provider", () => {
  it('finds the member by the verified address, keys the account by connection, issuer and subject, and never makes a member', async () => {
    const browser = new Browser()
    const members = await db.prisma.member.count()
    const email = await emailOf(a.member)
    expect(await signIn(browser, a, { sub: 'sub-1', email, email_verified: true }, { next: '/alpha/approvals' })).toBe(
      '/alpha/approvals',
    )
    expect(await browser.actor()).toMatchObject({ memberId: a.member, orgSlug: 'alpha', method: 'oidc', demo: false })
    expect(await db.prisma.oidcAccount.findMany()).toMatchObject([
      { connectionId: a.connection, iss: a.provider.issuer, sub: 'sub-1', memberId: a.member },
    ])
    expect(await db.prisma.session.findMany()).toMatchObject([
      { memberId: a.member, idpConnectionId: a.connection, method: 'oidc' },
    ])
    expect(await db.prisma.member.count()).toBe(members)
  })

  it('finds the member again by the account when the address at the provider changed', async () => {
    await signIn(new Browser(), a, { sub: 'sub-1', email: await emailOf(a.member), email_verified: true })
    const browser = new Browser()
    expect(await signIn(browser, a, { sub: 'sub-1', email: 'new-name@alpha.test', email_verified: true })).toBe(
      '/alpha',
    )
    expect((await browser.actor())?.memberId).toBe(a.member)
  })

  it('takes the time of the sign-in from the provider; one that it does not say is no fresh sign-in', async () => {
    const { openConnection } = await import('#server/features/connection.ts')
    const { signInWithProvider } = await import('#server/features/single-sign-on.ts')
    const connection = (await openConnection(db.prisma, a.connection))!
    const claims = { iss: a.provider.issuer, sub: 'sub-1', email: await emailOf(a.member), email_verified: true }
    const visit = openContext({ kind: 'system', orgId: '' })
    const seconds = Math.floor(visit.now.getTime() / 1000)
    for (const [auth_time, expected] of [
      [seconds - 7200, new Date((seconds - 7200) * 1000)],
      [seconds + 7200, visit.now],
      [undefined, UNDATED_SIGN_IN],
      [String(seconds), UNDATED_SIGN_IN],
      [-1, UNDATED_SIGN_IN],
      [Number.NaN, UNDATED_SIGN_IN],
    ] as const) {
      await db.prisma.session.deleteMany()
      await signInWithProvider(visit, connection, { ...claims, ...(auth_time ? { auth_time } : {}) }, undefined)
      expect((await db.prisma.session.findFirstOrThrow()).authnAt).toEqual(expected)
    }
  })

  it('dates a sign-in that is to be fresh, and leaves one undated that the provider need not date', async () => {
    const person = { sub: 'sub-1', email: await emailOf(a.member), email_verified: true }
    const browser = new Browser()
    await signIn(browser, a, person)
    expect((await browser.actor())!.authnAt).toEqual(UNDATED_SIGN_IN)
    expect(() => demandFreshSignIn({ authnAt: UNDATED_SIGN_IN }, new Date())).toThrow('does not say when')

    const before = Math.floor(Date.now() / 1000) * 1000
    const asked = new URL(await begin(browser, a, { fresh: '1' })).searchParams
    expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '600'])
    await signIn(browser, a, person, { fresh: '1' })
    const fresh = (await browser.actor())!
    expect(fresh.authnAt.getTime()).toBeGreaterThanOrEqual(before)
    expect(isFreshSignIn(fresh, new Date())).toBe(true)

    // A provider that lets an old password count after all says so itself, and is taken at its word.
    const hours = Math.floor(Date.now() / 1000) - 2 * 3600
    await signIn(browser, a, { ...person, signedInAt: hours }, { fresh: '1' })
    const old = (await browser.actor())!
    expect(old.authnAt).toEqual(new Date(hours * 1000))
    expect(isFreshSignIn(old, new Date())).toBe(false)
  })

  it('asks the userinfo endpoint where the id token carries no address', async () => {
    const browser = new Browser()
    expect(await signIn(browser, b, { sub: 'sub-b', email: await emailOf(b.member), email_verified: true })).toBe(
      '/beta',
    )
    expect((await browser.actor())?.memberId).toBe(b.member)
  })

  it.each([
    ['absent', undefined],
    ['false', false],
    ['the text "true"', 'true'],
    ['one', 1],
  ])('refuses an address whose email_verified is %s', async (_, value) => {
    const browser = new Browser()
    const person = {
      sub: 'sub-1',
      email: await emailOf(a.member),
      ...(value === undefined ? {} : { email_verified: value }),
    }
    expect(await signIn(browser, a, person)).toBe('/sign-in?error=unverified')
    expect(await browser.actor()).toBeNull()
    expect(await db.prisma.oidcAccount.count()).toBe(0)
  })

  it('refuses an address outside the connection’s domains', async () => {
    const outside = await makeMember(db.prisma, b.org, 'member', 'Outside')
    await db.prisma.member.update({
      where: { id: outside },
      data: { email: `${outside.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}@elsewhere.test` },
    })
    expect(await signIn(new Browser(), b, { sub: 'o', email: await emailOf(outside), email_verified: true })).toBe(
      '/sign-in?error=domain',
    )
  })

  it('refuses whoever is no member, and records it without the address', async () => {
    const before = (await refusals(a.org)).length
    expect(await signIn(new Browser(), a, { sub: 'x', email: 'stranger@alpha.test', email_verified: true })).toBe(
      '/sign-in?error=no_member',
    )
    expect((await refusals(a.org)).slice(before)).toEqual(['no_member'])
    const entries = await db.prisma.evidenceEntry.findMany({ where: { orgId: a.org.id } })
    expect(entries.map(entry => Buffer.from(entry.bytes).toString()).join()).not.toContain('stranger')
  })

  it('refuses a second subject with the address of a member who has one', async () => {
    const email = await emailOf(a.member)
    await signIn(new Browser(), a, { sub: 'sub-1', email, email_verified: true })
    expect(await signIn(new Browser(), a, { sub: 'sub-2', email, email_verified: true })).toBe(
      '/sign-in?error=no_member',
    )
  })
})

describe('two organisations, two providers', () => {
  it('A asserting owner@B and the subject of B’s owner sees nothing of B', async () => {
    const ownerB = await emailOf(b.org.ownerId)
    await signIn(new Browser(), b, { sub: 'owner-sub', email: ownerB, email_verified: true })
    const accountsBefore = await db.prisma.oidcAccount.findMany()
    const browser = new Browser()
    expect(await signIn(browser, a, { sub: 'owner-sub', email: ownerB, email_verified: true })).toBe(
      '/sign-in?error=no_member',
    )
    expect(await browser.actor()).toBeNull()
    expect(await db.prisma.oidcAccount.findMany()).toEqual(accountsBefore)
  })

  it('a person who is a member of both sees A only through A’s provider', async () => {
    const both = await makeMember(db.prisma, a.org, 'member', 'Both')
    await db.prisma.member.update({ where: { id: both }, data: { email: 'both@beta.test' } })
    const inB = await makeMember(db.prisma, b.org, 'owner', 'Both')
    await db.prisma.member.update({ where: { id: inB }, data: { email: 'both@beta.test' } })
    const browser = new Browser()
    expect(await signIn(browser, a, { sub: 'both', email: 'both@beta.test', email_verified: true })).toBe('/alpha')
    expect(await browser.actor()).toMatchObject({ memberId: both, orgSlug: 'alpha' })
    const { organisationsOf } = await import('#server/features/session.ts')
    expect(await organisationsOf(db.prisma, (await browser.actor())!)).toEqual([{ slug: 'alpha', name: 'alpha' }])
    const { organisationDoor } = await import('#server/api/sign-in-doors.ts')
    expect(await browser.post(organisationDoor, { org: 'beta' })).toBe('/sign-in/organisation?error=no_switch')
  })

  it('an answer of A’s provider brought to B’s way back is refused', async () => {
    a.provider.person = { sub: 'x', email: await emailOf(b.org.ownerId), email_verified: true }
    const browser = new Browser()
    const back = await signInAt(await begin(browser, a), `${PUBLIC}/api/auth/callback/${a.connection}`)
    expect(await finish(browser, back.replace(a.connection, b.connection))).toBe('/sign-in?error=provider_refused')
    expect(await browser.actor()).toBeNull()
  })
})

describe('what a machine’s link began', () => {
  it('cannot take an account through a provider, in its own cookie or in the one of own sign-ins', async () => {
    const lead = a.member
    const machine = await db.prisma.machine.create({
      data: {
        id: 'mac_0000000000000001',
        orgId: a.org.id,
        memberId: lead,
        label: 'laptop',
        platform: 'linux',
        connector: '0.1.0',
        publicKeyX: 'x',
        joinedAt: new Date(),
      },
    })
    const { url } = await makeDeviceLink(
      openContext({ kind: 'machine', machineId: machine.id, memberId: lead, orgId: a.org.id, tokenId: 't' }),
    )
    const browser = new Browser()
    await browser.post(deviceLinkDoor, { t: new URL(url).searchParams.get('t')! })
    const look = browser.jar.get('holdpoint-look')!
    const before = (await refusals(a.org)).length
    const attacker = { sub: 'attacker', email: 'attacker@alpha.test', email_verified: true }
    expect(await signIn(browser, a, attacker)).toBe('/sign-in?error=no_member')
    expect((await browser.actor())?.method).toBe('device_link')
    browser.jar.set('holdpoint-session', look)
    expect(await signIn(browser, a, attacker)).toBe('/sign-in?error=no_member')
    expect(await db.prisma.oidcAccount.count()).toBe(0)
    expect((await db.prisma.session.findMany()).map(session => session.method)).toEqual(['device_link'])
    expect((await refusals(a.org)).slice(before)).toEqual(['no_member', 'no_member'])
  })

  it('nor does being signed in link the provider’s account to oneself', async () => {
    const browser = new Browser()
    await signIn(browser, a, { sub: 'sub-1', email: await emailOf(a.member), email_verified: true })
    expect(await signIn(browser, a, { sub: 'other', email: 'attacker@alpha.test', email_verified: true })).toBe(
      '/sign-in?error=no_member',
    )
    expect(await db.prisma.oidcAccount.findMany({ select: { sub: true } })).toEqual([{ sub: 'sub-1' }])
  })
})

describe('the dance', () => {
  it('works only in the browser that began it: state, nonce and verifier are in its cookies', async () => {
    a.provider.person = { sub: 'sub-1', email: await emailOf(a.member), email_verified: true }
    const browser = new Browser()
    const start = await begin(browser, a)
    const asked = new URL(start).searchParams
    expect([asked.get('code_challenge_method'), asked.has('state'), asked.has('nonce')]).toEqual(['S256', true, true])
    const back = await signInAt(start, `${PUBLIC}/api/auth/callback/${a.connection}`)
    const victim = new Browser()
    expect(await finish(victim, back)).toBe('/sign-in?error=provider_refused')
    expect(await victim.actor()).toBeNull()
    expect(await finish(browser, back)).toBe('/alpha')
  })

  it('cannot be begun without an answer naming an organisation that has a provider, in the same words for none', async () => {
    const lone = await makeOrganisation(db.prisma, 'lone')
    for (const org of [lone.slug, 'no-such-organisation']) {
      expect(await new Browser().post(singleSignOnDoor, { org })).toBe(`/sign-in?org=${org}&error=no_sso`)
    }
  })

  it('ends with clear words when the provider cannot be reached', async () => {
    const gone = await startProvider()
    const org = await makeOrganisation(db.prisma, 'gone')
    const owner = openContext(actorOf(org, org.ownerId, 'owner', 'email_code'))
    await addConnection(
      owner,
      { name: 'gone', issuer: gone.issuer, clientId: 'x', clientSecret: 'y', domains: [] },
      discoverProvider,
    )
    await gone.close()
    const response = await singleSignOnDoor.POST(
      new Browser().request('/auth/sso', {
        method: 'POST',
        body: 'org=gone',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: PUBLIC },
      }),
    )
    expect(response.headers.get('location')).toBe(`${PUBLIC}/sign-in?error=provider_unreachable`)
  })

  it('serves nothing of the library but the way back', async () => {
    for (const path of [['session'], ['providers'], ['signin', a.connection], ['signout'], ['callback'], ['error']]) {
      expect((await libraryDoor.GET(new Browser().request(`/api/auth/${path.join('/')}`), path)).status).toBe(404)
    }
  })
})

describe('a connection', () => {
  it('is refused when the address is not a provider, or calls itself something else', async () => {
    const owner = openContext(actorOf(a.org, a.org.ownerId, 'owner', 'email_code'))
    const input = { name: 'x', clientId: 'x', clientSecret: 'y', domains: [] }
    await expect(addConnection(owner, { ...input, issuer: `${a.provider.issuer}/` }, discoverProvider)).rejects.toThrow(
      `The provider calls itself ${a.provider.issuer}; write the issuer exactly so.`,
    )
    await expect(addConnection(owner, { ...input, issuer: 'http://127.0.0.1:9' }, discoverProvider)).rejects.toThrow(
      'The provider could not be reached',
    )
    await expect(
      addConnection(owner, { ...input, issuer: 'http://login.example.com' }, discoverProvider),
    ).rejects.toThrow("not a provider's issuer address")
    await expect(
      addConnection(owner, { ...input, issuer: a.provider.issuer, domains: ['not a domain'] }, discoverProvider),
    ).rejects.toThrow('is not a domain')
  })

  it('is no door of the server itself where the control plane is not on loopback', async () => {
    const owner = { ...openContext(actorOf(a.org, a.org.ownerId, 'owner', 'email_code')), origin: 'https://hold.test' }
    const input = { name: 'x', issuer: a.provider.issuer, clientId: 'x', clientSecret: 'y', domains: [] }
    let asked = false
    const discover = async () => {
      asked = true
    }
    await expect(addConnection(owner, input, discover)).rejects.toThrow("not a provider's issuer address")
    expect(asked).toBe(false)
  })

  it('is an owner’s to make, and its secret is sealed', async () => {
    const admin = openContext(actorOf(a.org, a.org.ownerId, 'admin', 'email_code'))
    const input = { name: 'x', issuer: a.provider.issuer, clientId: 'x', clientSecret: 'y', domains: [] }
    await expect(addConnection(admin, input, discoverProvider)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const row = await db.prisma.oidcConnection.findUniqueOrThrow({ where: { id: a.connection } })
    expect(Buffer.from(row.clientSecret).includes(a.provider.clientSecret)).toBe(false)
  })

  it('ends with its sessions, and is not found by another organisation’s owner', async () => {
    const owner = openContext(actorOf(b.org, b.org.ownerId, 'owner', 'email_code'))
    await expect(removeConnection(owner, { id: a.connection })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const browser = new Browser()
    await signIn(browser, b, { sub: 'sub-b', email: await emailOf(b.member), email_verified: true })
    await removeConnection(owner, { id: b.connection })
    expect(await browser.actor()).toBeNull()
    expect(await new Browser().post(singleSignOnDoor, { org: 'beta' })).toBe('/sign-in?org=beta&error=no_sso')
  })
})
