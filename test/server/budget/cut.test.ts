import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { type FleetBudgets, openFleetBudgets } from '#core/budget/fleet.ts'
import { windowAt } from '#core/budget/window.ts'
import { startOfDay, wallDay } from '#core/budget/zone.ts'
import { parseDecimal } from '#core/decimal.ts'
import { walkRoots } from '#core/root.ts'
import type { UsageBucket } from '#core/usage/upload.ts'
import { cutBudgets, sweepBudgets } from '#server/features/budget/cut.ts'
import { spendBetween } from '#server/features/budget/ledger.ts'
import { reserve } from '#server/features/budget/reserve.ts'
import { budgetsFor } from '#server/features/budget/serve.ts'
import { rootsAfter } from '#server/features/root.ts'
import { releaseQuarantine } from '#server/features/usage/quarantine.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { changeTimeZone, rebuildTotals } from '#server/features/usage/zone.ts'
import { crypto } from '#server/keys/crypto.ts'
import { sign } from '#server/keys/sign.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  random,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
/** In the middle of a month and of a day. */
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

const TAGS = 'tags: { team: [data, web], project: [billing] }\n'
const budgets = (...lines: string[]) => `${TAGS}budgets:\n${lines.map(line => `  - { ${line} }\n`).join('')}`
const ORG = 'name: all, amount: 100, window: monthly'
const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000)
const send = (machine: TestMachine, day: string, buckets: UsageBucket[], now = NOW) =>
  takeUsage(contextOf(db.prisma, machine.actor, now), {
    usage: signUsage(machine, uploadOf(machine, ++seq, [dayOf(day, buckets, now.toISOString())])),
  })
const cut = (now = NOW) => cutBudgets({ db: db.prisma, now, random }, org.id)
async function ask(machine: TestMachine, now = NOW): Promise<FleetBudgets> {
  const jws = await budgetsFor(contextOf(db.prisma, machine.actor, now))
  const { root } = walkRoots(await rootsAfter(db.prisma, org.id, 0), org.id, crypto).at(-1)!
  return openFleetBudgets(jws, root, machine.id, crypto)
}
const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), NOW)
const used = async (now = NOW) => (await ask(dana, now)).budgets.map(each => [each.name, each.used])

