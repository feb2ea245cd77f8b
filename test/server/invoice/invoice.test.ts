import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseDecimal } from '#core/decimal.ts'
import type { Role } from '#core/role.ts'
import { isRefusal } from '#server/db-refusal.ts'
import { getInvoice, listInvoices } from '#server/features/invoice/read.ts'
import { invoiceSheet, invoicesSheet } from '#server/features/invoice/sheet.ts'
import { type InvoiceAsked, removeInvoice, takeInvoice } from '#server/features/invoice/take.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  serverEnvironment,
  type TestMachine,
  type TestOrganisation,
} from '#test/support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '#test/support/usage.ts'

/** Providers' invoices: taken once, whole or not at all, and compared by day and model with what the ledger has. */
const db = useDatabase()
const NOW = new Date('2026-11-29T12:00:00Z')
let org: TestOrganisation
let machine: TestMachine
let seq = 0
beforeAll(serverEnvironment)
beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, org.ownerId)
  seq = 0
})

const as = (role: Role, id = org.ownerId) => contextOf(db.prisma, actorOf(org, id, role), NOW)
const owner = () => as('owner')
const head = { provider: 'anthropic' as const, month: '2026-11', currency: 'USD' }
const csv = (text: string, over: Partial<InvoiceAsked> = {}): InvoiceAsked =>
  ({ ...head, source: 'csv', text, ...over }) as InvoiceAsked
const take = (asked: InvoiceAsked, ctx = owner()) => takeInvoice(ctx, asked)
const failure = (work: Promise<unknown>) =>
  work.then(
    () => ({ code: 'done' }),
    (error: { code?: string; message: string; details?: Record<string, unknown> }) => ({
      code: error.code ?? String(error),
      message: error.message,
      ...error.details,
    }),
  )
const send = (days: Parameters<typeof uploadOf>[2]) =>
  takeUsage(contextOf(db.prisma, machine.actor, NOW), { usage: signUsage(machine, uploadOf(machine, ++seq, days)) })
const stored = () => db.prisma.invoiceLine.count({ where: { orgId: org.id } })
const told = async (kind: string) =>
  (await db.prisma.evidenceEntry.findMany({ where: { orgId: org.id, kind }, orderBy: { seq: 'asc' } })).map(
    row => JSON.parse(Buffer.from(row.bytes).toString()).data,
  )

/** Anthropic's own report: cents, and a bucket for each UTC day. */
const report = (days: [string, { model?: string; amount: string; description?: string }[]][], has_more = false) =>
  JSON.stringify({
    data: days.map(([day, results]) => ({
      starting_at: `${day}T00:00:00Z`,
      ending_at: new Date(Date.parse(`${day}T00:00:00Z`) + 24 * 3600_000).toISOString(),
      results: results.map(result => ({ currency: 'USD', model: null, cost_type: 'tokens', ...result })),
    })),
    has_more,
    next_page: null,
  })

