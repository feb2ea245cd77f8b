/** What the spend page is asked for, in its address: shareable, and the same words that the CSV's door takes. */
import type { Basis } from '#core/budget/budget.ts'
import { type Dimension, parseDimension } from '#core/spend/group.ts'
import { type DayPeriod, periodQuery, readPeriodAsked } from './period.ts'

export type Wanted = { dimension: Dimension; value: string | null }
export type SpendAsked = { period: DayPeriod; by: Dimension; basis: Basis; filters: Wanted[] }

const FILTERS_MAX = 12

type Fields = Record<string, string | string[] | undefined>

const first = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value) || undefined

/** Reads an address. What is no period, key, basis or filter is as if it were not there. */
export function readSpendAsked(fields: Fields, today: string): SpendAsked {
  const by = parseDimension(first(fields.by) ?? 'tenant') ?? 'tag:tenant'
  const filters: Wanted[] = []
  for (const pair of [fields.filter ?? []].flat().slice(0, FILTERS_MAX)) {
    const wanted = readFilter(pair)
    if (wanted && !filters.some(({ dimension }) => dimension === wanted.dimension)) filters.push(wanted)
  }
  return {
    period: readPeriodAsked({ month: first(fields.month), from: first(fields.from), to: first(fields.to) }, today),
    by: isTime(by) ? 'tag:tenant' : by,
    basis: first(fields.basis) === 'billed' ? 'billed' : 'equivalent',
    filters,
  }
}

const isTime = (dimension: Dimension) => dimension === 'day' || dimension === 'month'

/** `tenant:acme`, `tag:team:data`, `model:a:b`; nothing after the colon: what has no value. */
function readFilter(pair: string): Wanted | undefined {
  const at = pair.indexOf(':', pair.startsWith('tag:') ? 4 : 0)
  const dimension = at < 1 ? undefined : parseDimension(pair.slice(0, at))
  if (dimension === undefined || isTime(dimension) || pair.length > 160 || pair.includes('\0')) return undefined
  return { dimension, value: pair.slice(at + 1) || null }
}

/** A dimension as addresses have it: `tenant` and `project` by themselves, another tag as `tag:team`. */
export const dimensionWord = (dimension: Dimension): string =>
  dimension === 'tag:tenant' || dimension === 'tag:project' ? dimension.slice(4) : dimension

export const filterWord = ({ dimension, value }: Wanted): string => `${dimensionWord(dimension)}:${value ?? ''}`

/** The page's fields; what is the default is left out. */
export function askedFields({ period, by, basis, filters }: SpendAsked, today: string): [string, string][] {
  return [
    ...Object.entries(periodQuery(period, today)),
    ...(by === 'tag:tenant' ? [] : [['by', dimensionWord(by)] as [string, string]]),
    ...(basis === 'equivalent' ? [] : [['basis', basis] as [string, string]]),
    ...filters.map((wanted): [string, string] => ['filter', filterWord(wanted)]),
  ]
}

/** The page's address for what is asked. */
export function askedPath(base: string, asked: SpendAsked, today: string): string {
  const fields = askedFields(asked, today)
  return fields.length === 0 ? base : `${base}?${new URLSearchParams(fields)}`
}

/** The same for the CSV, whose period ends before `to`. */
export const csvFields = ({ period, by, basis, filters }: SpendAsked): [string, string][] => [
  ['from', period.from],
  ['to', period.to],
  ['by', dimensionWord(by)],
  ['basis', basis],
  ...filters.map((wanted): [string, string] => ['filter', filterWord(wanted)]),
]

/** What the API is asked for. */
export function reportInput({ period, by, basis, filters }: SpendAsked) {
  return {
    ...period,
    by: dimensionWord(by),
    basis,
    filter: Object.fromEntries(filters.map(({ dimension, value }) => [dimensionWord(dimension), [value]])),
  }
}

const NAMES: Partial<Record<Dimension, string>> = {
  client: 'Client',
  provider: 'Provider',
  model: 'Model',
  machine: 'Machine',
  member: 'Member',
  cover: 'Cover',
}

/** `Tenant`, `Model`, `Team`. */
export function dimensionName(dimension: Dimension): string {
  const key = dimension.slice(4)
  return NAMES[dimension] ?? `${key.slice(0, 1).toUpperCase()}${key.slice(1)}`
}

/** What has no value of a dimension, as a row. */
export const noneName = (dimension: Dimension): string => (dimension.startsWith('tag:') ? 'unattributed' : 'unknown')

const DEEPER: readonly Dimension[] = ['tag:project', 'model', 'machine', 'client', 'tag:tenant']

/** The way down from one row: everything of it, by the next key that is not settled yet. */
export function drillInto(asked: SpendAsked, value: string | null): SpendAsked {
  const filters = [...asked.filters.filter(({ dimension }) => dimension !== asked.by), { dimension: asked.by, value }]
  const by = DEEPER.find(key => !filters.some(({ dimension }) => dimension === key)) ?? 'model'
  return { ...asked, filters, by }
}
