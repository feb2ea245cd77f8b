import { beforeEach, describe, expect, it } from 'vitest'
import { isAppError } from '#core/error.ts'
import type { UsageDay } from '#core/usage/upload.ts'
import { releaseQuarantine } from '#server/features/usage/quarantine.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import {
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
const NOW = new Date('2026-11-29T12:00:00Z')
let org: TestOrganisation
let machine: TestMachine

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'))
})

const jws = (seq: number, days: UsageDay[], of = machine) => signUsage(of, uploadOf(of, seq, days))
const sendJws = (usage: string, of = machine, now = NOW) => takeUsage(contextOf(db.prisma, of.actor, now), { usage })
const send = (seq: number, days: UsageDay[], of = machine, now = NOW) => sendJws(jws(seq, days, of), of, now)
const refused = async (work: Promise<unknown>) => {
  try {
    await work
  } catch (error) {
    if (isAppError(error)) return { code: error.code, message: error.message, ...error.details }
    throw error
  }
  return 'taken'
}
const TABLES = [
  'UsageSeries',
  'UsageDay',
  'UsageBucket',
  'UsageTotal',
  'UsageQuarantine',
  'UsageUpload',
  'EvidenceEntry',
  'Ledger',
]
/** Everything that an upload could have written, as one text. */
async function snapshot(orgId = org.id): Promise<Record<string, string>> {
  const all: Record<string, string> = {}
  for (const table of TABLES) {
    const { rows } = await db.admin.query(
      `select coalesce(string_agg(t::text, '|' order by t::text), '') as text from "${table}" t where "orgId" = $1`,
      [orgId],
    )
    all[table] = rows[0].text
  }
  const { rows } = await db.admin.query(`select id, "usageSeq" from "Machine" where "orgId" = $1 order by id`, [orgId])
  return { ...all, seqs: JSON.stringify(rows) }
}
const sum = async (of: TestOrganisation | TestMachine) => {
  const [row] = (
    await db.admin.query(
      `select coalesce(sum(cost), 0)::float as cost, count(*)::int as rows, coalesce(sum(calls), 0)::int as calls from "UsageBucket" where "orgId" = $1 or "machineId" = $1`,
      [of.id],
    )
  ).rows
  return row as { cost: number; rows: number; calls: number }
}
async function told(orgId = org.id) {
  const entries = await db.prisma.evidenceEntry.findMany({
    where: { orgId, kind: { startsWith: 'usage.' } },
    orderBy: { seq: 'asc' },
  })
  return entries.map(({ kind, bytes }) => ({ kind, ...(JSON.parse(Buffer.from(bytes).toString()).data as object) }))
}

