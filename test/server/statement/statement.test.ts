import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { isRefusal } from '#server/db-refusal.ts'
import { revokeMachine } from '#server/features/machine.ts'
import { setAllocation, setContact, setStatements } from '#server/features/statement/arrange.ts'
import { openBook } from '#server/features/statement/book.ts'
import { closeMonth, closeOne } from '#server/features/statement/close.ts'
import { resendStatement } from '#server/features/statement/mail.ts'
import { monthRow, type StatementList } from '#server/features/statement/read.ts'
import { statementRows } from '#server/features/statement/sheet.ts'
import { repriceUsage } from '#server/features/usage/reprice.ts'
import { changeTimeZone, rebuildTotals } from '#server/features/usage/zone.ts'
import { useDatabase } from '#test/support/db.ts'
import { makeMachine, makeMember, publish } from '#test/support/makers.ts'
import { type Books, openBooks, pico, refused, spent } from '#test/support/statements.ts'

const db = useDatabase()
let books: Books
const DECEMBER = '2026-12-03T12:00:00Z'
beforeEach(async () => {
  books = await openBooks(db.prisma, new Date(DECEMBER))
})

/** What plain SQL finds in the buckets of a UTC month. */
async function ledger(month: string, where = 'true'): Promise<bigint> {
  const { rows } = await db.admin.query(
    `select coalesce(sum(cost), 0)::text as cost from "UsageBucket" b join "UsageSeries" s on s.id = b."seriesId" and s."orgId" = b."orgId"
     where b."orgId" = $1 and to_char(day, 'YYYY-MM') = $2 and ${where}`,
    [books.org.id, month],
  )
  return pico(rows[0].cost)
}
const monthOf = ({ months }: StatementList, name: string) => months.find(({ month }) => month === name)!
const evidence = async (kind: string) =>
  (await db.prisma.evidenceEntry.findMany({ where: { orgId: books.org.id, kind } })).map(({ bytes, seq }) => ({
    seq,
    ...(JSON.parse(Buffer.from(bytes).toString()) as { data: Record<string, unknown> }),
  }))
const jobs = async () =>
  (
    await db.admin.query(
      `select payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'statement.mail' and payload->>'org' = $1`,
      [books.org.id],
    )
  ).rows

