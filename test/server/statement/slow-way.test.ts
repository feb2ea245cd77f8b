import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAppError } from '#core/error.ts'
import type { AllocationRule } from '#core/spend/allocate.ts'
import { listInvoices } from '#server/features/invoice/read.ts'
import { setSpread } from '#server/features/invoice/state-spread.ts'
import { removeInvoice, takeInvoice } from '#server/features/invoice/take.ts'
import { setAllocation } from '#server/features/statement/arrange.ts'
import { openBook } from '#server/features/statement/book.ts'
import { getStatement, monthRow } from '#server/features/statement/read.ts'
import { makeFleetTotals } from '#server/features/usage/fleet.ts'
import { repriceUsage } from '#server/features/usage/reprice.ts'
import { changeTimeZone, rebuildTotals } from '#server/features/usage/zone.ts'
import { useDatabase } from '#test/support/db.ts'
import { publish } from '#test/support/makers.ts'
import { slowBill, slowBook, slowLater, slowRow } from '#test/support/slow-statements.ts'
import { type Books, openBooks, spent } from '#test/support/statements.ts'

const db = useDatabase()
const TENANTS = ['acme', 'globex', 'initech']
const MONTHS = ['2026-08', '2026-09', '2026-10', '2026-11']

/**
 * What lists tell of statements is what reading all of it anew tells; a draft's tag is of all its lines. With `each` also what every
 * statement's own page tells.
 */
async function compare(books: Books, each = false): Promise<void> {
  const ctx = books.ctx()
  const [fast, slow] = [
    await openBook(db.prisma, books.org.id, ctx.now),
    await slowBook(db.prisma, books.org.id, ctx.now),
  ]
  expect([...fast.tenants.values()]).toEqual([...slow.tenants.values()])
  expect(fast.months.map(month => monthRow(fast, month, ctx.now))).toEqual(
    slow.months.map(month => slowRow(slow, month, ctx.now)),
  )
  for (const { month } of each ? slow.months : [])
    for (const tenant of slow.tenants.keys()) {
      const bill = slowBill(slow, tenant, month, ctx.now)
      const told = await getStatement(ctx, { tenant, month }).catch(error => {
        if (isAppError(error) && error.code === 'NOT_FOUND') return undefined
        throw error
      })
      expect(told?.bill).toEqual(bill)
      if (bill?.state === 'closed') expect(told?.later).toEqual(slowLater(slow, tenant, month, ctx.now))
    }
}

type Step = (books: Books) => Promise<unknown>
const day = fc
  .tuple(fc.constantFrom(...MONTHS), fc.constantFrom('01', '09', '28'))
  .map(([month, date]) => `${month}-${date}`)
const tenant = fc.constantFrom(...TENANTS, undefined)
const rules = (tenants: string, rates: [from: string, perUsd: string][], more = '') => `boundaries: []
tags: { tenant: [${tenants}] }
exchange: [${rates.map(([from, perUsd]) => `{ currency: EUR, from: ${from}, per_usd: "${perUsd}" }`).join(', ')}]
${more}`
const RENAMED = `renames: [{ key: tenant, from: acme, to: acme-eu }]
`

/** Closes the first month of a tenant that something is on. */
async function closeNext(books: Books, of: string): Promise<void> {
  const { months } = await openBook(db.prisma, books.org.id, books.ctx().now)
  for (const { month } of months) {
    const { bill } = await getStatement(books.ctx(), { tenant: of, month })
    if (bill.state === 'draft' && bill.lines.length > 0) return void (await books.close(of, month, true))
  }
}

const bucket = fc
  .record({
    tenant,
    millions: fc.integer({ min: 0, max: 900_000 }).map(n => n / 100_000),
    project: fc.constantFrom('web', 'api'),
    team: fc.constantFrom('platform', 'data'),
    covered: fc.constantFrom('metered', 'plan', 'unknown'),
    model: fc.constantFrom('claude-sonnet-4-5', 'claude-opus-4-6', 'no-such-model'),
    quarter: fc.constantFrom(0, 47, 95),
  })
  .map(({ tenant: of, millions, project, team, ...over }) => ({
    of,
    millions,
    over: { ...over, tags: { project, team } },
  }))

