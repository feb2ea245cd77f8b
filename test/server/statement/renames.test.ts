import { expect, it } from 'vitest'
import { getInvoice } from '#server/features/invoice/read.ts'
import { setSpread } from '#server/features/invoice/state-spread.ts'
import { takeInvoice } from '#server/features/invoice/take.ts'
import { publishRuleSet } from '#server/features/rule-set.ts'
import { currentRuleSet } from '#server/features/rule-set-history.ts'
import { editSpendRules } from '#server/features/spend/edit-rules.ts'
import { useDatabase } from '#test/support/db.ts'
import { type Books, openBooks, spent } from '#test/support/statements.ts'

const db = useDatabase()

async function rename(books: Books): Promise<void> {
  const { etag } = await currentRuleSet(books.ctx())
  const edit = { kind: 'rename', key: 'tenant', from: 'acme', to: 'acme-eu' } as const
  await editSpendRules(books.ctx(), { edit, note: 'They moved', etag })
}

it('a tenant that is renamed has its next statements under the new name, and nothing moves between closed ones', async () => {
  const books = await openBooks(db.prisma, new Date('2026-12-03T12:00:00Z'))
  await books.tenants('acme', 'globex', 'acme-eu')
  const text = 'boundaries: []\ntags: { tenant: [acme, globex] }\n'
  await publishRuleSet(books.ctx(), { text, note: 'Lists', etag: '"0"' })
  await books.send({
    '2026-11-03': [spent('2026-11-03', 'acme', 2), spent('2026-11-03', 'globex', 1)],
    '2026-12-02': [spent('2026-12-02', 'acme', 4)],
  })
  await books.close('acme', '2026-11')
  books.at('2026-12-10T12:00:00Z')
  await rename(books)
  expect((await books.closed('acme', '2026-11')).total).toBe('6')
  expect((await books.draft('globex', '2026-11')).total).toBe('3')
  expect((await books.draft('acme-eu', '2026-12')).total).toBe('12')
  // Were November read by the new name, what was billed would be taken back from one and asked of the other.
  expect((await books.draft('acme-eu', '2026-12')).lines.map(({ kind }) => kind)).toEqual(['usage'])
  expect((await books.draft('acme', '2026-12')).total).toBe('0')
})

it('what is spread of an invoice stays with whom it was billed to, too, and is shown there', async () => {
  const books = await openBooks(db.prisma, new Date('2026-12-03T12:00:00Z'))
  await books.tenants('acme', 'globex', 'acme-eu')
  const text = 'boundaries: []\ntags: { tenant: [acme, globex] }\n'
  await publishRuleSet(books.ctx(), { text, note: 'Lists', etag: '"0"' })
  await books.send({
    '2026-11-03': [spent('2026-11-03', 'acme', 2), spent('2026-11-03', 'globex', 1)],
    '2026-12-02': [spent('2026-12-02', 'acme', 1)],
  })
  const head = { provider: 'anthropic', currency: 'USD', source: 'hand' } as const
  const ids = new Map<string, string>()
  for (const [month, amount] of [
    ['2026-11', '12'],
    ['2026-12', '5'],
  ] as const) {
    const { id } = await takeInvoice(books.ctx(), { ...head, month, lines: [{ amount }] })
    await setSpread(books.ctx(), { id, rule: { kind: 'proportional' } })
    ids.set(month, id)
  }
  await books.close('acme', '2026-11')
  books.at('2026-12-10T12:00:00Z')
  await rename(books)
  const partsOf = async (month: string) => {
    const { spread } = await getInvoice(books.ctx(), { id: ids.get(month)! })
    return Object.fromEntries(spread!.parts.map(({ key, amount }) => [key, amount]))
  }
  expect(await partsOf('2026-11')).toEqual({ acme: '2', globex: '1' })
  expect((await books.draft('globex', '2026-11')).total).toBe('4')
  expect((await books.draft('acme', '2026-12')).lines).toEqual([])
  expect(await partsOf('2026-12')).toEqual({ 'acme-eu': '2' })
  expect((await books.draft('acme-eu', '2026-12')).total).toBe('5')
})
