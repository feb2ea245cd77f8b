import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { TRPCError } from '@trpc/server'
import { beforeAll, describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { ApprovalRequest, requestDigest } from '#core/approval/request.ts'
import { isAppError } from '#core/error.ts'
import { parseJoinLine } from '#core/join-line.ts'
import { makeToken } from '#core/token.ts'
import { approvalCsv, auditCsv, machineCsv, memberCsv, ruleSetCsv, spendCsv } from '#server/api/csv-doors.ts'
import { singleSignOnDoor } from '#server/api/oidc-doors.ts'
import { appRouter } from '#server/api/root.ts'
import { invitationDoor, organisationDoor } from '#server/api/sign-in-doors.ts'
import { createCallerFactory } from '#server/api/trpc.ts'
import { cookieName } from '#server/auth/cookies.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { reserve } from '#server/features/budget/reserve.ts'
import { startAdminLogin } from '#server/features/credential.ts'
import { makeJoinLine } from '#server/features/join-line.ts'
import { grantFigures } from '#server/features/spend/grant.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { crypto } from '#server/keys/crypto.ts'
import { hashToken } from '#server/keys/token-hash.ts'
import { Browser } from '#test/support/browser.ts'
import { admin, ask, doors, joinBody, reportOf, signReport } from '../support/connector.ts'
import { useDatabase } from '../support/db.ts'
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
  type TestMachine,
  type TestOrganisation,
} from '../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../support/usage.ts'

/**
 * Nobody reaches into another organisation. The doors are discovered: every procedure of the router and every route below
 * /api/v1 must stand in the tables below, so that a new one without a case fails.
 */
const db = useDatabase()

/** Everything of the other organisation that somebody could name. */
type Theirs = {
  org: TestOrganisation
  member: string
  machine: TestMachine
  handle: string
  invitation: string
  connection: string
  credential: string
  reservation: string
  userCode: string
  grant: string
  request: ApprovalRequest
}
let own: TestOrganisation
let me: MemberActor
let mine: TestMachine
let myCredential: string
let theirs: Theirs
let marks: string[]

beforeAll(async () => {
  own = await makeOrganisation(db.prisma)
  me = actorOf(own, own.ownerId, 'owner')
  mine = await makeMachine(db.prisma, own, own.ownerId, 'mine')
  await publish(db.prisma, own, costRule('lead'))
  myCredential = await giveCredential(own, own.ownerId)
  theirs = await fill()
  const rows = await db.admin.query(`select jws, digest, text from "RuleSetVersion" where "orgId" = $1`, [
    theirs.org.id,
  ])
  const { org, member, machine, handle, invitation, connection, credential } = theirs
  marks = [
    org.id,
    org.slug,
    org.ownerId,
    member,
    machine.id,
    handle,
    invitation,
    connection,
    credential,
    'Zara Elsewhere',
    'elsewhere-laptop',
    'elsewhere-rule',
    'elsewhere-budget',
    'elsewhere-tenant',
    'their own reason',
    rows.rows[0].digest,
    rows.rows[0].jws,
  ]
})

async function giveCredential(org: TestOrganisation, memberId: string): Promise<string> {
  const token = makeToken('admin', random(32))
  const data = {
    id: `crd_${hashToken(token).slice(0, 16)}`,
    kind: 'admin' as const,
    hash: hashToken(token),
    orgId: org.id,
    memberId,
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 3600_000),
    authnAt: new Date(),
  }
  await db.prisma.token.create({ data })
  return token
}

