/** One measured case beside its peer or floor, as `npm run bench -- --json` prints it. */
export type Case = {
  row: string
  case: string
  value: number
  unit: string
  /** What it is measured against in the same run, interleaved. */
  against: string
  againstValue: number
  /** value / againstValue where less is better; the other way round for rates. At or below 1 is as good as the peer. */
  ratio: number
  /** What it must reach, in words. */
  must: string
  ok: boolean
}

export type Row = { name: string; run(): Promise<Case[]> }

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** The value below which a share of the samples lies (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN
}

/**
 * Medians of two contenders measured in turns, so that whatever else the machine does meets both.
 * @param once runs a contender once and returns its figure (a time, a rate)
 */
export async function interleave<Name extends string>(
  contenders: Record<Name, () => number | Promise<number>>,
  rounds: number,
): Promise<Record<Name, number>> {
  const names = Object.keys(contenders) as Name[]
  const samples = Object.fromEntries(names.map(name => [name, [] as number[]])) as unknown as Record<Name, number[]>
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 ? names : [...names].reverse()) {
      const value = await contenders[name]()
      if (round > 0) samples[name].push(value) // the first round warms up
    }
  }
  return Object.fromEntries(names.map(name => [name, median(samples[name])])) as Record<Name, number>
}

/** Nanoseconds one call takes, over a loop long enough for the clock. */
export function nanosPerCall(call: () => unknown, calls: number): number {
  let kept: unknown
  const start = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) kept = call()
  const took = Number(process.hrtime.bigint() - start) / calls
  if (kept === interleave) throw new Error('unreachable: keeps the loop from being optimised away')
  return took
}
