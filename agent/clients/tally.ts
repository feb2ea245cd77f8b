/** Counts the responses of a session, each once, and what they cost. Pure: prices come in; a tally is plain JSON. */
import type { PriceRecord, SessionUsage, UsageRecord, UsageState } from '#agent/clients/usage-source.ts'
import type { SeenPlan } from '#core/plan-window.ts'
import { NO_TOKENS, PRICE_AXES, type UsageTokens } from '#core/pricing.ts'

/** [model, requestId, atMs, input, cacheRead, cacheWrite5m, cacheWrite1h, output, webSearches] of one counted response. */
type Counted = [string, string, number, number, number, number, number, number, number]

/** What was counted of one session; kept between two reads. */
export type UsageTally = {
  /** By usage key, in the order of arrival; the oldest are forgotten when there are too many. */
  counted: Record<string, Counted>
  countedSize: number
  /** Sum of what was counted, in pico-dollars (decimal). */
  cost: string
  /** The highest sum ever shown; undefined until one was read. */
  mark?: string
  unpriced: string[]
}

/** What one read found. `addedPicoUsd` is what it added to the cost and is not yet in the tally's. */
export type FoundUsage = { records: Map<string, UsageRecord>; addedPicoUsd: bigint; plan?: SeenPlan }

/** Responses remembered against double counting: a hundred times a long session, about 5 MB. */
const COUNTED_MAX = 50_000
const UNPRICED_MAX = 100

export const emptyTally = (): UsageTally => ({ counted: {}, countedSize: 0, cost: '0', unpriced: [] })

/** Two counts taken together, axis by axis. */
export function combine(a: UsageTokens, b: UsageTokens, how: (x: number, y: number) => number): UsageTokens {
  const tokens = { ...NO_TOKENS }
  for (const axis of PRICE_AXES) tokens[axis] = how(a[axis], b[axis])
  return tokens
}
const isEmpty = (tokens: UsageTokens) => PRICE_AXES.every(axis => tokens[axis] === 0)

const tokensOf = (c: Counted): UsageTokens => ({
  input: c[3],
  cacheRead: c[4],
  cacheWrite5m: c[5],
  cacheWrite1h: c[6],
  output: c[7],
  webSearches: c[8],
})

/** Counts one response; one that was counted before is counted again only where it grew, on each axis. */
export function countUsage(tally: UsageTally, found: FoundUsage, price: PriceRecord, record: UsageRecord): void {
  if (isEmpty(record.tokens)) return
  const { requestId = '' } = record
  let { key } = record
  let before = tally.counted[key]
  // one message id under two request ids is two responses (a gateway that reuses ids), both billed
  if (before && requestId !== '' && before[1] !== '' && before[1] !== requestId) {
    key = `${key}|${requestId}`
    before = tally.counted[key]
  }
  const tokens = before ? combine(tokensOf(before), record.tokens, Math.max) : record.tokens
  if (before && isEmpty(combine(tokens, tokensOf(before), (x, y) => x - y))) return
  const atMs = before ? before[2] : record.atMs
  const entry: UsageRecord = { ...record, key, atMs, tokens, model: before ? before[0] : record.model }
  const now = price(entry)
  const was = before ? price({ model: before[0], atMs, tokens: tokensOf(before) }).picoUsd : 0n
  found.addedPicoUsd += now.picoUsd - was
  if (now.fallback && !tally.unpriced.includes(entry.model) && tally.unpriced.length < UNPRICED_MAX)
    tally.unpriced.push(entry.model)
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, webSearches } = tokens
  tally.counted[key] = [
    entry.model,
    requestId || before?.[1] || '',
    atMs,
    input,
    cacheRead,
    cacheWrite5m,
    cacheWrite1h,
    output,
    webSearches,
  ]
  if (!before && ++tally.countedSize > COUNTED_MAX) {
    for (const oldest in tally.counted) {
      delete tally.counted[oldest]
      tally.countedSize--
      break
    }
  }
  found.records.set(key, entry)
}

/** Adds what a read has found to the cost. */
export function settle(tally: UsageTally, found: FoundUsage): void {
  tally.cost = (BigInt(tally.cost) + found.addedPicoUsd).toString()
  found.addedPicoUsd = 0n
}

/** Raises the figure that is shown to the cost; it never falls. */
export function raiseMark(tally: UsageTally): void {
  const { cost, mark } = tally
  if (mark === undefined || BigInt(cost) > BigInt(mark)) tally.mark = cost
}

type Tallied = UsageState & UsageTally & { rateCard: string; model?: string }

/** The state to read on from: other prices begin anew with `fresh`, but never below what was shown. */
export function tallyFrom<S extends Tallied>(before: S | undefined, fresh: S): S {
  if (before === undefined || before.rateCard === fresh.rateCard) return before ?? fresh
  return { ...fresh, ...(before.mark === undefined ? {} : { mark: before.mark }) }
}

/** What a reader answers, from what it has read. `problem`: this read failed, the figures are those of earlier ones. */
export function sessionUsage<S extends Tallied>(
  state: S,
  found: FoundUsage & Partial<Pick<SessionUsage, 'toolUses' | 'toolResults'>>,
  { problem, more }: { problem?: SessionUsage['problem'] | undefined; more: boolean },
): SessionUsage<S> {
  return {
    state,
    costPicoUsd: state.mark === undefined ? undefined : BigInt(state.mark),
    fallback: state.unpriced.length > 0,
    unpricedModels: [...state.unpriced],
    ...(state.model === undefined ? {} : { model: state.model }),
    records: [...found.records.values()],
    toolUses: found.toolUses ?? [],
    toolResults: found.toolResults ?? [],
    fresh: problem === undefined,
    ...(problem === undefined ? {} : { problem }),
    ...(found.plan === undefined ? {} : { plan: found.plan }),
    more,
  }
}