describe('a draft', () => {
  it('has the tenant’s usage by project, provider and model, and all statements with what stays are the ledger', async () => {
    await books.send({
      '2026-11-03': [
        spent('2026-11-03', 'acme', 1.0000001, { tags: { project: 'web' } }),
        spent('2026-11-03', 'acme', 2, { tags: { project: 'web' }, model: 'claude-opus-4-6' }),
        spent('2026-11-03', 'globex', 0.3333333, { tags: { project: 'web' } }),
        spent('2026-11-03', undefined, 0.7777777),
      ],
      '2026-11-30': [spent('2026-11-30', 'acme', 3, { quarter: 95 })],
    })
    const { lines, total } = await books.draft('acme', '2026-11')
    expect(lines.map(({ kind, project, model }) => [kind, project, model])).toEqual([
      ['usage', 'web', 'claude-opus-4-6'],
      ['usage', 'web', 'claude-sonnet-4-5'],
      ['usage', undefined, 'claude-sonnet-4-5'],
    ])
    expect(lines.reduce((sum, { shown }) => sum + pico(shown), 0n)).toBe(pico(total))
    expect(lines.reduce((sum, { amount }) => sum + pico(amount), 0n)).toBe(
      await ledger('2026-11', `s.tags->>'tenant' = 'acme'`),
    )
    for (const rule of [
      null,
      { kind: 'even' },
      { kind: 'proportional' },
      { kind: 'fixed', shares: { acme: '33.3333' } },
    ] as const) {
      await setAllocation(books.ctx(), { key: '', value: '', rule })
      const month = monthOf(await books.list(), '2026-11')
      expect(pico(month.ledger)).toBe(await ledger('2026-11'))
      const all = await Promise.all(['acme', 'globex'].map(tenant => books.draft(tenant, '2026-11')))
      const billed = all.flatMap(one => one.lines).reduce((sum, { amount }) => sum + pico(amount), 0n)
      expect(billed + pico(month.left)).toBe(await ledger('2026-11'))
    }
  })

  it('keeps usage without a price beside the total, and unknown cover on the basis of what is billed', async () => {
    await books.send({
      '2026-11-03': [
        spent('2026-11-03', 'acme', 1),
        spent('2026-11-03', 'acme', 1, { model: 'no-such-model' }),
        spent('2026-11-03', 'acme', 5, { covered: 'plan', quarter: 1 }),
        spent('2026-11-03', 'acme', 2, { covered: 'unknown', quarter: 2 }),
      ],
    })
    const listed = await books.draft('acme', '2026-11')
    expect([listed.total, listed.unknown]).toEqual(['24', '0'])
    expect(pico(listed.atMost)).toBeGreaterThan(0n)
    expect(pico(listed.totalWithBound)).toBe(pico('24') + pico(listed.atMost))
    await setStatements(books.ctx(), { basis: 'billed', firstMonth: null })
    const billed = await books.draft('acme', '2026-11')
    expect([billed.total, billed.unknown, billed.atMost]).toEqual(['3', '6', listed.atMost])
    expect(
      billed.lines
        .filter(({ counted }) => !counted)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['bound', 'unknown'])
  })

  it('takes what carries a shared tag’s value out of its tenant and spreads it; each row is in one place', async () => {
    await books.send({
      '2026-11-03': [
        spent('2026-11-03', 'acme', 3),
        spent('2026-11-03', 'globex', 1),
        spent('2026-11-03', 'acme', 8, { tags: { team: 'platform' } }),
      ],
    })
    await setAllocation(books.ctx(), { key: 'team', value: 'platform', rule: { kind: 'proportional' } })
    expect((await books.draft('acme', '2026-11')).total).toBe('27') // 9 of its own and three quarters of 24
    const globex = await books.draft('globex', '2026-11')
    expect(globex.total).toBe('9')
    expect(globex.lines.at(-1)).toMatchObject({
      kind: 'allocated',
      of: 'team platform',
      rule: 'in proportion to own spend',
    })
  })

  it('by the clock of the organisation’s zone, also after it moved: no moment is in two months or in none', async () => {
    await books.send({
      '2026-10-31': [spent('2026-10-31', 'acme', 1, { quarter: 95 })],
      '2026-11-30': [spent('2026-11-30', 'acme', 2, { quarter: 93 })],
      '2026-12-01': [spent('2026-12-01', 'acme', 4, { quarter: 0 })],
    })
    await books.close('acme', '2026-10')
    await books.close('acme', '2026-11')
    expect((await books.closed('acme', '2026-11')).total).toBe('6')
    await changeTimeZone(books.ctx(), { timeZone: 'Europe/Amsterdam' })
    await rebuildTotals(db.prisma, books.org.id)
    // In Amsterdam half past eleven of the 30th, UTC, is December; it was billed in November and stays there.
    const december = await books.draft('acme', '2026-12')
    expect(december.total).toBe('12')
    expect(december.period).toMatchObject({ start: '2026-12-01T00:00:00.000Z', end: '2026-12-31T23:00:00.000Z' })
    expect(december.lines.map(({ kind }) => kind)).toEqual(['usage'])
  })
})