describe('order', () => {
  it('a day is replaced whole: what the newer upload leaves out is gone, nothing is counted twice', async () => {
    const both = dayOf('2026-11-01', [bucketOf({ quarter: 1 }), bucketOf({ quarter: 2 })])
    expect(await send(1, [both])).toEqual({ seq: 1, days: [{ day: '2026-11-01', state: 'taken', cost: '6' }] })
    const other = dayOf('2026-11-01', [bucketOf({ quarter: 2 }), bucketOf({ quarter: 3 }), bucketOf({ quarter: 4 })])
    expect((await send(2, [other])).days).toEqual([{ day: '2026-11-01', state: 'taken', cost: '9' }])
    expect(await sum(org)).toMatchObject({ cost: 9, rows: 3, calls: 3 })
    const quarters = await db.prisma.usageBucket.findMany({ where: { orgId: org.id }, orderBy: { quarter: 'asc' } })
    expect(quarters.map(row => row.quarter)).toEqual([2, 3, 4])
  })

  it('the same bytes again have the same answer and change nothing, also after later uploads', async () => {
    const first = jws(1, [dayOf('2026-11-01', [bucketOf()])])
    const answer = await sendJws(first)
    const after = await snapshot()
    expect(await sendJws(first)).toEqual(answer)
    expect(await snapshot()).toEqual(after)
    await send(2, [dayOf('2026-11-01', [bucketOf({ quarter: 7 })])])
    const later = await snapshot()
    expect(await sendJws(first)).toEqual(answer)
    expect(await snapshot()).toEqual(later)
  })

  it('a number that was used with other bytes is a conflict that names the highest number', async () => {
    await send(4, [dayOf('2026-11-01', [bucketOf()])])
    const before = await snapshot()
    expect(await refused(send(4, [dayOf('2026-11-01', [bucketOf({ calls: 2 })])]))).toMatchObject({
      code: 'CONFLICT',
      why: 'sequence_used',
      seq: 4,
    })
    expect(await snapshot()).toEqual(before)
  })

  it('an upload that comes late is stale for days that a later one named, and taken for the others', async () => {
    await send(5, [dayOf('2026-11-02', [bucketOf({ calls: 5 })])])
    const late = await send(4, [
      dayOf('2026-11-01', [bucketOf()]),
      dayOf('2026-11-02', [bucketOf({ calls: 4, tokens: { input: 10 } })]),
    ])
    expect(late.days.map(day => day.state)).toEqual(['taken', 'stale'])
    expect(late.days[1]!.cost).toBe('3')
    expect(await sum(org)).toMatchObject({ calls: 6 })
    expect(await db.prisma.machine.findUnique({ where: { id: machine.id } })).toMatchObject({ usageSeq: 5 })
  })

  it('the same content under a new number is unchanged, and an older number is stale from then on', async () => {
    const day = dayOf('2026-11-01', [bucketOf()])
    await send(1, [day])
    expect((await send(9, [{ ...day, computedAt: '2026-11-02T05:00:00.000Z' }])).days[0]!.state).toBe('unchanged')
    expect((await send(8, [dayOf('2026-11-01', [bucketOf({ calls: 7 })])])).days[0]!.state).toBe('stale')
    expect(await sum(org)).toMatchObject({ calls: 1 })
  })

  it('fifty uploads of one day at once leave one row set, and none of them fails', async () => {
    const day = dayOf('2026-11-01', [bucketOf({ quarter: 1 }), bucketOf({ quarter: 2 })])
    const same = jws(1, [day])
    const answers = await Promise.all(Array.from({ length: 50 }, () => sendJws(same)))
    for (const answer of answers)
      expect(answer).toEqual({ seq: 1, days: [{ day: '2026-11-01', state: 'taken', cost: '6' }] })
    expect(await sum(org)).toMatchObject({ cost: 6, rows: 2 })
    expect(await db.prisma.usageUpload.count({ where: { machineId: machine.id } })).toBe(1)
  })

  it('two uploads of one machine at once: the higher number stands, whichever came first', async () => {
    for (let round = 0; round < 10; round++) {
      const seq = 2 * round + 1
      const [low, high] = [3, 5].map(calls => dayOf('2026-11-01', [bucketOf({ calls, quarter: round })]))
      await Promise.all([send(seq, [low!]), send(seq + 1, [high!])])
      expect(await sum(org)).toMatchObject({ calls: 5, rows: 1 })
    }
  })
})

describe('prices', () => {
  it('a machine that says nothing was spent is priced from its tokens, and the difference is noted', async () => {
    const day = dayOf('2026-11-01', [bucketOf({ cost: '0' }), bucketOf({ quarter: 41 })])
    expect((await send(1, [day])).days[0]!.cost).toBe('6')
    expect(await db.prisma.usageDay.findFirst({ where: { orgId: org.id } })).toMatchObject({ differing: 1, buckets: 2 })
    const { rows } = await db.admin.query(
      `select cost::float, "machineCost"::float from "UsageDay" where "orgId" = $1`,
      [org.id],
    )
    expect(rows).toEqual([{ cost: 6, machineCost: 3 }])
  })

  it('what is kept is the exact price, however large it is, and again when the day comes anew', async () => {
    const stored = async () =>
      (await db.prisma.usageBucket.findMany({ where: { orgId: org.id }, orderBy: { quarter: 'asc' } })).map(
        ({ cost }) => cost.toFixed(12),
      )
    const buckets = [
      bucketOf({ tokens: { cacheRead: 1 } }),
      bucketOf({ quarter: 41, tokens: { input: 7_000_001, cacheRead: 1 } }),
      bucketOf({ quarter: 42, tokens: { output: 1 } }),
    ]
    for (const seq of [1, 2]) {
      const exact = ['0.000000300000', '21.000003300000', '0.000015000000']
      expect((await send(seq, [dayOf('2026-11-01', buckets.slice(0, seq + 1))])).days[0]!.cost).toBe(
        ['21.0000036', '21.0000186'][seq - 1],
      )
      expect(await stored()).toEqual(exact.slice(0, seq + 1))
    }
  })

  it('what the machine priced apart and is of one price here is added up', async () => {
    const apart = [bucketOf({ rate: 'card' }), bucketOf({ rate: 'override', calls: 2, partial: 1 })]
    expect((await send(1, [dayOf('2026-11-01', apart)])).days[0]!.cost).toBe('6')
    const [row, ...others] = await db.prisma.usageBucket.findMany({ where: { orgId: org.id } })
    expect([row!.calls, row!.partial, row!.input, Number(row!.cost), others]).toEqual([3, 1, 2_000_000n, 6, []])
  })

  it('a kind of price that the machine made up is not believed: an unknown model is a bound, whatever it says', async () => {
    await send(1, [dayOf('2026-11-01', [bucketOf({ model: 'claude-opus-4.1', rate: 'card', cost: '0' })])])
    const [series] = await db.prisma.usageSeries.findMany({ where: { orgId: org.id } })
    expect(series).toMatchObject({ rate: 'fallback', model: 'claude-opus-4.1' })
    expect((await sum(org)).cost).toBeGreaterThan(0)
  })
})

