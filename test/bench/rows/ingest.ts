import { formatDecimal } from '#core/decimal.ts'
import { priceBucket } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import type { UsageBucket, UsageDay } from '#core/usage/upload.ts'
import { keepDays, makeMonths } from '#server/features/usage/keep.ts'
import { priceDay } from '#server/features/usage/price-day.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { contextOf, makeMachine, makeMember, makeOrganisation } from '../../support/makers.ts'
import { type Case, median, type Row } from '../bench.ts'
import { withUndo } from '../undo.ts'
import { type BenchDatabase, copyIn, openBenchDatabase } from '../usage-database.ts'

const DAYS = 40
/** As many as the door's limit of bytes lets through. */
const PER_DAY = 200
const ROWS = DAYS * PER_DAY
const ROUNDS = 9
const WARM_UP = 2
const AT_LEAST = 0.5
const MODELS = ['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-haiku-4-5', 'claude-opus-4-7', 'claude-sonnet-4-5']

/**
 * What one upload near its limit writes (rows, and the totals that hold them), and the whole way from its signed text to the
 * commit, each beside COPY of the same rows into the same table.
 */
export const row: Row = {
  name: 'ingest',
  run: () =>
    withUndo(async later => {
      const database = await openBenchDatabase(later)
      const { prisma } = database
      const org = await makeOrganisation(prisma, 'bench')
      const member = await makeMember(prisma, org, 'member')
      const days = makeDays()
      await makeMonths(
        prisma,
        days.map(({ day }) => day),
      )
      const card = { version: 0, rates: builtInRates() }
      const priced = days.map(day => priceDay(day, card))
      const rates = { copy: [] as number[], keep: [] as number[], take: [] as number[] }
      for (let round = 0; round < WARM_UP + ROUNDS; round++) {
        const make = (letter: string) => makeMachine(prisma, org, member, `${letter}${round}`)
        const [copied, kept, taken] = [await make('c'), await make('k'), await make('t')]
        const upload = { v: 1, org: org.id, machine: taken.id, seq: 1, at: new Date().toISOString(), days }
        const usage = taken.sign('holdpoint-usage+jws', upload)
        const ways = {
          copy: () => copyRows(database, org.id, copied.id, days),
          keep: () =>
            prisma.$transaction(tx =>
              keepDays(
                tx,
                { orgId: org.id, machineId: kept.id, memberId: member },
                {
                  days: days.map(({ day }) => day),
                  buckets: priced.flatMap(({ buckets }) => buckets),
                  fresh: true,
                  zones: ['UTC'],
                },
              ),
            ),
          take: async () => {
            const answer = await takeUsage(contextOf(prisma, taken.actor), { usage })
            if (answer.days.some(day => day.state !== 'taken')) throw new Error('the upload was not taken')
          },
        }
        const names = ['copy', 'keep', 'take'] as const
        for (const name of round % 2 ? names : [...names].reverse()) {
          const started = performance.now()
          await ways[name]()
          if (round >= WARM_UP) rates[name].push(ROWS / ((performance.now() - started) / 1000))
        }
      }
      return [
        measured(rates, 'keep', `${ROWS} rows of one upload into PostgreSQL, with their totals`),
        measured(rates, 'take', `the same from the signed text on: verified, read, priced, kept`),
      ]
    }),
}

function measured(rates: Record<'copy' | 'keep' | 'take', number[]>, name: 'keep' | 'take', what: string): Case {
  // of each pair and not of the medians: what else the machine does changes slower than a round
  const ratio = median(rates[name].map((rate, i) => rates.copy[i]! / rate))
  return {
    row: 'ingest',
    case: what,
    value: median(rates[name]),
    unit: 'rows/s',
    against: 'COPY of the same rows into the same table',
    againstValue: median(rates.copy),
    ratio,
    must: name === 'keep' ? `${AT_LEAST} of its rows a second` : 'for information',
    ok: name === 'take' || 1 / ratio >= AT_LEAST,
  }
}

function makeDays(): UsageDay[] {
  const rates = builtInRates()
  return Array.from({ length: DAYS }, (_, i) => {
    const day = new Date(Date.UTC(2026, 8, 1 + i)).toISOString().slice(0, 10)
    const buckets = Array.from({ length: PER_DAY }, (_, n): UsageBucket => {
      const model = MODELS[n % MODELS.length]!
      const tokens = {
        input: 1000 + ((n * 7919) % 9000),
        cacheRead: (n * 104_729) % 900_000,
        cacheWrite5m: (n * 1299) % 40_000,
        cacheWrite1h: 0,
        output: 300 + ((n * 31) % 4000),
        webSearches: 0,
      }
      const { picoUsd, rate } = priceBucket(rates, { model, provider: 'anthropic', day, long: false, tokens })
      return {
        quarter: Math.floor(n / MODELS.length) % 96,
        client: 'claude-code',
        provider: 'anthropic',
        model,
        long: n >= 96 * MODELS.length,
        tags: { project: 'billing-api', tenant: 'acme' },
        covered: 'metered',
        rate,
        calls: 1 + (n % 9),
        partial: 0,
        tokens,
        cost: formatDecimal(picoUsd),
      }
    })
    return { day, computedAt: `${day}T23:59:00.000Z`, buckets }
  })
}

const COLUMNS =
  '"orgId", day, "machineId", quarter, "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", cost'

async function copyRows({ pool }: BenchDatabase, orgId: string, machineId: string, days: UsageDay[]): Promise<void> {
  const client = await pool.connect()
  try {
    const lines = days.flatMap(({ day, buckets }) =>
      buckets.map(({ quarter, model, long, calls, partial, tokens: t, cost }) =>
        [
          orgId,
          day,
          machineId,
          quarter,
          MODELS.indexOf(model) + (long ? 100 : 1),
          calls,
          partial,
          t.input,
          t.cacheRead,
          t.cacheWrite5m,
          t.cacheWrite1h,
          t.output,
          t.webSearches,
          cost,
        ].join('\t'),
      ),
    )
    await copyIn(client, `copy "UsageBucket" (${COLUMNS}) from stdin`, `${lines.join('\n')}\n`)
  } finally {
    client.release()
  }
}