describe('of an organisation that is billed in euros', () => {
  const euros = async (...entries: [from: string, perUsd: string][]) => {
    await publish(
      db.prisma,
      books.org,
      `exchange:\n${entries.map(([from, perUsd]) => `  - { currency: EUR, from: ${from}, per_usd: "${perUsd}" }\n`).join('')}`,
    )
    await db.prisma.organisation.update({ where: { id: books.org.id }, data: { currency: 'EUR' } })
  }

  it('each UTC day counts at its own rate, and all lines add up to the sum rounded once', async () => {
    await euros(['2026-10-01', '0.9'], ['2026-11-15', '0.8'])
    await books.send({
      '2026-11-14': [spent('2026-11-14', 'acme', 1, { quarter: 95 }), spent('2026-11-14', undefined, 2)],
      '2026-11-15': [spent('2026-11-15', 'acme', 1, { quarter: 0 })],
    })
    await setAllocation(books.ctx(), { key: '', value: '', rule: { kind: 'even' } })
    const { currency, total, lines, exchange } = await books.draft('acme', '2026-11')
    expect([currency, total]).toEqual(['EUR', '10.5']) // 2.7 + 2.4 of its own, 5.4 allocated
    expect(lines.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['usage', '5.1'],
      ['allocated', '5.4'],
    ])
    expect(exchange).toEqual([
      { from: '2026-10-01', perUsd: '0.9' },
      { from: '2026-11-15', perUsd: '0.8' },
    ])
    expect((await books.close('acme', '2026-11')).currency).toBe('EUR')
  })

  it('a month from before the first rate cannot be closed, and says what is missing', async () => {
    await euros(['2026-11-15', '0.8'])
    await books.send({ '2026-11-14': [spent('2026-11-14', 'acme')] })
    const month = monthOf(await books.list(), '2026-11')
    expect(month.problem).toContain('no exchange rate')
    expect(await refused(books.close('acme', '2026-11'))).toBe('CONFLICT problem')
  })

  it('what was billed in dollars never stands in euros: its change waits, and says so', async () => {
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme')] })
    await books.close('acme', '2026-11')
    await euros(['2026-10-01', '0.5'])
    await books.send({ '2026-12-01': [spent('2026-12-01', 'acme', 2)] })
    expect(await books.draft('acme', '2026-12')).toMatchObject({ currency: 'EUR', total: '3' })
    expect((await books.closed('acme', '2026-11')).currency).toBe('USD')
    await books.send({ '2026-11-04': [spent('2026-11-04', 'acme')] })
    const { hinders, total, lines } = await books.draft('acme', '2026-12')
    expect(hinders.find(({ why }) => why === 'problem')).toMatchObject({
      words: expect.stringMatching(/2026-11 since is in USD .* statement in EUR/),
    })
    expect([total, lines.map(({ kind }) => kind)]).toEqual(['3', ['usage']])
    expect(monthOf(await books.list(), '2026-12').rows[0]).toMatchObject({ currency: 'EUR', total: '3' })
    await db.prisma.organisation.update({ where: { id: books.org.id }, data: { currency: 'USD' } })
    books.at('2027-01-01T12:00:00Z')
    expect(await books.close('acme', '2026-12')).toMatchObject({ currency: 'USD', total: '9' })
  })
})

