import { beforeEach, describe, expect, it } from 'vitest'
import type { AppError } from '#core/error.ts'
import { walkRoots } from '#core/root.ts'
import { openRuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import { type DraftProblem, previewBoundaries } from '#server/features/boundary.ts'
import { rootsAfter } from '#server/features/root.ts'
import { publishRuleSet, rollBackRuleSet } from '#server/features/rule-set.ts'
import { ruleSetHistory, ruleSetVersion } from '#server/features/rule-set-history.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { crypto } from '#server/keys/crypto.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeOrganisation,
  publish,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, MODEL, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
let org: TestOrganisation
beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  for (const key of ['acme', 'globex'])
    await db.prisma.tenant.create({
      data: { id: `ten_${org.slug}-${key}`, orgId: org.id, key, name: key, contactEmail: `${key}@x.test` },
    })
})

const TEXT = `# ours
tags:
  tenant: [acme, globex]
  team: [platform]
attribution:
  - when: { repository: "billing-*" }
    set: { tenant: acme }
budgets:
  - { name: monthly, amount: "500.00", window: monthly, for: { tenant: acme } }
  - { name: each-team, amount: 20, window: weekly, for: { team: "*" }, zone: Europe/Amsterdam }
rates:
  - { model: house-model, provider: other, from: 2026-01-01, input: "1", output: "2" }
unpriced: { on_unpriced_model: max_rate, providers: [anthropic, openai] }
`
const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))
const put = (text: string, etag = '"0"') => publishRuleSet(owner(), { text, note: 'why', etag })
const errorsOf = (text: string): Promise<DraftProblem[]> =>
  put(text).then(
    () => [],
    (error: AppError) => error.details!.errors as DraftProblem[],
  )
async function newest() {
  const row = await db.prisma.ruleSetVersion.findFirstOrThrow({
    where: { orgId: org.id },
    orderBy: { version: 'desc' },
  })
  const { root } = walkRoots(await rootsAfter(db.prisma, org.id, 0), org.id, crypto).at(-1)!
  return openRuleSet(row.jws, root, crypto).set
}