describe('an invoice is taken', () => {
  it('from Anthropic’s and OpenAI’s cost reports, a CSV, and by hand; each told in evidence', async () => {
    await take({
      ...head,
      source: 'anthropic',
      text: report([['2026-11-03', [{ model: 'claude-sonnet-4-5', amount: '123.45' }]]]),
    })
    const day = Date.UTC(2026, 10, 3) / 1000
    const costs = {
      object: 'page',
      has_more: false,
      data: [
        {
          object: 'bucket',
          start_time: day,
          end_time: day + 86_400,
          results: [
            {
              object: 'organization.costs.result',
              amount: { value: 0.06, currency: 'usd' },
              line_item: 'gpt-5.5, input',
            },
          ],
        },
      ],
    }
    await take({ ...head, provider: 'openai', source: 'openai', text: JSON.stringify(costs) })
    await take(csv('day,model,amount\n2026-11-04,gemini-3-pro,12.50\n', { provider: 'google' }))
    await take({
      ...head,
      provider: 'mistral',
      source: 'hand',
      lines: [{ amount: '3' }, { amount: '-0.5' }],
      number: 'INV 7',
    })
    const list = (await listInvoices(owner())).items
    expect(list.map(row => [row.provider, row.total, row.lines, row.source, row.number])).toEqual([
      ['anthropic', '1.2345', 1, 'anthropic', null],
      ['google', '12.5', 1, 'csv', null],
      ['mistral', '2.5', 2, 'hand', 'INV 7'],
      ['openai', '0.06', 1, 'openai', null],
    ])
    expect(await told('invoice.imported')).toMatchObject([
      { provider: 'anthropic', month: '2026-11', source: 'anthropic', lines: 1, total: '1.2345', currency: 'USD' },
      { provider: 'openai', total: '0.06' },
      { provider: 'google', total: '12.5' },
      { provider: 'mistral', total: '2.5' },
    ])
  })

  it.each<[string, () => InvoiceAsked, RegExp]>([
    ['no JSON', () => ({ ...head, source: 'anthropic', text: '{' }), /the report: it is not JSON/],
    [
      'an amount that is none',
      () => ({
        ...head,
        source: 'anthropic',
        text: report([
          ['2026-11-01', [{ amount: '5' }]],
          ['2026-11-02', [{ amount: '5' }, { amount: 'many' }]],
        ]),
      }),
      /^data\[1\]\.results\[1\]\.amount: /,
    ],
    ['a report that goes on', () => ({ ...head, source: 'anthropic', text: report([], true) }), /has_more is true/],
    [
      'a day of another month',
      () => ({ ...head, source: 'anthropic', text: report([['2026-10-31', [{ amount: '5' }]]]) }),
      /It has 2026-10-31, which is not in 2026-11/,
    ],
    ['nothing in it', () => ({ ...head, source: 'anthropic', text: report([]) }), /no amount in it/],
    ['a CSV with a cell too many', () => csv('amount\n1\n2,3\n'), /^line 3: /],
    ['a CSV amount with a sign', () => csv('day,amount\n2026-11-01,$5\n'), /^line 2, column 2: /],
    ['two currencies', () => csv('amount,currency\n1,USD\n2,EUR\n'), /in USD and in EUR/],
    [
      'a line by hand without an amount',
      () => ({ ...head, source: 'hand', lines: [{ amount: '' }] }),
      /^line 1, amount: /,
    ],
    ['no month', () => csv('amount\n1\n', { month: '2026-00' }), /not a month/],
    ['no currency', () => csv('amount\n1\n', { currency: 'usd' }), /capital letters/],
  ])('not with %s: the place is named and nothing is kept', async (_, asked, words) => {
    const refused = await failure(take(asked()))
    expect(refused.code).toBe('BAD_INPUT')
    expect((refused as { message: string }).message).toMatch(words)
    expect([await stored(), await told('invoice.imported')]).toEqual([0, []])
  })

  it('once: the same file again is refused, another one too until it is said to take the place of the first', async () => {
    const { id } = await take(csv('amount\n5\n'))
    expect(await failure(take(csv('amount\n5\n')))).toMatchObject({ code: 'CONFLICT', why: 'same_file', id })
    expect(await failure(take(csv('amount\n5\n', { replaces: id })))).toMatchObject({
      code: 'CONFLICT',
      why: 'same_file',
    })
    expect(await failure(take(csv('amount\n6\n')))).toMatchObject({ code: 'CONFLICT', why: 'exists', id })
    expect(await failure(take(csv('amount\n6\n', { replaces: 'ivc_x' })))).toMatchObject({
      code: 'CONFLICT',
      why: 'exists',
    })
    expect(await failure(take(csv('amount\n6\n', { month: '2026-10', replaces: id })))).toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await take(csv('amount\n6\n1\n', { replaces: id }))).toEqual({ id, lines: 2 })
    expect(await stored()).toBe(2)
    expect((await listInvoices(owner())).items.map(row => row.total)).toEqual(['7'])
    expect((await told('invoice.imported')).at(-1)).toMatchObject({ total: '7', was: '5', wasCurrency: 'USD' })
  })

  it('once, also when two people bring it at the same moment', async () => {
    const admin = await makeMember(db.prisma, org, 'admin')
    const ends = await Promise.all([
      failure(take(csv('amount\n5\n'))),
      failure(take(csv('amount\n5\n'), as('admin', admin))),
    ])
    expect(ends.map(end => end.code).sort()).toEqual(['CONFLICT', 'done'])
    expect(await stored()).toBe(1)
  })

  it('whole or not at all, with fifty thousand lines too', async () => {
    const lines = Array.from(
      { length: 50_000 },
      (_, i) => `2026-11-${String((i % 30) + 1).padStart(2, '0')},m-${i % 40},0.01`,
    )
    const { id } = await take(csv(`day,model,amount\n${lines.join('\n')}\n`))
    expect(await stored()).toBe(50_000)
    expect(await getInvoice(owner(), { id })).toMatchObject({ total: '500', rows: { length: 120 } })
    expect(await failure(take(csv(`amount\n${'1\n'.repeat(50_001)}`, { month: '2026-10' })))).toMatchObject({
      code: 'TOO_LARGE',
    })
  })

  it('by owners and admins; auditors read it, others do not', async () => {
    const { id } = await take(csv('amount\n5\n'))
    for (const role of ['lead', 'member', 'auditor'] as const) {
      const ctx = as(role, await makeMember(db.prisma, org, role))
      expect(await failure(take(csv('amount\n1\n', { month: '2026-10' }), ctx)), role).toMatchObject({
        code: 'FORBIDDEN',
      })
      expect(await failure(removeInvoice(ctx, { id })), role).toMatchObject({ code: 'FORBIDDEN' })
      const reads = role === 'auditor' ? 'done' : 'FORBIDDEN'
      for (const read of [listInvoices(ctx), getInvoice(ctx, { id }), invoicesSheet(ctx)])
        expect(await failure(read), role).toMatchObject({ code: reads })
    }
    const link = contextOf(db.prisma, actorOf(org, org.ownerId, 'owner', 'device_link'))
    expect(await failure(removeInvoice(link, { id }))).toMatchObject({ code: 'FORBIDDEN' })
  })

  it('and removed, which is told; removing it again finds nothing', async () => {
    const { id } = await take(csv('amount\n5\n'))
    await removeInvoice(owner(), { id })
    expect([await stored(), await listInvoices(owner())]).toEqual([0, { items: [] }])
    expect(await told('invoice.removed')).toMatchObject([
      { provider: 'anthropic', month: '2026-11', total: '5', spread: false },
    ])
    expect(await failure(removeInvoice(owner(), { id }))).toMatchObject({ code: 'NOT_FOUND' })
    expect((await take(csv('amount\n5\n'))).lines).toBe(1)
  })
})

