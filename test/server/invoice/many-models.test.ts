import { expect, it } from 'vitest'
import { getInvoice } from '#server/features/invoice/read.ts'
import { invoiceSheet } from '#server/features/invoice/sheet.ts'
import { takeInvoice } from '#server/features/invoice/take.ts'
import { useDatabase } from '#test/support/db.ts'
import { openBooks, pico } from '#test/support/statements.ts'

const db = useDatabase()

it('an invoice of very many models is a short list that adds up, and its file has every one', async () => {
  const books = await openBooks(db.prisma, new Date('2026-12-03T12:00:00Z'))
  const text = ['model,amount', ...Array.from({ length: 3000 }, (_, i) => `m-${i},${i + 1}`)].join('\n')
  const { id } = await takeInvoice(books.ctx(), {
    provider: 'anthropic',
    month: '2026-11',
    currency: 'USD',
    source: 'csv',
    text,
  })
  const { byModel, total } = await getInvoice(books.ctx(), { id })
  expect(byModel).toHaveLength(101)
  expect(byModel.at(-1)?.model).toBe('2900 others')
  expect(byModel.reduce((sum, { theirs }) => sum + pico(theirs), 0n)).toBe(pico(total))
  expect((await invoiceSheet(books.ctx(), new URLSearchParams({ id }))).rows).toHaveLength(3000)
})