describe('what machines are told', () => {
  it('the fleet’s use in the window and what of it is their own, signed for that machine alone', async () => {
    await publish(db.prisma, org, budgets(ORG))
    await send(dana, '2026-11-02', [bucketOf()])
    await send(eli, '2026-11-03', [bucketOf(), bucketOf({ quarter: 41 })])
    await send(eli, '2026-10-31', [bucketOf()])
    const { usageSeq } = await db.prisma.machine.findUniqueOrThrow({ where: { id: dana.id } })
    const answer = await ask(dana)
    expect(answer).toEqual({
      v: 1,
      org: org.id,
      machine: dana.id,
      at: NOW.toISOString(),
      cut: NOW.toISOString(),
      budgets: [
        {
          name: 'all',
          amount: '100',
          currency: 'USD',
          basis: 'equivalent',
          windowStart: '2026-11-01T00:00:00.000Z',
          windowEnd: '2026-12-01T00:00:00.000Z',
          zone: 'UTC',
          used: '9',
          own: '3',
          ownSeq: usageSeq,
        },
      ],
    })
    expect((await ask(eli)).budgets[0]).toMatchObject({ used: '9', own: '6' })
    const jws = await budgetsFor(contextOf(db.prisma, dana.actor, NOW))
    const { root } = walkRoots(await rootsAfter(db.prisma, org.id, 0), org.id, crypto).at(-1)!
    expect(() => openFleetBudgets(jws, root, eli.id, crypto)).toThrow('another machine')
  })

  it('what came after the count is neither in the use nor in the own share, so that adding one’s own is right', async () => {
    await publish(db.prisma, org, budgets(ORG))
    await send(dana, '2026-11-02', [bucketOf()])
    await ask(dana)
    await send(dana, '2026-11-02', [bucketOf(), bucketOf({ quarter: 42 })])
    expect((await ask(dana, at(1))).budgets[0]).toMatchObject({ used: '3', own: '3' })
    await cut(at(1))
    expect((await ask(dana, at(1))).budgets[0]).toMatchObject({ used: '6', own: '6' })
  })

  it('a count that is missing, old or of an older version is made anew and never nothing used', async () => {
    await publish(db.prisma, org, budgets(ORG))
    await send(dana, '2026-11-02', [bucketOf()])
    await cut()
    await db.admin.query(`delete from "BudgetCut" where "orgId" = $1`, [org.id])
    expect(await used()).toEqual([['all', '3']])
    await db.admin.query(`delete from "BudgetCount" where "orgId" = $1`, [org.id])
    await db.admin.query(`delete from "BudgetShare" where "orgId" = $1`, [org.id])
    expect((await ask(dana)).budgets[0]).toMatchObject({ used: '3', own: '3' })
    await send(dana, '2026-11-03', [bucketOf()])
    expect((await ask(dana, at(3))).cut).toBe(at(3).toISOString())
    expect(await used(at(3))).toEqual([['all', '6']])
    await publish(db.prisma, org, budgets(ORG, 'name: day, amount: 5, window: daily'))
    expect(await used(at(3))).toEqual([
      ['all', '6'],
      ['day', '0'],
    ])
    await publish(db.prisma, org, TAGS)
    expect((await ask(dana, at(3))).budgets).toEqual([])
  })

  it('a window that ended is never told as the new one: the first look after midnight counts anew', async () => {
    await publish(
      db.prisma,
      org,
      budgets('name: day, amount: 5, window: daily', 'name: roll, amount: 9, window: rolling 2d'),
    )
    await send(dana, '2026-11-18', [bucketOf({ quarter: 1 })])
    const before = new Date('2026-11-18T23:59:59Z')
    expect(await used(before)).toEqual([
      ['day', '3'],
      ['roll', '3'],
    ])
    const midnight = new Date('2026-11-19T00:00:00Z')
    expect(await used(midnight)).toEqual([
      ['day', '0'],
      ['roll', '3'],
    ])
    const later = new Date('2026-11-20T00:00:00Z')
    expect(await used(later)).toEqual([
      ['day', '0'],
      ['roll', '0'],
    ])
    // nor is what was one's own then: what is spent now would not be seen above it
    expect((await ask(dana, later)).budgets.map(({ own }) => own)).toEqual(['0', '0'])
  })

  it('what is billed and what everything would cost never mix; unknown is in neither bill, a bound is in both', async () => {
    await publish(db.prisma, org, budgets(ORG, 'name: bill, amount: 100, window: monthly, basis: billed'))
    await send(dana, '2026-11-02', [
      bucketOf({ covered: 'metered' }),
      bucketOf({ covered: 'plan', quarter: 41 }),
      bucketOf({ covered: 'unknown', quarter: 42 }),
    ])
    expect(await used()).toEqual([
      ['all', '9'],
      ['bill', '3'],
    ])
    await send(eli, '2026-11-02', [bucketOf({ model: 'nobody-knows' })])
    const bound = await db.prisma.usageBucket.findFirstOrThrow({ where: { machineId: eli.id } })
    await cut(at(1))
    expect(Number(bound.cost)).toBeGreaterThan(0)
    expect((await ask(eli, at(1))).budgets.map(({ own }) => Number(own))).toEqual([
      Number(bound.cost),
      Number(bound.cost),
    ])
  })

  it('one budget for each value: tags for everybody, people and machines for themselves alone', async () => {
    await publish(
      db.prisma,
      org,
      budgets(
        'name: team, amount: 10, window: monthly, for: { team: "*" }',
        'name: web, amount: 10, window: monthly, for: { team: web }',
        'name: each-member, amount: 10, window: monthly, for: { member: "*" }',
        'name: each-machine, amount: 10, window: monthly, for: { machine: "*" }',
        'name: elis, amount: 10, window: monthly, for: { machine: eli-laptop }',
        `name: danas, amount: 10, window: monthly, for: { member: ${dana.memberId} }`,
      ),
    )
    await send(dana, '2026-11-02', [bucketOf({ tags: { team: 'web' } }), bucketOf({ quarter: 41 })])
    await send(eli, '2026-11-02', [bucketOf({ tags: { team: 'gone' } })])
    const told = async (machine: TestMachine) =>
      (await ask(machine)).budgets.map(each => [each.name, each.of?.value, each.used, each.own])
    expect(await told(dana)).toEqual([
      ['team', 'data', '0', '0'],
      ['team', 'gone', '3', '0'],
      ['team', 'web', '3', '3'],
      ['web', 'web', '3', '3'],
      ['each-member', dana.memberId, '6', '6'],
      ['each-machine', dana.id, '6', '6'],
      ['danas', dana.memberId, '6', '6'],
    ])
    expect((await told(eli)).slice(3)).toEqual([
      ['web', 'web', '3', '0'],
      ['each-member', eli.memberId, '3', '3'],
      ['each-machine', eli.id, '3', '3'],
      ['elis', 'eli-laptop', '3', '3'],
    ])
  })

  it('a machine that left goes on counting, and days from clocks ahead count when their time has come', async () => {
    await publish(db.prisma, org, budgets(ORG))
    await send(eli, '2026-11-02', [bucketOf()])
    await db.prisma.machine.update({ where: { id: eli.id }, data: { leftAt: NOW } })
    await takeUsage(contextOf(db.prisma, dana.actor, NOW), {
      usage: signUsage(dana, uploadOf(dana, 90, [dayOf('2026-11-18', [bucketOf({ quarter: 60 })], NOW.toISOString())])),
    })
    expect(await used()).toEqual([['all', '3']])
    const later = new Date('2026-11-18T15:00:00Z')
    await releaseQuarantine({ db: db.prisma, random, now: later })
    expect(await used(later)).toEqual([['all', '6']])
  })

  it('with the database’s ledger out of reach there is an error and no figure', async () => {
    await publish(db.prisma, org, budgets(ORG))
    await db.admin.query('alter table "UsageTotal" rename to "UsageTotalAway"')
    try {
      await expect(ask(dana)).rejects.toThrow()
    } finally {
      await db.admin.query('alter table "UsageTotalAway" rename to "UsageTotal"')
    }
    expect(await used()).toEqual([['all', '0']])
  })
})