describe('ours against theirs', () => {
  const sonnet = 'claude-sonnet-4-5'
  beforeEach(() =>
    send([
      dayOf('2026-10-31', [bucketOf({ tokens: { input: 9_000_000 } }, '2026-10-31')]),
      dayOf('2026-11-01', [
        bucketOf({ tags: { tenant: 'acme' } }),
        bucketOf({ quarter: 95, model: 'claude-sonnet-4-5-20250929', tags: { tenant: 'globex' } }),
        bucketOf({ quarter: 3, covered: 'plan', tokens: { input: 50_000_000 } }),
        bucketOf({ quarter: 4, covered: 'unknown', tokens: { input: 2_000_000 } }),
        bucketOf({ quarter: 5, model: 'nobody-knows-it', tokens: { input: 1_000 } }),
        bucketOf({ quarter: 6, provider: 'openai', model: 'gpt-5', tokens: { input: 1_000_000 } }),
      ]),
      dayOf(
        '2026-11-02',
        [bucketOf({ tokens: { input: 1_000_000, webSearches: 100 } }, '2026-11-02')],
        '2026-11-02T23:59:00.000Z',
      ),
    ]),
  )
  const invoice = () =>
    take({
      ...head,
      source: 'anthropic',
      text: report([
        ['2026-11-01', [{ model: 'claude-sonnet-4-5-20250929', amount: '650' }]],
        [
          '2026-11-02',
          [
            { model: sonnet, amount: '300' },
            { amount: '110', description: 'Web Search Usage' },
          ],
        ],
        ['2026-11-03', [{ model: 'claude-opus-4-6', amount: '4.5' }]],
      ]),
    })

  it('by day and model: what is paid for by use and priced, one model under both its names, searches apart', async () => {
    const { id } = await invoice()
    const found = await getInvoice(owner(), { id })
    expect(found.by).toEqual({ day: true, model: true })
    expect(found.rows).toEqual([
      { day: '2026-11-01', model: sonnet, ours: '6', theirs: '6.5', difference: '0.5' },
      { day: '2026-11-02', model: sonnet, ours: '3', theirs: '3', difference: '0' },
      { day: '2026-11-03', model: 'claude-opus-4-6', ours: '0', theirs: '0.045', difference: '0.045' },
    ])
    expect(found.unexplained).toMatchObject({
      ours: '1',
      theirs: '1.1',
      difference: '0.1',
      lines: [{ day: '2026-11-02', model: null, description: 'Web Search Usage', amount: '1.1' }],
    })
    expect(found.sides).toEqual({ ours: '10', theirs: '10.645', difference: '0.645' })
    expect(found.byDay.map(row => [row.day, row.difference])).toEqual([
      ['2026-11-01', '0.5'],
      ['2026-11-02', '0'],
      ['2026-11-03', '0.045'],
    ])
    expect(found.byModel.map(row => [row.model, row.difference])).toEqual([
      ['claude-opus-4-6', '0.045'],
      [sonnet, '0.5'],
    ])
    expect([found.unknown, Number(found.bound) > 0]).toEqual(['6', true])
    expect((await listInvoices(owner())).items[0]!.sides).toEqual(found.sides)
  })

  it('is the same by UTC totals and by buckets, and late usage is in it at once', async () => {
    const { id } = await invoice()
    const before = await getInvoice(owner(), { id })
    await db.admin.query(`update "Organisation" set "timeZone" = 'Asia/Tokyo' where id = $1`, [org.id])
    await send([dayOf('2026-11-04', [bucketOf({ tokens: { input: 1_000_000 } }, '2026-11-04')])])
    const after = await getInvoice(owner(), { id })
    const late = { day: '2026-11-04', model: sonnet, ours: '3', theirs: '0', difference: '-3' }
    expect(after.rows).toEqual([...before.rows, late])
    expect(after.sides).toEqual({ ours: '13', theirs: '10.645', difference: '-2.355' })
  })

  it('the file has the rows of the page, and they add up to its totals', async () => {
    const { id } = await invoice()
    const { sides } = await getInvoice(owner(), { id })
    const { columns, rows } = await invoiceSheet(owner(), new URLSearchParams({ id }))
    expect(columns).toEqual(['day_utc', 'model', 'ours', 'invoice', 'difference', 'currency'])
    for (const [at, total] of [
      [2, sides!.ours],
      [3, sides!.theirs],
      [4, sides!.difference],
    ] as const)
      expect(rows.reduce((sum, row) => sum + parseDecimal((row[at] as { decimal: string }).decimal)!, 0n)).toBe(
        parseDecimal(total),
      )
    expect((await invoicesSheet(owner())).rows).toMatchObject([
      [
        '2026-11',
        'anthropic',
        null,
        'USD',
        { decimal: '10.645' },
        { decimal: '10' },
        { decimal: '0.645' },
        'not allocated',
        'anthropic',
        4,
        NOW,
        'Olga Owner',
      ],
    ])
  })

  it('an invoice that tells neither day nor model is compared as a whole', async () => {
    const { id } = await take(csv('description,amount\nEverything,9.99\n'))
    expect(await getInvoice(owner(), { id })).toMatchObject({
      by: { day: false, model: false },
      rows: [{ day: null, model: null, ours: '10', theirs: '9.99', difference: '-0.01' }],
      byDay: [],
      byModel: [],
    })
  })

  it('another currency is compared where its rates are, else the page says what is missing', async () => {
    const { id } = await take(csv('amount\n9\n', { currency: 'EUR' }))
    const missing = await getInvoice(owner(), { id })
    expect([missing.sides, missing.problem]).toEqual([undefined, expect.stringMatching(/no exchange rate of EUR/)])
    expect((await listInvoices(owner())).items[0]).toMatchObject({ total: '9', problem: expect.stringMatching(/EUR/) })
  })
})

describe('the database refuses', () => {
  it.each([
    [{ month: '2026-13' }, 'invoice_month'],
    [{ currency: 'usd' }, 'invoice_currency'],
    [{ source: 'mail' }, 'invoice_source'],
    [{ lineCount: 0 }, 'invoice_lines'],
    [{ provider: 'somebody' }, 'invoice_provider'],
    [{ digest: 'x' }, 'invoice_digest'],
  ])('an invoice with %j', async (data, name) => {
    const { id } = await take(csv('amount\n5\n'))
    await expect(db.prisma.invoice.update({ where: { id }, data })).rejects.toSatisfy(error => isRefusal(error, name))
  })
})