async function fill(): Promise<Theirs> {
  const org = await makeOrganisation(db.prisma, 'elsewhere-inc')
  const owner = contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))
  const member = await makeMember(db.prisma, org, 'member', 'Zara Elsewhere')
  const machine = await makeMachine(db.prisma, org, member, 'elsewhere-laptop')
  const budget = 'budgets:\n  - { name: elsewhere-budget, amount: 50, window: monthly }\n'
  await publish(db.prisma, org, costRule('lead').replace('session-spend', 'elsewhere-rule') + budget)
  const request = await makeRequest(db.prisma, machine)
  const { handle } = await fileRequest(contextOf(db.prisma, machine.actor), {
    request: machine.sign('holdpoint-request+jws', request),
  })
  await takeUsage(contextOf(db.prisma, machine.actor), {
    usage: signUsage(machine, uploadOf(machine, 1, usageFor('elsewhere-tenant'))),
  })
  const { id: reservation } = await reserve(contextOf(db.prisma, machine.actor), {
    budget: 'elsewhere-budget',
    amount: '1',
    leaseSeconds: 3600,
    idempotencyKey: 'elsewhere-1',
  })
  const now = new Date()
  const later = new Date(now.getTime() + 3600_000)
  const invitation = 'inv_elsewhere0000001'
  await db.prisma.invitation.create({
    data: {
      id: invitation,
      orgId: org.id,
      email: 'new@elsewhere.test',
      name: 'New',
      role: 'member',
      tokenHash: 'elsewhere',
      invitedById: org.ownerId,
      createdAt: now,
      expiresAt: later,
    },
  })
  const connection = 'idp_elsewhere0000001'
  await db.prisma.oidcConnection.create({
    data: {
      id: connection,
      orgId: org.id,
      name: 'Elsewhere SSO',
      issuer: 'https://sso.elsewhere.test',
      clientId: 'x',
      clientSecret: new Uint8Array(1),
      domains: [],
      createdAt: now,
    },
  })
  const credential = `crd_${hashToken(await giveCredential(org, org.ownerId)).slice(0, 16)}`
  const { userCode } = await startAdminLogin(owner, { org: org.slug, label: 'their-laptop' })
  const { id: grant } = await grantFigures(owner, { holderId: org.ownerId, reason: 'their own reason', days: 5 })
  return { org, member, machine, handle, invitation, connection, credential, reservation, userCode, grant, request }
}

/** Every row that belongs to the other organisation, in one value: nothing that we do from outside may change it. */
async function snapshot(): Promise<Record<string, string>> {
  const { rows } = await db.admin.query<{ table: string }>(
    `select c.table_name as table from information_schema.columns c join pg_class k on k.oid = format('%I', c.table_name)::regclass
     where c.column_name = 'orgId' and c.table_schema = 'public' and not k.relispartition order by 1`,
  )
  const all: Record<string, string> = {}
  for (const { table } of rows) {
    const { rows: content } = await db.admin.query(
      `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as sum, count(*) as n from "${table}" t where "orgId" = $1`,
      [theirs.org.id],
    )
    all[table] = `${content[0].n} ${content[0].sum}`
  }
  const { rows: org } = await db.admin.query(`select o::text as row from "Organisation" o where id = $1`, [
    theirs.org.id,
  ])
  return { ...all, Organisation: org[0].row }
}

function expectNothingOfTheirs(value: unknown): void {
  const text = JSON.stringify(value) ?? ''
  for (const mark of marks) expect(text).not.toContain(mark)
}

type Outcome = { code: string } | { value: unknown }
async function outcomeOf(work: () => Promise<unknown>): Promise<Outcome> {
  try {
    const value = await work()
    if (value !== null && typeof value === 'object' && Symbol.asyncIterator in value) {
      const iterator = (value as AsyncIterable<unknown>)[Symbol.asyncIterator]()
      const first = await iterator.next()
      await iterator.return?.()
      return { value: first.value }
    }
    return { value }
  } catch (error) {
    const cause = error instanceof TRPCError ? error.cause : error
    return { code: isAppError(cause) ? cause.code : error instanceof TRPCError ? error.code : 'THROWN' }
  }
}

/** `NOT_FOUND`: names a thing of theirs, and it does not exist for us. `own`: names nothing, and gives nothing of theirs. */
type Case = { input?: () => Record<string, unknown>; expect: 'NOT_FOUND' | 'own'; noOrg?: true }
const at = (input: () => Record<string, unknown>): Case => ({ input, expect: 'NOT_FOUND' })
const ownOnly: Case = { expect: 'own' }
const text = 'boundaries: []'
const someTime = { from: '2026-01-01', to: '2027-01-01' }

