import pg from 'pg'
import { addMonths } from '#core/day.ts'
import { closeStatement, statementBytes, statementDigest } from '#core/spend/statement.ts'
import { draftOf, openBook } from '#server/features/statement/book.ts'
import { getStatement, listStatements } from '#server/features/statement/read.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { crypto } from '#server/keys/crypto.ts'
import { actorOf, contextOf, makeMachine, makeOrganisation, type TestOrganisation } from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'
import { type Case, percentile, type Row } from '../bench.ts'
import { withUndo } from '../undo.ts'
import { type BenchDatabase, openBenchDatabase } from '../usage-database.ts'

const TENANTS = 200
const MONTHS = 60
const LAST = '2026-11'
const NOW = new Date('2026-11-30T12:00:00Z')
const ROUNDS = 40
const MOST_MS = 100

/** Five years of 200 tenants, closed but for the last month, in which a machine reports before each question. */
export const row: Row = {
  name: 'statement',
  run: () =>
    withUndo(async later => {
      const database = await openBenchDatabase(later)
      const org = await makeLedger(database)
      await closeAll(database, org)
      return ask(database, org)
    }),
}

const FIGURES = 'calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", cost'
const SUMS = FIGURES.split(', ')
  .map(name => `sum(${name})`)
  .join(', ')

/** Totals as uploads and the worker would have left them: of each month a day, four projects and three models a tenant. */
async function makeLedger({ prisma, ownerUrl }: BenchDatabase): Promise<TestOrganisation> {
  const org = await makeOrganisation(prisma, 'ledger')
  await prisma.organisation.update({ where: { id: org.id }, data: { timeZone: 'UTC' } })
  const machine = await makeMachine(prisma, org, org.ownerId)
  const client = new pg.Client(ownerUrl)
  await client.connect()
  try {
    await client.query(
      `insert into "UsageSeries" ("orgId", "machineId", "memberId", client, provider, model, long, covered, rate, tags, "tagsKey")
       select $1, $2, $3, 'claude-code', 'anthropic', (array['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-haiku-4-5'])[m], false, 'metered', 'card', t.tags, t.tags::text
       from generate_series(1, ${TENANTS}) n, generate_series(1, 4) p, generate_series(1, 3) m,
         lateral (select jsonb_build_object('tenant', 't' || n, 'project', 'p' || p) as tags) t`,
      [org.id, machine.id, org.ownerId],
    )
    const into = `insert into "UsageTotal" ("orgId", zone, span, start, "machineId", "seriesId", ${FIGURES})`
    await client.query(
      `${into} select $1, 'UTC', 'day', (($2 || '-09')::date + '-1 month'::interval * k)::date, $3, s.id, 5 + k % 7, 0, 100000 + k, 4000000 + s.id, 30000, 0, 20000 + s.id % 91, 0, (100000 + s.id % 997 * 13 + k) * 0.000037
       from generate_series(0, ${MONTHS - 1}) k, "UsageSeries" s where s."orgId" = $1`,
      [org.id, LAST, machine.id],
    )
    for (const [span, from, start, of] of [
      ['month', 'day', `date_trunc('month', start)::date`, '"machineId"'],
      ['fleet-day', 'day', 'start', `''`],
      ['fleet-month', 'day', `date_trunc('month', start)::date`, `''`],
    ])
      await client.query(
        `${into} select $1, 'UTC', '${span}', ${start}, ${of}, "seriesId", ${SUMS} from "UsageTotal" where "orgId" = $1 and span = '${from}' group by 4, 5, 6`,
        [org.id],
      )
    await client.query('vacuum analyze "UsageTotal", "UsageSeries"')
    return org
  } finally {
    await client.end()
  }
}

/** Closes all months but the last, by what the application closes them by. */
async function closeAll({ prisma, ownerUrl }: BenchDatabase, org: TestOrganisation): Promise<void> {
  const book = await openBook(prisma, org.id, NOW)
  const client = new pg.Client(ownerUrl)
  await client.connect()
  try {
    await client.query('set synchronous_commit = off')
    for (const month of book.months.filter(one => one.month < LAST)) {
      await client.query(`insert into "StatementMonth" values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, [
        org.id,
        month.month,
        month.zone,
        month.start,
        month.end,
        month.basis,
        month.currency,
        JSON.stringify(month.rules),
        month.tenants,
      ])
      for (const tenant of book.tenants.keys()) {
        const { draft } = draftOf(book, tenant, month.month)!
        const now = { at: month.end.toISOString(), state: 'draft' as const, earlierOpen: false, acceptBound: false }
        const closed = closeStatement(draft, now)
        const bytes = statementBytes(closed)
        await client.query(
          `insert into "Statement" ("orgId", tenant, month, bytes, digest, total, carried, currency, "closedAt", "closedById", "evidenceSeq") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1)`,
          [
            org.id,
            tenant,
            month.month,
            Buffer.from(bytes),
            statementDigest(bytes, crypto.sha256),
            closed.total,
            closed.carried,
            closed.currency,
            month.end,
            org.ownerId,
          ],
        )
      }
    }
    await client.query('vacuum analyze "Statement", "StatementMonth"')
  } finally {
    await client.end()
  }
}

async function ask({ prisma }: BenchDatabase, org: TestOrganisation): Promise<Case[]> {
  const ctx = contextOf(prisma, actorOf(org, org.ownerId, 'owner'), NOW)
  const before = addMonths(LAST, -1)
  const questions: Record<string, () => Promise<unknown>> = {
    'the list of this year': () => listStatements(ctx),
    'the list of a closed year': () => listStatements(ctx, { year: '2023' }),
    'a draft': () => getStatement(ctx, { tenant: 't7', month: LAST }),
    'a closed statement': () => getStatement(ctx, { tenant: 't7', month: before }),
  }
  const times = new Map<string, number[]>(Object.keys(questions).map(name => [name, []]))
  let first: number | undefined
  for (let round = 1; round <= ROUNDS; round++) {
    const machine = await makeMachine(prisma, org, org.ownerId, `reporting-${round}`)
    for (const [name, question] of Object.entries(questions)) {
      const seq = 1 + [...times.keys()].indexOf(name)
      const bucket = bucketOf({ tags: { tenant: `t${round}` }, tokens: { input: round * 10 + seq } }, '2026-11-30')
      const days = [dayOf('2026-11-30', [bucket], NOW.toISOString())]
      await takeUsage(contextOf(prisma, machine.actor, NOW), {
        usage: signUsage(machine, uploadOf(machine, seq, days)),
      })
      const started = performance.now()
      await question()
      const took = performance.now() - started
      if (first === undefined) first = took
      else times.get(name)!.push(took)
    }
  }
  return [...times].map(([name, list]): Case => {
    const value = percentile(list, 0.95)
    return {
      row: 'statement',
      case: `${name}, ${MONTHS} months and ${TENANTS} tenants, usage coming in, p95`,
      value,
      unit: 'ms',
      against: 'reading everything once, after a start',
      againstValue: first!,
      ratio: value / first!,
      must: `${MOST_MS} ms`,
      ok: value <= MOST_MS,
    }
  })
}
