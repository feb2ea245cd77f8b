import { beforeAll, describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { parseDecimal } from '#core/decimal.ts'
import { isAppError } from '#core/error.ts'
import type { UsageBucket } from '#core/usage/upload.ts'
import { endGrant, grantFigures, listGrants } from '#server/features/spend/grant.ts'
import { type Report, type ReportAsked, spendReport } from '#server/features/spend/report.ts'
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
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-29T12:00:00Z')
let org: TestOrganisation
let owner: MemberActor
let dana: MemberActor
let kim: MemberActor
let machines: TestMachine[]

/** The same "random" numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor(state / 65_536) % below
  }
}
const DAYS = [
  '2026-08-31',
  '2026-09-30',
  '2026-10-01',
  '2026-10-24',
  '2026-10-25',
  '2026-10-26',
  '2026-10-31',
  '2026-11-01',
  '2026-11-28',
]
const MODELS = ['claude-opus-4-6', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'no-such-model']

function someBuckets(below: (most: number) => number, day: string): UsageBucket[] {
  const buckets = new Map<string, UsageBucket>()
  for (let i = 0; i < 12; i++) {
    const tenant = ['acme', 'globex', undefined][below(3)]
    const project = ['billing', 'web', undefined][below(3)]
    const bucket = bucketOf(
      {
        quarter: below(96),
        model: MODELS[below(MODELS.length)]!,
        client: (['claude-code', 'codex'] as const)[below(2)]!,
        covered: (['plan', 'metered', 'unknown'] as const)[below(3)]!,
        tags: { ...(tenant ? { tenant } : {}), ...(project ? { project } : {}) },
        calls: 1 + below(9),
        tokens: { input: below(100_000), output: below(9000), cacheRead: below(1_000_000) },
      },
      day,
    )
    buckets.set(JSON.stringify([bucket.quarter, bucket.model, bucket.client, bucket.covered, bucket.tags]), bucket)
  }
  return [...buckets.values()]
}

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  owner = actorOf(org, org.ownerId, 'owner')
  dana = actorOf(org, await makeMember(db.prisma, org, 'member', 'Dana'), 'member')
  kim = actorOf(org, await makeMember(db.prisma, org, 'member', 'Kim'), 'member')
  await db.prisma.tenant.create({
    data: { id: 'ten_report', orgId: org.id, key: 'acme', name: 'Acme Ltd', contactEmail: 'a@acme.test' },
  })
  // a tag that no usage has
  await publish(db.prisma, org, 'tags: { team: [core] }\n')
  const below = numbers(7)
  machines = []
  for (const [i, member] of [dana, dana, kim].entries()) {
    const machine = await makeMachine(db.prisma, org, member.memberId, `m${i}`)
    machines.push(machine)
    const days = DAYS.map(day => dayOf(day, someBuckets(below, day)))
    await takeUsage(contextOf(db.prisma, machine.actor, NOW), { usage: signUsage(machine, uploadOf(machine, 1, days)) })
  }
})

const ask = (asked: Partial<ReportAsked>, actor = owner): Promise<Report> =>
  spendReport(contextOf(db.prisma, actor, NOW), { from: '2026-08-01', to: '2026-12-01', by: 'tenant', ...asked })
const pico = (text: string) => parseDecimal(text)!
const all = ({ priced, bound }: Report['total']) =>
  [priced, bound].reduce((sum, by) => sum + pico(by.plan) + pico(by.metered) + pico(by.unknown), 0n)
const added = (report: Report) => report.rows.reduce((sum, row) => sum + all(row.total), 0n)
/** Read from the buckets by plain SQL, in moments. */
async function ledger(from = '2000-01-01', to = '2100-01-01', where = 'true'): Promise<bigint> {
  const { rows } = await db.admin.query(
    `select coalesce(sum(cost), 0)::text as cost from "UsageBucket" b join "UsageSeries" s on s.id = b."seriesId"
     where b."orgId" = $1 and ((day + quarter * interval '15 minutes') at time zone 'UTC') >= $2::timestamptz
       and ((day + quarter * interval '15 minutes') at time zone 'UTC') < $3::timestamptz and ${where}`,
    [org.id, from, to],
  )
  return pico(rows[0].cost)
}
const refused = async (work: Promise<unknown>) => {
  try {
    await work
  } catch (error) {
    if (isAppError(error)) return error.code
    throw error
  }
  return 'given'
}
const KEYS = ['tenant', 'project', 'tag:team', 'client', 'provider', 'model', 'machine', 'member', 'cover']

describe('totals', () => {
  it.each(KEYS)('by %s the rows add up to the total, and the total is the ledger’s', async by => {
    const report = await ask({ by })
    expect(added(report)).toBe(all(report.total))
    expect(all(report.total)).toBe(await ledger())
  })

  it.each(['quarter', 'hour', 'day', 'week', 'month'] as const)('steps by %s add up to the same total', async step => {
    const short = step === 'quarter' || step === 'hour'
    const period = short ? { from: '2026-10-24', to: '2026-11-01' } : {}
    const report = await ask({ step, ...period })
    const sum = report.steps.flatMap(one => one.values).reduce((total, { total: one }) => total + all(one), 0n)
    expect(report.steps.length).toBeGreaterThan(1)
    expect(sum).toBe(all((await ask(period)).total))
  })

  it('priced, unpriced and what covers it are kept apart', async () => {
    const { total, rows } = await ask({ by: 'model' })
    expect(pico(total.bound.metered)).toBe(
      await ledger(undefined, undefined, `rate = 'fallback' and covered = 'metered'`),
    )
    expect(pico(total.priced.metered)).toBe(
      await ledger(undefined, undefined, `rate <> 'fallback' and covered = 'metered'`),
    )
    expect(pico(total.priced.unknown)).toBe(
      await ledger(undefined, undefined, `rate <> 'fallback' and covered = 'unknown'`),
    )
    const unknown = rows.find(row => row.value === 'no-such-model')!
    expect(unknown.total.priced).toEqual({ plan: '0', metered: '0', unknown: '0' })
    expect(all(unknown.total)).toBeGreaterThan(0n)
  })

  it('what no rule attributes is a row, also when there is none of it', async () => {
    const { rows } = await ask({ by: 'tenant' })
    expect(rows.map(row => row.value)).toContain(null)
    expect(rows.find(row => row.value === 'acme')!.label).toBe('Acme Ltd')
    const one = await ask({ by: 'tenant', filter: { tenant: ['acme'] } })
    expect(one.rows.map(row => row.value).sort()).toEqual(['acme', null].sort())
  })

  it('filters change no row’s amount, and drill down adds up to the row that was opened', async () => {
    const whole = await ask({ by: 'tenant' })
    for (const { value, total } of whole.rows)
      for (const by of KEYS) {
        const part = await ask({ by, filter: { tenant: [value] } })
        expect(all(part.total)).toBe(all(total))
        expect(added(part)).toBe(all(total))
      }
    const two = await ask({ by: 'model', filter: { tenant: ['acme', null], client: ['codex'] } })
    expect(all(two.total)).toBe(
      await ledger(undefined, undefined, `client = 'codex' and (tags->>'tenant' = 'acme' or not tags ? 'tenant')`),
    )
  })

  it('a tenant or tag that is on no list any more stays as recorded', async () => {
    const before = await ask({ by: 'tenant' })
    const { contactEmail, ...row } = await db.prisma.tenant.delete({ where: { id: 'ten_report' } })
    const after = await ask({ by: 'tenant' })
    await db.prisma.tenant.create({ data: { ...row, contactEmail } })
    expect(after.total).toEqual(before.total)
    expect(after.rows.find(one => one.value === 'acme')!.label).toBe('acme')
  })

  it('what a removed machine and its member spent stays', async () => {
    const before = await ask({ by: 'machine' })
    await db.prisma.machine.update({ where: { id: machines[2]!.id }, data: { revokedAt: NOW } })
    const after = await ask({ by: 'machine' })
    await db.prisma.machine.update({ where: { id: machines[2]!.id }, data: { revokedAt: null } })
    expect(after.rows).toEqual(before.rows)
    expect(after.coverage.machines).toBe(before.coverage.machines - 1)
  })
})

describe('time', () => {
  it('a period is cut at quarter hours', async () => {
    const { total } = await ask({ from: '2026-10-25T08:15', to: '2026-10-25T17:45' })
    expect(all(total)).toBe(await ledger('2026-10-25T08:15:00Z', '2026-10-25T17:45:00Z'))
    expect(await refused(ask({ from: '2026-10-25T08:10' }))).toBe('BAD_INPUT')
    expect(await refused(ask({ from: '2026-02-30' }))).toBe('BAD_INPUT')
    expect(await refused(ask({ from: '2026-10-26', to: '2026-10-25' }))).toBe('BAD_INPUT')
  })

  it('any two quarter hours add up to the ledger between them', async () => {
    const below = numbers(11)
    for (let i = 0; i < 40; i++) {
      const at = () => new Date(Date.UTC(2026, 7, 25) + below(96 * 100) * 900_000).toISOString().slice(0, 16)
      const [from, to] = [at(), at()].sort() as [string, string]
      expect(all((await ask({ from, to })).total)).toBe(await ledger(`${from}:00Z`, `${to}:00Z`))
    }
  })

  it('in a zone with summer time a day has its 25 hours, and a changed zone has the same total', async () => {
    const before = await ask({})
    await changeTimeZone(contextOf(db.prisma, owner, NOW), { timeZone: 'Europe/Amsterdam' })
    expect((await ask({})).zone).toBe('UTC')
    await rebuildTotals(db.prisma, org.id)
    const after = await ask({})
    expect(after.zone).toBe('Europe/Amsterdam')
    expect(after.total).toEqual(before.total)
    const day = await ask({ from: '2026-10-25', to: '2026-10-26' })
    expect([day.from, day.to]).toEqual([new Date('2026-10-24T22:00:00Z'), new Date('2026-10-25T23:00:00Z')])
    expect(all(day.total)).toBe(await ledger('2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'))
    const month = await ask({ from: '2026-10-01', to: '2026-11-01', step: 'day' })
    expect(all(month.total)).toBe(await ledger('2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z'))
    for (const { start, values } of month.steps) {
      const next = new Date(Date.parse(start) + 86_400_000).toISOString().slice(0, 10)
      const { total } = await ask({ from: start, to: next })
      expect(values.reduce((sum, { total: one }) => sum + all(one), 0n)).toBe(all(total))
    }
  })

  it('usage that comes while the zone changes is in the totals of both', async () => {
    await changeTimeZone(contextOf(db.prisma, owner, NOW), { timeZone: 'Asia/Kolkata' })
    const machine = machines[0]!
    await takeUsage(contextOf(db.prisma, machine.actor, NOW), {
      usage: signUsage(machine, uploadOf(machine, 50, [dayOf('2026-11-27', someBuckets(numbers(3), '2026-11-27'))])),
    })
    expect(all((await ask({})).total)).toBe(await ledger())
    await rebuildTotals(db.prisma, org.id)
    const after = await ask({})
    expect(after.zone).toBe('Asia/Kolkata')
    expect(all(after.total)).toBe(await ledger())
    expect(await db.prisma.usageTotal.count({ where: { orgId: org.id, zone: { not: 'Asia/Kolkata' } } })).toBe(0)
    await changeTimeZone(contextOf(db.prisma, owner, NOW), { timeZone: 'UTC' })
    await rebuildTotals(db.prisma, org.id)
  })

  it('a zone that is none is refused, and a lower role may not change it', async () => {
    expect(await refused(changeTimeZone(contextOf(db.prisma, owner), { timeZone: 'Mars/Olympus' }))).toBe('BAD_INPUT')
    expect(await refused(changeTimeZone(contextOf(db.prisma, dana), { timeZone: 'UTC' }))).toBe('FORBIDDEN')
  })
})

describe('totals of the fleet', () => {
  const make = (now = NOW) => makeFleetTotals(db.prisma, now)
  const everything = async () =>
    JSON.stringify(
      await Promise.all([
        ...KEYS.map(by => ask({ by })),
        ask({ step: 'day' }),
        ask({ step: 'month', by: 'model' }),
        ask({ from: '2026-09-30T04:15', to: '2026-11-28T11:30', by: 'project', filter: { tenant: ['acme'] } }),
        ask({ from: '2026-09-12T17:45', to: '2026-11-27T03:30', by: 'member' }),
        ask({ from: '2026-09-12T04:45', to: '2026-11-27T19:30', by: 'tenant', step: 'day' }),
      ]),
    )

  it('are read in the place of the machines’, and no report changes by it', async () => {
    const before = await everything()
    expect(await make()).toBeGreaterThan(5)
    expect(await make()).toBe(0)
    const spans = await db.prisma.usageTotal.groupBy({ by: ['span'], where: { orgId: org.id }, _count: true })
    expect(spans.map(row => row.span).sort()).toEqual([
      'day',
      'fleet-day',
      'fleet-month',
      'machine-day',
      'machine-month',
      'month',
    ])
    expect(await everything()).toBe(before)
    // They are what is read: wrong ones would show.
    for (const span of ['fleet-month', 'fleet-day', 'machine-month', 'machine-day']) {
      const wrong = (by: number) =>
        db.admin.query(`update "UsageTotal" set calls = calls + $2 where "orgId" = $1 and span = $3`, [
          org.id,
          by,
          span,
        ])
      await wrong(1000000)
      expect(await everything(), span).not.toBe(before)
      await wrong(-1000000)
      expect(await everything(), span).toBe(before)
    }
    await db.admin.query(
      `insert into "UsageStale" select distinct "orgId", zone, start, "machineId" from "UsageTotal" where "orgId" = $1 and span = 'day' on conflict do nothing`,
      [org.id],
    )
    await make()
    expect(await everything()).toBe(before)
  })

  it('are passed over for days that changed since, from the moment of the change', async () => {
    const machine = machines[1]!
    const day = dayOf('2026-09-30', someBuckets(numbers(21), '2026-09-30'))
    await takeUsage(contextOf(db.prisma, machine.actor, NOW), {
      usage: signUsage(machine, uploadOf(machine, 60, [day])),
    })
    expect(all((await ask({})).total)).toBe(await ledger())
    const before = await everything()
    expect(await make()).toBe(1)
    expect(await everything()).toBe(before)
  })

  it('uploads and the making of totals at once leave no date both unmarked and wrong', async () => {
    for (let round = 0; round < 6; round++) {
      const day = dayOf('2026-10-01', someBuckets(numbers(100 + round), '2026-10-01'))
      await Promise.all([
        ...machines.map(machine =>
          takeUsage(contextOf(db.prisma, machine.actor, NOW), {
            usage: signUsage(machine, uploadOf(machine, 100 + round, [day])),
          }),
        ),
        make(),
        make(),
      ])
      expect(all((await ask({})).total)).toBe(await ledger())
      expect(all((await ask({ step: 'day' })).total)).toBe(await ledger())
      expect(
        (await ask({ step: 'day' })).steps.flatMap(one => one.values).reduce((sum, one) => sum + all(one.total), 0n),
      ).toBe(await ledger())
    }
  })
})

it('while days are replaced by fuller ones, whoever reads them again and again never sees less than before', async () => {
  const machine = machines[0]!
  const days = ['2026-11-27', '2026-11-28']
  const ask2 = (more: Partial<ReportAsked>) => ask({ from: days[0]!, to: '2026-11-29', ...more })
  let isOver = false
  const read = async (more: Partial<ReportAsked>) => {
    const seen: bigint[] = []
    while (!isOver) {
      const report = await ask2(more)
      expect(added(report)).toBe(all(report.total))
      seen.push(all(report.total))
    }
    return seen
  }
  const readers = [read({ by: 'model' }), read({ by: 'member', step: 'day' })]
  try {
    for (let round = 1; round <= 15; round++) {
      const tokens = { input: 10_000_000 * round }
      const buckets = (day: string) => [1, 40, 95].map(quarter => bucketOf({ quarter, tokens }, day))
      await takeUsage(contextOf(db.prisma, machine.actor, NOW), {
        usage: signUsage(
          machine,
          uploadOf(
            machine,
            300 + round,
            days.map(day => dayOf(day, buckets(day))),
          ),
        ),
      })
    }
  } finally {
    isOver = true
  }
  for (const seen of await Promise.all(readers)) {
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.slice(1).filter((amount, i) => amount < seen[i]!)).toEqual([])
  }
  expect(all((await ask2({})).total)).toBe(await ledger('2026-11-27', '2026-11-29'))
})