const PROCEDURES: Record<string, Case> = {
  'adminLogin.get': { ...at(() => ({ userCode: theirs.userCode })), noOrg: true },
  'adminLogin.confirm': { ...at(() => ({ userCode: theirs.userCode, allow: true })), noOrg: true },
  'approval.list': { input: () => ({ state: 'all', cursor: theirs.handle }), expect: 'own' },
  'approval.get': at(() => ({ handle: theirs.handle })),
  'approval.answer': at(() => ({ handle: theirs.handle, decision: 'approve', scope: 'step', reason: '' })),
  'approval.withdraw': at(() => ({ handle: theirs.handle })),
  'approval.revoke': at(() => ({ handle: theirs.handle })),
  'approval.position': ownOnly,
  'approval.changed': { input: () => ({ seen: 0 }), expect: 'own' },
  'boundary.current': ownOnly,
  'boundary.check': { input: () => ({ text: costRule('lead') }), expect: 'own' },
  'boundary.preview': { input: () => ({ text: costRule('lead') }), expect: 'own' },
  'boundary.publish': { input: () => ({ text, note: 'x', etag: '"0"' }), expect: 'own' },
  'boundary.history': ownOnly,
  'boundary.version': { input: () => ({ version: 1 }), expect: 'own' },
  'boundary.rollBack': { input: () => ({ version: 1, note: 'x', etag: '"0"' }), expect: 'own' },
  'budget.list': ownOnly,
  'budget.get': at(() => ({ name: 'elsewhere-budget' })),
  'budget.save': {
    input: () => ({ budget: { name: 'x', amount: 1, window: 'daily' }, note: 'x', etag: '"0"' }),
    expect: 'own',
  },
  'budget.remove': at(() => ({ name: 'elsewhere-budget', note: 'x', etag: '"0"' })),
  'evidence.list': { input: () => ({ subject: theirs.handle }), expect: 'own' },
  'machine.list': ownOnly,
  'machine.get': at(() => ({ id: theirs.machine.id })),
  'machine.joinLine': at(() => ({ memberId: theirs.member })),
  'machine.revoke': at(() => ({ id: theirs.machine.id })),
  'machine.lost': at(() => ({ memberId: theirs.member })),
  'member.list': ownOnly,
  'member.invite': { input: () => ({ email: 'zara@elsewhere.test', name: 'Z', role: 'member' }), expect: 'own' },
  'member.revokeInvitation': at(() => ({ id: theirs.invitation })),
  'member.changeRole': at(() => ({ id: theirs.member, role: 'lead' })),
  'member.remove': at(() => ({ id: theirs.member })),
  'member.signOutEverywhere': at(() => ({ id: theirs.member })),
  'overview.get': ownOnly,
  'session.current': { expect: 'own', noOrg: true },
  'session.connections': { expect: 'own', noOrg: true, input: () => ({ org: own.slug }) },
  'session.invitation': { expect: 'own', noOrg: true, input: () => ({ token: makeToken('invitation', random(32)) }) },
  'session.demoMembers': { expect: 'NOT_FOUND', noOrg: true, input: () => ({}) },
  'session.mailbox': { expect: 'NOT_FOUND', noOrg: true, input: () => ({}) },
  'session.mail': { expect: 'NOT_FOUND', noOrg: true, input: () => ({ id: 'x' }) },
  'settings.get': ownOnly,
  'settings.update': { input: () => ({ name: 'Renamed' }), expect: 'own' },
  'settings.rotateKey': { input: () => ({ role: 'fresh' }), expect: 'own' },
  'settings.addConnection': {
    input: () => ({ name: 'x', issuer: 'https://127.0.0.1:1', clientId: 'x', clientSecret: 'x', domains: [] }),
    expect: 'own',
  },
  'settings.removeConnection': at(() => ({ id: theirs.connection })),
  'settings.revokeCredential': at(() => ({ id: theirs.credential })),
  'settings.confirmRestore': ownOnly,
  'spend.keys': ownOnly,
  'spend.report': { input: () => ({ ...someTime, by: 'tenant' }), expect: 'own' },
  'spend.quarantine': ownOnly,
  'spend.grants': ownOnly,
  'spend.grant': at(() => ({ holderId: theirs.member, reason: 'to look around', days: 3 })),
  'spend.endGrant': at(() => ({ id: theirs.grant })),
  'spend.reprice': { input: () => ({ from: '2026-11-01', to: '2026-11-02' }), expect: 'own' },
  'spend.changeTimeZone': { input: () => ({ timeZone: 'Europe/Amsterdam' }), expect: 'own' },
}

