import { beforeEach, describe, expect, it } from 'vitest'
import { isAppError } from '#core/error.ts'
import type { RuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import { publishRuleSet } from '#server/features/rule-set.ts'
import { currentRuleSet } from '#server/features/rule-set-history.ts'
import { changeCurrency, getCurrency } from '#server/features/spend/billing-currency.ts'
import { editSpendRules } from '#server/features/spend/edit-rules.ts'
import { storedPayload } from '#server/keys/stored.ts'
import { useDatabase } from '../../support/db.ts'
import { actorOf, contextOf, makeMember, makeOrganisation, type TestOrganisation } from '../../support/makers.ts'

const db = useDatabase()
const NOW = new Date('2026-11-18T12:00:00Z')
let org: TestOrganisation

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
})

const owner = (signedIn = NOW) =>
  contextOf(db.prisma, { ...actorOf(org, org.ownerId, 'owner'), authnAt: signedIn }, NOW)
const inForce = () => currentRuleSet(owner())
const publish = async (text: string) => publishRuleSet(owner(), { text, note: 'set', etag: (await inForce()).etag })
const budgets = async () => {
  const { jws } = await db.prisma.ruleSetVersion.findFirstOrThrow({
    where: { orgId: org.id },
    orderBy: { version: 'desc' },
  })
  return readSpend(storedPayload<RuleSet>(jws)).budgets.map(({ name, currency }) => [name, currency])
}
const refused = async (work: Promise<unknown>) => {
  try {
    await work
  } catch (error) {
    if (isAppError(error)) return { code: error.code, message: error.message, remedy: error.remedy, ...error.details }
    throw error
  }
  return 'done'
}
const RATES = `exchange:
  - { currency: EUR, from: 2026-10-01, per_usd: "0.9" }   # the bank's
  - { currency: JPY, from: 2026-12-01, per_usd: 150 }
`
const BUDGETS = `budgets:
  # agreed in May
  - { name: plain, amount: 10, window: monthly }
  - { name: euro, amount: 10, window: monthly, currency: EUR }
`

describe('what an organisation is billed in', () => {
  it('is an owner’s to change, freshly signed in, and stands in the evidence', async () => {
    await publish(RATES)
    const admin = await makeMember(db.prisma, org, 'admin', 'Ann')
    const by = contextOf(db.prisma, actorOf(org, admin, 'admin'), NOW)
    expect(await refused(changeCurrency(by, { currency: 'EUR' }))).toMatchObject({ code: 'FORBIDDEN' })
    const stale = owner(new Date(NOW.getTime() - 11 * 60_000))
    expect(await refused(changeCurrency(stale, { currency: 'EUR' }))).toMatchObject({ why: 'sign_in_again' })
    expect(await changeCurrency(owner(), { currency: 'EUR' })).toEqual({ version: null })
    expect((await getCurrency(owner())).currency).toBe('EUR')
    expect(await changeCurrency(owner(), { currency: 'EUR' })).toEqual({ version: null })
    const { rows } = await db.admin.query(
      `select count(*)::int as n from "EvidenceEntry" where "orgId" = $1 and kind = 'organisation.setting_changed'`,
      [org.id],
    )
    expect(rows[0].n).toBe(1)
  })

  it('is a currency with a rate of today, or the dollar', async () => {
    await publish(RATES)
    for (const [currency, message] of [
      ['JPY', 'There is no exchange rate for JPY of today.'],
      ['GBP', 'There is no exchange rate for GBP of today.'],
      ['eur', 'A currency is three capital letters, such as EUR.'],
      ['EUX', 'A currency is three capital letters, such as EUR.'],
    ])
      expect(await refused(changeCurrency(owner(), { currency: currency! }))).toMatchObject({ message })
    await changeCurrency(owner(), { currency: 'EUR' })
    await changeCurrency(owner(), { currency: 'USD' })
    expect((await getCurrency(owner())).currency).toBe('USD')
  })

  it('keeps its rate: rules without one are refused while it is billed in', async () => {
    await publish(RATES)
    await changeCurrency(owner(), { currency: 'EUR' })
    const { index, was } = (await getCurrency(owner())).rates.find(rate => rate.currency === 'EUR')!
    const edit = { kind: 'remove_exchange', at: { index, was } } as const
    const remove = async () => editSpendRules(owner(), { edit, note: 'gone', etag: (await inForce()).etag })
    expect(await refused(remove())).toMatchObject({
      message: 'Line 1: there is no exchange rate for EUR, the currency that the organisation is billed in.',
    })
    await changeCurrency(owner(), { currency: 'USD' })
    await remove()
    expect((await getCurrency(owner())).rates.map(({ currency }) => currency)).toEqual(['JPY'])
  })

  it('moves no budget: one that does not say its currency says it from then on, in the same act', async () => {
    await publish(BUDGETS + RATES)
    expect(await budgets()).toEqual([
      ['plain', 'USD'],
      ['euro', 'EUR'],
    ])
    expect(await changeCurrency(owner(), { currency: 'EUR' })).toEqual({ version: 2 })
    expect(await budgets()).toEqual([
      ['plain', 'USD'],
      ['euro', 'EUR'],
    ])
    const { text } = await inForce()
    expect(text).toBe((BUDGETS + RATES).replace('name: plain, amount: 10,', 'name: plain, amount: 10, currency: USD,'))
    // A new budget that does not say is of the new one.
    await publish(text.replace('exchange:', '  - { name: new, amount: 5, window: monthly }\nexchange:'))
    expect(await budgets()).toContainEqual(['new', 'EUR'])
    expect(await changeCurrency(owner(), { currency: 'USD' })).toEqual({ version: 4 })
    expect(await budgets()).toContainEqual(['new', 'EUR'])
  })

  it('and a publication at the same time go one after the other: billed in euros without a rate is nobody', async () => {
    for (let round = 0; round < 4; round++) {
      await changeCurrency(owner(), { currency: 'USD' })
      await publish(RATES)
      const ends = await Promise.all([
        refused(changeCurrency(owner(), { currency: 'EUR' })),
        refused(publish('boundaries: []\n')),
      ])
      // One of the two comes first, and then the other is refused.
      expect(ends.filter(end => end === 'done')).toHaveLength(1)
      const { currency, rates } = await getCurrency(owner())
      expect([currency, rates.length]).toEqual(ends[0] === 'done' ? ['EUR', 2] : ['USD', 0])
    }
  })

  it('is one change with the version of the rules: what cannot be published changes neither', async () => {
    const gone = await makeMember(db.prisma, org, 'member', 'Gus')
    await publish(BUDGETS.replace('monthly }', `monthly, owners: ["member:${gone}"] }`) + RATES)
    await db.prisma.member.update({ where: { id: gone }, data: { removedAt: NOW } })
    expect(await refused(changeCurrency(owner(), { currency: 'EUR' }))).toMatchObject({ code: 'BAD_INPUT' })
    expect((await getCurrency(owner())).currency).toBe('USD')
    expect((await inForce()).version).toBe(1)
  })
})