describe('individuals', () => {
  const auditor = () => actorOf(org, org.ownerId, 'auditor')

  it('see themselves by name, and everybody else as one row; totals are whole', async () => {
    const report = await ask({ by: 'member' }, dana)
    expect(report.rows.map(row => row.label).sort()).toEqual(['Dana', 'Others'])
    expect(added(report)).toBe(await ledger())
    const theirs = await ask({ by: 'machine' }, dana)
    expect(theirs.rows.map(row => row.label).sort()).toEqual(['Others', 'm0', 'm1'])
    expect(JSON.stringify([report, theirs])).not.toContain(kim.memberId)
    expect(JSON.stringify(theirs)).not.toContain(machines[2]!.id)
  })

  it('no role sees them without a grant, owners and auditors included', async () => {
    for (const actor of [owner, auditor()]) {
      expect((await ask({ by: 'member' }, actor)).rows.map(row => row.label)).toEqual(['Others'])
      expect(await refused(ask({ filter: { member: [kim.memberId] } }, actor))).toBe('FORBIDDEN')
    }
    expect((await ask({ filter: { machine: [machines[2]!.id] } }, dana)).total.calls).toBe(0)
    expect(await refused(ask({ filter: { member: [dana.memberId] } }, dana))).toBe('given')
  })

  it('tenants’ totals are withheld from nobody', async () => {
    expect((await ask({ by: 'tenant' }, kim)).rows).toEqual((await ask({ by: 'tenant' }, owner)).rows)
  })

  it('a grant opens them to its holder until it ends, is in the ledger, and is seen by whom it is about', async () => {
    const lead = actorOf(org, await makeMember(db.prisma, org, 'lead', 'Lee'), 'lead')
    const by = contextOf(db.prisma, owner, NOW)
    const grant = { holderId: lead.memberId, subjectId: kim.memberId, reason: 'Reviewing the rollout', days: 30 }
    expect(await refused(grantFigures(contextOf(db.prisma, lead, NOW), grant))).toBe('FORBIDDEN')
    expect(await refused(grantFigures(by, { ...grant, reason: ' ' }))).toBe('BAD_INPUT')
    const old = { ...owner, authnAt: new Date(NOW.getTime() - 11 * 60_000) }
    expect(await refused(grantFigures(contextOf(db.prisma, old, NOW), grant))).toBe('FORBIDDEN')
    const { id } = await grantFigures(by, grant)
    expect((await ask({ by: 'member' }, lead)).rows.map(row => row.label).sort()).toEqual(['Kim', 'Others'])
    expect(await refused(ask({ filter: { member: [kim.memberId] } }, lead))).toBe('given')
    expect(await listGrants(contextOf(db.prisma, kim, NOW))).toMatchObject([
      { holder: { name: 'Lee' }, reason: 'Reviewing the rollout', grantedBy: 'Olga Owner', aboutMe: true },
    ])
    expect(await listGrants(contextOf(db.prisma, dana, NOW))).toEqual([])
    const later = { ...contextOf(db.prisma, lead, new Date(NOW.getTime() + 31 * 86_400_000)) }
    expect((await spendReport(later, { from: '2026-08-01', to: '2026-12-01', by: 'member' })).rows).toHaveLength(1)
    await endGrant(by, { id })
    await endGrant(by, { id })
    expect((await ask({ by: 'member' }, lead)).rows.map(row => row.label)).toEqual(['Others'])
    const told = await db.prisma.evidenceEntry.findMany({
      where: { orgId: org.id, kind: { startsWith: 'figures.' } },
      orderBy: { seq: 'asc' },
    })
    expect(told.map(entry => entry.kind)).toEqual(['figures.granted', 'figures.grant_ended'])
    expect(told.map(entry => Buffer.from(entry.bytes).toString()).join()).not.toContain(kim.memberId)
  })

  it('an auditor ends no grant, not even their own; whoever holds another does', async () => {
    const by = contextOf(db.prisma, owner, NOW)
    const subjectId = await makeMember(db.prisma, org, 'member', 'Sam')
    for (const [role, ends] of [
      ['auditor', 'FORBIDDEN'],
      ['lead', 'given'],
    ] as const) {
      const holder = actorOf(org, await makeMember(db.prisma, org, role, role), role)
      const { id } = await grantFigures(by, {
        holderId: holder.memberId,
        subjectId,
        reason: 'the year',
        days: 9,
      })
      expect(await refused(endGrant(contextOf(db.prisma, holder, NOW), { id }))).toBe(ends)
      await endGrant(by, { id })
    }
  })
})