const found = Object.keys((appRouter as unknown as { _def: { procedures: Record<string, unknown> } })._def.procedures)
const call = (name: string, input: unknown): Promise<unknown> => {
  const caller = createCallerFactory(appRouter)({ actor: me })
  const procedure = name.split('.').reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], caller) as (
    input: unknown,
  ) => Promise<unknown>
  return procedure(input)
}

describe('procedures', () => {
  it('all stand in the table', () => {
    expect(found.filter(name => !PROCEDURES[name])).toEqual([])
    expect(Object.keys(PROCEDURES).filter(name => !found.includes(name))).toEqual([])
  })

  it.each(found.filter(name => PROCEDURES[name] && !PROCEDURES[name].noOrg))(
    '%s: another organisation by name is not found',
    async name => {
      const before = await snapshot()
      const input = { ...PROCEDURES[name]!.input?.(), org: theirs.org.slug }
      expect(await outcomeOf(() => call(name, input))).toEqual({ code: 'NOT_FOUND' })
      expect(await outcomeOf(() => call(name, { ...input, org: 'no-such-organisation' }))).toEqual({
        code: 'NOT_FOUND',
      })
      expect(await snapshot()).toEqual(before)
    },
  )

  it.each(found.filter(name => PROCEDURES[name]))(
    '%s: nothing of theirs is found, given or changed from within our own',
    async name => {
      const { input, expect: wanted, noOrg } = PROCEDURES[name]!
      const before = await snapshot()
      const outcome = await outcomeOf(() => call(name, noOrg ? input?.() : { ...input?.(), org: own.slug }))
      if (wanted === 'NOT_FOUND') expect(outcome).toEqual({ code: 'NOT_FOUND' })
      else expect(outcome).not.toEqual({ code: 'THROWN' })
      expectNothingOfTheirs(outcome)
      expect(await snapshot()).toEqual(before)
    },
  )
})

const usageFor = (tenant: string) => [dayOf('2026-11-01', [bucketOf({ tags: { tenant } })])]
const someUsage = usageFor('own-tenant')

type Door = () => Promise<Response>
const post =
  (route: Parameters<typeof ask>[0], token: string | undefined, body: unknown, params = {}) =>
  () =>
    ask(route, { method: 'POST', ...(token ? { token } : {}), body, params })
const get =
  (route: Parameters<typeof ask>[0], token: string, query = '') =>
  () =>
    ask(route, { token, query })
const asTheirs = (): ApprovalRequest => ({ ...theirs.request, handle: 'bnd-0000000000aa' })
const asMine = (over: Partial<ApprovalRequest>): ApprovalRequest => ({
  ...theirs.request,
  handle: 'bnd-0000000000ab',
  org: own.id,
  machine: mine.id,
  member: own.ownerId,
  ...over,
})
const filed = (request: ApprovalRequest) =>
  post(doors.postApproval, mine.token, { request: mine.sign('holdpoint-request+jws', request) })