describe('windows of the ledger', () => {
  it('of any zone and kind hold exactly the quarter hours that begin in them, by totals or by buckets', async () => {
    const buckets: { day: string; quarter: number; pico: bigint }[] = []
    for (const day of [
      '2026-10-24',
      '2026-10-25',
      '2026-10-26',
      '2026-10-31',
      '2026-11-01',
      '2026-11-17',
      '2026-11-18',
    ])
      for (const quarter of [0, 3, 15, 41, 87, 91, 95]) {
        if (day === '2026-11-18' && quarter > 47) continue
        buckets.push({ day, quarter, pico: parseDecimal('3')! })
      }
    const days = [...new Set(buckets.map(({ day }) => day))]
    for (const day of days)
      await send(
        dana,
        day,
        buckets
          .filter(each => each.day === day)
          .map(({ quarter }) => bucketOf({ quarter, client: quarter > 40 ? 'codex' : 'claude-code' }, day)),
      )
    const zones = [
      'UTC',
      'Europe/Amsterdam',
      'America/Los_Angeles',
      'Asia/Kathmandu',
      'Pacific/Kiritimati',
      'Asia/Beirut',
    ]
    const kinds = [
      { kind: 'daily' },
      { kind: 'weekly' },
      { kind: 'monthly' },
      { kind: 'quarterly' },
      { kind: 'rolling', days: 7 },
    ] as const
    const check = async (own: string) => {
      for (const zone of zones)
        for (const window of kinds)
          for (const now of ['2026-10-25T02:30:00Z', '2026-11-01T05:00:00Z', '2026-11-18T12:00:00Z']) {
            const { start, end } = windowAt(window, zone, Date.parse(now))
            const wanted = buckets
              .filter(({ day, quarter }) => {
                const begins = Date.parse(day) + quarter * 900_000
                return begins >= start && begins < end
              })
              .reduce((sum, { pico }) => sum + pico, 0n)
            const days: number[] = []
            for (let day = wallDay(zone, start); startOfDay(zone, day) < end; day++) days.push(startOfDay(zone, day))
            for (const together of [false, true])
              for (const cuts of [
                [start, end],
                [...days, end],
              ]) {
                const sums = await spendBetween(db.prisma, org.id, cuts, { together })
                const what = [own, zone, window.kind, now, together, cuts.length]
                expect([...what, sums.reduce((sum, { cost }) => sum + cost, 0n)]).toEqual([...what, wanted])
              }
          }
    }
    await check('UTC')
    for (const timeZone of ['Asia/Kathmandu', 'Asia/Beirut']) {
      await changeTimeZone(owner(), { timeZone })
      // Not in force before its totals are whole.
      await check('UTC still')
      await rebuildTotals(db.prisma, org.id)
      await check(timeZone)
    }
  })

  it('counts what the ledger holds whatever was uploaded, replaced and lowered before', async () => {
    await publish(db.prisma, org, budgets(ORG, 'name: east, amount: 9, window: weekly, zone: Asia/Tokyo'))
    const upload = fc.record({
      who: fc.boolean(),
      day: fc.constantFrom('2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17'),
      quarters: fc.uniqueArray(fc.nat(95), { maxLength: 4 }),
      tokens: fc.nat(5_000_000),
    })
    let minute = 0
    await fc.assert(
      fc.asyncProperty(fc.array(upload, { minLength: 1, maxLength: 4 }), async uploads => {
        for (const { who, day, quarters, tokens } of uploads)
          await send(
            who ? dana : eli,
            day,
            quarters.map(quarter => bucketOf({ quarter, tokens: { input: tokens } })),
          )
        const now = at(++minute)
        await cut(now)
        const { rows } = await db.admin.query(
          `select coalesce(sum(cost) filter (where day >= '2026-11-01'), 0)::float as month,
             coalesce(sum(cost) filter (where (day + quarter * interval '15 minutes') >= timestamp '2026-11-15 15:00'), 0)::float as week
           from "UsageBucket" where "orgId" = $1`,
          [org.id],
        )
        const { budgets: told } = await ask(dana, now)
        expect(told.map(each => Number(each.used))).toEqual([rows[0].month, rows[0].week])
      }),
      { numRuns: 12 },
    )
  })
})

