import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { type FleetBudgets, openFleetBudgets } from '#core/budget/fleet.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { isAppError } from '#core/error.ts'
import { walkRoots } from '#core/root.ts'
import { attoIn, compileExchange, picoOf } from '#core/spend/exchange.ts'
import type { UsageBucket } from '#core/usage/upload.ts'
import { cutBudgets } from '#server/features/budget/cut.ts'
import { saveBudget } from '#server/features/budget/edit.ts'
import { getBudget, listBudgets } from '#server/features/budget/read.ts'
import { reserve } from '#server/features/budget/reserve.ts'
import { budgetsFor } from '#server/features/budget/serve.ts'
import { rootsAfter } from '#server/features/root.ts'
import { publishRuleSet } from '#server/features/rule-set.ts'
import { currentRuleSet } from '#server/features/rule-set-history.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { changeTimeZone, rebuildTotals } from '#server/features/usage/zone.ts'
import { crypto } from '#server/keys/crypto.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  random,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-18T12:00:00Z')
let org: TestOrganisation
let dana: TestMachine
let eli: TestMachine
let seq = 0

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  dana = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'), 'dana-laptop')
  eli = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Eli'), 'eli-laptop')
})

const owner = (now = NOW) => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), now)
const send = (machine: TestMachine, day: string, buckets: UsageBucket[]) =>
  takeUsage(contextOf(db.prisma, machine.actor, NOW), {
    usage: signUsage(machine, uploadOf(machine, ++seq, [dayOf(day, buckets, NOW.toISOString())])),
  })
const publish = async (text: string) =>
  publishRuleSet(owner(), { text, note: 'set', etag: (await currentRuleSet(owner())).etag })
const told = async (machine: TestMachine): Promise<FleetBudgets> => {
  const jws = await budgetsFor(contextOf(db.prisma, machine.actor, NOW))
  const { root } = walkRoots(await rootsAfter(db.prisma, org.id, 0), org.id, crypto).at(-1)!
  return openFleetBudgets(jws, root, machine.id, crypto)
}
const shown = async () => (await listBudgets(owner())).budgets[0]!.shares[0]!
const refused = async (work: Promise<unknown>) => {
  try {
    await work
  } catch (error) {
    if (isAppError(error)) return { message: error.message, remedy: error.remedy, ...error.details }
    throw error
  }
  return 'done'
}

/** Half a euro for a dollar until the tenth, nine tenths from then on. */
const RATES = `exchange:
  - { currency: EUR, from: 2026-10-01, per_usd: "0.5" }
  - { currency: EUR, from: 2026-11-10, per_usd: "0.9" }
`
const budget = (more: string, rates = RATES) =>
  `budgets:\n  - { name: eu, amount: 10, currency: EUR, ${more} }\n${rates}`

