import { beforeAll, describe, expect, it } from 'vitest'
import type { MemberActor, TokenActor } from '#core/actor.ts'
import { readCsv } from '#core/csv.ts'
import { parseDecimal } from '#core/decimal.ts'
import { FOCUS_COLUMNS, FOCUS_NOT_NULL, focusJson } from '#core/focus.ts'
import * as programs from '#server/api/program-doors.ts'
import { makeApiToken } from '#server/features/api-token.ts'
import { focusExport, readRange } from '#server/features/spend/focus-export.ts'
import { sumsOfDay } from '#server/features/spend/focus-usage.ts'
import { type Report, spendReport } from '#server/features/spend/report.ts'
import { setStatements } from '#server/features/statement/arrange.ts'
import { repriceUsage } from '#server/features/usage/reprice.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { changeTimeZone, rebuildTotals } from '#server/features/usage/zone.ts'
import { ask, refusal } from '#test/support/connector.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  serverEnvironment,
  type TestMachine,
  type TestOrganisation,
} from '#test/support/makers.ts'
import { openBooks, spent } from '#test/support/statements.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '#test/support/usage.ts'

/** What the FOCUS file says is what the page says, in the stored grain, however it is read. */
const db = useDatabase()
const NOW = new Date('2026-11-29T12:00:00Z')
const NOVEMBER = { from: '2026-11-01', to: '2026-12-01' }
let org: TestOrganisation
let owner: MemberActor
let token: string
let machines: TestMachine[]

beforeAll(async () => {
  serverEnvironment()
  org = await makeOrganisation(db.prisma)
  owner = actorOf(org, org.ownerId, 'owner')
  const kim = await makeMember(db.prisma, org, 'member', 'Kim Secret')
  token = (await makeApiToken(contextOf(db.prisma, owner), { name: 'BI', scopes: ['spend.read'] })).token
  await db.prisma.tenant.create({
    data: { id: 'ten_focus', orgId: org.id, key: 'acme', name: '=Acme, "Ltd"', contactEmail: 'a@acme.test' },
  })
  machines = [
    await makeMachine(db.prisma, org, org.ownerId, 'first'),
    await makeMachine(db.prisma, org, kim, 'kims-laptop'),
  ]
  const days = (of: number) =>
    ['2026-10-31', '2026-11-01', '2026-11-15', '2026-11-28'].map((day, i) =>
      dayOf(day, [
        // late in the day, so that another zone has it on another date
        bucketOf(
          { quarter: 94, tags: { tenant: 'acme', project: 'web' }, tokens: { input: 1001 + of, cacheRead: 7 } },
          day,
        ),
        bucketOf({ quarter: 94, covered: 'plan', tags: { tenant: 'acme' }, tokens: { output: 333 + i } }, day),
        bucketOf({ quarter: 12, covered: 'unknown', client: 'codex', tokens: { input: 5, cacheWrite1h: 99 } }, day),
        bucketOf({ quarter: 13, model: 'nobody-knows-it', tokens: { input: 12_345, webSearches: 2 } }, day),
        bucketOf({ quarter: 12, long: true, model: 'claude-opus-4-6', tokens: { input: 300_000 } }, day),
      ]),
    )
  for (const [i, machine] of machines.entries())
    await takeUsage(contextOf(db.prisma, machine.actor, NOW), {
      usage: signUsage(machine, uploadOf(machine, 1, days(i))),
    })
})

type Row = ReturnType<typeof focusJson>
const ctx = () => contextOf(db.prisma, owner, NOW)
async function rowsOf(range = NOVEMBER): Promise<Row[]> {
  const rows: Row[] = []
  for await (const row of (await focusExport(ctx(), range)).rows) rows.push(focusJson(row))
  return rows
}
/** Costs have eighteen places. */
const sum = (rows: readonly Row[], column: 'BilledCost' | 'ContractedCost' | 'x_UpperBoundCost') =>
  rows.reduce((total, row) => total + (row[column] === null ? 0n : parseDecimal(String(row[column]), 18)!), 0n)
const atto = (...amounts: string[]) => amounts.reduce((total, text) => total + parseDecimal(text, 18)!, 0n)
const pageTotal = (period = NOVEMBER): Promise<Report['total']> =>
  spendReport(ctx(), { ...period, by: 'tenant' }).then(report => report.total)
/** In dollars, and apart what has no price: exactly what the page says. */
async function expectPage(period = NOVEMBER) {
  const [rows, { priced, bound }] = [await rowsOf(period), await pageTotal(period)]
  expect(sum(rows, 'ContractedCost')).toBe(atto(priced.plan, priced.metered, priced.unknown))
  expect(sum(rows, 'BilledCost')).toBe(atto(priced.metered))
  expect(sum(rows, 'x_UpperBoundCost')).toBe(atto(bound.plan, bound.metered, bound.unknown))
  expect(rows.length).toBeGreaterThan(10)
  return rows
}