describe('closing', () => {
  it('freezes bytes and digest, with the ledger’s entry and the mail, all in one act', async () => {
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme', 1.005)] })
    await setContact(books.ctx(), { tenant: 'acme', name: 'Acme Ltd', contact: 'Bills@Acme.test' })
    const done = await books.close('acme', '2026-11')
    expect(done).toMatchObject({ total: '3.02', currency: 'USD', mailedTo: 'bills@acme.test' })
    const row = await db.prisma.statement.findFirstOrThrow({ where: { orgId: books.org.id } })
    const hash = createHash('sha256').update('holdpoint/statement/v1\n').update(row.bytes).digest('base64url')
    expect([row.digest, done.digest]).toEqual([hash, hash])
    const [entry] = await evidence('statement.closed')
    expect(entry).toMatchObject({
      seq: done.evidenceSeq,
      data: { tenant: 'acme', month: '2026-11', digest: hash, total: '3.02', currency: 'USD' },
    })
    expect(JSON.stringify(await evidence('tenant.contact_changed'))).not.toContain('acme.test')
    expect((await jobs()).map(({ payload }) => payload)).toEqual([
      { org: books.org.id, tenant: 'acme', month: '2026-11', number: 1 },
    ])
    expect(await refused(books.close('acme', '2026-11'))).toBe('CONFLICT already_closed')
  })

  it('leaves nothing behind when it fails at its last step', async () => {
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme')] })
    await setContact(books.ctx(), { tenant: 'acme', name: 'Acme', contact: 'a@acme.test' })
    await db.admin.query(`alter table "StatementMail" add constraint broken check (false) not valid`)
    await expect(books.close('acme', '2026-11')).rejects.toThrow()
    await db.admin.query(`alter table "StatementMail" drop constraint broken`)
    expect((await books.draft('acme', '2026-11')).state).toBe('draft')
    expect([await evidence('statement.closed'), await jobs()]).toEqual([[], []])
    expect(await db.prisma.statementMonth.count({ where: { orgId: books.org.id } })).toBe(0)
    await books.close('acme', '2026-11')
    expect(await jobs()).toHaveLength(1)
  })

  it('by two at once is done by one of them; the other sees it', async () => {
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme'), spent('2026-11-03', 'globex')] })
    await setContact(books.ctx(), { tenant: 'acme', name: 'Acme', contact: 'a@acme.test' })
    const { tag } = await books.draft('acme', '2026-11')
    const other = (await books.draft('globex', '2026-11')).tag
    const asked = { tenant: 'acme', month: '2026-11', tag }
    const outcomes = await Promise.all([
      ...Array.from({ length: 6 }, () => refused(closeOne(books.ctx(), asked))),
      refused(closeOne(books.ctx(), { tenant: 'globex', month: '2026-11', tag: other })),
    ])
    expect(outcomes.filter(outcome => outcome === 'done')).toHaveLength(2)
    expect(outcomes.filter(outcome => outcome === 'CONFLICT already_closed')).toHaveLength(5)
    expect(await evidence('statement.closed')).toHaveLength(2)
    expect(await jobs()).toHaveLength(1)
  })

  it('closes what was seen and nothing else', async () => {
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme')] })
    const { tag } = await books.draft('acme', '2026-11')
    await books.send({ '2026-11-04': [spent('2026-11-04', 'acme')] })
    const asked = { tenant: 'acme', month: '2026-11', tag }
    expect(await refused(closeOne(books.ctx(), asked))).toBe('CONFLICT moved')
    expect(await refused(books.close('acme', '2026-11'))).toBe('done')
  })

  it('waits for the month’s end, for earlier months, for prices, and for something to bill', async () => {
    books.at('2026-11-30T23:59:59Z')
    await books.send({
      '2026-10-03': [spent('2026-10-03', 'acme')],
      '2026-11-03': [spent('2026-11-03', 'acme', 1, { model: 'no-such-model' })],
    })
    await setContact(books.ctx(), { tenant: 'acme', name: 'Acme', contact: null })
    expect((await books.draft('acme', '2026-11')).hinders.map(({ why }) => why)).toEqual([
      'not_over',
      'earlier_open',
      'unpriced',
    ])
    expect(await refused(books.close('acme', '2026-11'))).toBe('CONFLICT not_over')
    books.at('2026-12-01T00:00:00Z')
    expect(await refused(books.close('acme', '2026-11'))).toBe('CONFLICT earlier_open')
    await books.close('acme', '2026-10')
    expect(await refused(books.close('acme', '2026-11'))).toBe('CONFLICT unpriced')
    expect(await refused(books.close('acme', '2026-12'))).toBe('CONFLICT nothing')
    await books.close('acme', '2026-11', true)
    expect(await books.closed('acme', '2026-11')).toMatchObject({ boundAccepted: true })
    expect(pico((await books.closed('acme', '2026-11')).total)).toBeGreaterThan(0n)
  })

  it('takes an administrator who has just signed in, and an owner to accept a bound', async () => {
    await books.send({
      '2026-11-03': [spent('2026-11-03', 'acme', 1, { model: 'no-such-model' }), spent('2026-11-03', 'globex')],
    })
    const at = async (tenant: string) => ({ tenant, month: '2026-11', tag: (await books.draft(tenant, '2026-11')).tag })
    const globex = await at('globex')
    for (const role of ['auditor', 'member', 'lead'] as const)
      expect([role, await refused(closeOne(books.ctx(books.as(role)), globex))]).toEqual([role, 'FORBIDDEN'])
    const stale = { ...books.as('admin'), authnAt: new Date('2026-12-03T11:00:00Z') }
    expect(await refused(closeOne(books.ctx(stale), globex))).toBe('FORBIDDEN sign_in_again')
    expect(await refused(closeMonth(books.ctx(stale), { month: '2026-11', statements: [globex] }))).toBe(
      'FORBIDDEN sign_in_again',
    )
    const acme = { ...(await at('acme')), acceptBound: true }
    expect(await refused(closeOne(books.ctx(books.as('admin')), acme))).toBe('FORBIDDEN')
    expect(await refused(closeOne(books.ctx(books.as('admin')), globex))).toBe('done')
    expect(await refused(closeOne(books.ctx(), acme))).toBe('done')
    for (const act of [
      resendStatement,
      (ctx: never, a: never) => setContact(ctx, { ...(a as object), name: 'x', contact: null } as never),
    ])
      expect(
        await refused(act(books.ctx(books.as('lead')) as never, { tenant: 'acme', month: '2026-11' } as never)),
      ).toBe('FORBIDDEN')
  })

  it('of a month, each by itself: what is hindered stays open and says why', async () => {
    await books.send({
      '2026-11-03': [
        spent('2026-11-03', 'acme', 1, { model: 'no-such-model' }),
        spent('2026-11-03', 'globex'),
        spent('2026-11-03', 'initech'),
      ],
    })
    const statements = monthOf(await books.list(), '2026-11').rows.map(({ tenant, tag }) => ({
      tenant: tenant.key,
      tag: tag!,
    }))
    const results = await closeMonth(books.ctx(), { month: '2026-11', statements })
    expect(results.map(result => [result.tenant, result.ok ? result.total : result.why])).toEqual([
      ['acme', 'unpriced'],
      ['globex', '3'],
      ['initech', '3'],
    ])
    expect(monthOf(await books.list(), '2026-11').rows.map(({ state }) => state)).toEqual(['draft', 'closed', 'closed'])
  })
})

