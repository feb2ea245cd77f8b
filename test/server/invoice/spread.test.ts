import { beforeEach, describe, expect, it } from 'vitest'
import type { AllocationRule } from '#core/spend/allocate.ts'
import { NO_RENAMES } from '#core/usage/renames.ts'
import { isRefusal } from '#server/db-refusal.ts'
import { getInvoice, spreadWith } from '#server/features/invoice/read.ts'
import { reconciliationLines } from '#server/features/invoice/spread.ts'
import { setSpread, spreadMonth } from '#server/features/invoice/state-spread.ts'
import { removeInvoice, takeInvoice } from '#server/features/invoice/take.ts'
import { setAllocation, setStatements } from '#server/features/statement/arrange.ts'
import { useDatabase } from '#test/support/db.ts'
import { makeMember } from '#test/support/makers.ts'
import { during } from '#test/support/moment.ts'
import { type Books, openBooks, pico, refused, spent } from '#test/support/statements.ts'

/** The difference of an invoice, spread by a stated rule: a line of its own on each statement, and together exactly the difference. */
const db = useDatabase()
let books: Books
let id: string
/** Ours: twelve dollars, nine of acme and three of globex. */
beforeEach(async () => {
  books = await openBooks(db.prisma, new Date('2026-12-03T12:00:00Z'))
  await books.tenants('acme', 'globex', 'idle')
  await books.send({
    '2026-11-03': [spent('2026-11-03', 'acme', 3), spent('2026-11-03', 'globex', 1)],
    '2026-11-04': [spent('2026-11-04', undefined, 50, { covered: 'plan' })],
  })
  id = await theirs('13')
})

const theirs = async (amount: string, over = {}) =>
  (
    await takeInvoice(books.ctx(), {
      provider: 'anthropic',
      month: '2026-11',
      currency: 'USD',
      source: 'hand',
      lines: [{ amount }],
      ...over,
    })
  ).id
const spread = (rule: AllocationRule) => setSpread(books.ctx(), { id, rule })
const linesOf = async (month: string) => {
  const as = await spreadMonth(db.prisma, books.ctx().now, books.org.id, month)
  return reconciliationLines(db.prisma, books.org.id, month, as)
}
const lines = async (month = '2026-11') =>
  Object.fromEntries(
    [...(await linesOf(month))].map(([tenant, list]) => [
      tenant,
      list.map(({ kind, provider, of, rule, pico: amount }) => ({
        kind,
        provider,
        of,
        rule,
        amount: Number(amount) / 1e12,
      })),
    ]),
  )
const amounts = async () =>
  Object.fromEntries(Object.entries(await lines()).map(([tenant, list]) => [tenant, list.map(({ amount }) => amount)]))
const told = async () =>
  (
    await db.prisma.evidenceEntry.findMany({
      where: { orgId: books.org.id, kind: 'invoice.spread' },
      orderBy: { seq: 'asc' },
    })
  ).map(row => JSON.parse(Buffer.from(row.bytes).toString()).data)

describe('lines', () => {
  it('there are none until somebody says how', async () => {
    expect(await lines()).toEqual({})
    expect((await getInvoice(books.ctx(), { id })).spread).toMatchObject({ parts: [], left: '1', why: 'rule' })
  })

  it.each<[AllocationRule, Record<string, number[]>, string]>([
    [{ kind: 'proportional' }, { acme: [0.75], globex: [0.25] }, '0'],
    [{ kind: 'even' }, { acme: [0.34], globex: [0.33], idle: [0.33] }, '0'],
    [{ kind: 'equivalent' }, { acme: [0.75], globex: [0.25] }, '0'],
    [{ kind: 'fixed', shares: { globex: '10', idle: '50' } }, { globex: [0.1], idle: [0.5] }, '0.4'],
  ])('by %j they are of each tenant, and with what stays exactly the difference', async (rule, wanted, left) => {
    const before = await spreadWith(books.ctx(), { id, rule })
    await spread(rule)
    expect(await amounts()).toEqual(wanted)
    const { spread: after } = await getInvoice(books.ctx(), { id })
    expect(after).toEqual(before)
    expect(after).toMatchObject({ left, whole: '1', currency: 'USD' })
    expect(after!.parts.reduce((sum, { amount }) => sum + pico(amount), pico(left))).toBe(pico('1'))
  })

  it('say of which provider and invoice they are, and by which rule', async () => {
    await spread({ kind: 'proportional' })
    expect((await lines()).acme).toEqual([
      {
        kind: 'reconciliation',
        provider: 'anthropic',
        of: '2026-11',
        rule: 'in proportion to own spend',
        amount: 0.75,
      },
    ])
    await theirs('13', { number: 'INV-7', replaces: id })
    expect((await lines()).acme).toMatchObject([{ of: 'INV-7', amount: 0.75 }])
  })

  it('are one for each provider, and of no other month', async () => {
    await spread({ kind: 'even' })
    const other = await theirs('0.3', { provider: 'openai' })
    await setSpread(books.ctx(), { id: other, rule: { kind: 'even' } })
    expect((await lines()).idle!.map(({ provider, amount }) => [provider, amount])).toEqual([
      ['anthropic', 0.33],
      ['openai', 0.1],
    ])
    expect(await lines('2026-10')).toEqual({})
  })

  it('follow our own figures: ours and the lines are the invoice, whatever comes late', async () => {
    await spread({ kind: 'proportional' })
    await books.send({ '2026-11-05': [spent('2026-11-05', 'globex', 1)] })
    expect(await amounts()).toEqual({ acme: [-1.2], globex: [-0.8] })
  })

  it('leave out a tenant that is shared, and go to those that a statement names', async () => {
    await spread({ kind: 'even' })
    await setAllocation(books.ctx(), { key: 'tenant', value: 'idle', rule: { kind: 'even' } })
    expect(Object.keys(await lines()).sort()).toEqual(['acme', 'globex'])
    const named = await reconciliationLines(db.prisma, books.org.id, '2026-11', {
      currency: 'USD',
      tenants: ['globex'],
      renames: NO_RENAMES,
    })
    expect([...named].map(([tenant, [line]]) => [tenant, line!.pico])).toEqual([['globex', pico('1')]])
  })
})