/** Routes below /api/v1, each called with our tokens and their names. */
const ROUTES: Record<string, () => Record<string, { status: number | 'own'; call: Door }>> = {
  join: () => ({
    'a proof for their line by a key that does not hold it': {
      status: 401,
      call: post(doors.postJoin, undefined, joinBody(makeToken('join', random(32))).body),
    },
  }),
  roots: () => ({ ours: { status: 'own', call: get(doors.getRoots, mine.token, '?after=0') } }),
  rules: () => ({ ours: { status: 'own', call: get(doors.getRules, mine.token) } }),
  wait: () => ({ ours: { status: 'own', call: get(doors.getWait, mine.token, '?rules=&answers=0') } }),
  answers: () => ({ ours: { status: 'own', call: get(doors.getAnswers, mine.token, '?after=0') } }),
  approvals: () => ({
    'their request, word for word': { status: 403, call: filed(asTheirs()) },
    'for their member': { status: 403, call: filed(asMine({ member: theirs.member })) },
    'for their machine': { status: 403, call: filed(asMine({ machine: theirs.machine.id })) },
    'in their organisation': { status: 403, call: filed(asMine({ org: theirs.org.id })) },
    'under their rule set': { status: 409, call: filed(asMine({})) },
  }),
  'approvals/[handle]/withdraw': () => ({
    theirs: {
      status: 404,
      call: post(doors.postWithdraw, mine.token, { why: 'left' }, { handle: theirs.handle }),
    },
  }),
  reports: () => ({
    'about their machine': {
      status: 403,
      call: post(doors.postReport, mine.token, { report: signReport(mine, reportOf(theirs.machine, 1)) }),
    },
    'signed by their machine': {
      status: 400,
      call: post(doors.postReport, mine.token, { report: signReport(theirs.machine, reportOf(theirs.machine, 1)) }),
    },
    'of their grant': {
      status: 'own',
      call: post(doors.postReport, mine.token, {
        report: signReport(
          mine,
          reportOf(mine, 1, {
            grants: [{ handle: theirs.handle, answerId: 'A'.repeat(22), what: 'used', at: new Date().toISOString() }],
          }),
        ),
      }),
    },
  }),
  usage: () => ({
    'about their machine': {
      status: 403,
      call: post(doors.postUsage, mine.token, { usage: signUsage(mine, uploadOf(theirs.machine, 1, someUsage)) }),
    },
    'signed by their machine': {
      status: 400,
      call: post(doors.postUsage, mine.token, {
        usage: signUsage(theirs.machine, uploadOf(theirs.machine, 1, someUsage)),
      }),
    },
    'ours, under the numbers and days of theirs': {
      status: 'own',
      call: post(doors.postUsage, mine.token, { usage: signUsage(mine, uploadOf(mine, 1, someUsage)) }),
    },
  }),
  budgets: () => ({ ours: { status: 'own', call: get(doors.getBudgets, mine.token) } }),
  reservations: () => ({
    'their budget': {
      status: 404,
      call: post(doors.postReservation, mine.token, {
        budget: 'elsewhere-budget',
        amount: '1',
        leaseSeconds: 60,
        idempotencyKey: 'elsewhere-1',
      }),
    },
  }),
  'reservations/[id]/settle': () => ({
    theirs: {
      status: 404,
      call: post(
        doors.postSettle,
        mine.token,
        { amount: '1', idempotencyKey: 'elsewhere-1' },
        { id: theirs.reservation },
      ),
    },
  }),
  'reservations/[id]/release': () => ({
    theirs: { status: 404, call: post(doors.postRelease, mine.token, {}, { id: theirs.reservation }) },
  }),
  'sign-in-links': () => ({ ours: { status: 'own', call: post(doors.postSignInLink, mine.token, undefined) } }),
  // a login of theirs may be begun by anybody; that none of us can confirm it is adminLogin.confirm above
  'admin/login': () => ({
    ours: { status: 'own', call: post(admin.postLogin, undefined, { org: own.slug, label: 'laptop' }) },
  }),
  'admin/token': () => ({
    'a device code that is nobody’s': {
      status: 410,
      call: post(admin.postToken, undefined, { deviceCode: 'A'.repeat(43) }),
    },
    'ends ours': {
      status: 'own',
      call: async () => ask(admin.deleteToken, { method: 'DELETE', token: await giveCredential(own, own.ownerId) }),
    },
  }),
  'admin/boundaries': () => ({
    read: { status: 'own', call: get(admin.getBoundaries, myCredential) },
    'publish against their version': {
      status: 412,
      call: () =>
        ask(admin.putBoundaries, {
          method: 'PUT',
          token: myCredential,
          body: { text, note: 'x' },
          headers: { 'if-match': `"1.${theirs.request.ruleset.digest}"` },
        }),
    },
  }),
  'admin/approvals': () => ({ ours: { status: 'own', call: get(admin.getWaiting, myCredential) } }),
  'admin/approvals/[handle]/answer': () => ({
    theirs: {
      status: 404,
      call: post(admin.postAnswer, myCredential, { decision: 'approve' }, { handle: theirs.handle }),
    },
  }),
  machine: () => ({
    ours: { status: 'own', call: () => ask(doors.deleteMachine, { method: 'DELETE', token: mine.token }) },
  }),
}