describe('what is less than before', () => {
  it('a lowered day is told with old and new, a grown one is not', async () => {
    await send(1, [dayOf('2026-11-01', [bucketOf({ calls: 3 }), bucketOf({ quarter: 41 })])])
    await send(2, [dayOf('2026-11-01', [bucketOf({ calls: 3 }), bucketOf({ quarter: 41 }), bucketOf({ quarter: 42 })])])
    expect(await told()).toEqual([])
    await send(3, [dayOf('2026-11-01', [bucketOf({ calls: 3, tokens: { input: 500_000 } })])])
    expect(await told()).toEqual([
      { kind: 'usage.lowered', day: '2026-11-01', old: '9', new: '1.5', oldCalls: 5, newCalls: 3 },
    ])
  })

  it('a day without a bucket lowers to nothing and says so', async () => {
    await send(1, [dayOf('2026-11-01', [bucketOf()])])
    await send(2, [dayOf('2026-11-01', [])])
    expect(await told()).toMatchObject([{ kind: 'usage.lowered', old: '3', new: '0' }])
    expect(await sum(org)).toMatchObject({ rows: 0 })
  })

  it('the same tokens under a cheaper model are a lowered day', async () => {
    await send(1, [dayOf('2026-11-01', [bucketOf({ model: 'claude-opus-4-1' })])])
    await send(2, [dayOf('2026-11-01', [bucketOf({ model: 'claude-haiku-4-5' })])])
    expect(await told()).toMatchObject([{ kind: 'usage.lowered', old: '15', new: '1' }])
  })
})