describe('the sum of the costs', () => {
  it('is the page’s total and the ledger’s: what is priced, what is billed, and at most what has no price', async () => {
    const rows = await expectPage()
    const { rows: ledger } = await db.admin.query(
      `select coalesce(sum(cost), 0)::text as cost from "UsageBucket" where "orgId" = $1 and day >= '2026-11-01' and day < '2026-12-01'`,
      [org.id],
    )
    expect(sum(rows, 'ContractedCost') + sum(rows, 'x_UpperBoundCost')).toBe(atto(ledger[0].cost))
  })

  it('is the same by totals and by buckets, whatever clock the organisation goes by', async () => {
    const before = await rowsOf()
    await changeTimeZone(ctx(), { timeZone: 'Asia/Tokyo' })
    expect(await rowsOf()).toEqual(before)
    await rebuildTotals(db.prisma, org.id)
    expect((await db.prisma.organisation.findUniqueOrThrow({ where: { id: org.id } })).timeZone).toBe('Asia/Tokyo')
    try {
      expect(await rowsOf()).toEqual(before)
      // days are UTC days, the page's are Tokyo's: over all of it they are one total
      await expectPage({ from: '2026-10-01', to: '2026-12-02' })
    } finally {
      await changeTimeZone(ctx(), { timeZone: 'UTC' })
      await rebuildTotals(db.prisma, org.id)
    }
    expect(await rowsOf()).toEqual(before)
  })

  it('stays with prices of one’s own, also of a day that two machines sent under different ones, and with repricing', async () => {
    const other = await makeOrganisation(db.prisma)
    const here = contextOf(db.prisma, actorOf(other, other.ownerId, 'owner'))
    const [day, next] = [0, 1].map(n => new Date(here.now.getTime() + n * 24 * 3600_000).toISOString().slice(0, 10))
    const today = { from: day!, to: next! }
    const send = async () => {
      const machine = await makeMachine(db.prisma, other, other.ownerId)
      const usage = dayOf(day!, [bucketOf({ quarter: 0 }, day)], `${day}T00:00:00.000Z`)
      await takeUsage(contextOf(db.prisma, machine.actor), { usage: signUsage(machine, uploadOf(machine, 1, [usage])) })
    }
    const read = async () => {
      const rows: Row[] = []
      for await (const row of (await focusExport(here, today)).rows) rows.push(focusJson(row))
      const { total } = await spendReport(here, { ...today, by: 'model' })
      expect(sum(rows, 'ContractedCost')).toBe(atto(total.priced.metered))
      return rows.map(row => [row.x_RuleVersion, row.ConsumedQuantity, row.ContractedUnitPrice, row.ListUnitPrice])
    }
    await send()
    const rates =
      'rates:\n  - { model: claude-sonnet-4-5, provider: anthropic, from: 2026-01-01, input: "2", output: "7" }\n'
    const { version } = await publish(db.prisma, other, `boundaries: []\n${rates}`)
    await send()
    expect(await read()).toEqual([
      [0, '1000000', '3', '3'],
      [version, '1000000', '2', '3'],
    ])
    await repriceUsage(here, { from: day!, to: day! })
    expect(await read()).toEqual([[version, '2000000', '2', '3']])
  })
})

describe('rows', () => {
  it('are of the stored grain: a day, model, meter and set of tags, machines and people together and never named', async () => {
    const rows = await rowsOf()
    const keys = rows.map(row =>
      JSON.stringify([row.ChargePeriodStart, row.ServiceName, row.SkuId, row.Tags, row.x_Covered, row.x_PricingBasis]),
    )
    expect(new Set(keys).size).toBe(keys.length)
    const input = rows.find(
      row =>
        row.ChargePeriodStart === '2026-11-01T00:00:00Z' &&
        row.SkuId === 'anthropic/claude-sonnet-4-5/input' &&
        row.x_Covered === 'metered',
    )!
    expect(input).toMatchObject({
      ConsumedQuantity: String(1001 + 1002),
      SubAccountId: 'acme',
      SubAccountName: '=Acme, "Ltd"',
    })
    const text = JSON.stringify(rows)
    for (const name of ['Kim Secret', 'kims-laptop', ...machines.flatMap(({ id, memberId }) => [id, memberId])])
      expect(text).not.toContain(name)
  })

  it('have every column, those that are never null are not, and a tenant has a key and a name or neither', async () => {
    for (const row of await rowsOf()) {
      expect(Object.keys(row)).toEqual([...FOCUS_COLUMNS])
      for (const column of FOCUS_NOT_NULL) expect(row[column], column).not.toBeNull()
      expect(row.SubAccountId === null).toBe(row.SubAccountName === null)
    }
  })

  it('come in pages that leave nothing out and bring nothing twice, whatever their size', async () => {
    const whole = []
    for await (const page of sumsOfDay(db.prisma, org.id, '2026-11-01')) whole.push(...page)
    expect(whole.length).toBeGreaterThan(4)
    for (const page of [1, 2, 3]) {
      const read = []
      for await (const part of sumsOfDay(db.prisma, org.id, '2026-11-01', { page })) {
        expect(part.length).toBeLessThanOrEqual(page)
        read.push(...part)
      }
      expect(read).toEqual(whole)
    }
  })
})

