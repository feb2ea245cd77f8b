import { NO_TOKENS, type UsageTokens } from '#core/pricing.ts'

/** Counts as sources write them where the input holds everything that was read, cached or not (OpenTelemetry's gen_ai, OpenAI, Gemini). */
export type InclusiveCounts = {
  input: number
  cacheRead?: number | undefined
  /** All that was written to a cache; how long it is kept is not told. */
  cacheWrite?: number | undefined
  output: number
  webSearches?: number | undefined
}

/**
 * Counts on disjoint axes from a source whose input includes cached tokens. More cached than read at all means that the
 * source does not count that way: then nothing is taken off, so that no token is dropped.
 */
export function fromInclusive(counts: InclusiveCounts): UsageTokens {
  const { input, cacheRead = 0, cacheWrite = 0, output, webSearches = 0 } = counts
  const cached = cacheRead + cacheWrite
  return {
    ...NO_TOKENS,
    input: cached <= input ? input - cached : input,
    cacheRead,
    cacheWrite5m: cacheWrite,
    output,
    webSearches,
  }
}

/**
 * Cache writes by how long they are kept, from a total and a split that may cover only a part of it: what no lifetime is told
 * of has the provider's default, five minutes, and is never dropped.
 */
export function splitWrites(total: number, split: { fiveMinutes?: number | undefined; oneHour?: number | undefined }) {
  const cacheWrite1h = split.oneHour ?? 0
  return { cacheWrite5m: Math.max(split.fiveMinutes ?? 0, total - cacheWrite1h), cacheWrite1h }
}
