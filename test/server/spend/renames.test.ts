import { beforeAll, expect, it } from 'vitest'
import { listBudgets } from '#server/features/budget/read.ts'
import { currentRuleSet } from '#server/features/rule-set-history.ts'
import { attributionInForce } from '#server/features/spend/attribution.ts'
import { editSpendRules } from '#server/features/spend/edit-rules.ts'
import { type ReportAsked, spendReport } from '#server/features/spend/report.ts'
import { addTenant } from '#server/features/tenant.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeOrganisation,
  publish,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

/** A tag's value that is called otherwise: read so everywhere, recorded as it was, and taken back without a trace. */
const db = useDatabase()
let org: TestOrganisation
const today = new Date().toISOString().slice(0, 10)
const RULES = `boundaries: []
tags: { tenant: [acme, globex] }
budgets:
  - { name: each, amount: 50, window: monthly, for: { tenant: "*" } }
  - { name: theirs, amount: 50, window: monthly, for: { tenant: acme } }
`
const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  for (const key of ['acme', 'globex', 'acme-eu']) await addTenant(owner(), { key, name: `The ${key}` })
  await publish(db.prisma, org, RULES)
  const machine = await makeMachine(db.prisma, org, org.ownerId, 'desk')
  // all in the day’s first quarter hour: later ones may lie ahead
  const buckets = ['acme', 'globex'].map(tenant =>
    bucketOf({ quarter: 0, tags: { tenant }, tokens: { input: 3_000_000 } }, today),
  )
  const days = [dayOf(today, buckets, new Date().toISOString())]
  await takeUsage(contextOf(db.prisma, machine.actor), { usage: signUsage(machine, uploadOf(machine, 1, days)) })
})

const report = async (asked: Partial<ReportAsked> = {}) => {
  const { rows, total } = await spendReport(owner(), { from: today, to: '2100-01-01', by: 'tenant', ...asked })
  const values = rows.filter(row => row.total.calls > 0).map(row => `${row.label} ${row.total.priced.metered}`)
  return { values: values.sort(), total: total.priced.metered }
}
const used = async () => {
  const { budgets } = await listBudgets(owner())
  return budgets.flatMap(({ name, shares }) => shares.map(share => `${name} ${share.value} ${share.used}`)).sort()
}
const edit = async (asked: Parameters<typeof editSpendRules>[1]['edit']) => {
  const { etag } = await currentRuleSet(owner())
  return editSpendRules(owner(), { edit: asked, note: 'As the customer is called now', etag })
}

it('is read by reports, filters and budgets under its new name, with every total as it was', async () => {
  const before = await report()
  expect(before.values).toEqual(['The acme 9', 'The globex 9'])
  await edit({ kind: 'rename', key: 'tenant', from: 'acme', to: 'acme-eu' })
  expect(await report()).toEqual({ values: ['The acme-eu 9', 'The globex 9'], total: before.total })
  for (const value of ['acme', 'acme-eu'])
    expect(await report({ by: 'model', filter: { tenant: [value] } })).toMatchObject({ total: '9' })
  expect(await used()).toEqual(['each acme-eu 9', 'each globex 9', 'theirs  9'])
  const { rows } = await db.admin.query(
    `select distinct tags ->> 'tenant' as t from "UsageSeries" where "orgId" = $1`,
    [org.id],
  )
  expect(rows.map(({ t }) => t).sort()).toEqual(['acme', 'globex'])
  const { lists } = await attributionInForce(owner())
  expect(lists.find(({ key }) => key === 'tenant')!.values).toContainEqual({
    value: 'acme',
    renamedTo: 'acme-eu',
    used: true,
  })
})

it('of a value that has usage of its own adds the two, and is taken back', async () => {
  await edit({ kind: 'rename', key: 'tenant', from: 'globex', to: 'acme-eu' })
  expect(await report()).toEqual({ values: ['The acme-eu 18'], total: '18' })
  await edit({ kind: 'remove_rename', key: 'tenant', from: 'globex' })
  expect((await report()).values).toEqual(['The acme-eu 9', 'The globex 9'])
})

it('to a tenant that there is not, or in a circle, is refused with its line', async () => {
  await expect(edit({ kind: 'rename', key: 'tenant', from: 'globex', to: 'nobody' })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringMatching(/^Line \d+: the organisation has no tenant nobody/),
  })
  await expect(edit({ kind: 'rename', key: 'tenant', from: 'acme-eu', to: 'acme' })).rejects.toMatchObject({
    message: expect.stringMatching(/^Line \d+: the renames of acme go in a circle/),
  })
})
