import { readdirSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ApprovalRequest, requestDigest } from '#core/approval/request.ts'
import { parseJoinLine } from '#core/join-line.ts'
import { makeToken } from '#core/token.ts'
import {
  approvalCsv,
  auditCsv,
  focusFile,
  invoiceCsv,
  invoicesCsv,
  machineCsv,
  memberCsv,
  ruleSetCsv,
  spendCsv,
  statementCsv,
  statementsCsv,
} from '#server/api/csv-doors.ts'
import { singleSignOnDoor } from '#server/api/oidc-doors.ts'
import { keysCsv, tokensCsv } from '#server/api/settings-csv-doors.ts'
import { invitationDoor, organisationDoor } from '#server/api/sign-in-doors.ts'
import {
  attributionRulesCsv,
  budgetStopsCsv,
  budgetsCsv,
  exchangeRatesCsv,
  figuresGrantsCsv,
  ownPricesCsv,
  rateCardCsv,
  repricePreviewCsv,
  tagValuesCsv,
  tenantsCsv,
  unattributedCsv,
  unlistedCsv,
  unpricedModelsCsv,
} from '#server/api/spend-csv-doors.ts'
import { cookieName } from '#server/auth/cookies.ts'
import { takeInvoice } from '#server/features/invoice/take.ts'
import { makeJoinLine } from '#server/features/join-line.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { crypto } from '#server/keys/crypto.ts'
import { hashToken } from '#server/keys/token-hash.ts'
import { Browser } from '#test/support/browser.ts'
import { ask, doors, joinBody } from '../support/connector.ts'
import { actorOf, contextOf, random } from '../support/makers.ts'

import { signUsage, uploadOf } from '../support/usage.ts'
import { db, expectNothingOfTheirs, me, mine, own, snapshot, theirs, usageFor } from './two-organisations.ts'

/** Nobody reads or opens anything of another organisation through lists, pages’ doors and links. Each door must stand in a table. */
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
  'attribution-rules': attributionRulesCsv,
  audit: auditCsv,
  'budget-stops': budgetStopsCsv,
  budgets: budgetsCsv,
  'exchange-rates': exchangeRatesCsv,
  'figures-grants': figuresGrantsCsv,
  focus: focusFile,
  invoice: invoiceCsv,
  invoices: invoicesCsv,
  keys: keysCsv,
  machines: machineCsv,
  members: memberCsv,
  'own-prices': ownPricesCsv,
  'rate-card': rateCardCsv,
  'reprice-preview': repricePreviewCsv,
  'rule-sets': ruleSetCsv,
  spend: spendCsv,
  statement: statementCsv,
  statements: statementsCsv,
  'tag-values': tagValuesCsv,
  tenants: tenantsCsv,
  tokens: tokensCsv,
  unattributed: unattributedCsv,
  unlisted: unlistedCsv,
  'unpriced-models': unpricedModelsCsv,
}

/** What a file must be asked about; each month has usage on both sides. */
const NAMED: Record<string, string> = { focus: '&month=2026-11', statement: '&month=2026-11&tenant=own-tenant' }

describe('lists as CSV', () => {
  let invoice = ''
  beforeAll(async () => {
    await takeUsage(contextOf(db.prisma, mine.actor), {
      usage: signUsage(mine, uploadOf(mine, 1, usageFor('own-tenant'))),
    })
    const month = { provider: 'openai', month: '2026-11', currency: 'USD' } as const
    const lines = [{ amount: '7' }]
    invoice = (await takeInvoice(contextOf(db.prisma, me), { ...month, source: 'hand', lines })).id
  })

  it('all stand in the table', () => {
    expect(Object.keys(SHEETS)).toEqual(readdirSync('app/api/export').sort())
  })

  it.each(Object.keys(SHEETS))('%s: of the session’s own organisation only, whatever it is asked about', async name => {
    const token = await signedIn()
    const named = name === 'invoice' ? `&id=${invoice}` : (NAMED[name] ?? '')
    const get = (org: string, cookie = `${cookieName('session')}=${token}`, query = named) =>
      SHEETS[name]!(new Request(`http://localhost:3000/api/export/${name}?org=${org}${query}`, { headers: { cookie } }))
    const before = await snapshot()
    for (const asked of ['', ...[theirs.handle, theirs.member, theirs.machine.id].flatMap(asAsked)]) {
      const mine = await get(own.slug, undefined, asked + named)
      // these two refuse what is no parameter of theirs
      const isRefused = asked !== '' && (name === 'spend' || name === 'focus')
      expect([asked, mine.status]).toEqual([asked, isRefused ? 400 : 200])
      expectNothingOfTheirs([await mine.text(), [...mine.headers]])
    }
    expect((await get(theirs.org.slug)).status).toBe(404)
    expect((await get('no-such-organisation')).status).toBe(404)
    if (name === 'statement')
      expect((await get(own.slug, undefined, '&month=2026-11&tenant=elsewhere-tenant')).status).toBe(404)
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