describe('exchange rates', () => {
  it('are listed by currency with what holds today, what held and what is to come', async () => {
    await publish(`${RATES}  - { currency: EUR, from: 2026-11-01, per_usd: "0.91" }\n`)
    const { rates, choices, today, budgets: counted } = await getCurrency(owner())
    expect(rates.map(({ currency, from, perUsd, state, index }) => [currency, from, perUsd, state, index])).toEqual([
      ['EUR', '2026-11-01', '0.91', 'now', 2],
      ['EUR', '2026-10-01', '0.9', 'past', 0],
      ['JPY', '2026-12-01', '150', 'later', 1],
    ])
    expect({ choices, today, counted }).toEqual({ choices: ['USD', 'EUR'], today: '2026-11-18', counted: [] })
  })

  it('are added, changed and removed in place, each a version with its note, and two from one day are refused', async () => {
    await publish(RATES)
    const edit = async (one: Parameters<typeof editSpendRules>[1]['edit']) =>
      editSpendRules(owner(), { edit: one, note: 'rates', etag: (await inForce()).etag })
    const put = (currency: string, from: string, rate: string) =>
      edit({ kind: 'put_exchange', rate: { currency, from, per_usd: rate } })
    await put('EUR', '2026-11-01', '0.91')
    expect(await refused(put('EUR', '2026-11-01', '0.92'))).toMatchObject({
      message: 'Line 8: EUR has two exchange rates from 2026-11-01.',
    })
    expect(await refused(put('EUR', '2026-11-02', '0'))).toMatchObject({ message: 'Per_usd is above zero.' })
    const [first] = (await getCurrency(owner())).rates
    const at = { index: first!.index, was: first!.was }
    await edit({ kind: 'put_exchange', rate: { ...first!.was, per_usd: '0.93' }, at })
    expect(await refused(edit({ kind: 'remove_exchange', at }))).toMatchObject({ why: 'no_such_entry' })
    expect((await inForce()).text).toBe(`${RATES}  - currency: EUR\n    from: "2026-11-01"\n    per_usd: "0.93"\n`)
  })
})