const V1 = path.resolve('app/api/v1')
const routes = readdirSync(V1, { recursive: true, encoding: 'utf8' })
  .filter(file => path.basename(file) === 'route.ts')
  .map(file => path.dirname(file).replaceAll(path.sep, '/'))

describe('routes below /api/v1', () => {
  it('all stand in the table, with every method', () => {
    expect(routes.filter(route => !ROUTES[route])).toEqual([])
    expect(Object.keys(ROUTES).filter(route => !routes.includes(route))).toEqual([])
    const cases = readFileSync(fileURLToPath(import.meta.url), 'utf8')
    const untried = routes.flatMap(route => {
      const file = readFileSync(path.join(V1, route, 'route.ts'), 'utf8')
      const handlers = [...file.matchAll(/(\w+) as (?:GET|HEAD|POST|PUT|PATCH|DELETE)\b/g)].map(([, name]) => name!)
      expect(handlers, route).not.toEqual([])
      return handlers.filter(name => !new RegExp(`\\b(doors|admin)\\.${name}\\b`).test(cases))
    })
    expect(untried).toEqual([])
  })

  // the machine leaves last
  it.each(Object.keys(ROUTES))(
    '%s: refuses what is theirs, gives what is ours, changes nothing of theirs',
    async route => {
      for (const [what, { status, call }] of Object.entries(ROUTES[route]!())) {
        const before = await snapshot()
        const response = await call()
        if (status === 'own') expect([200, 204], what).toContain(response.status)
        else expect(response.status, what).toBe(status)
        expectNothingOfTheirs([await response.text(), [...response.headers]])
        expect(await snapshot(), what).toEqual(before)
      }
    },
  )
})

/** A browser session of ours, as the doors of the web app find it. */
async function signedIn(): Promise<string> {
  const token = makeToken('session', random(32))
  const now = new Date()
  await db.prisma.session.create({
    data: {
      id: `ses_${hashToken(token).slice(0, 16)}`,
      tokenHash: hashToken(token),
      memberId: me.memberId,
      orgId: own.id,
      method: 'email_code',
      authnAt: now,
      createdAt: now,
      expiresAt: new Date(now.getTime() + 3600_000),
    },
  })
  return token
}

/** Lists as files, by their route. */
const SHEETS: Record<string, (request: Request) => Promise<Response>> = {
  approvals: approvalCsv,
  audit: auditCsv,
  machines: machineCsv,
  members: memberCsv,
  'rule-sets': ruleSetCsv,
  spend: spendCsv,
}