describe('the door of programs', () => {
  const get = (query: string, headers = {}) => ask(programs.getFocus, { token, query, headers })

  it('gives the same rows as CSV and as lines of JSON', async () => {
    const wanted = await rowsOf()
    const lines = (await (await get('?month=2026-11&format=jsonl')).text()).trimEnd().split('\n')
    expect(lines.map(line => JSON.parse(line))).toEqual(wanted)
    const response = await get('?month=2026-11')
    expect(response.headers.get('content-type')).toMatch(/^text\/csv/)
    expect(response.headers.get('content-disposition')).toContain(`${org.slug}-focus-2026-11.csv`)
    const read = readCsv(await response.text())
    if (!('rows' in read)) throw new Error(read.message)
    const [head, ...cells] = read.rows.map(row => row.cells)
    expect(head).toEqual([...FOCUS_COLUMNS])
    const guarded = (value: string | number | null) =>
      typeof value === 'string' && value.startsWith('=') ? `'${value}` : String(value ?? '')
    expect(cells).toEqual(wanted.map(row => FOCUS_COLUMNS.map(column => guarded(row[column]))))
  })

  it('answers 304 to who has it already, and a whole file as soon as anything of it changed', async () => {
    const etag = (await get('?month=2026-10')).headers.get('etag')!
    const again = () => get('?month=2026-10', { 'if-none-match': `"x", W/${etag}` })
    expect([(await again()).status, await (await again()).text()]).toEqual([304, ''])
    await db.prisma.tenant.update({ where: { id: 'ten_focus' }, data: { name: 'Acme Inc' } })
    expect((await again()).status).toBe(200)
    await db.prisma.tenant.update({ where: { id: 'ten_focus' }, data: { name: '=Acme, "Ltd"' } })
    expect((await again()).status).toBe(304)
    const [machine] = machines
    await takeUsage(contextOf(db.prisma, machine!.actor, NOW), {
      usage: signUsage(machine!, uploadOf(machine!, 2, [dayOf('2026-10-31', [bucketOf()])])),
    })
    expect((await again()).status).toBe(200)
    expect((await get('?month=2026-10&format=jsonl', { 'if-none-match': etag })).status).toBe(200)
  })

  it.each([
    ['', 400],
    ['?month=2026-13', 400],
    ['?month=2026-11&from=2026-11-01', 400],
    ['?from=2026-11-01', 400],
    ['?from=2026-11-31&to=2026-12-01', 400],
    ['?from=2026-11-02&to=2026-11-02', 400],
    ['?from=2024-01-01&to=2026-01-01', 413],
    ['?month=2026-11&month=2026-10', 400],
    ['?month=2026-11&format=xml', 400],
    ['?month=2026-11&mnoth=2026-10', 400],
    ['?month=2026-11%00', 400],
  ])('refuses %s with %i, before anything is read', async (query, status) => {
    expect((await refusal(await get(query))).status).toBe(status)
  })

  it('a file that cannot be read to its end breaks off: no part of it passes for the whole', async () => {
    const response = await get('?month=2026-11')
    expect(response.status).toBe(200)
    await db.admin.query('alter table "UsageSeries" rename to "UsageSeriesAway"')
    try {
      await expect(response.text()).rejects.toThrow()
    } finally {
      await db.admin.query('alter table "UsageSeriesAway" rename to "UsageSeries"')
    }
  })

  it('reads no further than it is read', async () => {
    const response = await get('?month=2026-11')
    const reader = response.body!.getReader()
    expect((await reader.read()).value!.length).toBeGreaterThan(100)
    await reader.cancel()
    expect((await reader.read()).done).toBe(true)
  })
})

