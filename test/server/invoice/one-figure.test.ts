import { beforeEach, expect, it } from 'vitest'
import type { AllocationRule } from '#core/spend/allocate.ts'
import { getInvoice, spreadWith } from '#server/features/invoice/read.ts'
import { setSpread } from '#server/features/invoice/state-spread.ts'
import { takeInvoice } from '#server/features/invoice/take.ts'
import { previewAllocation, setAllocation, setStatements } from '#server/features/statement/arrange.ts'
import { statementSheet } from '#server/features/statement/sheet.ts'
import { useDatabase } from '#test/support/db.ts'
import { publish } from '#test/support/makers.ts'
import { type Books, openBooks, pico, spent } from '#test/support/statements.ts'

/** A part of an invoice's difference, or of what is nobody's, is one figure on every page, in every file, and adds up. */
const db = useDatabase()
let books: Books
beforeEach(async () => {
  books = await openBooks(db.prisma, new Date('2026-12-03T12:00:00Z'))
  await books.tenants('acme', 'contoso', 'globex')
  await db.prisma.tenant.updateMany({ where: { key: 'contoso' }, data: { name: 'Contoso' } })
  // Cents that are no whole ones everywhere; `covered` has nothing that is paid for by use.
  await books.send({
    '2026-11-03': [
      spent('2026-11-03', 'acme', 1.111),
      spent('2026-11-03', 'contoso', 2.2237),
      spent('2026-11-03', 'globex', 0.3339),
      spent('2026-11-03', 'covered', 7.77, { covered: 'plan' }),
      spent('2026-11-03', undefined, 1.0001),
    ],
  })
})
const invoice = async (amount: string, currency = 'USD') =>
  (
    await takeInvoice(books.ctx(), {
      provider: 'anthropic',
      month: '2026-11',
      currency,
      source: 'hand',
      lines: [{ amount }],
    })
  ).id

/** Of every tenant the amount and the shown amount of its line of this kind, from its statement and from its file. */
async function onStatements(kind: string) {
  const found: Record<string, string> = {}
  for (const tenant of ['acme', 'contoso', 'covered', 'globex']) {
    const line = (await books.draft(tenant, '2026-11')).lines.find(one => one.kind === kind)
    const { columns, rows } = await statementSheet(books.ctx(), new URLSearchParams({ tenant, month: '2026-11' }))
    const row = rows.find(one => one[columns.indexOf('kind')] === kind)
    expect(row?.[columns.indexOf('amount_shown')]).toEqual(line && { decimal: line.shown })
    expect(row?.[columns.indexOf('amount')]).toEqual(line && { decimal: line.shown })
    if (line) found[tenant] = line.amount
  }
  return found
}
const sum = (amounts: readonly string[]) => amounts.reduce((all, amount) => all + pico(amount), 0n)

it.each<[AllocationRule, 'equivalent' | 'billed', string]>([
  [{ kind: 'proportional' }, 'billed', 'USD'],
  [{ kind: 'even' }, 'equivalent', 'USD'],
  [{ kind: 'equivalent' }, 'billed', 'EUR'],
])('a difference by %j on statements of %s, in %s', async (rule, basis, currency) => {
  await setStatements(books.ctx(), { basis, firstMonth: null })
  if (currency !== 'USD')
    await publish(
      db.prisma,
      books.org,
      `exchange:\n  - { currency: ${currency}, from: 2026-01-01, per_usd: "0.917" }\n`,
    )
  const id = await invoice('33.337', currency)
  const before = await spreadWith(books.ctx(), { id, rule })
  await setSpread(books.ctx(), { id, rule })
  const { spread, sides } = await getInvoice(books.ctx(), { id })
  expect(spread).toEqual(before)
  const parts = Object.fromEntries(before.parts.map(({ key, amount }) => [key, amount]))
  expect(parts).toEqual(await onStatements('reconciliation'))
  expect(Object.keys(parts)).toEqual(
    rule.kind === 'proportional' ? ['acme', 'contoso', 'globex'] : ['acme', 'contoso', 'covered', 'globex'],
  )
  expect(sum([...Object.values(parts), before.left])).toBe(pico(before.whole))
  expect(before.currency).toBe('USD')
  if (currency === 'USD') expect(before.whole).toBe(sides!.difference)
  expect(before.parts.find(({ key }) => key === 'contoso')!.name).toBe('Contoso')
})

it('what is nobody’s: its preview is what stands on the statements', async () => {
  const asked = { key: '', value: '', rule: { kind: 'even' } as const }
  const preview = await previewAllocation(books.ctx(), { ...asked, month: '2026-11' })
  await setAllocation(books.ctx(), asked)
  expect(Object.fromEntries(preview.parts.map(({ tenant, part }) => [tenant, part]))).toEqual(
    await onStatements('allocated'),
  )
  expect(sum([...preview.parts.map(({ part }) => part), preview.left])).toBe(pico(preview.amount))
})

it('where nobody pays by use, in proportion goes to nobody and says why; by list prices to who used it', async () => {
  await books.send({ '2026-11-03': [spent('2026-11-03', 'acme', 3, { covered: 'unknown' })] })
  const id = await invoice('5')
  expect(await spreadWith(books.ctx(), { id, rule: { kind: 'proportional' } })).toMatchObject({
    parts: [],
    left: '5',
    why: 'no_spend',
  })
  expect(await spreadWith(books.ctx(), { id, rule: { kind: 'equivalent' } })).toMatchObject({
    parts: [{ key: 'acme', amount: '5' }],
    left: '0',
    why: null,
  })
})

it('of a month before the first statement it says that it stands on none', async () => {
  await setStatements(books.ctx(), { basis: 'billed', firstMonth: '2026-12' })
  const id = await invoice('50')
  const preview = await spreadWith(books.ctx(), { id, rule: { kind: 'even' } })
  expect(preview.before).toBe('2026-12')
})
