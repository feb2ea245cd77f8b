import { beforeEach, expect, it } from 'vitest'
import { parseDecimal } from '#core/decimal.ts'
import { focusExport } from '#server/features/spend/focus-export.ts'
import { spendReport } from '#server/features/spend/report.ts'
import { makeFleetTotals } from '#server/features/usage/fleet.ts'
import { repriceUsage } from '#server/features/usage/reprice.ts'
import { useDatabase } from '#test/support/db.ts'
import { publish } from '#test/support/makers.ts'
import { type Books, openBooks, refused, spent } from '#test/support/statements.ts'

/** Whose word it is that a plan covers usage: the control plane holds to it whatever a machine sends, and shows it. */
const db = useDatabase()
let books: Books
const DAY = '2026-11-03'
beforeEach(async () => {
  books = await openBooks(db.prisma, new Date('2026-12-03T12:00:00Z'))
})
/** One call of three dollars each, in an hour of its own. */
const send = (over: readonly Parameters<typeof spent>[3][]) =>
  books.send({ [DAY]: over.map((one, i) => spent(DAY, 'acme', 1, { quarter: i, ...one })) })
const EVERY = [
  {},
  { covered: 'plan', coverBy: 'machine' },
  { covered: 'plan', coverBy: 'organisation' },
  { covered: 'unknown' },
  { client: 'codex', covered: 'plan', coverBy: 'machine' },
] as const
const byCover = async () => {
  const { rows, total } = await spendReport(books.ctx(), { from: '2026-11-01', to: '2026-12-01', by: 'cover' })
  const of = ({ priced }: typeof total) => Object.values(priced).reduce((sum, one) => sum + Number(one), 0)
  expect(rows.reduce((sum, row) => sum + of(row.total), 0)).toBe(of(total))
  return Object.fromEntries(rows.map(({ value, total: sum }) => [value, of(sum)]))
}
const billed = async () => {
  const { from, to } = { from: '2026-11-01', to: '2026-12-01' }
  const { rows } = await focusExport(books.ctx(), { from, to })
  let pico = 0n
  for await (const row of rows) {
    const cost = row.BilledCost as { decimal: string } | null
    pico += parseDecimal(cost?.decimal ?? '0') ?? 0n
  }
  return Number(pico / 10n ** 10n) / 100
}

it('without the organisation’s word a machine’s own counts and is marked; what is said in its name is not known', async () => {
  await send(EVERY)
  expect(await byCover()).toEqual({ metered: 3, 'plan/machine': 6, unknown: 6 })
  expect(await billed()).toBe(3)
})

it('the organisation’s signed word stands against a machine’s own, for old machines too, and what records tell stays', async () => {
  await publish(db.prisma, books.org, 'covered: { claude-code: metered }\n')
  await send([...EVERY, { covered: 'plan' }])
  const wanted = { metered: 3, 'metered/organisation': 9, 'plan/machine': 3, plan: 3 }
  expect(await byCover()).toEqual(wanted)
  expect(await billed()).toBe(12)
  // shared totals and new prices keep them apart
  await makeFleetTotals(db.prisma, books.ctx().now)
  expect(await byCover()).toEqual(wanted)
  await publish(
    db.prisma,
    books.org,
    'covered: { claude-code: metered }\nrates: [{ model: claude-sonnet-4-5, provider: anthropic, input: 6, output: 30 }]\n',
  )
  await repriceUsage(books.ctx(), { from: DAY, to: DAY })
  expect(await byCover()).toEqual({ metered: 6, 'metered/organisation': 18, 'plan/machine': 6, plan: 6 })
})

it('what is declared and unknown at once is refused', async () => {
  expect(await refused(send([{ covered: 'unknown', coverBy: 'machine' }]))).toBe('BAD_INPUT')
})
