/** The ledger in figures: by one key at a time, each call once, the columns adding up. */

import type { Home } from '#agent/home.ts'
import { dateAt } from '#core/budget/window.ts'
import { utcDay } from '#core/day.ts'
import { PRICE_AXES } from '#core/pricing.ts'
import { type Dimension, type Grouping, groupBy, parseDimension, type SpendRow } from '#core/spend/group.ts'
import { type Addend, modelId, QUARTER_MS } from '#core/usage/bucket.ts'
import { ledgerDays, readLedgerDay } from './ledger.ts'
import { type Meter, type MeteredHere, meter } from './meter.ts'

/** What only this machine knows, and can be grouped by here. */
export const LOCAL_KEYS = ['session', 'repository', 'directory', 'covered'] as const
type LocalKey = (typeof LOCAL_KEYS)[number]
export type HistoryKey = { word: string; dimension: Dimension; local?: LocalKey }

/** `model`, `day`, `tenant`, `session`: undefined for what calls cannot be grouped by here. */
export function parseHistoryKey(word: string): HistoryKey | undefined {
  if ((LOCAL_KEYS as readonly string[]).includes(word))
    return { word, dimension: `tag:${word}`, local: word as LocalKey }
  const dimension = parseDimension(word)
  // a ledger has one machine and one member
  return dimension === undefined || dimension === 'machine' || dimension === 'member' ? undefined : { word, dimension }
}

export type History = {
  grouping: Grouping
  /** Ids of models without a price of their own, the most used first. */
  unpriced: string[]
  /** Of days and months. */
  zone: string
  /** The clients whose calls are among them. */
  clients: ReadonlySet<string>
}

/** From a moment up to whatever is on record; a clock that ran ahead hides nothing. */
type Window = { fromMs: number; zone: string }

/** Reads, prices and groups what the ledger has of a span of time. One day is in memory at a time. */
export async function readHistory(home: Home, by: HistoryKey, window: Window, prices: Meter): Promise<History> {
  const rows = new Map<string, SpendRow>()
  const unpriced = new Map<string, number>()
  const clients = new Set<string>()
  for (const day of ledgerDays(home)) {
    // a call stands in the file of its own UTC day
    if (day < utcDay(window.fromMs)) continue
    const calls = (await readLedgerDay(home, day)).filter(({ atMs }) => atMs >= window.fromMs)
    const dateOf = dates(window.zone)
    for (const call of await meter(calls, prices)) {
      if (isUnpriced(call)) unpriced.set(call.model, (unpriced.get(call.model) ?? 0) + 1)
      clients.add(call.client)
      add(rows, by, call, dateOf(call.atMs))
    }
  }
  return {
    grouping: withoutEmpty(groupBy(rows.values(), by.dimension), by),
    unpriced: [...unpriced].sort((a, b) => b[1] - a[1]).map(([model]) => model),
    zone: window.zone,
    clients,
  }
}

/** A session is always somebody's; of a tag, "unattributed" is always a row. */
function withoutEmpty(grouping: Grouping, { local }: HistoryKey): Grouping {
  if (local === undefined) return grouping
  return { ...grouping, groups: grouping.groups.filter(({ value, total }) => value !== undefined || total.calls > 0) }
}

const isUnpriced = ({ rate }: MeteredHere) => rate !== 'card' && rate !== 'override'

/** Offsets change at most by quarter hours: one look at the zone for each. */
function dates(zone: string): (atMs: number) => string {
  const known = new Map<number, string>()
  return atMs => {
    const quarter = Math.floor(atMs / QUARTER_MS)
    const date = known.get(quarter) ?? dateAt(zone, quarter * QUARTER_MS)
    known.set(quarter, date)
    return date
  }
}

function add(rows: Map<string, SpendRow>, { dimension, local }: HistoryKey, call: MeteredHere, day: string): void {
  const { client, provider, model, tokens, picoUsd, rate, covered, partial, place } = call
  const named = local === undefined ? undefined : local === 'covered' ? covered : localValue(local, place)
  const tags = local === undefined ? call.tags : named === undefined ? {} : { [local]: named }
  const value =
    dimension === 'day' || dimension === 'month'
      ? day
      : dimension.startsWith('tag:')
        ? `${tags[dimension.slice(4)]}`
        : String({ client, provider, model }[dimension as 'client' | 'provider' | 'model'])
  const id = JSON.stringify([value, rate, covered, dimension.startsWith('tag:') && !(dimension.slice(4) in tags)])
  const row = rows.get(id)
  const addend: Addend = { calls: 1, partial: partial ? 1 : 0, tokens, picoUsd, rate, covered }
  if (row === undefined)
    rows.set(id, { ...addend, tokens: { ...tokens }, day, client, provider, model: modelId(model), tags })
  else {
    row.calls++
    row.partial += addend.partial
    row.picoUsd += picoUsd
    for (const axis of PRICE_AXES) row.tokens[axis] += tokens[axis]
  }
}

function localValue(
  key: Exclude<LocalKey, 'covered'>,
  { session, repository, directory }: MeteredHere['place'],
): string | undefined {
  return key === 'session' ? session : key === 'repository' ? repository.at(-1) : directory
}
