import { dayStart } from '#core/day.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { priceBucket } from '#core/pricing.ts'
import { type DeclaredCover, declaredCover } from '#core/usage/declared-cover.ts'
import type { UsageDay } from '#core/usage/upload.ts'
import type { PricedBucket } from './keep.ts'
import type { DayRates } from './rates.ts'

/**
 * A day with what the organisation's signed word says covers it, where no record and no sign-in told: the machine's own word does not
 * stand against it, and what is said to be the organisation's and is not is nobody's.
 */
export function signedCovers(usageDay: UsageDay, organisation: DeclaredCover | undefined): UsageDay {
  const atMs = dayStart(usageDay.day)
  const buckets = usageDay.buckets.map(({ covered, coverBy, ...bucket }): UsageDay['buckets'][number] => {
    const isRead = coverBy === undefined && covered !== 'unknown'
    if (isRead) return { ...bucket, covered }
    const signed = declaredCover(organisation, bucket.client, atMs)
    if (signed !== undefined) return { ...bucket, covered: signed, coverBy: 'organisation' }
    return coverBy === 'machine' ? { ...bucket, covered, coverBy } : { ...bucket, covered: 'unknown' }
  })
  return { ...usageDay, buckets }
}

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