describe('what is closed', () => {
  const frozen = async (tenant = 'acme', month = '2026-11') => {
    const row = await db.prisma.statement.findFirstOrThrow({ where: { orgId: books.org.id, tenant, month } })
    return [Buffer.from(row.bytes).toString('hex'), row.digest]
  }

  it('stays as it is when usage comes late: the difference is an adjustment of the next month, once', async () => {
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme', 2, { tags: { project: 'web' } })] })
    await books.close('acme', '2026-11')
    const before = await frozen()
    await books.send({
      '2026-11-04': [spent('2026-11-04', 'acme', 1, { tags: { project: 'web' } })],
      '2026-12-01': [spent('2026-12-01', 'acme', 5)],
    })
    expect(await frozen()).toEqual(before)
    expect((await books.closed('acme', '2026-11')).total).toBe('6')
    const december = await books.draft('acme', '2026-12')
    expect(december.lines.map(({ kind, month, project, amount }) => [kind, month, project, amount])).toEqual([
      ['usage', undefined, undefined, '15'],
      ['adjustment', '2026-11', 'web', '3'],
    ])
    expect((await books.get('acme', '2026-11')).later).toEqual([{ month: '2026-12', state: 'draft', amount: '3' }])
    books.at('2027-01-02T00:00:00Z')
    await books.close('acme', '2026-12')
    expect((await books.get('acme', '2026-11')).later).toEqual([{ month: '2026-12', state: 'closed', amount: '3' }])
    await books.send({ '2027-01-01': [spent('2027-01-01', 'acme', 1)] })
    expect((await books.draft('acme', '2027-01')).lines.map(({ kind }) => kind)).toEqual(['usage'])
    const billed = (await Promise.all(['2026-11', '2026-12'].map(month => books.closed('acme', month)))).reduce(
      (sum, { total }) => sum + pico(total),
      0n,
    )
    expect(billed).toBe((await ledger('2026-11')) + (await ledger('2026-12')))
  })

  it('is never changed or removed in the database, by its owner neither', async () => {
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme')] })
    await setContact(books.ctx(), { tenant: 'acme', name: 'Acme', contact: 'a@acme.test' })
    await books.close('acme', '2026-11')
    for (const [table, set] of [
      ['Statement', 'total = 0'],
      ['Statement', 'bytes = bytes'],
      ['StatementMonth', 'tenants = array[]::text[]'],
      ['StatementMail', `"to" = 'x@y.test'`],
    ]) {
      await expect(db.admin.query(`update "${table}" set ${set}`)).rejects.toThrow('statement_stays')
      await expect(db.admin.query(`delete from "${table}"`)).rejects.toThrow(/statement_stays/)
      await expect(db.pool.query(`update "${table}" set ${set}`)).rejects.toThrow('permission denied')
    }
    await expect(db.admin.query('truncate "Statement" cascade')).rejects.toThrow('statement_stays')
    const [row] = await db.prisma.statement.findMany({ where: { orgId: books.org.id } })
    const other = { ...row!, tenant: 'other', bytes: new Uint8Array([...row!.bytes, 32]) }
    const wrong = await db.prisma.statement.create({ data: other }).catch((error: unknown) => error)
    expect(isRefusal(wrong, 'statement_digest_fits')).toBe(true)
    const twice = await db.prisma.statement.create({ data: row! }).catch((error: unknown) => error)
    expect(twice).toMatchObject({ code: 'P2002' })
  })

  it('stays when the machine, the member and the tenant are gone; nothing of it turns into an adjustment', async () => {
    const dana = await makeMember(db.prisma, books.org, 'member', 'Dana')
    const laptop = await makeMachine(db.prisma, books.org, dana, 'dana-laptop')
    await books.tenants('acme')
    await publish(db.prisma, books.org, 'tags:\n  tenant: [acme]\n')
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme', 2)] }, laptop)
    await books.close('acme', '2026-11')
    await revokeMachine(books.ctx(), { id: laptop.id })
    await db.prisma.member.update({ where: { id: dana }, data: { removedAt: new Date() } })
    await publish(db.prisma, books.org, 'boundaries: []\n')
    await db.prisma.tenant.deleteMany({ where: { orgId: books.org.id } })
    expect((await books.closed('acme', '2026-11')).total).toBe('6')
    expect(monthOf(await books.list(), '2026-11').rows.map(({ tenant, total }) => [tenant.key, total])).toEqual([
      ['acme', '6'],
    ])
    expect((await books.draft('acme', '2026-12')).lines).toEqual([])
  })

  it('and prices change: what was billed without a price is an adjustment once it has one', async () => {
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme', 1, { model: 'house-model' })] })
    await books.close('acme', '2026-11', true)
    const billed = pico((await books.closed('acme', '2026-11')).total)
    await publish(
      db.prisma,
      books.org,
      'rates:\n  - { model: house-model, provider: anthropic, from: 2026-11-01, input: "1", output: "2", cache_read: "0.1", cache_write_5m: "1", cache_write_1h: "1" }\n',
    )
    await repriceUsage(books.ctx(), { from: '2026-11-01', to: '2026-11-30' })
    expect(pico((await books.closed('acme', '2026-11')).total)).toBe(billed)
    const { lines, total, carried } = await books.draft('acme', '2026-12')
    expect(lines.filter(({ kind }) => kind === 'adjustment')).toMatchObject([
      { month: '2026-11', model: 'house-model' },
    ])
    // one dollar instead of the bound: more was billed than is due, so December is nothing and January begins with a credit
    expect([total, pico(carried)]).toEqual(['0', billed - pico('1')])
    books.at('2027-01-05T00:00:00Z')
    await books.send({ '2027-01-01': [spent('2027-01-01', 'acme', 1000)] })
    await books.close('acme', '2026-12')
    const january = await books.draft('acme', '2027-01')
    expect(january.lines.at(-1)).toMatchObject({ kind: 'credit', month: '2026-12' })
    expect(pico(january.total)).toBe(pico('3000') - (billed - pico('1')))
  })

  it('keeps the rule it was shared by; a later rule, tenant or price of the others does not share the month anew', async () => {
    await books.send({
      '2026-11-03': [
        spent('2026-11-03', 'acme', 1),
        spent('2026-11-03', 'globex', 1),
        spent('2026-11-03', undefined, 2),
      ],
    })
    await setAllocation(books.ctx(), { key: '', value: '', rule: { kind: 'even' } })
    await books.close('acme', '2026-11')
    await setAllocation(books.ctx(), { key: '', value: '', rule: { kind: 'fixed', shares: { acme: '100' } } })
    await books.tenants('newcomer')
    expect((await books.draft('globex', '2026-11')).total).toBe('6')
    expect((await books.draft('acme', '2026-12')).lines).toEqual([])
    const month = monthOf(await books.list(), '2026-11')
    expect([month.left, month.settled]).toEqual(['0', true])
    expect(await refused(setStatements(books.ctx(), { basis: 'billed', firstMonth: null }))).toBe('CONFLICT closed')
  })

  it('is billed to nobody else: usage of a month that was passed over comes as an adjustment', async () => {
    await books.send({ '2026-10-03': [spent('2026-10-03', 'globex')], '2026-11-03': [spent('2026-11-03', 'acme')] })
    await books.close('acme', '2026-11')
    await books.send({ '2026-10-05': [spent('2026-10-05', 'acme', 2)] })
    expect(await refused(books.get('acme', '2026-10'))).toBe('NOT_FOUND')
    expect((await books.draft('acme', '2026-12')).lines).toMatchObject([
      { kind: 'adjustment', month: '2026-10', amount: '6' },
    ])
  })
})

