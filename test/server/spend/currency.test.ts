import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { attoIn, compileExchange, picoOf } from '#core/spend/exchange.ts'
import type { UsageBucket } from '#core/usage/upload.ts'
import { publishRuleSet } from '#server/features/rule-set.ts'
import { currentRuleSet } from '#server/features/rule-set-history.ts'
import { type ReportAsked, spendReport, type TotalShown } from '#server/features/spend/report.ts'
import { spendSheet } from '#server/features/spend/sheet.ts'
import { makeFleetTotals } from '#server/features/usage/fleet.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { changeTimeZone, rebuildTotals } from '#server/features/usage/zone.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-28T12:00:00Z')
let org: TestOrganisation
let machine: TestMachine
let seq = 0

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'), 'dana-laptop')
})

const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), NOW)
const send = (day: string, buckets: UsageBucket[], unlisted?: Record<string, string>) =>
  takeUsage(contextOf(db.prisma, machine.actor, NOW), {
    usage: signUsage(
      machine,
      uploadOf(machine, ++seq, [{ ...dayOf(day, buckets, NOW.toISOString()), ...(unlisted ? { unlisted } : {}) }]),
    ),
  })
const publish = async (text: string) =>
  publishRuleSet(owner(), { text, note: 'rates', etag: (await currentRuleSet(owner())).etag })
const TAGS = 'tags: { team: [data, web] }\n'
const rates = (...entries: [from: string, perUsd: string][]) =>
  `${TAGS}exchange:\n${entries.map(([from, perUsd]) => `  - { currency: EUR, from: ${from}, per_usd: "${perUsd}" }\n`).join('')}`
const billIn = (currency: string) => db.prisma.organisation.update({ where: { id: org.id }, data: { currency } })
const report = (asked: Partial<ReportAsked> = {}) =>
  spendReport(owner(), { from: '2026-10-01', to: '2026-12-01', by: 'tag:team', ...asked })
const all = ({ priced, bound }: TotalShown) =>
  [...Object.values(priced), ...Object.values(bound)].reduce((sum, text) => sum + parseDecimal(text)!, 0n)
const zoned = async (timeZone: string) => {
  await changeTimeZone(owner(), { timeZone })
  await rebuildTotals(db.prisma, org.id)
}