describe('clocks ahead', () => {
  const then = new Date('2027-01-29T12:00:00Z')

  it('a clock months ahead is kept apart, counted nowhere, and taken when its time has come', async () => {
    const ahead = dayOf('2027-01-29', [bucketOf()], '2027-01-29T12:00:00.000Z')
    expect((await send(1, [ahead])).days).toEqual([{ day: '2027-01-29', state: 'quarantined', cost: '0' }])
    expect(await sum(org)).toMatchObject({ rows: 0 })
    expect(await told()).toEqual([{ kind: 'usage.quarantined', day: '2027-01-29', seq: 1 }])
    const releasing = { db: db.prisma, random }
    await releaseQuarantine({ ...releasing, now: NOW })
    expect(await sum(org)).toMatchObject({ rows: 0 })
    await releaseQuarantine({ ...releasing, now: then })
    await releaseQuarantine({ ...releasing, now: then })
    expect(await sum(org)).toMatchObject({ rows: 1, cost: 3 })
    expect(await db.prisma.usageQuarantine.count({ where: { orgId: org.id } })).toBe(0)
  })

  it('ten minutes ahead are taken, a minute more is not', async () => {
    const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000).toISOString()
    expect((await send(1, [dayOf('2026-11-01', [bucketOf()], at(10))])).days[0]!.state).toBe('taken')
    expect((await send(2, [dayOf('2026-11-01', [bucketOf({ calls: 9 })], at(11))])).days[0]!.state).toBe('quarantined')
    expect(await sum(org)).toMatchObject({ calls: 1 })
  })

  it('a quarter hour of today that has not begun is ahead too', async () => {
    const computedAt = NOW.toISOString()
    expect((await send(1, [dayOf('2026-11-29', [bucketOf({ quarter: 95 })], computedAt)])).days[0]!.state).toBe(
      'quarantined',
    )
    expect((await send(2, [dayOf('2026-11-29', [bucketOf({ quarter: 47 })], computedAt)])).days[0]!.state).toBe('taken')
    expect(await db.prisma.usageQuarantine.count({ where: { orgId: org.id } })).toBe(0)
  })

  it('an upload that comes late is stale too for a day of which a later one is kept apart', async () => {
    await send(9, [dayOf('2026-11-20', [bucketOf({ calls: 9 })], '2027-01-20T12:00:00.000Z')])
    expect((await send(8, [dayOf('2026-11-20', [bucketOf({ calls: 8 })])])).days[0]!.state).toBe('stale')
    expect(await sum(org)).toMatchObject({ rows: 0 })
    await releaseQuarantine({ db: db.prisma, random, now: then })
    expect(await sum(org)).toMatchObject({ calls: 9 })
  })

  it('days ahead are kept up to a number that is told; those that wait already may always come again', async () => {
    const day = (n: number) => new Date(Date.parse('2027-01-01') + n * 86_400_000).toISOString().slice(0, 10)
    const days = (from: number, to: number, calls = 1) =>
      Array.from({ length: to - from }, (_, i) => dayOf(day(from + i), [bucketOf({ calls })]))
    await send(1, days(0, 1))
    const row = await db.prisma.usageQuarantine.findFirstOrThrow({ where: { orgId: org.id } })
    await db.prisma.usageQuarantine.createMany({
      data: days(1, 400).map(content => {
        const at = new Date(content.day)
        return { ...row, day: at, releaseAt: at, content }
      }),
    })
    expect(await refused(send(11, days(400, 401)))).toMatchObject({ code: 'TOO_LARGE' })
    expect(await refused(send(12, days(399, 401)))).toMatchObject({ code: 'TOO_LARGE' })
    expect((await send(13, days(360, 400, 2))).days.map(({ state }) => state)).toEqual(Array(40).fill('quarantined'))
    const kept = await db.prisma.usageQuarantine.aggregate({
      where: { orgId: org.id },
      _count: true,
      _sum: { calls: true },
    })
    expect(kept).toEqual({ _count: 400, _sum: { calls: 440n } })
    // what is not ahead is not kept back by it
    expect((await send(14, [dayOf('2026-11-01', [bucketOf()])])).days[0]!.state).toBe('taken')
    await db.prisma.usageQuarantine.deleteMany({ where: { orgId: org.id } })
  })

  it('what the machine sends again with a right clock stands over what is kept apart', async () => {
    await send(1, [dayOf('2026-11-20', [bucketOf({ calls: 9 })], '2027-01-20T12:00:00.000Z')])
    await send(2, [dayOf('2026-11-20', [bucketOf({ calls: 2 })])])
    await releaseQuarantine({ db: db.prisma, random, now: then })
    expect(await sum(org)).toMatchObject({ calls: 2 })
  })
})