describe('the report for programs', () => {
  const get = (query: string, headers = {}) => ask(programs.getSpend, { token, query, headers })

  it('is the page’s report, with money as text, and the page’s file', async () => {
    const report = (await (await get(`?from=2026-11-01&to=2026-12-01&by=project`)).json()) as Report & { org: string }
    expect(report).toMatchObject({ v: 1, org: org.slug, currency: 'USD', by: 'project', zone: 'UTC' })
    expect(report.total).toEqual(await pageTotal())
    const csv = await (await get(`?from=2026-11-01&to=2026-12-01&by=project&format=csv`)).text()
    expect(csv.split('\r\n')[0]).toContain('priced_metered_usd')
    expect(csv).toContain(`,web,`)
  })

  it('opens nobody’s own figures: people and their machines stand together, and cannot be asked for', async () => {
    for (const by of ['member', 'machine']) {
      const { rows, total } = (await (await get(`?by=${by}`)).json()) as Report
      expect(rows.map(row => row.value)).toEqual(['withheld'])
      expect(rows[0]!.total).toEqual(total)
    }
    expect((await get(`?by=tenant&filter=member:${org.ownerId}`)).status).toBe(403)
    expect((await get(`?by=tenant&filter=machine:${machines[0]!.id}`)).status).toBe(200)
    const narrowed = (await (await get(`?by=tenant&filter=machine:${machines[0]!.id}`)).json()) as Report
    expect(narrowed.total.calls).toBe(0)
  })

  it('is not sent again to who has it', async () => {
    const etag = (await get('?by=tenant')).headers.get('etag')!
    expect((await get('?by=tenant', { 'if-none-match': etag })).status).toBe(304)
    expect((await get('?by=project', { 'if-none-match': etag })).status).toBe(200)
  })

  it.each([
    '?filter=x',
    '?by=day',
    '?by=tennant',
    '?filter=teem:core',
    '?step=second',
    '?basis=free',
    '?groupby=model',
    '?from=yesterday',
    '?format=xml',
  ])('refuses %s', async query => {
    expect((await refusal(await get(query))).status).toBe(400)
  })
})

it('a range is a month, or days with the last not in it', () => {
  expect(readRange({ month: '2026-12' })).toEqual({ from: '2026-12-01', to: '2027-01-01' })
  expect(readRange({ from: '2024-01-01', to: '2025-01-01' })).toEqual({ from: '2024-01-01', to: '2025-01-01' })
})

it('a program has no organisation but its own', async () => {
  const other = await makeOrganisation(db.prisma)
  const actor: TokenActor = { kind: 'token', tokenId: 'tok_x', orgId: other.id, orgSlug: other.slug }
  const rows = []
  for await (const row of (await focusExport({ ...contextOf(db.prisma, owner), actor }, NOVEMBER)).rows) rows.push(row)
  expect(rows).toEqual([])
})

describe('months that are closed', () => {
  it('are as they were billed where that is asked for, and what changed since is a correction of the month it was billed in', async () => {
    const books = await openBooks(db.prisma, new Date('2026-11-03T12:00:00Z'))
    await setStatements(books.ctx(), { basis: 'billed', firstMonth: null })
    await books.send({ '2026-10-05': [spent('2026-10-05', 'acme', 3)] })
    await books.close('acme', '2026-10')
    await books.send({ '2026-10-06': [spent('2026-10-06', 'acme', 1)], '2026-11-02': [spent('2026-11-02', 'acme', 2)] })
    const read = async (month: string, closed: 'ledger' | 'billed') => {
      const rows: Row[] = []
      for await (const row of (await focusExport(books.ctx(), { month, closed })).rows) rows.push(focusJson(row))
      return rows
    }
    const cost = async (month: string, closed: 'ledger' | 'billed') => sum(await read(month, closed), 'BilledCost')
    const both = async (closed: 'ledger' | 'billed') => [await cost('2026-10', closed), await cost('2026-11', closed)]
    // not billed yet: nothing is moved
    expect(await both('billed')).toEqual([atto('12'), atto('6')])
    books.at('2026-12-03T12:00:00Z')
    await books.close('acme', '2026-11')
    expect(await both('ledger')).toEqual([atto('12'), atto('6')])
    expect(await both('billed')).toEqual([atto('9'), atto('9')])
    const corrected = (await read('2026-11', 'billed')).filter(row => row.ChargeClass === 'Correction')
    expect(corrected).toMatchObject([
      {
        BilledCost: '3',
        ContractedCost: '3',
        SubAccountId: 'acme',
        ChargeCategory: 'Adjustment',
        BillingPeriodStart: '2026-11-01T00:00:00Z',
        ChargePeriodStart: '2026-10-01T00:00:00Z',
        ChargePeriodEnd: '2026-11-01T00:00:00Z',
      },
    ])
    expect((await read('2026-10', 'billed')).filter(row => row.ChargeClass !== null)).toEqual([])
    for (const row of await read('2026-10', 'billed'))
      for (const column of FOCUS_NOT_NULL) expect(row[column], column).not.toBeNull()
  })
})
