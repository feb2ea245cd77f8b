import { formatDecimal } from '#core/decimal.ts'
import { NO_TOKENS, priceBucket, type UsageTokens } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import type { UsageBucket, UsageDay, UsageUpload } from '#core/usage/upload.ts'
import type { TestMachine } from './makers.ts'

/** A model of the card, at 3 dollars a million input tokens on every day of this century's third decade. */
export const MODEL = 'claude-sonnet-4-5'
const RATES = builtInRates()

/** A bucket as a machine sends it; priced by the card unless a cost is given. */
export function bucketOf(
  over: Omit<Partial<UsageBucket>, 'tokens'> & { tokens?: Partial<UsageTokens> } = {},
  day = '2026-11-01',
): UsageBucket {
  const tokens = { ...NO_TOKENS, ...(over.tokens ?? { input: 1_000_000 }) }
  const bucket = {
    quarter: 40,
    client: 'claude-code',
    provider: 'anthropic',
    model: MODEL,
    long: false,
    tags: {},
    covered: 'metered',
    rate: 'card',
    calls: 1,
    partial: 0,
    ...over,
    tokens,
  } as const
  const { picoUsd, rate } = priceBucket(RATES, { ...bucket, day })
  return { ...bucket, rate: over.rate ?? rate, cost: over.cost ?? formatDecimal(picoUsd) }
}

export const dayOf = (day: string, buckets: UsageBucket[], computedAt = `${day}T23:59:00.000Z`): UsageDay => ({
  day,
  computedAt,
  buckets,
})

export function uploadOf(machine: TestMachine, seq: number, days: UsageDay[]): UsageUpload {
  return { v: 1, org: machine.org.id, machine: machine.id, seq, at: '2026-11-29T12:00:00.000Z', days }
}

export const signUsage = (machine: TestMachine, upload: unknown): string => machine.sign('holdpoint-usage+jws', upload)