describe('what is published', () => {
  it('carries budgets, prices and attribution signed, as a connector reads them, with counts in the evidence', async () => {
    await put(TEXT)
    const spend = readSpend(await newest())
    expect(spend.unsupported).toEqual([])
    expect(spend.budgets).toMatchObject([
      { name: 'monthly', amount: '500', currency: 'USD', zone: 'UTC', for: { key: 'tenant', value: 'acme' } },
      { name: 'each-team', amount: '20', zone: 'Europe/Amsterdam', steps: [50, 75, 90, 100], owners: ['role:admin'] },
    ])
    expect(spend.attribution).toEqual([{ when: { repository: 'billing-*' }, set: { tenant: 'acme' } }])
    expect(spend.tags).toMatchObject({ tenant: ['acme', 'globex'], team: ['platform'] })
    expect(spend.rates).toMatchObject([{ model: 'house-model', input: '1' }])
    expect(spend.unpriced).toEqual({ onUnpricedModel: 'max_rate', providers: ['anthropic', 'openai'] })
    const entry = await db.prisma.evidenceEntry.findFirstOrThrow({
      where: { orgId: org.id, kind: 'ruleset.published' },
    })
    expect(JSON.parse(Buffer.from(entry.bytes).toString()).data).toMatchObject({
      rules: 0,
      budgets: 2,
      rates: 1,
      attribution: 1,
      tagValues: 3,
    })
    expect((await ruleSetHistory(owner(), {})).items).toMatchObject([{ budgets: 2, rates: 1, attribution: 1 }])
  })

  it('takes zone and defaults from the organisation, so that a later change of the organisation alone moves no budget', async () => {
    await db.prisma.organisation.update({ where: { id: org.id }, data: { timeZone: 'Asia/Tokyo' } })
    await put(TEXT)
    await db.prisma.organisation.update({ where: { id: org.id }, data: { timeZone: 'UTC' } })
    expect(readSpend(await newest()).budgets[0]).toMatchObject({ zone: 'Asia/Tokyo' })
  })

  it('refuses what the organisation does not have, each with its line, and stores nothing', async () => {
    const wrong: [string, string, Partial<DraftProblem>][] = [
      ['tenant: [acme, globex]', 'tenant: [acme, initech]', { line: 3, code: 'unknown_tag' }],
      ['for: { tenant: acme }', 'for: { tenant: nobody }', { line: 9, code: 'unknown_tag', section: 'budgets' }],
      ['window: monthly', 'window: monthly, owners: ["member:mem_nobody"]', { line: 9, section: 'budgets' }],
      ['window: monthly', 'window: monthly, currency: EUR', { line: 9, section: 'budgets' }],
      ['window: monthly', 'window: 30d', { line: 9, section: 'budgets' }],
      ['input: "1"', 'input: "-1"', { line: 12, section: 'rates' }],
    ]
    for (const [from, to, problem] of wrong) expect(await errorsOf(TEXT.replace(from, to))).toMatchObject([problem])
    expect(await db.prisma.ruleSetVersion.count({ where: { orgId: org.id } })).toBe(0)
  })

  it('a boundary reads a budget by its name: one that is not there is refused, one that is can bind and be previewed', async () => {
    const rule = costRule('lead')
      .replace('action: continue', 'action: spend')
      .replace('session_cost_usd: ">= 20"', 'budget_used_pct: ">= 90", budget: monthly')
      .replace(
        /- \{ action: continue, figures: \{ session_cost_usd: "20" \}/,
        '- { action: spend, figures: { budget_used_pct: 90, budget: monthly }',
      )
      .replace(
        /- \{ action: continue, figures: \{ session_cost_usd: "19.99" \}/,
        '- { action: spend, figures: { budget_used_pct: 89, budget: monthly }',
      )
    expect(await errorsOf(rule)).toMatchObject([
      { code: 'unknown_budget' },
      { code: 'unknown_budget' },
      { code: 'unknown_budget' },
    ])
    await put(`${TEXT}${rule}`)
    expect((await newest()).boundaries).toMatchObject([{ when: { budget: 'monthly' } }])
    expect(await previewBoundaries(owner(), { text: `${TEXT}${rule}` })).toMatchObject({ calls: 0 })
  })

  it('rolls back as a whole: budgets and prices come back with the boundaries, as a higher version', async () => {
    const first = await put(TEXT)
    const second = await put(costRule('lead'), first.etag)
    expect(readSpend(await newest()).budgets).toEqual([])
    await rollBackRuleSet(owner(), { version: 1, note: 'back', etag: second.etag })
    expect(await newest()).toMatchObject({ version: 3, budgets: [{ name: 'monthly' }, { name: 'each-team' }] })
    expect(await ruleSetVersion(owner(), { version: 3 })).toMatchObject({ text: TEXT, previousText: costRule('lead') })
  })

  it('a text of before there was spend stays readable, and goes on by edits', async () => {
    const { etag } = await put(costRule('lead'))
    expect(await newest()).toMatchObject({ budgets: [], rateCard: [], attribution: [] })
    await put(`${costRule('lead')}${TEXT}`, etag)
    expect((await newest()).boundaries).toHaveLength(1)
  })
})

it('usage is priced by the overrides of the version in force on its day', async () => {
  const machine = await makeMachine(db.prisma, org, org.ownerId)
  const today = new Date().toISOString().slice(0, 10)
  const rate = (input: string) =>
    `rates:\n  - { model: ${MODEL}, provider: anthropic, input: "${input}", output: "1" }\n`
  const send = async (seq: number, day: string) =>
    (
      await takeUsage(contextOf(db.prisma, machine.actor), {
        usage: signUsage(
          machine,
          uploadOf(machine, seq, [dayOf(day, [bucketOf({ quarter: 0 })], `${day}T00:00:01.000Z`)]),
        ),
      })
    ).days[0]!.cost
  await publish(db.prisma, org, rate('2'))
  // Published today: an earlier day had the card's price, whatever is in force now.
  expect(await send(1, '2026-11-01')).toBe('3')
  expect(await send(2, today)).toBe('2')
  await publish(db.prisma, org, rate('5'))
  expect(await send(3, today)).toBe('5')
})