describe('stating a rule', () => {
  it('is told in evidence with the one before; saying the same again is not', async () => {
    await spread({ kind: 'even' })
    await spread({ kind: 'even' })
    await spread({ kind: 'fixed', shares: { acme: '100' } })
    await spread({ kind: 'none' })
    expect((await told()).map(data => [data.from, data.to])).toEqual([
      ['not allocated', 'in equal parts'],
      ['in equal parts', 'by fixed shares (acme 100 %)'],
      ['by fixed shares (acme 100 %)', 'not allocated'],
    ])
    expect(await lines()).toEqual({})
  })

  it.each<[string, AllocationRule]>([
    ['a tenant that is not there', { kind: 'fixed', shares: { nobody: '10' } }],
    ['more than all of it', { kind: 'fixed', shares: { acme: '60', globex: '40.0001' } }],
    ['what is no percentage', { kind: 'fixed', shares: { acme: 'half' } }],
    ['no share at all', { kind: 'fixed', shares: {} }],
  ])('is refused for %s, and nothing is changed', async (_, rule) => {
    await spread({ kind: 'even' })
    expect(await refused(spread(rule))).toBe('BAD_INPUT')
    expect(Object.keys(await lines())).toHaveLength(3)
    expect(await told()).toHaveLength(1)
  })

  it('is refused where a statement could not take the line: there is no exchange rate', async () => {
    const euro = await theirs('13', { provider: 'openai', currency: 'EUR' })
    expect(await refused(setSpread(books.ctx(), { id: euro, rule: { kind: 'even' } }))).toBe('BAD_INPUT')
    expect(await refused(setSpread(books.ctx(), { id: euro, rule: { kind: 'none' } }))).toBe('done')
  })

  it('takes the role admin', async () => {
    for (const role of ['lead', 'auditor'] as const) {
      const actor = books.as(role, await makeMember(db.prisma, books.org, role))
      expect(await refused(setSpread(books.ctx(actor), { id, rule: { kind: 'even' } })), role).toBe('FORBIDDEN')
    }
    expect(await refused(setSpread(books.ctx(), { id: 'ivc_x', rule: { kind: 'even' } }))).toBe('NOT_FOUND')
  })

  it('by two people at once: one after the other, each told with the one before it', async () => {
    const admin = books.as('admin', await makeMember(db.prisma, books.org, 'admin'))
    const lock = `select 1 from "Organisation" where id = '${books.org.id}' for update`
    const ends = await during(
      db,
      lock,
      () => spread({ kind: 'even' }),
      () => setSpread(books.ctx(admin), { id, rule: { kind: 'proportional' } }),
    )
    expect(ends.map(end => end.status)).toEqual(['fulfilled', 'fulfilled'])
    const [first, second] = await told()
    expect([first.from, second.from]).toEqual(['not allocated', first.to])
    expect((await getInvoice(books.ctx(), { id })).ruleWords).toBe(second.to)
  })

  it('of an invoice that is removed in the same moment leaves nothing behind', async () => {
    const lock = `select 1 from "Organisation" where id = '${books.org.id}' for update`
    const ends = await during(
      db,
      lock,
      () => removeInvoice(books.ctx(), { id }),
      () => spread({ kind: 'even' }),
    )
    expect(ends[0]!.status).toBe('fulfilled')
    expect(await db.prisma.invoiceSpread.count({ where: { orgId: books.org.id } })).toBe(0)
    expect(await lines()).toEqual({})
  })
})

describe('statements', () => {
  it('have the line as one of its own, and a closed month’s change is an adjustment of the open one', async () => {
    await setStatements(books.ctx(), { basis: 'billed', firstMonth: null })
    await spread({ kind: 'proportional' })
    const draft = await books.draft('acme', '2026-11')
    expect(draft.lines.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['usage', '9'],
      ['reconciliation', '0.75'],
    ])
    expect(draft.total).toBe('9.75')
    await books.close('acme', '2026-11')
    await theirs('15', { replaces: id })
    expect((await books.closed('acme', '2026-11')).total).toBe('9.75')
    const next = await books.draft('acme', '2026-12')
    expect(next.lines).toMatchObject([
      { kind: 'adjustment', month: '2026-11', adjusts: 'reconciliation', amount: '1.5' },
    ])
    await removeInvoice(books.ctx(), { id })
    expect((await books.draft('acme', '2026-12')).lines).toMatchObject([
      { kind: 'adjustment', amount: '-0.75' },
      { kind: 'carried' },
    ])
  })
})

it.each([
  [{ kind: 'sometimes' }, 'invoice_spread_kind'],
  [{ kind: 'fixed', shares: {} }, 'invoice_spread_shares'],
  [{ kind: 'even', shares: { acme: '5' } }, 'invoice_spread_shares'],
])('the database refuses a rule with %j', async (data, name) => {
  await spread({ kind: 'even' })
  const where = { invoiceId_orgId: { invoiceId: id, orgId: books.org.id } }
  await expect(db.prisma.invoiceSpread.update({ where, data })).rejects.toSatisfy(error => isRefusal(error, name))
})