describe('mail of a closed statement', () => {
  it('is asked for again by number, to the contact of today, and is never without one', async () => {
    await books.send({ '2026-11-03': [spent('2026-11-03', 'acme')] })
    expect((await books.close('acme', '2026-11')).mailedTo).toBeNull()
    expect(await jobs()).toEqual([])
    const asked = { tenant: 'acme', month: '2026-11' }
    expect(await refused(resendStatement(books.ctx(), asked))).toBe('CONFLICT no_contact')
    expect(await refused(setContact(books.ctx(), { tenant: 'acme', name: 'Acme', contact: 'no address' }))).toBe(
      'BAD_INPUT',
    )
    expect(await refused(setContact(books.ctx(), { tenant: 'nobody', name: 'x', contact: null }))).toBe('NOT_FOUND')
    await setContact(books.ctx(), { tenant: 'acme', name: 'Acme', contact: 'a@acme.test' })
    const both = await Promise.all([resendStatement(books.ctx(), asked), resendStatement(books.ctx(), asked)])
    expect(both.map(({ number }) => number).sort()).toEqual([1, 2])
    expect((await books.get('acme', '2026-11')).mails.map(({ to }) => to)).toEqual(['a@acme.test', 'a@acme.test'])
    expect(await evidence('statement.sent')).toHaveLength(2)
  })
})

