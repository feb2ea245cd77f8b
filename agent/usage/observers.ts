/** One call that several have told of: the client's own records, and whoever told of it by telemetry. */
import { NO_TOKENS, PRICE_AXES, type UsageTokens } from '#core/pricing.ts'
import type { LedgerCall } from './ledger-lines.ts'

/** A call as a day's file has it, with the ids that it is known by. `told`: by telemetry. */
export type SeenCall = { call: LedgerCall; ids: readonly string[]; told: boolean }

/** The input side, the dearest first: where the same tokens may stand on another axis, for not everybody tells all of them apart. */
const INPUT_AXES = ['cacheWrite1h', 'cacheWrite5m', 'input', 'cacheRead'] as const
const inputSide = (tokens: UsageTokens) => INPUT_AXES.reduce((sum, axis) => sum + tokens[axis], 0)

/**
 * Counts that are on no axis below `own` and come to no less than `told`. What `told` only has on another axis of the input, a
 * cache write of an hour as one of five minutes or what was read from a cache as plain input, is the same tokens and adds nothing.
 */
export function raisedTo(own: UsageTokens, told: UsageTokens): UsageTokens {
  const raised = { ...own }
  let missing = inputSide(told) - inputSide(own)
  for (const axis of INPUT_AXES) {
    const more = Math.max(0, Math.min(missing, told[axis] - own[axis]))
    raised[axis] += more
    missing -= more
  }
  for (const axis of ['output', 'webSearches'] as const) raised[axis] = Math.max(own[axis], told[axis])
  return raised
}

function plus(a: UsageTokens, b: UsageTokens): UsageTokens {
  const sum = { ...a }
  for (const axis of PRICE_AXES) sum[axis] += b[axis]
  return sum
}

const countsOf = (tokens: UsageTokens) => PRICE_AXES.map(axis => tokens[axis])

/** By counts, the largest first: whoever came first makes no difference. */
function byCounts(a: SeenCall, b: SeenCall): number {
  const [x, y] = [countsOf(a.call.tokens), countsOf(b.call.tokens)]
  const sides = inputSide(b.call.tokens) - inputSide(a.call.tokens)
  return sides || x.reduce((order, count, i) => order || y[i]! - count, 0)
}

/** What several told of one call that its client has no record of. */
function onlyTold(told: readonly SeenCall[]): LedgerCall {
  const sorted = [...told].sort(byCounts).map(({ call }) => call)
  const tokens = sorted.map(call => call.tokens).reduce(raisedTo)
  const { partial, ...first } = told[0]!.call
  const provider = first.provider ?? sorted.find(call => call.provider !== undefined)?.provider
  return {
    ...first,
    tokens,
    ...(provider === undefined ? {} : { provider }),
    ...(partial && sorted.every(call => call.partial) ? { partial } : {}),
  }
}

/**
 * The client's own records of one call, with what was told beyond them. Everything else is theirs: the model, whose it is, and
 * whether it broke off, which not every teller knows. One response can be several records (another model's part in it): what is
 * missing from all of them together is added to the first.
 */
function ownFirst(own: readonly LedgerCall[], told: readonly SeenCall[], isOfDay: (atMs: number) => boolean) {
  const [first, ...others] = own
  const rest = onlyTold(told)
  const all = own.reduce((sum, { tokens }) => plus(sum, tokens), NO_TOKENS)
  const raised = raisedTo(all, rest.tokens)
  const tokens = { ...first!.tokens }
  for (const axis of PRICE_AXES) tokens[axis] += raised[axis] - all[axis]
  const { provider = rest.provider, covered = rest.covered } = first!
  const joined = {
    ...first!,
    ...(provider === undefined ? {} : { provider }),
    ...(covered === undefined ? {} : { covered }),
    // it stands in the file of the day on which it was first told of
    atMs: isOfDay(first!.atMs) ? first!.atMs : rest.atMs,
    tokens,
  }
  return [joined, ...others.map(one => ({ ...one, atMs: isOfDay(one.atMs) ? one.atMs : rest.atMs }))]
}

/** The calls of a day, each once, where telemetry has told of some of them; in the order in which they were first seen. */
export function joinObservers(seen: readonly SeenCall[], isOfDay: (atMs: number) => boolean): LedgerCall[] {
  const parent = seen.map((_, i) => i)
  const rootOf = (i: number): number => {
    let at = i
    while (parent[at] !== at) {
      parent[at] = parent[parent[at]!]!
      at = parent[at]!
    }
    return at
  }
  // two own records that share an id are two: only what was told of an id brings them together
  const toldAt = new Map<string, number>()
  for (const [i, { ids, told }] of seen.entries())
    if (told)
      for (const id of ids) {
        const before = toldAt.get(id)
        if (before === undefined) toldAt.set(id, i)
        else parent[rootOf(i)] = rootOf(before)
      }
  for (const [i, { ids, told }] of seen.entries())
    if (!told)
      for (const id of ids) {
        const by = toldAt.get(id)
        if (by !== undefined) parent[rootOf(i)] = rootOf(by)
      }
  const groups = new Map<number, SeenCall[]>()
  for (const [i, one] of seen.entries()) {
    const root = rootOf(i)
    const group = groups.get(root)
    if (group) group.push(one)
    else groups.set(root, [one])
  }
  return [...groups.values()].flatMap(group => {
    const told = group.filter(one => one.told)
    const own = group.filter(one => !one.told).map(({ call }) => call)
    return told.length === 0 ? own : own.length === 0 ? [onlyTold(told)] : ownFirst(own, told, isOfDay)
  })
}