describe('a report of an organisation that is billed in euros', () => {
  it('converts each UTC day at its rate: total, rows, steps and the sheet are of one currency and one sum', async () => {
    await publish(rates(['2026-10-01', '0.5'], ['2026-11-10', '0.9']))
    await billIn('EUR')
    await send('2026-11-09', [bucketOf({ tags: { team: 'data' } })], { team: '2' })
    await send('2026-11-10', [bucketOf({ tags: { team: 'web' } }), bucketOf({ covered: 'plan' })], { team: '2' })
    const { currency, rates: used, total, rows, steps, coverage } = await report({ step: 'day' })
    expect({ currency, used }).toEqual({
      currency: 'EUR',
      used: [
        { from: '2026-10-01', perUsd: '0.5' },
        { from: '2026-11-10', perUsd: '0.9' },
      ],
    })
    expect(total.priced).toEqual({ plan: '2.7', metered: '4.2', unknown: '0' })
    expect(rows.map(({ value, total: sum }) => [value, formatDecimal(all(sum))])).toEqual([
      ['web', '2.7'],
      ['data', '1.5'],
      [null, '2.7'],
    ])
    expect(steps.map(({ start, values }) => [start, values.length])).toEqual([
      ['2026-11-09', 1],
      ['2026-11-10', 2],
    ])
    expect(coverage.unlisted).toEqual({ team: '2.8' })
    const sheet = await spendSheet(owner(), { from: '2026-10-01', to: '2026-12-01', by: 'tag:team' })
    expect(sheet.columns.filter(name => name.endsWith('_eur'))).toHaveLength(6)
    expect(sheet.columns.join()).not.toContain('usd')
    const metered = sheet.columns.indexOf('priced_metered_eur')
    expect(sheet.rows.map(row => row[metered])).toEqual(['2.7', '1.5', '0'])
  })

  it('in another zone reads the quarter hours of a day in which the rate changes, and no quarter hour twice', async () => {
    await publish(rates(['2026-10-01', '0.5'], ['2026-11-10', '0.9']))
    await billIn('EUR')
    // the first quarter hour of each day in UTC and the last
    for (const day of ['2026-11-08', '2026-11-09', '2026-11-10', '2026-11-11'])
      await send(day, [bucketOf({ quarter: 0 }), bucketOf({ quarter: 95 })])
    for (const zone of ['UTC', 'Europe/Amsterdam', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati']) {
      await zoned(zone)
      for (const made of [false, true]) {
        if (made) while ((await makeFleetTotals(db.prisma, NOW)) > 0);
        for (const step of [undefined, 'quarter', 'hour', 'day', 'week', 'month'] as const) {
          const short = step === 'quarter' || step === 'hour'
          const asked = short ? { from: '2026-11-07', to: '2026-11-14' } : {}
          const { total, steps, currency } = await report({ ...asked, ...(step ? { step } : {}) })
          const sum = steps.reduce((n, { values }) => n + values.reduce((m, one) => m + all(one.total), 0n), 0n)
          // four times 3 dollars at 0.5 and at 0.9
          expect([zone, step, currency, formatDecimal(all(total))]).toEqual([zone, step, 'EUR', '16.8'])
          if (step) expect(formatDecimal(sum)).toBe('16.8')
        }
      }
    }
  })

  it('stays in dollars, and says why, while there is usage of before the first rate; currencies never mix', async () => {
    await publish(rates(['2026-11-10', '0.9']))
    await billIn('EUR')
    await send('2026-11-09', [bucketOf()])
    await send('2026-11-10', [bucketOf()])
    const whole = await report()
    expect(whole).toMatchObject({ currency: 'USD', rates: [], lacking: { currency: 'EUR', from: '2026-11-10' } })
    expect(formatDecimal(all(whole.total))).toBe('6')
    expect(await report({ from: '2026-11-09', to: '2026-11-10' })).toMatchObject({ currency: 'USD' })
    const later = await report({ from: '2026-11-10' })
    expect(later).not.toHaveProperty('lacking')
    expect([later.currency, formatDecimal(all(later.total))]).toEqual(['EUR', '2.7'])
    // days without usage need no rate
    await send('2026-11-09', [])
    expect((await report()).currency).toBe('EUR')
  })

  it('adds up exactly in every grouping, whatever the rates, zones and amounts', async () => {
    const rate = fc.integer({ min: 1, max: 3_000_000 }).map(n => formatDecimal(BigInt(n), 6))
    const day = (n: number) => `2026-11-${String(n).padStart(2, '0')}`
    const use = fc.record({
      n: fc.integer({ min: 2, max: 20 }),
      quarter: fc.nat(95),
      tokens: fc.nat(3_000_000),
      team: fc.constantFrom('data', 'web', undefined),
      covered: fc.constantFrom('plan' as const, 'metered' as const, 'unknown' as const),
    })
    const changes = fc.uniqueArray(fc.tuple(fc.integer({ min: 2, max: 21 }), rate), {
      maxLength: 5,
      selector: one => one[0],
    })
    await billIn('EUR')
    await fc.assert(
      fc.asyncProperty(
        rate,
        changes,
        fc.array(use, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('UTC', 'Europe/Amsterdam', 'America/St_Johns'),
        async (first, others, uses, zone) => {
          const entries: [string, string][] = [
            ['2026-10-01', first],
            ...others.map(([n, r]): [string, string] => [day(n), r]),
          ]
          await publish(rates(...entries))
          await zoned(zone)
          for (const n of new Set(uses.map(one => one.n)))
            await send(
              day(n),
              uses.flatMap((one, i) =>
                one.n === n && uses.findIndex(u => u.n === n && u.quarter === one.quarter) === i
                  ? [
                      bucketOf({
                        quarter: one.quarter,
                        covered: one.covered,
                        tags: one.team ? { team: one.team } : {},
                        tokens: { input: one.tokens },
                      }),
                    ]
                  : [],
              ),
            )
          const { rows } = await db.admin.query(
            'select day::text, sum(cost)::text as cost from "UsageBucket" where "orgId" = $1 group by 1',
            [org.id],
          )
          const exchange = compileExchange(entries.map(([from, perUsd]) => ({ currency: 'EUR', from, perUsd })))
          const wanted = picoOf(
            attoIn(
              exchange,
              'EUR',
              rows.map(row => ({ day: row.day, picoUsd: parseDecimal(row.cost)! })),
            ),
          )
          for (const by of ['tag:team', 'model', 'machine'])
            for (const step of [undefined, 'day', 'week', 'month'] as const) {
              const one = await report({ by, ...(step ? { step } : {}) })
              const sum = (totals: TotalShown[]) => totals.reduce((n, total) => n + all(total), 0n)
              expect([by, step, zone, all(one.total), sum(one.rows.map(row => row.total))]).toEqual([
                by,
                step,
                zone,
                wanted,
                wanted,
              ])
              if (step) expect(sum(one.steps.flatMap(({ values }) => values.map(({ total }) => total)))).toBe(wanted)
            }
        },
      ),
      { numRuns: 8 },
    )
  })
})
