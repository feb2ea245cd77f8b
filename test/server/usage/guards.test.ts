import { beforeAll, describe, expect, it } from 'vitest'
import { isRefusal } from '#server/db-refusal.ts'
import { makeFleetTotals } from '#server/features/usage/fleet.ts'
import { releaseQuarantine } from '#server/features/usage/quarantine.ts'
import { sweepUsage } from '#server/features/usage/sweep.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import { contextOf, makeMachine, makeOrganisation, random, type TestMachine } from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
let machine: TestMachine
let seriesId: number

beforeAll(async () => {
  const org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, org.ownerId)
  await takeUsage(contextOf(db.prisma, machine.actor), {
    usage: signUsage(machine, uploadOf(machine, 5, [dayOf('2026-11-01', [bucketOf()])])),
  })
  seriesId = (await db.prisma.usageSeries.findFirstOrThrow()).id
})

const refused = async (work: Promise<unknown>, name: string) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error, 'was taken').toBeDefined()
  expect(isRefusal(error, name), String(error)).toBe(true)
}
const bucket = (over: Record<string, unknown>) => {
  const row = {
    orgId: machine.org.id,
    day: '2026-11-02',
    machineId: machine.id,
    quarter: 1,
    seriesId,
    calls: 1,
    partial: 0,
    input: 1,
    cacheRead: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: 0,
    webSearches: 0,
    cost: 0,
    ...over,
  }
  const columns = Object.keys(row).map(name => `"${name}"`)
  return db.admin.query(
    `insert into "UsageBucket" (${columns.join(', ')}) values (${columns.map((_, i) => `$${i + 1}`).join(', ')})`,
    Object.values(row),
  )
}
const series = (column: string, value: string) =>
  db.admin.query(
    `insert into "UsageSeries" ("orgId", "machineId", "memberId", client, provider, model, long, covered, rate, tags, "tagsKey")
     select "orgId", "machineId", "memberId", ${['client', 'provider', 'model', 'long', 'covered', 'rate', 'tags']
       .map(name => (name === column ? '$2' : name))
       .join(', ')}, 'x' from "UsageSeries" where id = $1`,
    [seriesId, value],
  )

describe('the database refuses', () => {
  it.each([
    [{ quarter: 96 }, 'usage_bucket_quarter'],
    [{ calls: 0 }, 'usage_bucket_calls'],
    [{ calls: 10_000_001 }, 'usage_bucket_calls'],
    [{ partial: 2 }, 'usage_bucket_calls'],
    [{ input: -1 }, 'usage_bucket_tokens'],
    [{ cacheRead: 100_000_000_001 }, 'usage_bucket_tokens'],
    [{ cost: '-0.000000000001' }, 'usage_bucket_cost'],
  ])('a bucket with %j', (over, name) => refused(bucket(over), name))

  it.each([
    ['client', 'my-agent', 'usage_client_listed'],
    ['provider', 'somebody', 'usage_provider_listed'],
    ['model', 'the secret plan', 'usage_model_shape'],
    ['covered', 'maybe', 'usage_covered_listed'],
    ['rate', 'guess', 'usage_rate_listed'],
    ['tags', '{"project": "/home/dana"}', 'usage_tags_shape'],
    ['tags', '{"Project": "a"}', 'usage_tags_shape'],
    ['tags', '["a"]', 'usage_tags_shape'],
    ['tags', JSON.stringify(Object.fromEntries([...'abcdefghi'].map(key => [key, 'x']))), 'usage_tags_shape'],
  ])('usage whose %s is %s', (column, value, name) => refused(series(column, value), name))

  it('a series that changes or goes, a day that goes or gets a lower number', async () => {
    await refused(db.admin.query(`update "UsageSeries" set model = 'other'`), 'usage_series_stays')
    await refused(db.admin.query(`delete from "UsageSeries"`), 'usage_series_stays')
    await refused(db.admin.query(`delete from "UsageDay"`), 'usage_day_stays')
    await refused(db.admin.query(`update "UsageDay" set seq = seq - 1`), 'usage_day_rises')
    await refused(db.admin.query(`update "UsageDay" set cost = -1`), 'usage_day_figures')
  })

  it('usage of a machine under another organisation', async () => {
    const other = await makeOrganisation(db.prisma)
    await refused(
      db.admin.query(
        `insert into "UsageUpload" ("orgId", "machineId", seq, digest, "receivedAt", answer) values ($1, $2, 1, 'x', now(), '{}')`,
        [other.id, machine.id],
      ),
      'UsageUpload_machineId_orgId_fkey',
    )
  })

  it('a machine or organisation that is deleted while it has usage', async () => {
    await refused(db.admin.query(`delete from "Machine" where id = $1`, [machine.id]), 'fkey')
  })

  it('a zone that there is none of', () =>
    refused(db.admin.query(`update "Organisation" set "timeZone" = 'Mars/Olympus'`), 'organisation_time_zone'))

  it('a grant without a reason, without an end, or changed afterwards', async () => {
    const grant = (reason: string, until: string) =>
      db.admin.query(
        `insert into "FiguresGrant" (id, "orgId", "holderId", reason, "grantedById", "createdAt", "expiresAt")
         values ('fig_' || random(), $1, $2, $3, $2, now(), now() + $4::interval)`,
        [machine.org.id, machine.memberId, reason, until],
      )
    await refused(grant('  ', '1 day'), 'figures_grant_reason')
    await refused(grant('because', '400 days'), 'figures_grant_ends')
    await grant('because', '1 day')
    await refused(db.admin.query(`update "FiguresGrant" set reason = 'another'`), 'figures_grant_stays')
    await refused(db.admin.query(`delete from "FiguresGrant"`), 'figures_grant_stays')
  })
})

