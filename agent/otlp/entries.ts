/** The entries of an OTLP request with their attributes, whichever level those stand on. */
import { SIGNALS, type Signal } from './schema.ts'

type Json = Record<string, unknown>
export type Attributes = ReadonlyMap<string, string | number | boolean>
/** A log record, a span or a metric with what its resource and its scope say. `scope`: the name of what wrote it. */
export type OtlpEntry = { entry: Json; resource: Attributes; scope: string }

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Longer than any name or id that is used. */
const TEXT_MAX = 512
/** OpenTelemetry's own limit. What stands on a resource is looked at for each of its entries: more would keep the daemon busy. */
const ATTRIBUTES_MAX = 128
/** Entries of one batch, and what is in them: twenty times what exporters send at once, and what a collector gathers. */
export const ENTRIES_MAX = 10_000

/** A list of key and value as a map over another: single values only, and no long texts (prompts, answers). */
export function attributesOf(list: unknown, beneath: Attributes = new Map()): Attributes {
  const found = new Map(beneath)
  for (const { key, value } of objects(list).slice(0, ATTRIBUTES_MAX)) {
    if (typeof key !== 'string' || !isObject(value)) continue
    const { stringValue, intValue, doubleValue, boolValue } = value
    const single = stringValue ?? (intValue === undefined ? doubleValue : Number(intValue)) ?? boolValue
    if (
      typeof single === 'string' ? single.length <= TEXT_MAX : typeof single === 'number' || typeof single === 'boolean'
    )
      found.set(key, single as string | number | boolean)
  }
  return found
}

/** The entries of a request, in its order. Undefined: it is none. */
export function entriesOf(signal: Signal, request: unknown): OtlpEntry[] | undefined {
  const [resources, scopes, entries] = SIGNALS[signal].members
  if (!isObject(request) || (request[resources] !== undefined && !Array.isArray(request[resources]))) return undefined
  return objects(request[resources]).flatMap(one => {
    const resource = attributesOf(isObject(one.resource) ? one.resource.attributes : undefined)
    return objects(one[scopes]).flatMap(part => {
      const scope = isObject(part.scope) && typeof part.scope.name === 'string' ? part.scope.name : ''
      return objects(part[entries]).map(entry => ({ entry, resource, scope }))
    })
  })
}

const lengthOf = (list: unknown) => (Array.isArray(list) ? list.length : 0)

/** How much there is to look at: entries, with the events and the points that are in them. */
export function amountOf(entries: readonly OtlpEntry[]): number {
  let amount = 0
  for (const { entry } of entries) {
    amount += 1 + lengthOf(entry.events)
    for (const data of [entry.sum, entry.histogram, entry.exponentialHistogram])
      if (isObject(data)) amount += lengthOf(data.dataPoints)
  }
  return amount
}

export const textOf = (attributes: Attributes, ...keys: string[]): string | undefined => {
  for (const key of keys) {
    const value = attributes.get(key)
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

/** What is there and is no count: negative, broken, or no number at all. */
export class NotACount extends Error {}

/** A count; 0 where it is not there. @throws NotACount */
export function countOf(attributes: Attributes, ...keys: string[]): number | undefined {
  for (const key of keys) {
    const value = attributes.get(key)
    if (value === undefined) continue
    return wholeNumber(value)
  }
  return undefined
}

/** A count of any of the forms that exporters give it. @throws NotACount */
export function wholeNumber(value: unknown): number {
  const number = typeof value === 'string' && /^\d{1,16}(\.0+)?$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number
  throw new NotACount()
}

/** Nanoseconds since 1970 as milliseconds; undefined for what is no time, or 0. */
export function millisOf(nanos: unknown): number | undefined {
  const text = typeof nanos === 'number' ? nanos.toFixed(0) : nanos
  if (typeof text !== 'string' || !/^\d{7,20}$/.test(text)) return undefined
  const millis = Number(BigInt(text) / 1_000_000n)
  return millis > 0 ? millis : undefined
}
