import { expect, it } from 'vitest'
import { PRICE_AXES } from '#core/pricing.ts'
import { toAppError } from '#server/api/outage.ts'
import { spendReport } from '#server/features/spend/report.ts'
import { readSpendQuery, spendSheet } from '#server/features/spend/sheet.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import { actorOf, contextOf, makeMachine, makeOrganisation } from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-29T12:00:00Z')

it('the file has every figure of the page, each in a column of its own, and the zone that its dates are of', async () => {
  const org = await makeOrganisation(db.prisma)
  const owner = contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), NOW)
  const machine = await makeMachine(db.prisma, org, org.ownerId)
  // no two figures alike, so that none can stand in another's place
  const tokens = { input: 1, cacheRead: 20, cacheWrite5m: 300, cacheWrite1h: 4000, output: 50_000, webSearches: 6 }
  const of = { tags: { tenant: 'acme' }, calls: 9, partial: 4, tokens }
  const buckets = [
    bucketOf({ ...of, covered: 'metered' }),
    bucketOf({ ...of, covered: 'plan', quarter: 41 }),
    bucketOf({ ...of, covered: 'plan', quarter: 42 }),
    ...[43, 44, 45].map(quarter => bucketOf({ ...of, covered: 'unknown', quarter })),
    ...[46, 47, 48, 49].map(quarter => bucketOf({ ...of, covered: 'metered', model: 'nobody-knows', quarter })),
    ...[50, 51].map(quarter => bucketOf({ ...of, covered: 'unknown', model: 'nobody-knows', quarter })),
  ]
  await takeUsage(contextOf(db.prisma, machine.actor, NOW), {
    usage: signUsage(machine, uploadOf(machine, 1, [dayOf('2026-11-01', buckets)])),
  })
  for (const step of ['', '&step=day']) {
    const asked = readSpendQuery(new URLSearchParams(`from=2026-11-01&to=2026-12-01&by=tenant${step}`))
    const { columns, rows } = await spendSheet(owner, asked)
    const report = await spendReport(owner, asked)
    const row = rows.find(cells => cells[columns.indexOf('value')] === 'acme')!
    const { total } = report.rows.find(({ value }) => value === 'acme')!
    expect(PRICE_AXES.every(axis => total.tokens[axis] === 12 * tokens[axis])).toBe(true)
    expect(new Set([...Object.values(total.priced), total.bound.metered, total.bound.unknown]).size).toBe(5)
    expect(Object.fromEntries(columns.map((column, i) => [column, row[i]]))).toEqual({
      step_start: '2026-11-01',
      zone: 'UTC',
      by: 'tenant',
      value: 'acme',
      name: 'acme',
      calls: 108,
      calls_broken_off: 48,
      input_tokens: 12,
      cache_read_tokens: 240,
      cache_write_5m_tokens: 3600,
      cache_write_1h_tokens: 48_000,
      output_tokens: 600_000,
      web_searches: 72,
      priced_plan_usd: total.priced.plan,
      priced_metered_usd: total.priced.metered,
      priced_unknown_usd: total.priced.unknown,
      unpriced_at_most_plan_usd: '0',
      unpriced_at_most_metered_usd: total.bound.metered,
      unpriced_at_most_unknown_usd: total.bound.unknown,
    })
  }
})

it('an address never widens what is read: no filter is left out, and one of a name that is nothing is refused', async () => {
  const org = await makeOrganisation(db.prisma)
  const owner = contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), NOW)
  const machine = await makeMachine(db.prisma, org, org.ownerId)
  const of = (tenant: string, quarter: number) => bucketOf({ tags: { tenant }, quarter })
  await takeUsage(contextOf(db.prisma, machine.actor, NOW), {
    usage: signUsage(machine, uploadOf(machine, 1, [dayOf('2026-11-01', [of('acme', 40), of('b', 41), of('c', 42)])])),
  })
  const values = async (query: string) =>
    (await spendReport(owner, readSpendQuery(new URLSearchParams(query)))).rows.flatMap(({ value }) => value ?? [])
  expect(await values('filter=tenant:acme&filter=tag:tenant:b')).toEqual(['acme', 'b'])
  for (const name of ['__proto__', 'toString', 'constructor'])
    await expect(values(`filter=${name}:x`), name).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(values(`${'filter=tenant:acme&'.repeat(200)}filter=model:x`)).rejects.toMatchObject({
    code: 'BAD_INPUT',
  })
})

it.each(['0000-01-01', '0000-01-01T00:15'])(
  '%s, which no calendar of the database has, is the asker’s mistake',
  async from => {
    const org = await makeOrganisation(db.prisma)
    const owner = contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), NOW)
    const failed = await spendReport(owner, { from, to: '2026-11-01', by: 'tenant' }).catch(toAppError)
    expect(failed).toMatchObject({ code: 'BAD_INPUT' })
  },
)