/** What people, machines and the worker do, in any order. What is refused changes nothing, and is compared too. */
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(day, fc.uniqueArray(bucket, { minLength: 1, maxLength: 4, selector: one => one.over.quarter }))
      .map(
        ([on, list]): Step =>
          books =>
            books.send({ [on]: list.map(({ of, millions, over }) => spent(on, of, millions, over)) }),
      ),
  },
  { weight: 4, arbitrary: fc.constant<Step>(books => makeFleetTotals(db.prisma, books.ctx().now)) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(...TENANTS).map(
      (of): Step =>
        books =>
          closeNext(books, of),
    ),
  },
  fc
    .tuple(
      fc.constantFrom({ key: '', value: '' }, { key: 'team', value: 'platform' }, { key: 'tenant', value: 'initech' }),
      fc.constantFrom('even', 'proportional', 'equivalent'),
    )
    .map(
      ([of, kind]): Step =>
        books =>
          setAllocation(books.ctx(), { ...of, rule: { kind } as { kind: 'even' } }),
    ),
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          rules('acme, globex, initech', [
            ['2026-01-01', '0.9'],
            ['2026-09-09', '0.8123'],
            ['2026-10-28', '0.77'],
          ]),
          rules(
            'acme-eu, globex',
            [
              ['2026-01-01', '0.9'],
              ['2026-10-05', '0.5'],
            ],
            RENAMED,
          ),
          rules('acme', [['2026-09-01', '0.7']]),
        ),
        fc.constantFrom('EUR', 'EUR', 'USD'),
      )
      .map(
        ([text, currency]): Step =>
          async books => {
            await publish(db.prisma, books.org, text)
            await db.prisma.organisation.update({ where: { id: books.org.id }, data: { currency } })
          },
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...MONTHS.slice(1)),
        fc.integer({ min: -500, max: 4000 }),
        fc.constantFrom('USD', 'USD', 'EUR'),
        fc.constantFrom<AllocationRule>(
          { kind: 'even' },
          { kind: 'proportional' },
          { kind: 'equivalent' },
          { kind: 'fixed', shares: { acme: '33.3' } },
          { kind: 'none' },
        ),
      )
      .map(
        ([month, cents, currency, rule]): Step =>
          async books => {
            const lines = [{ amount: String(cents / 100) }]
            const { items } = await listInvoices(books.ctx())
            const there = items.find(one => one.month === month)
            const asked = { provider: 'anthropic' as const, month, currency, source: 'hand' as const, lines }
            const { id } = await takeInvoice(books.ctx(), { ...asked, ...(there ? { replaces: there.id } : {}) })
            await setSpread(books.ctx(), { id, rule })
          },
      ),
  },
  fc.constant<Step>(async books => {
    const { items } = await listInvoices(books.ctx())
    if (items[0]) await removeInvoice(books.ctx(), { id: items[0].id })
  }),
  fc.constant<Step>(books => repriceUsage(books.ctx(), { from: '2026-08-01', to: '2026-11-30' })),
  fc.constantFrom('Europe/Amsterdam', 'UTC', 'Asia/Kolkata').map(
    (timeZone): Step =>
      async books => {
        await changeTimeZone(books.ctx(), { timeZone })
        await rebuildTotals(db.prisma, books.org.id)
      },
  ),
)

describe('what is kept of statements', () => {
  it('is what all of it read anew comes to, whatever happened and in whatever order', async () => {
    let refusals = 0
    let steps = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 14 }), async list => {
        const books = await openBooks(db.prisma, new Date('2026-12-03T12:00:00Z'))
        await books.tenants(...TENANTS, 'acme-eu')
        for (const one of list) {
          steps++
          await one(books).catch(error => {
            if (!isAppError(error)) throw error
            refusals++
          })
          await compare(books)
        }
        await compare(books, true)
      }),
      { numRuns: 3, seed: 20261130, endOnFailure: true },
    )
    expect(steps - refusals).toBeGreaterThan(steps / 2)
  }, 300_000)
})