describe('lists as CSV', () => {
  it('all stand in the table', () => {
    expect(Object.keys(SHEETS)).toEqual(readdirSync('app/api/export').sort())
  })

  it.each(Object.keys(SHEETS))('%s: of the session’s own organisation only, whatever it is asked about', async name => {
    const token = await signedIn()
    const get = (org: string, cookie = `${cookieName('session')}=${token}`, query = '') =>
      SHEETS[name]!(new Request(`http://localhost:3000/api/export/${name}?org=${org}${query}`, { headers: { cookie } }))
    const before = await snapshot()
    for (const asked of ['', ...[theirs.handle, theirs.member, theirs.machine.id].flatMap(asAsked)]) {
      const mine = await get(own.slug, undefined, asked)
      expect([asked, mine.status]).toEqual([asked, 200])
      expectNothingOfTheirs([await mine.text(), [...mine.headers]])
    }
    expect((await get(theirs.org.slug)).status).toBe(404)
    expect((await get('no-such-organisation')).status).toBe(404)
    expect((await get(own.slug, '')).status).toBe(401)
    expect(await snapshot()).toEqual(before)
  })
})

const asAsked = (id: string) => [`&subject=${id}`, `&actor=${id}`]

/** Every other route: one that names an organisation or something of one is tried here, the rest name nothing of anybody's. */
const WEB: Record<string, string | (() => Promise<void>)> = {
  'auth/organisation': async () => {
    const browser = new Browser()
    browser.jar.set(cookieName('session'), await signedIn())
    expect(await browser.post(organisationDoor, { org: theirs.org.slug })).toBe('/sign-in/organisation?error=not_found')
    expect(await browser.actor()).toMatchObject({ orgSlug: own.slug })
  },
  'auth/sso': async () => {
    const fields = { org: own.slug, connection: theirs.connection }
    expect(await new Browser().post(singleSignOnDoor, fields)).toBe(`/sign-in?org=${own.slug}&error=no_sso`)
  },
  'auth/invitation': async () => {
    const t = makeToken('invitation', random(32))
    expect(await new Browser().post(invitationDoor, { t })).toBe(`/invitation?t=${t}&error=invitation`)
  },
  'api/auth/[...nextauth]': 'a provider’s way back: with two providers and two organisations in auth/oidc.test.ts',
  'api/trpc/[trpc]': 'the procedures above',
  'auth/code': 'takes a code of this browser’s own',
  'auth/console': 'takes a secret',
  'auth/device-link': 'takes a secret',
  'auth/email': 'asks for a code, in the same words for every address',
  'auth/link': 'takes a secret',
  'auth/sign-out': 'ends what this browser holds',
  'connector/[sha256]/holdpoint.cjs': 'the same for everybody',
  'connector/manifest.json': 'the same for everybody',
  healthz: 'the same for everybody',
}

describe('all other routes', () => {
  const others = readdirSync('app', { recursive: true, encoding: 'utf8' })
    .filter(file => path.basename(file) === 'route.ts')
    .map(file => path.dirname(file).replaceAll(path.sep, '/'))
    .filter(route => !/^api\/(v1|export)\//.test(route))

  it('stand in the table', () => {
    expect(others.sort()).toEqual(Object.keys(WEB).sort())
  })

  it.each(Object.keys(WEB).filter(route => typeof WEB[route] === 'function'))(
    '%s: opens nothing of theirs to us',
    async route => {
      const before = await snapshot()
      await (WEB[route] as () => Promise<void>)()
      expect(await snapshot()).toEqual(before)
    },
  )
})

it('their join line joins their organisation only, for the member it was made for', async () => {
  const { url } = await makeJoinLine(contextOf(db.prisma, actorOf(theirs.org, theirs.member, 'member')), {})
  const { token } = parseJoinLine(url)!
  const answer = (await (await ask(doors.postJoin, { method: 'POST', body: joinBody(token).body })).json()) as {
    org: { id: string }
    member: { id: string }
  }
  expect(answer).toMatchObject({ org: { id: theirs.org.id }, member: { id: theirs.member } })
})

it('a request’s binding names its organisation, so that equal contents elsewhere have another digest', () => {
  expect(requestDigest(ApprovalRequest.parse({ ...theirs.request, org: own.id }), crypto.sha256)).not.toBe(
    requestDigest(theirs.request, crypto.sha256),
  )
})
