import { describe, expect, it } from 'vitest'
import { parseDecimal } from '#core/decimal.ts'
import { INVOICES_SHOWN, type InvoicePlace, listInvoices } from '#server/features/invoice/read.ts'
import { invoicesSheet } from '#server/features/invoice/sheet.ts'
import { takeInvoice } from '#server/features/invoice/take.ts'
import { makeFleetTotals } from '#server/features/usage/fleet.ts'
import { repriceUsage } from '#server/features/usage/reprice.ts'
import { changeTimeZone, rebuildTotals } from '#server/features/usage/zone.ts'
import { useDatabase } from '#test/support/db.ts'
import { makeMachine, publish } from '#test/support/makers.ts'
import { type Books, openBooks, spent } from '#test/support/statements.ts'

/** The list of invoices: all of them, a page at a time, each beside what the ledger has now. */
const db = useDatabase()
const open = () => openBooks(db.prisma, new Date('2026-12-03T12:00:00Z'))

describe('the list of invoices', () => {
  it('goes on page by page to the last one, and its file has every one', async () => {
    const books = await open()
    const providers = ['anthropic', 'google', 'openai']
    const months = Array.from(
      { length: 41 },
      (_, i) => `${2012 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}`,
    )
    const rows = months.flatMap(month => providers.map(provider => ({ month, provider })))
    await db.prisma.invoice.createMany({
      data: rows.map(({ month, provider }) => ({
        id: `inv_${books.org.id}_${month}_${provider}`,
        orgId: books.org.id,
        provider,
        month,
        currency: 'USD',
        source: 'hand',
        digest: 'A'.repeat(43),
        lineCount: 1,
        total: '1',
        importedAt: books.ctx().now,
        importedById: books.org.ownerId,
      })),
    })
    const told: string[] = []
    let from: InvoicePlace | undefined
    do {
      const page = await listInvoices(books.ctx(), { from })
      expect(page.items.length).toBeLessThanOrEqual(INVOICES_SHOWN)
      told.push(...page.items.map(({ month, provider }) => `${month} ${provider}`))
      from = page.next
    } while (from)
    const all = [...months].reverse().flatMap(month => providers.map(provider => `${month} ${provider}`))
    expect(told).toEqual(all)
    expect((await invoicesSheet(books.ctx())).rows.map(([month, provider]) => `${month} ${provider}`)).toEqual(all)
  })

  it('tells of each what the ledger has now, whatever has become of its usage', async () => {
    const books = await open()
    await books.send({
      '2026-11-01': [spent('2026-11-01', 'acme', 1, { quarter: 0 })],
      '2026-11-28': [spent('2026-11-28', 'acme', 2)],
    })
    for (const month of ['2026-10', '2026-11'])
      await takeInvoice(books.ctx(), {
        provider: 'anthropic',
        month,
        currency: 'USD',
        source: 'hand',
        lines: [{ amount: '10' }],
      })
    const told: string[][] = []
    const look = async () => told.push((await listInvoices(books.ctx())).items.map(({ sides }) => sides!.ours))
    const totals = () => makeFleetTotals(db.prisma, books.ctx().now)
    await look()
    const steps: [step: () => Promise<unknown>, november: string, october: string][] = [
      [totals, '9', '0'],
      [() => books.send({ '2026-11-28': [spent('2026-11-28', 'acme', 3)] }), '12', '0'],
      [totals, '12', '0'],
      [() => books.send({ '2026-11-28': [spent('2026-11-28', 'acme', 2)] }), '9', '0'],
      [totals, '9', '0'],
      [() => books.send({ '2026-10-31': [spent('2026-10-31', 'acme', 1, { quarter: 95 })] }), '9', '3'],
      [() => inZone(books, 'Europe/Amsterdam'), '9', '3'],
      [totals, '9', '3'],
      [() => books.send({ '2026-10-31': [spent('2026-10-31', 'acme', 5, { quarter: 95 })] }), '9', '15'],
      [totals, '9', '15'],
      [() => ofAnother(books), '12', '15'],
      [() => publish(db.prisma, books.org, `${OVERRIDE}`), '12', '15'],
      [() => repriceUsage(books.ctx(), { from: '2026-10-01', to: '2026-11-30' }), '40', '50'],
      [() => inZone(books, 'UTC'), '40', '50'],
      [totals, '40', '50'],
    ]
    for (const [i, [step, november, october]] of steps.entries()) {
      await step()
      await look()
      expect(told.at(-1), `after step ${i}`).toEqual([november, october])
      expect(await inLedger(books, '2026-11')).toBe(parseDecimal(november))
    }
  })
})

const OVERRIDE = `boundaries: []
rates: [{ model: claude-sonnet-4-5, provider: anthropic, input: 10, output: 15 }]
`

async function inZone(books: Books, timeZone: string): Promise<void> {
  await changeTimeZone(books.ctx(), { timeZone })
  await rebuildTotals(db.prisma, books.org.id)
}

async function ofAnother(books: Books): Promise<void> {
  const machine = await makeMachine(db.prisma, books.org, books.org.ownerId)
  await books.send({ '2026-11-09': [spent('2026-11-09', undefined, 1)] }, machine)
}

/** By the buckets, without anything that is kept or added up. */
async function inLedger(books: Books, month: string): Promise<bigint | undefined> {
  const [row] = await db.prisma.$queryRaw<{ cost: string }[]>`
    select coalesce(sum(cost), 0)::text as cost from "UsageBucket" where "orgId" = ${books.org.id} and to_char(day, 'YYYY-MM') = ${month}`
  return parseDecimal(row!.cost)
}