it('what another key than that of freshness signed, or of another form, is refused', async () => {
  await publish(db.prisma, org, budgets(ORG))
  const { root } = walkRoots(await rootsAfter(db.prisma, org.id, 0), org.id, crypto).at(-1)!
  const answer = await ask(dana)
  const open = async (role: 'fresh' | 'ruleset', payload: unknown) =>
    openFleetBudgets(await sign(db.prisma, org.id, role, 'holdpoint-budgets+jws', payload), root, dana.id, crypto)
  expect(await open('fresh', answer)).toEqual(answer)
  await expect(open('ruleset', answer)).rejects.toThrow('not in force')
  await expect(open('fresh', { ...answer, org: 'org_other' })).rejects.toThrow('another organisation')
  for (const used of ['-1', '1e3', '01', 3])
    await expect(open('fresh', { ...answer, budgets: [{ ...answer.budgets[0], used }] })).rejects.toThrow(
      'not of a form',
    )
})

it('counts and reservations of long ago are forgotten, and steps that were told are not', async () => {
  await publish(db.prisma, org, budgets('name: all, amount: 3, window: daily'))
  await send(dana, '2026-11-18', [bucketOf({ quarter: 1, tokens: { input: 900_000 } })])
  await cut()
  const body = { budget: 'all', amount: '0.1', leaseSeconds: 60, idempotencyKey: 'attempt-1' }
  await reserve(contextOf(db.prisma, dana.actor, NOW), body)
  const rows = async () => [
    await db.prisma.budgetCut.count({ where: { orgId: org.id } }),
    await db.prisma.reservation.count({ where: { orgId: org.id } }),
    await db.prisma.budgetStep.count({ where: { orgId: org.id } }),
  ]
  await sweepBudgets(db.prisma, at(60 * 24 * 400))
  expect(await rows()).toEqual([1, 1, 3])
  await sweepBudgets(db.prisma, at(60 * 24 * 502))
  expect(await rows()).toEqual([0, 0, 3])
})

it('many looks at once make one count', async () => {
  await publish(db.prisma, org, budgets(ORG))
  await send(dana, '2026-11-02', [bucketOf()])
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => ask(dana, new Date(NOW.getTime() + i))))
  for (const { budgets: told } of answers) expect(told).toMatchObject([{ used: '3', own: '3' }])
  expect(new Set(answers.map(answer => answer.cut)).size).toBe(1)
})