describe('what is not taken', () => {
  const good = () => uploadOf(machine, 1, [dayOf('2026-11-01', [bucketOf()])])
  const bad: [string, (string | number)[], unknown][] = [
    ['a field that nobody knows', ['note'], 'x'],
    ['a field that nobody knows in a bucket', ['days', 0, 'buckets', 0, 'prompt'], 'x'],
    ['a negative count', ['days', 0, 'buckets', 0, 'tokens', 'input'], -1],
    ['an absurd count', ['days', 0, 'buckets', 0, 'tokens', 'input'], 1e12],
    ['a quarter that no day has', ['days', 0, 'buckets', 0, 'quarter'], 96],
    ['a client of no list', ['days', 0, 'buckets', 0, 'client'], 'my-agent'],
    ['a model that is a sentence', ['days', 0, 'buckets', 0, 'model'], 'the secret plan'],
    ['a tag that is a path', ['days', 0, 'buckets', 0, 'tags'], { project: '/home/dana/secret' }],
    ['a day twice', ['days', 1], dayOf('2026-11-01', [])],
    ['calls of nothing', ['days', 0, 'buckets', 0, 'calls'], 0],
  ]
  it.each(bad)('%s', async (_, path, value) => {
    const upload = structuredClone(good())
    const place = path.slice(0, -1).reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], upload)
    ;(place as Record<string, unknown>)[path.at(-1)!] = value
    expect(await refused(sendJws(signUsage(machine, upload)))).toMatchObject({ code: 'BAD_INPUT' })
    expect(await db.prisma.usageUpload.count({ where: { orgId: org.id } })).toBe(0)
  })

  it('uploads of another machine, of another organisation, and of a key that is not the machine’s', async () => {
    const other = await makeMachine(db.prisma, org, machine.memberId, 'other')
    const elsewhere = await makeOrganisation(db.prisma)
    const theirs = await makeMachine(db.prisma, elsewhere, elsewhere.ownerId)
    const day = [dayOf('2026-11-01', [bucketOf()])]
    expect(await refused(sendJws(signUsage(machine, uploadOf(other, 1, day))))).toMatchObject({ code: 'FORBIDDEN' })
    expect(await refused(sendJws(signUsage(machine, uploadOf(theirs, 1, day))))).toMatchObject({ code: 'FORBIDDEN' })
    expect(await refused(sendJws(jws(1, day, other)))).toMatchObject({ code: 'BAD_SIGNATURE' })
    const misnamed = { ...uploadOf(machine, 1, day), org: elsewhere.id }
    expect(await refused(sendJws(signUsage(machine, misnamed)))).toMatchObject({ code: 'FORBIDDEN' })
  })

  it('uploads of a machine that left or was revoked; what it reported stays', async () => {
    await send(1, [dayOf('2026-11-01', [bucketOf()])])
    await db.prisma.machine.update({ where: { id: machine.id }, data: { revokedAt: NOW } })
    expect(await refused(send(2, [dayOf('2026-11-02', [bucketOf()])]))).toMatchObject({ code: 'NOT_SIGNED_IN' })
    expect(await sum(org)).toMatchObject({ cost: 3 })
  })

  it('a client that retries forever is told to wait, others are not', async () => {
    const usage = jws(1, [dayOf('2026-11-01', [bucketOf()])])
    for (let i = 0; i < 120; i++) await sendJws(usage)
    expect(await refused(sendJws(usage))).toMatchObject({ code: 'RATE_LIMITED', why: 'too_many' })
    const other = await makeMachine(db.prisma, org, machine.memberId, 'other')
    expect((await send(1, [dayOf('2026-11-01', [bucketOf()])], other)).days[0]!.state).toBe('taken')
    expect((await sendJws(usage, machine, new Date(NOW.getTime() + 600_000))).seq).toBe(1)
  })
})

describe('whole or not at all', () => {
  const steps: [string, string][] = [
    ['series', 'insert on "UsageSeries"'],
    ['buckets', 'insert on "UsageBucket"'],
    ['totals', 'insert on "UsageTotal"'],
    ['the day', 'insert or update on "UsageDay"'],
    ['the quarantine', 'insert on "UsageQuarantine"'],
    ['the upload', 'insert on "UsageUpload"'],
    ['the machine', 'update on "Machine"'],
    ['the entry of the ledger', 'insert on "EvidenceEntry"'],
    ['the ledger’s row', 'update on "Ledger"'],
  ]
  it.each(steps)(
    'an error of the database at %s leaves nothing, and the upload is taken when it comes again',
    async (_, at) => {
      await send(1, [dayOf('2026-11-01', [bucketOf({ calls: 9 })])])
      const before = await snapshot()
      const usage = jws(2, [
        dayOf('2026-11-01', [bucketOf({ tags: { project: 'billing' } })]),
        dayOf('2026-11-02', [bucketOf()]),
        dayOf('2028-01-01', [bucketOf()]),
      ])
      await db.admin.query(
        `create function broken() returns trigger language plpgsql as $$ begin raise exception 'disk full'; end $$;
       create trigger broken before ${at} for each row execute function broken()`,
      )
      try {
        await expect(sendJws(usage)).rejects.toThrow()
        expect(await snapshot()).toEqual(before)
      } finally {
        await db.admin.query('drop function broken cascade')
      }
      expect((await sendJws(usage)).days.map(day => day.state)).toEqual(['taken', 'taken', 'quarantined'])
      expect(await sum(org)).toMatchObject({ cost: 6, rows: 2 })
      expect((await told()).map(entry => entry.kind)).toEqual(['usage.quarantined', 'usage.lowered'])
    },
  )
})

it('two organisations, two machines, the same numbers, days and buckets: each counts its own', async () => {
  const elsewhere = await makeOrganisation(db.prisma)
  const theirs = await makeMachine(db.prisma, elsewhere, elsewhere.ownerId)
  const second = await makeMachine(db.prisma, org, machine.memberId, 'second')
  const day = dayOf('2026-11-01', [bucketOf()])
  for (const of of [machine, second, theirs]) await send(1, [day], of)
  expect(await sum(org)).toMatchObject({ cost: 6, rows: 2 })
  expect(await sum(elsewhere)).toMatchObject({ cost: 3, rows: 1 })
  expect(await sum(machine)).toMatchObject({ cost: 3, rows: 1 })
})
