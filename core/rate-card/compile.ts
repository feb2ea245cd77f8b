/** Makes rate cards ready for pricing: the list prices with an organisation's own laid over them from their days on. */
import { dayStart } from '#core/day.ts'
import { parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import {
  type AxisRates,
  type CompiledEntry,
  type CompiledRow,
  PRICE_AXES,
  type PriceAxis,
  type RateCard,
  type RateFigures,
  type RateRow,
  type Rates,
  type UnpricedPolicy,
} from '#core/pricing.ts'

const bad = (what: string) => new AppError('BAD_INPUT', `rate card: ${what}`)

// a price that the card leaves out falls to the next dearer one it has, never to zero
const FALLS_TO: Partial<Record<PriceAxis, PriceAxis>> = {
  cacheRead: 'input',
  cacheWrite5m: 'input',
  cacheWrite1h: 'cacheWrite5m',
}

/** USD per million tokens times 10^6 is pico-dollars per token; a request is priced in whole dollars. */
function priceOf(text: string, axis: PriceAxis, where: string): bigint {
  const price = /^\d{1,9}(\.\d+)?$/.test(text) ? parseDecimal(text, axis === 'webSearches' ? 12 : 6) : undefined
  if (price === undefined) throw bad(`${where} ${axis} is not a price`)
  return price
}

function compileFigures(figures: RateFigures, base: RateFigures | undefined, where: string): AxisRates {
  const out = {} as Record<PriceAxis, bigint>
  for (const axis of ['input', 'output', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'webSearches'] as const) {
    const text = figures[axis] ?? base?.[axis]
    const next = FALLS_TO[axis]
    if (text != null) out[axis] = priceOf(text, axis, where)
    else if (next) out[axis] = out[next]
    else if (axis === 'webSearches') out[axis] = 0n
    else throw bad(`${where} has no ${axis} price`)
  }
  return out
}

function compileEntries(row: RateRow, kind: CompiledEntry['kind']): CompiledEntry[] {
  const where = `${row.provider}/${row.id}`
  const entries = row.entries.map((entry): CompiledEntry => {
    const from = entry.from ?? undefined
    const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : dayStart(from)
    const untilMs = entry.until == null ? undefined : dayStart(entry.until)
    if (Number.isNaN(fromMs) || Number.isNaN(untilMs)) throw bad(`${where} has a bad date`)
    if (untilMs !== undefined && untilMs <= fromMs) throw bad(`${where} has a price that ends before it begins`)
    const long = entry.long
      ? { above: entry.long.above, rates: compileFigures(entry.long, entry, `${where} long`) }
      : undefined
    const name = `${kind}:${where}@${from ?? 'ever'}`
    const told = PRICE_AXES.filter(axis => (entry[axis] ?? entry.long?.[axis]) != null)
    return { kind, name, from, fromMs, untilMs, rates: compileFigures(entry, undefined, where), long, told }
  })
  if (entries.length === 0) throw bad(`${where} has no prices`)
  entries.sort((a, b) => (a.fromMs < b.fromMs ? -1 : a.fromMs > b.fromMs ? 1 : 0))
  for (const [i, entry] of entries.entries()) {
    const before = entries[i - 1]
    if (before && (entry.fromMs === before.fromMs || entry.fromMs < (before.untilMs ?? entry.fromMs)))
      throw bad(`${where} has two prices from ${entry.from ?? 'the beginning'}`)
  }
  return entries
}

/** An organisation's entries, and before the first of them and after one that ends what the card says. */
function layer(own: readonly CompiledEntry[], card: CompiledRow | undefined, row: RateRow): CompiledRow {
  const first = own[0]!.fromMs
  let before = card?.entries.filter(entry => entry.fromMs < first) ?? []
  // a card's first price holds before its own day too, and up to the organisation's
  if (card?.fromEver && before.length === 0 && Number.isFinite(first))
    before = [{ ...card.entries[0]!, fromMs: Number.NEGATIVE_INFINITY }]
  const entries = [...before]
  for (const [i, entry] of own.entries()) {
    entries.push(entry)
    if (entry.untilMs !== undefined) entries.push(...cardBetween(card, entry.untilMs, own[i + 1]?.fromMs))
  }
  return { provider: row.provider, id: row.id, entries, fromEver: before.length > 0 }
}

/** What the card says from one moment until another, the first of it beginning then. */
function cardBetween(card: CompiledRow | undefined, fromMs: number, toMs = Number.POSITIVE_INFINITY): CompiledEntry[] {
  if (card === undefined || fromMs >= toMs) return []
  const first = card.entries.findLast(entry => entry.fromMs <= fromMs) ?? (card.fromEver ? card.entries[0] : undefined)
  const rest = card.entries.filter(entry => entry.fromMs > fromMs && entry.fromMs < toMs && entry !== first)
  return [...(first ? [{ ...first, fromMs }] : []), ...rest]
}

/** Rows of one model as one row: a list of overrides has a line for each day on which a price changes. */
function gather(rows: readonly RateRow[]): RateRow[] {
  const byModel = new Map<string, RateRow>()
  for (const row of rows) {
    const key = `${row.provider}/${row.id}`
    const before = byModel.get(key)
    if (before === undefined) byModel.set(key, row)
    else
      byModel.set(key, {
        ...before,
        aliases: [...new Set([...(before.aliases ?? []), ...(row.aliases ?? [])])],
        entries: [...before.entries, ...row.entries],
      })
  }
  return [...byModel.values()]
}

const idsOf = (row: RateRow): string[] => [...new Set([row.id, ...(row.aliases ?? [])])]

/** The ids that an organisation's rows name. @throws AppError BAD_INPUT for one that two of them name */
function claims(rows: readonly RateRow[]): Set<string> {
  const claimed = new Set<string>()
  for (const row of rows)
    for (const id of idsOf(row)) {
      const claim = `${row.provider}/${id}`
      if (claimed.has(claim)) throw bad(`${claim} stands for two models`)
      claimed.add(claim)
    }
  return claimed
}

type Bound = { rates: Record<PriceAxis, bigint>; setBy: Record<PriceAxis, string> }

/** Lifts the bound to the dearest price on each axis that a row ever names: what stands in for one that it has not is no price of it. */
function raise(bound: Bound, { entries, id }: CompiledRow): void {
  for (const { rates, long, told } of entries)
    for (const axis of told)
      for (const rate of long ? [rates[axis], long.rates[axis]] : [rates[axis]])
        if (bound.rates[axis] === undefined || rate > bound.rates[axis]) {
          bound.rates[axis] = rate
          bound.setBy[axis] = id
        }
}

/** An axis that no model has a price on is bounded by the one that stands in for it. */
function complete({ rates, setBy }: Bound): void {
  for (const axis of ['output', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'webSearches'] as const) {
    const next = FALLS_TO[axis] ?? (axis === 'output' ? 'input' : undefined)
    rates[axis] ??= next ? rates[next] : 0n
    setBy[axis] ??= setBy[next ?? 'input']
  }
}

/**
 * Makes a card ready. Rows of `overrides` (an organisation's, named for its content, e.g. by the rule set's digest) are laid
 * over the card's rows of the same provider and id: each from its day on, what the card says before it. An override without
 * a day replaces the card's row.
 * @throws AppError BAD_INPUT for a price or date that is none, for two prices of a model from one day, for an id that
 *   two overrides claim, and when no chat model of the policy's providers is left
 */
export function compileRates(card: RateCard, policy: UnpricedPolicy, overrides?: RateCard): Rates {
  const byId = new Map<string, CompiledRow[]>()
  const sourceOf = new Map<CompiledRow, RateRow>()
  for (const row of card.rows) {
    const compiled = { provider: row.provider, id: row.id, entries: compileEntries(row, 'card'), fromEver: true }
    sourceOf.set(compiled, row)
    for (const id of [row.id, ...(row.aliases ?? [])]) byId.set(id, [...(byId.get(id) ?? []), compiled])
  }
  const own = gather(overrides?.rows ?? [])
  const claimed = claims(own)
  for (const row of own) {
    const entries = compileEntries(row, 'override')
    const cardRow = byId.get(row.id)?.find(r => r.provider === row.provider && r.id === row.id)
    // who prices a model prices it under each name that the card has for it
    const listed = (cardRow && sourceOf.get(cardRow)?.aliases) ?? []
    const free = listed.filter(id => !claimed.has(`${row.provider}/${id}`))
    for (const id of new Set([...idsOf(row), ...free])) {
      const rows = byId.get(id) ?? []
      const base = rows.find(r => r.provider === row.provider)
      const layered = layer(entries, base, row)
      sourceOf.set(layered, { ...row, chat: row.chat ?? (base && sourceOf.get(base)?.chat) ?? true })
      byId.set(id, base ? rows.map(r => (r === base ? layered : r)) : [layered, ...rows])
    }
  }
  const bound: Bound = { rates: {} as Record<PriceAxis, bigint>, setBy: {} as Record<PriceAxis, string> }
  for (const row of new Set([...byId.values()].flat()))
    if (sourceOf.get(row)?.chat !== false && policy.providers.includes(row.provider)) raise(bound, row)
  if (bound.rates.input === undefined) throw bad('no chat model of the enabled providers')
  complete(bound)
  return { name: overrides ? `${card.name}+${overrides.name}` : card.name, byId, policy, bound }
}