it('the application may not take usage away: neither what it is of nor a day’s figures', async () => {
  for (const table of ['UsageSeries', 'UsageDay', 'FiguresGrant'])
    await expect(db.pool.query(`delete from "${table}"`)).rejects.toThrow('permission denied')
  await expect(db.pool.query('create table mine (x int)')).rejects.toThrow('permission denied')
})

it('the job of the minute takes and adds up what it can: an organisation of which something fails keeps nobody waiting', async () => {
  const now = new Date('2026-12-20T12:00:00Z')
  const late = new Date('2026-12-10T12:00:00Z')
  const made = async () => {
    const of = await makeOrganisation(db.prisma)
    const its = await makeMachine(db.prisma, of, of.ownerId)
    const days = [dayOf('2026-12-09', [bucketOf()]), dayOf('2026-12-12', [bucketOf()], '2026-12-12T12:00:00.000Z')]
    await takeUsage(contextOf(db.prisma, its.actor, late), { usage: signUsage(its, uploadOf(its, 1, days)) })
    return of
  }
  // by name and by time before the others, whichever is looked at first
  const orgs = [await made(), await made(), await made()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const broken = orgs[0]!
  await db.prisma.usageQuarantine.updateMany({
    where: { orgId: broken.id },
    data: { releaseAt: new Date(late.getTime() + 1000) },
  })
  await db.admin.query(`
    create function broken() returns trigger language plpgsql as $$ begin
      if new."orgId" = '${broken.id}' then raise exception 'broken'; end if; return new; end $$;
    create trigger broken before insert on "UsageTotal" for each row execute function broken()`)
  const said: string[] = []
  const tell = (_: unknown, orgId: string) => said.push(orgId)
  const left = async (of: { id: string }) => [
    await db.prisma.usageQuarantine.count({ where: { orgId: of.id } }),
    await db.prisma.usageTotal.count({ where: { orgId: of.id, span: 'fleet-day' } }),
  ]
  try {
    await releaseQuarantine({ db: db.prisma, now, random }, tell)
    await makeFleetTotals(db.prisma, now, tell)
    expect(said).toEqual([broken.id, broken.id])
    expect(await Promise.all(orgs.map(left))).toEqual([
      [1, 0],
      [0, 2],
      [0, 2],
    ])
    await expect(releaseQuarantine({ db: db.prisma, now, random })).rejects.toThrow('broken')
    // the job itself says so in the log and goes on
    await sweepUsage(db.prisma, now, random)
  } finally {
    await db.admin.query('drop function broken cascade')
  }
  await sweepUsage(db.prisma, now, random)
  expect(await left(broken)).toEqual([0, 2])
})

describe('partitions', () => {
  const months = async () => {
    const { rows } = await db.admin.query(
      `select relname from pg_class where relispartition and relkind = 'r' order by 1`,
    )
    return rows.map(row => row.relname as string)
  }

  it('are there ahead of time, once, whoever makes them at once', async () => {
    const now = new Date('2026-12-31T23:59:00Z')
    await Promise.all(Array.from({ length: 8 }, () => sweepUsage(db.prisma, now, random)))
    expect(await months()).toEqual(expect.arrayContaining(['UsageBucket_202612', 'UsageBucket_202701']))
  })

  it('are made for whatever month an upload is of, and everything before there could be any has one', async () => {
    const days = ['2019-05-05', '2024-02-29'].map(day => dayOf(day, [bucketOf({}, day)]))
    await takeUsage(contextOf(db.prisma, machine.actor), { usage: signUsage(machine, uploadOf(machine, 6, days)) })
    const { rows } = await db.admin.query(
      `select tableoid::regclass::text as part from "UsageBucket" where day < '2026-01-01' order by day`,
    )
    expect(rows.map(row => row.part)).toEqual(['"UsageBucket_before"', '"UsageBucket_202402"'])
  })

  it('are not made far ahead', () =>
    refused(db.admin.query(`select usage_month((now() + interval '200 days')::date)`), 'usage_month_far_ahead'))
})
