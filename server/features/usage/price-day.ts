import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { priceBucket } from '#core/pricing.ts'
import type { UsageDay } from '#core/usage/upload.ts'
import type { PricedBucket } from './keep.ts'
import type { DayRates } from './rates.ts'

/** A day at the control plane's own prices, beside what the machine reckoned. */
export type PricedDay = {
  day: string
  buckets: PricedBucket[]
  calls: number
  picoUsd: bigint
  machinePico: bigint
  /** Buckets whose two costs differ: shown as a note on the data, never used. */
  differing: number
  version: number
}

/** Prices a day from its tokens. The machine's cost and its word on the kind of price are kept beside, not believed. */
export function priceDay(usageDay: UsageDay, { rates, version }: DayRates): PricedDay {
  const { day } = usageDay
  const priced: PricedDay = { day, buckets: [], calls: 0, picoUsd: 0n, machinePico: 0n, differing: 0, version }
  for (const { cost, ...bucket } of usageDay.buckets) {
    const { picoUsd, rate } = priceBucket(rates, { ...bucket, day })
    const machinePico = parseDecimal(cost) ?? 0n
    priced.buckets.push({ ...bucket, day, rate, picoUsd })
    priced.calls += bucket.calls
    priced.picoUsd += picoUsd
    priced.machinePico += machinePico
    if (picoUsd !== machinePico) priced.differing++
  }
  return priced
}

/** A decimal of the database in its shortest form. */
export const shortest = (decimal: string): string => formatDecimal(parseDecimal(decimal) ?? 0n)
