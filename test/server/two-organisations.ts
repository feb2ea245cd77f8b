import { beforeAll, expect } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import type { ApprovalRequest } from '#core/approval/request.ts'
import { makeToken } from '#core/token.ts'
import { makeApiToken } from '#server/features/api-token.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { reserve } from '#server/features/budget/reserve.ts'
import { startAdminLogin } from '#server/features/credential.ts'
import { setSpread } from '#server/features/invoice/state-spread.ts'
import { takeInvoice } from '#server/features/invoice/take.ts'
import { grantFigures } from '#server/features/spend/grant.ts'
import { setContact } from '#server/features/statement/arrange.ts'
import { closeOne } from '#server/features/statement/close.ts'
import { getStatement } from '#server/features/statement/read.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { hashToken } from '#server/keys/token-hash.ts'
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
 * An organisation of ours and another that is full: whatever a test does from within ours, {@link snapshot} of theirs stays.
 * The values are there once the tests run.
 */
export const db = useDatabase()

/** Everything of the other organisation that somebody could name. */
export type Theirs = {
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
  token: string
  invoice: string
  request: ApprovalRequest
}
export let own: TestOrganisation
export let me: MemberActor
export let mine: TestMachine
export let myCredential: string
export let myToken: string
export let theirs: Theirs
let marks: string[]

beforeAll(async () => {
  own = await makeOrganisation(db.prisma)
  me = actorOf(own, own.ownerId, 'owner')
  mine = await makeMachine(db.prisma, own, own.ownerId, 'mine')
  await publish(db.prisma, own, costRule('lead'))
  myCredential = await giveCredential(own, own.ownerId)
  myToken = (await makeApiToken(contextOf(db.prisma, me), { name: 'mine', scopes: ['spend.read'] })).token
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
    'elsewhere-token',
    'elsewhere-invoice',
    '1234.5',
    'bills@elsewhere.test',
    'their own reason',
    rows.rows[0].digest,
    rows.rows[0].jws,
  ]
})

export async function giveCredential(org: TestOrganisation, memberId: string): Promise<string> {
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
  await closeStatement(org)
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
  const { id: token } = await makeApiToken(owner, { name: 'elsewhere-token', scopes: ['spend.read'] })
  const { id: invoice } = await takeInvoice(owner, {
    provider: 'anthropic',
    month: '2026-11',
    currency: 'USD',
    number: 'elsewhere-invoice',
    source: 'hand',
    lines: [{ amount: '1234.5' }],
  })
  await setSpread(owner, { id: invoice, rule: { kind: 'even' } })
  return {
    org,
    member,
    machine,
    handle,
    invitation,
    connection,
    credential,
    reservation,
    userCode,
    grant,
    token,
    invoice,
    request,
  }
}

/** Closes and mails their tenant's November, in December. */
async function closeStatement(org: TestOrganisation): Promise<void> {
  const december = new Date('2026-12-02T00:00:00Z')
  const owner = contextOf(db.prisma, { ...actorOf(org, org.ownerId, 'owner'), authnAt: december }, december)
  const asked = { tenant: 'elsewhere-tenant', month: '2026-11' }
  await setContact(owner, { ...asked, name: 'Elsewhere Tenant', contact: 'bills@elsewhere.test' })
  const { bill } = await getStatement(owner, asked)
  if (bill.state === 'draft') await closeOne(owner, { ...asked, tag: bill.tag })
}

/** Every row that belongs to the other organisation, in one value: nothing that we do from outside may change it. */
export async function snapshot(): Promise<Record<string, string>> {
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

export function expectNothingOfTheirs(value: unknown): void {
  const text = JSON.stringify(value) ?? ''
  for (const mark of marks) expect(text).not.toContain(mark)
}

export const usageFor = (tenant: string) => [dayOf('2026-11-01', [bucketOf({ tags: { tenant } })])]
