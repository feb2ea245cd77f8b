import { beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS, utcDay } from '#core/day.ts'
import { RATE_CARD } from '#core/rate-card/built-in.ts'
import { currentRuleSet } from '#server/features/rule-set-history.ts'
import { editSpendRules } from '#server/features/spend/edit-rules.ts'
import { spendReport } from '#server/features/spend/report.ts'
import { allPrices, listPrices, ownPrices } from '#server/features/usage/rate-card.ts'
import { repriceUsage } from '#server/features/usage/reprice.ts'
import { previewReprice } from '#server/features/usage/reprice-preview.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { unpricedModels } from '#server/features/usage/unpriced.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, MODEL, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const today = utcDay(Date.now())
const past = utcDay(Date.now() - 20 * DAY_MS)
const span = { from: past, to: utcDay(Date.now() + DAY_MS) }
let org: TestOrganisation
let machine: TestMachine

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
})

const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))
const send = (seq: number, day: string, buckets: ReturnType<typeof bucketOf>[]) =>
  takeUsage(contextOf(db.prisma, machine.actor), {
    usage: signUsage(machine, uploadOf(machine, seq, [dayOf(day, buckets, `${day}T00:00:00.000Z`)])),
  })
const edit = async (asked: Parameters<typeof editSpendRules>[1]['edit'], ctx = owner()) => {
  const { etag } = await currentRuleSet(owner())
  return editSpendRules(ctx, { edit: asked, note: 'Because', etag })
}
const OWN = { model: 'our-own-model', provider: 'anthropic', input: '7', output: '7' }
const total = async () => {
  const { total: sum } = await spendReport(owner(), { from: past, to: '2100-01-01', by: 'model' })
  return { priced: sum.priced.metered, atMost: sum.bound.metered }
}

describe('a model without a price', () => {
  it('is listed with its tokens, its bound, who set it and what it may be a slip for', async () => {
    await send(1, past, [
      bucketOf({ quarter: 0 }),
      bucketOf({ quarter: 1, model: 'our-own-model', calls: 3, tokens: { input: 1_000_000, output: 500_000 } }),
      bucketOf({ quarter: 2, model: 'claude-opus-4.6' }),
    ])
    const { models, version } = await unpricedModels(owner(), span)
    expect(version).toBe(0)
    expect(models.map(({ model }) => model)).toEqual(['our-own-model', 'claude-opus-4.6'])
    const { bound } = await ownPrices(owner())
    expect(models[0]).toMatchObject({
      provider: 'anthropic',
      rate: 'fallback',
      calls: 3,
      tokens: { input: 1_000_000, output: 500_000, cacheRead: 0 },
      cost: String(Number(bound.prices.input) + Number(bound.prices.output) / 2),
      setBy: [...new Set([bound.setBy.input, bound.setBy.output])],
      didYouMean: null,
      hasPrice: 'no',
      first: past,
      last: past,
      machines: 1,
    })
    expect(models[1]).toMatchObject({ didYouMean: 'claude-opus-4-6' })
    expect((await total()).atMost).not.toBe('0')
    expect((await unpricedModels(owner(), { from: today, to: span.to })).models).toEqual([])
  })

  it('is priced by an edit of the signed text, and moves into the total by pricing anew alone', async () => {
    await publish(db.prisma, org, '# ours\nboundaries: []\n')
    await send(1, past, [bucketOf({ quarter: 0 }), bucketOf({ quarter: 1, model: 'our-own-model' })])
    const before = await total()
    await edit({ kind: 'put_rate', rate: { ...OWN, from: past } })
    expect((await currentRuleSet(owner())).text).toContain('# ours\nboundaries: []\n')
    expect(await total()).toEqual(before)
    expect((await unpricedModels(owner(), span)).models).toMatchObject([{ model: 'our-own-model', hasPrice: 'yes' }])
    const asked = { from: past, to: today }
    const preview = await previewReprice(owner(), asked)
    expect(preview.rows).toEqual([
      {
        month: past.slice(0, 7),
        model: 'our-own-model',
        provider: 'anthropic',
        calls: 1,
        old: { priced: '0', atMost: before.atMost },
        new: { priced: '7', atMost: '0' },
        closed: false,
      },
    ])
    expect(preview.old).toEqual(before)
    expect(await total()).toEqual(before)
    await repriceUsage(owner(), asked)
    expect(await total()).toEqual(preview.new)
    expect((await previewReprice(owner(), asked)).rows).toEqual([])
    expect((await unpricedModels(owner(), span)).models).toEqual([])
  })

  it('that counts as nothing or by another model is listed as that', async () => {
    await edit({ kind: 'set_unpriced', unpriced: { on_unpriced_model: 'zero', providers: ['anthropic'] } })
    await send(1, today, [bucketOf({ quarter: 0, model: 'our-own-model' })])
    expect((await unpricedModels(owner(), span)).models).toMatchObject([{ rate: 'zero', cost: '0', setBy: [] }])
    await edit({ kind: 'set_unpriced', unpriced: { on_unpriced_model: MODEL, providers: ['anthropic'] } })
    await send(2, today, [bucketOf({ quarter: 0, model: 'our-own-model' })])
    expect((await unpricedModels(owner(), span)).models).toMatchObject([{ rate: 'substitute', cost: '3' }])
  })

  it('is priced anew by an admin alone, and previewed by nobody else', async () => {
    const lead = contextOf(db.prisma, actorOf(org, await makeMember(db.prisma, org, 'lead'), 'lead'))
    await expect(previewReprice(lead, { from: past, to: today })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(edit({ kind: 'put_rate', rate: OWN }, lead)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect((await unpricedModels(lead, span)).models).toEqual([])
  })
})

describe('the card', () => {
  it('lists every model with all its days, and an organisation’s price between those of the card', async () => {
    const all = await allPrices(owner())
    expect(all).toHaveLength(RATE_CARD.rows.length)
    for (const { id, entries } of all) expect([id, entries.filter(({ now }) => now).length]).toEqual([id, 1])
    await edit({
      kind: 'put_rate',
      rate: { model: MODEL, provider: 'anthropic', from: past, until: '2099-01-01', input: '2.5', output: '12' },
    })
    const { models } = await listPrices(owner(), { search: MODEL })
    const entries = models.find(({ id }) => id === MODEL)!.entries
    expect(entries.map(({ whose, from, until, now }) => [whose, from, until, now])).toEqual([
      ['card', null, past, false],
      ['override', past, '2099-01-01', true],
      ['card', '2099-01-01', null, false],
    ])
    expect(entries[1]!.prices).toMatchObject({ input: '2.5', cacheRead: '2.5', webSearches: '0' })
  })

  it('is given in pages that hold every model once', async () => {
    const first = await listPrices(owner(), {})
    const ids: string[] = []
    for (let page = 1; page <= first.pages; page++)
      ids.push(...(await listPrices(owner(), { page })).models.map(({ provider, id }) => `${provider} ${id}`))
    expect(ids).toHaveLength(first.all)
    expect(new Set(ids).size).toBe(first.all)
  })
})

it('an edit that two people make at once is made once, and the second sees the first', async () => {
  await publish(db.prisma, org, 'boundaries: []\n')
  const { etag } = await currentRuleSet(owner())
  const both = await Promise.allSettled(
    ['1', '2'].map(input =>
      editSpendRules(owner(), { edit: { kind: 'put_rate', rate: { ...OWN, input } }, note: 'Both', etag }),
    ),
  )
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'STALE_EDIT' } })
  expect((await ownPrices(owner())).overrides).toHaveLength(1)
})