it('a hundred months and forty tenants are one reading of the ledger', async () => {
  await books.send({ '2026-11-03': Array.from({ length: 40 }, (_, i) => spent('2026-11-03', `t${i}`)) })
  const book = await openBook(db.prisma, books.org.id, new Date('2034-01-01T00:00:00Z'))
  expect(book.months).toHaveLength(87)
  const rows = book.months.map(month => monthRow(book, month, new Date('2034-01-01T00:00:00Z')).rows.length)
  expect(rows.filter(n => n > 0)).toEqual([40])
  await books.send({ '1999-01-05': [spent('1999-01-05', 't1')] })
  const late = await openBook(db.prisma, books.org.id, new Date('2034-01-01T00:00:00Z'))
  expect([late.months.length, late.months.at(-1)?.month]).toEqual([240, '2034-01'])
})

it('the file’s lines are the page’s, and what they show adds up', async () => {
  await books.send({
    '2026-11-03': [
      spent('2026-11-03', 'acme', 0.3333333),
      spent('2026-11-03', 'acme', 0.3333333, { tags: { project: 'p' } }),
    ],
  })
  const { bill } = await books.get('acme', '2026-11')
  const rows = statementRows(bill, 'acme')
  const shown = rows.map(row => (row[14] as { decimal: string }).decimal)
  expect(shown.reduce((sum, text) => sum + pico(text), 0n)).toBe(pico(bill.total))
  expect(rows).toHaveLength(bill.lines.length)
})
