import { addMonths } from '#core/day.ts'
import { type ReportAsked, spendReport } from '#server/features/spend/report.ts'
import { actorOf, contextOf, publish } from '../../support/makers.ts'
import { type Case, percentile, type Row } from '../bench.ts'
import { type Fleet, makeFleet } from '../fleet-usage.ts'
import { withUndo } from '../undo.ts'
import { type BenchDatabase, openBenchDatabase } from '../usage-database.ts'

/** Fleet and time grow together: 100 thousand, 1 million, 10 million rows. HOLDPOINT_BENCH_ROWS names the most of them. */
const SIZES = [
  { machines: 25, days: 63 },
  { machines: 100, days: 157 },
  { machines: 400, days: 391 },
].filter(({ machines, days }) => machines * days * 64 <= Number(process.env.HOLDPOINT_BENCH_ROWS ?? 11_000_000))
const ROUNDS = 40
const WARM_UP = 5
const MOST_MS = 50

/** What people ask for: a month, a quarter and everything, by whole months, days and quarter hours, grouped and narrowed. */
const QUESTIONS: Omit<ReportAsked, 'from' | 'to'>[] = [
  { by: 'tenant' },
  { by: 'project', filter: { tenant: ['t3'] } },
  { by: 'model' },
  { by: 'member' },
  { by: 'tenant', step: 'day' },
]

export const row: Row = {
  name: 'report',
  run: () =>
    withUndo(async later => {
      const database = await openBenchDatabase(later)
      const cases: Case[] = []
      let first: number | undefined
      const add = (of: string, p95: number) => {
        first ??= p95
        cases.push({
          row: 'report',
          case: `${of}, p95`,
          value: p95,
          unit: 'ms',
          against: 'the smallest number of rows',
          againstValue: first,
          ratio: p95 / first,
          must: `${MOST_MS} ms`,
          ok: p95 <= MOST_MS,
        })
      }
      for (const size of SIZES) {
        const fleet = await makeFleet(database, size)
        const of = `chargeback at ${fleet.rows.toLocaleString('en')} rows (${size.machines} machines, ${size.days} days)`
        add(of, await ask(database, fleet))
        if (size !== SIZES.at(-1)) continue
        await billInEuros(database, fleet)
        add(`${of}, in euros at a rate of each month`, await ask(database, fleet, 'EUR'))
      }
      return cases
    }),
}

/** From now on the fleet is billed in euros, with a rate from the first of each month. */
async function billInEuros({ prisma }: BenchDatabase, { org, from, to }: Fleet): Promise<void> {
  const months: string[] = []
  for (let month = from.slice(0, 7); month < to.slice(0, 7); month = addMonths(month, 1)) months.push(month)
  const entries = months.map((month, i) => `  - { currency: EUR, from: ${month}-01, per_usd: "${0.85 + i / 1000}" }\n`)
  await publish(prisma, org, `boundaries: []\nexchange:\n${entries.join('')}`)
  await prisma.organisation.update({ where: { id: org.id }, data: { currency: 'EUR' } })
}

async function ask({ prisma }: BenchDatabase, { org, from, to }: Fleet, currency = 'USD'): Promise<number> {
  const periods = [
    { from: '2026-11-01', to },
    { from: '2026-10-01', to: '2026-11-01' },
    { from, to },
    { from: '2026-10-05T09:15', to: '2026-11-17T14:45' },
  ]
  const times: number[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round++)
    for (const question of QUESTIONS) {
      const period = periods[round % periods.length]!
      const asked = { ...question, ...period }
      // A year by days is more than a chart can show.
      if (asked.step === 'day' && period.from === from) asked.step = 'month'
      const ctx = contextOf(prisma, actorOf(org, org.ownerId, 'owner'))
      const started = performance.now()
      const report = await spendReport(ctx, asked)
      if (round >= WARM_UP) times.push(performance.now() - started)
      if (report.rows.length === 0 || report.total.calls === 0 || report.currency !== currency)
        throw new Error('the report is empty, or in another currency')
    }
  return percentile(times, 0.95)
}