describe('a budget in another currency', () => {
  it('counts each UTC day at that day’s rate: shown, told, reserved and reached are one figure', async () => {
    await publish(budget('window: monthly, owners: [role:owner]'))
    await send(dana, '2026-11-09', [bucketOf()])
    await send(dana, '2026-11-10', [bucketOf({ quarter: 0 })])
    await send(eli, '2026-11-17', [bucketOf({ tokens: { input: 500_000 } })])
    // 3 dollars at 0.5, 3 at 0.9, and 1.50 at 0.9
    await cutBudgets({ db: db.prisma, now: NOW, random }, org.id)
    expect(await shown()).toMatchObject({ used: '5.55', usedPct: 55.5 })
    expect((await told(dana)).budgets).toMatchObject([{ currency: 'EUR', amount: '10', used: '5.55', own: '4.2' }])
    expect((await told(eli)).budgets).toMatchObject([{ used: '5.55', own: '1.35' }])
    expect((await told(eli)).exchange).toEqual([
      { currency: 'EUR', from: '2026-10-01', perUsd: '0.5' },
      { currency: 'EUR', from: '2026-11-10', perUsd: '0.9' },
    ])
    const ask = { budget: 'eu', leaseSeconds: 60 }
    const dear = reserve(contextOf(db.prisma, dana.actor, NOW), { ...ask, amount: '4.46', idempotencyKey: 'attempt-1' })
    expect(await refused(dear)).toMatchObject({ message: 'eu has 4.45 EUR left.', currency: 'EUR', left: '4.45' })
    const fits = reserve(contextOf(db.prisma, dana.actor, NOW), { ...ask, amount: '4.45', idempotencyKey: 'attempt-2' })
    expect(await fits).toMatchObject({ left: '0' })
    const steps = await db.prisma.budgetStep.findMany({ where: { orgId: org.id } })
    expect(steps.map(({ step, used }) => [step, String(used)])).toEqual([[50, '5.55']])
  })

  it('changes its rate at midnight in UTC, whatever the zone of its window and of the organisation', async () => {
    // In Kolkata the tenth begins at 18:30 on the ninth.
    await publish(budget('window: daily, zone: Asia/Kolkata', RATES.replace('11-10', '11-18')))
    const quarters = [74, 95].map(quarter => bucketOf({ quarter }))
    await send(dana, '2026-11-17', [bucketOf({ quarter: 73 }), ...quarters])
    await send(dana, '2026-11-18', [bucketOf({ quarter: 0 }), bucketOf({ quarter: 40 })])
    const days = async () => (await getBudget(owner(), { name: 'eu' })).days
    for (const timeZone of ['Europe/Amsterdam', 'Asia/Kolkata', 'America/New_York']) {
      await changeTimeZone(owner(), { timeZone })
      await rebuildTotals(db.prisma, org.id)
      // two quarters of the eve at 0.5, two of today at 0.9
      expect([timeZone, (await shown()).used, await days()]).toEqual([
        timeZone,
        '8.4',
        [{ date: '2026-11-18', cost: '8.4', sum: '8.4' }],
      ])
    }
  })

  it('knows no day before its first rate: the forecast is made from those after it', async () => {
    await publish(budget('window: weekly', RATES.replace('2026-10-01', '2026-11-12').replace('11-10', '11-17')))
    for (const day of ['2026-11-11', '2026-11-12', '2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18'])
      await send(dana, day, [bucketOf()])
    const { days, share } = await getBudget(owner(), { name: 'eu' })
    expect(days.map(({ date, cost }) => [date, cost])).toEqual([
      ['2026-11-16', '1.5'],
      ['2026-11-17', '2.7'],
      ['2026-11-18', '2.7'],
    ])
    // 12 to 17 November: 1.5, 0, 0, 1.5, 1.5, 2.7
    expect(share).toMatchObject({ used: '6.9', forecast: { state: 'forecast', method: 'run_rate', days: 6 } })
    const { forecast } = share!
    // the rest of today is half an average day of 1.20, then four days
    expect(forecast).toMatchObject({ expected: '12.3', reachedOn: '2026-11-21' })
  })

  it('adds up: parts in the currency are the whole in it, whatever the rates and amounts', async () => {
    const day = (n: number) => `2026-11-${String(n).padStart(2, '0')}`
    const rate = fc.integer({ min: 1, max: 5_000_000 }).map(n => formatDecimal(BigInt(n), 6))
    const use = fc.record({ day: fc.integer({ min: 1, max: 18 }), tokens: fc.nat(2_000_000), who: fc.boolean() })
    const rates = fc.uniqueArray(fc.integer({ min: 2, max: 18 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(rate, rates, fc.array(rate, { minLength: 6, maxLength: 6 }), fc.array(use, { maxLength: 8 })),
        async ([first, days, others, uses]) => {
          const entries = [
            { currency: 'EUR', from: '2026-10-31', perUsd: first },
            ...days.map((n, i) => ({ currency: 'EUR', from: day(n), perUsd: others[i]! })),
          ]
          const lines = entries.map(e => `  - { currency: EUR, from: ${e.from}, per_usd: "${e.perUsd}" }\n`)
          await publish(budget('window: monthly', `exchange:\n${lines.join('')}`))
          // what was sent in rounds before stays: the ledger only grows
          for (const [machine, own] of [
            [dana, uses.filter(({ who }) => who)],
            [eli, uses.filter(({ who }) => !who)],
          ] as const)
            for (const n of new Set(own.map(one => one.day)))
              await send(
                machine,
                day(n),
                own.flatMap((one, i) =>
                  one.day === n ? [bucketOf({ quarter: i * 11, tokens: { input: one.tokens } }, day(n))] : [],
                ),
              )
          const { rows } = await db.admin.query(
            `select day::text, sum(cost)::text as cost from "UsageBucket" where "orgId" = $1 group by 1`,
            [org.id],
          )
          const whole = picoOf(
            attoIn(
              compileExchange(entries),
              'EUR',
              rows.map(row => ({ day: row.day, picoUsd: parseDecimal(row.cost)! })),
            ),
          )
          await cutBudgets({ db: db.prisma, now: NOW, random }, org.id)
          const { days: shownDays, share } = await getBudget(owner(), { name: 'eu' })
          const answers = [await told(dana), await told(eli)]
          const sum = (texts: string[]) => texts.reduce((all, text) => all + parseDecimal(text)!, 0n)
          expect({
            used: parseDecimal(share!.used),
            byDay: sum(shownDays.map(({ cost }) => cost)),
            last: parseDecimal(shownDays.at(-1)!.sum),
            byMachine: sum(answers.map(({ budgets }) => budgets[0]!.own)),
            told: parseDecimal(answers[0]!.budgets[0]!.used),
          }).toEqual({ used: whole, byDay: whole, last: whole, byMachine: whole, told: whole })
        },
      ),
      { numRuns: 15 },
    )
  })
})

describe('publishing', () => {
  it('is refused where a window has a day without a rate, at the budget, and what to add', async () => {
    const errors = async (text: string) => refused(publish(text))
    expect(await errors(budget('window: monthly', ''))).toMatchObject({
      errors: [{ line: 2, section: 'budgets', entry: 'eu', code: 'missing' }],
      remedy: 'add one for EUR under exchange, from 2026-11-01 or an earlier day',
    })
    const late = RATES.replace('2026-10-01', '2026-11-02')
    expect(await errors(budget('window: monthly', late))).toMatchObject({ errors: [{ line: 2 }] })
    await publish(budget('window: weekly', late))
  })

  it('without a rate that a budget needs is refused, and so is going back to such a version', async () => {
    await publish('')
    await publish(budget('window: monthly'))
    const without = 'budgets:\n  - { name: eu, amount: 10, currency: EUR, window: monthly }\n'
    expect(await refused(publish(without))).toMatchObject({ errors: [{ code: 'missing', line: 2 }] })
    await publish(RATES)
    await publish(without.replace('EUR', 'USD'))
  })

  it('by the form takes a currency that has a rate, and says which there are otherwise', async () => {
    await publish(RATES)
    const save = async (currency: string) => {
      const { etag } = await currentRuleSet(owner())
      return saveBudget(owner(), { budget: { name: 'eu', amount: 5, window: 'daily', currency }, note: 'add', etag })
    }
    expect(await refused(save('JPY'))).toMatchObject({
      message: 'There is no exchange rate for JPY.',
      remedy: 'add one under exchange, or use USD or EUR',
    })
    await save('EUR')
    expect((await listBudgets(owner())).budgets).toMatchObject([{ name: 'eu', currency: 'EUR' }])
  })
})
