import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { TRPCError } from '@trpc/server'
import { describe, expect, it } from 'vitest'
import type { ApprovalRequest } from '#core/approval/request.ts'
import { isAppError } from '#core/error.ts'
import { makeToken } from '#core/token.ts'
import * as programs from '#server/api/program-doors.ts'
import { appRouter } from '#server/api/root.ts'
import { createCallerFactory } from '#server/api/trpc.ts'
import { admin, ask, doors, joinBody, reportOf, signReport } from '../support/connector.ts'
import { costRule, random } from '../support/makers.ts'
import { signUsage, uploadOf } from '../support/usage.ts'

import {
  expectNothingOfTheirs,
  giveCredential,
  me,
  mine,
  myCredential,
  myToken,
  own,
  snapshot,
  theirs,
  usageFor,
} from './two-organisations.ts'

/**
 * Nobody reaches into another organisation. The doors are discovered: every procedure of the router and every route below
 * /api/v1 must stand in the tables below, so that a new one without a case fails.
 */
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
const someInvoice = { provider: 'anthropic', month: '2026-11', currency: 'USD' }
const days = { from: '2026-01-01', to: '2027-01-01' }
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
  'attribution.inForce': ownOnly,
  'attribution.why': { input: () => ({ ...days, key: 'tenant' }), expect: 'own' },
  'attribution.unlisted': { input: () => days, expect: 'own' },
  'boundary.current': ownOnly,
  'boundary.check': { input: () => ({ text: costRule('lead') }), expect: 'own' },
  'boundary.preview': { input: () => ({ text: costRule('lead') }), expect: 'own' },
  'boundary.publish': { input: () => ({ text, note: 'x', etag: '"0"' }), expect: 'own' },
  'boundary.history': ownOnly,
  'boundary.version': { input: () => ({ version: 1 }), expect: 'own' },
  'boundary.rollBack': { input: () => ({ version: 1, note: 'x', etag: '"0"' }), expect: 'own' },
  'budget.list': ownOnly,
  'budget.fullest': ownOnly,
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
  'invoice.list': ownOnly,
  'invoice.get': at(() => ({ id: theirs.invoice })),
  'invoice.import': { input: () => ({ ...someInvoice, source: 'csv', text: 'amount\n5\n' }), expect: 'own' },
  'invoice.enter': at(() => ({
    ...someInvoice,
    provider: 'openai',
    replaces: theirs.invoice,
    lines: [{ amount: '5' }],
  })),
  'invoice.previewSpread': at(() => ({ id: theirs.invoice, rule: { kind: 'even' } })),
  'invoice.spread': at(() => ({ id: theirs.invoice, rule: { kind: 'none' } })),
  'invoice.remove': at(() => ({ id: theirs.invoice })),
  'token.list': ownOnly,
  'token.make': { input: () => ({ name: 'x', scopes: ['spend.read'] }), expect: 'own' },
  'token.end': at(() => ({ id: theirs.token })),
  'statement.list': ownOnly,
  'statement.get': at(() => ({ tenant: 'elsewhere-tenant', month: '2026-11' })),
  'statement.close': at(() => ({ tenant: 'elsewhere-tenant', month: '2026-11', tag: 'x' })),
  'statement.closeMonth': {
    input: () => ({ month: '2026-11', statements: [{ tenant: 'own-tenant', tag: 'x' }] }),
    expect: 'own',
  },
  'statement.resend': at(() => ({ tenant: 'elsewhere-tenant', month: '2026-11' })),
  'statement.previewAllocation': at(() => ({ key: '', value: '', rule: { kind: 'even' }, month: '2026-11' })),
  'statement.setAllocation': { input: () => ({ key: '', value: '', rule: { kind: 'even' } }), expect: 'own' },
  'statement.setContact': at(() => ({ tenant: 'elsewhere-tenant', name: 'x', contact: 'x@y.test' })),
  'statement.setUp': { input: () => ({ basis: 'billed', firstMonth: null }), expect: 'own' },
  'rate.list': ownOnly,
  'rate.own': ownOnly,
  'rate.unpriced': { input: () => days, expect: 'own' },
  'rate.previewReprice': { input: () => ({ from: '2026-10-01', to: '2026-12-01' }), expect: 'own' },
  'spend.edit': {
    input: () => ({ edit: { kind: 'add_tag_value', key: 'team', value: 'x' }, note: 'x', etag: '"0"' }),
    expect: 'own',
  },
  'tenant.list': ownOnly,
  'tenant.add': { input: () => ({ key: 'a-new-tenant', name: 'New' }), expect: 'own' },
  'tenant.rename': at(() => ({ key: 'elsewhere-tenant', name: 'Ours now' })),
  'tenant.remove': at(() => ({ key: 'elsewhere-tenant' })),
  'spend.keys': ownOnly,
  'spend.report': { input: () => ({ ...someTime, by: 'tenant' }), expect: 'own' },
  'spend.quarantine': ownOnly,
  'spend.grants': ownOnly,
  'spend.grant': at(() => ({ holderId: theirs.member, reason: 'to look around', days: 3 })),
  'spend.endGrant': at(() => ({ id: theirs.grant })),
  'spend.reprice': { input: () => ({ from: '2026-11-01', to: '2026-11-02' }), expect: 'own' },
  'spend.currency': ownOnly,
  'spend.changeCurrency': { input: () => ({ currency: 'USD' }), expect: 'own' },
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
  spend: () => ({
    ours: { status: 'own', call: get(programs.getSpend, myToken, '?by=tenant') },
    'narrowed to their machine': {
      status: 'own',
      call: get(programs.getSpend, myToken, `?by=tenant&filter=machine:${theirs.machine.id}&format=csv`),
    },
    'their member': {
      status: 403,
      call: get(programs.getSpend, myToken, `?by=tenant&filter=member:${theirs.member}`),
    },
  }),
  focus: () => ({ ours: { status: 'own', call: get(programs.getFocus, myToken, '?from=2026-01-01&to=2026-12-31') } }),
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
      return handlers.filter(name => !new RegExp(`\\b(doors|admin|programs)\\.${name}\\b`).test(cases))
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
