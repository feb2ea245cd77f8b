/** Usage rows grouped for reports by one key at a time, each row counted once. */
import type { Basis } from '#core/budget/budget.ts'
import {
  type Addend,
  addTo,
  amountOf,
  type CoverBy,
  type Covered,
  noTotal,
  type UsageTotal,
} from '#core/usage/bucket.ts'
import { TAG_KEY, type Tags } from '#core/usage/tags.ts'

/** A row of stored usage or of sums of it. `day` is in whatever zone the report is; absent where the sum is over days. */
export type SpendRow = Addend & {
  day?: string
  client?: string
  provider?: string
  model?: string
  machine?: string
  member?: string
  /** What covers it, and by whose word: see {@link coverWord}. */
  cover?: string
  tags: Tags
}

/** `plan`, `plan/organisation`, `metered/machine`, `unknown`: whether a plan covers usage, and who declared it where no record tells. */
export const coverWord = (covered: Covered, coverBy?: CoverBy): string =>
  coverBy === undefined ? covered : `${covered}/${coverBy}`

/** What rows can be grouped by, beside `tag:<key>`. */
export const OWN_DIMENSIONS = ['day', 'month', 'client', 'provider', 'model', 'machine', 'member', 'cover'] as const
export type Dimension = (typeof OWN_DIMENSIONS)[number] | `tag:${string}`

/** `model`, `tenant`, `tag:tenant`: a dimension as people and addresses write it. Undefined for what can be none. */
export function parseDimension(word: string): Dimension | undefined {
  if ((OWN_DIMENSIONS as readonly string[]).includes(word)) return word as Dimension
  const key = word.startsWith('tag:') ? word.slice(4) : word
  return TAG_KEY.test(key) ? `tag:${key}` : undefined
}

/** A row's value; undefined: it has none. Of a tag that is "unattributed". */
export function dimensionValue(row: SpendRow, dimension: Dimension): string | undefined {
  if (dimension === 'month') return row.day?.slice(0, 7)
  if (dimension.startsWith('tag:')) {
    const key = dimension.slice(4)
    return Object.hasOwn(row.tags, key) ? row.tags[key] : undefined
  }
  return row[dimension as Exclude<Dimension, 'month' | `tag:${string}`>]
}

/** `value` undefined: the rows that have none. */
export type Group = { value: string | undefined; total: UsageTotal }
export type Grouping = { dimension: Dimension; groups: Group[]; total: UsageTotal }

const isTime = (dimension: Dimension) => dimension === 'day' || dimension === 'month'

/**
 * Rows by one key. Each row is in exactly one group, so the groups add up to the total whatever the key. Of a tag there is always
 * a group without a value, though it be zero. Days in their order, all else the dearest first, what has no value last.
 */
export function groupBy(rows: Iterable<SpendRow>, dimension: Dimension, basis: Basis = 'equivalent'): Grouping {
  const groups = new Map<string | undefined, UsageTotal>()
  const total = noTotal()
  if (dimension.startsWith('tag:')) groups.set(undefined, noTotal())
  for (const row of rows) {
    const value = dimensionValue(row, dimension)
    const group = groups.get(value) ?? noTotal()
    groups.set(value, group)
    addTo(group, row)
    addTo(total, row)
  }
  const list = [...groups].map(([value, sum]): Group => ({ value, total: sum }))
  return { dimension, groups: list.sort(orderOf(dimension, basis)), total }
}

function orderOf(dimension: Dimension, basis: Basis) {
  return (a: Group, b: Group): number => {
    if (a.value === undefined || b.value === undefined) return a.value === b.value ? 0 : a.value === undefined ? 1 : -1
    if (!isTime(dimension)) {
      const x = amountOf(a.total.priced, basis) + amountOf(a.total.bound, basis)
      const y = amountOf(b.total.priced, basis) + amountOf(b.total.bound, basis)
      if (x !== y) return x > y ? -1 : 1
    }
    return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
  }
}

/** Of each dimension the values that are wanted; null: rows without a value. Absent or empty: all. */
export type Filter = Partial<Record<Dimension, readonly (string | null)[]>>

/**
 * An amount as it is shown, with what stands beside it and is never part of it. Of `equivalent` nothing is unknown; of `billed` the
 * usage of which nobody knows whether a plan covers it.
 */
export type Figure = {
  amount: bigint
  /** "Unpriced, at most". */
  atMost: bigint
  unknown: bigint
  unknownAtMost: bigint
}

export const figureOf = ({ priced, bound }: UsageTotal, basis: Basis): Figure => ({
  amount: amountOf(priced, basis),
  atMost: amountOf(bound, basis),
  unknown: basis === 'billed' ? priced.unknown : 0n,
  unknownAtMost: basis === 'billed' ? bound.unknown : 0n,
})

/** A value's amount in two periods. */
export type Mover = { value: string | undefined; before: bigint; after: bigint }

/** What moved most between two groupings by one key, in either direction; what did not move is left out. */
export function topMovers(before: Grouping, after: Grouping, basis: Basis, most = 10): Mover[] {
  const movers = new Map<string | undefined, Mover>()
  for (const [side, grouping] of [
    ['before', before],
    ['after', after],
  ] as const)
    for (const { value, total } of grouping.groups) {
      const mover = movers.get(value) ?? { value, before: 0n, after: 0n }
      mover[side] = amountOf(total.priced, basis)
      movers.set(value, mover)
    }
  const size = ({ before: x, after: y }: Mover) => (x > y ? x - y : y - x)
  return [...movers.values()]
    .filter(mover => size(mover) > 0n)
    .sort((a, b) => (size(a) === size(b) ? 0 : size(a) > size(b) ? -1 : 1))
    .slice(0, most)
}
