/** The bytes of a hook's input to its declared fields, for clients that send JSON objects. Pure. */
import type { HookEvent, ParseFailure } from '#agent/clients/adapter.ts'
import { HOOK_BODY_MAX } from '#core/limits.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Session and agent ids become parts of file names: nothing but what clients make them of. */
const ID = /^[A-Za-z0-9_-]{1,128}$/
export const NAME_MAX = 512
export const PATH_MAX = 8192

/** A field that is not what the client's own documents say; names the field, never its value. */
class Unfit extends Error {
  constructor(
    readonly reason: 'missing_field' | 'wrong_type' | 'bad_id',
    readonly field: string,
  ) {
    super(reason)
  }
}

/** A text that may be left out or null. */
export function optional(fields: Fields, field: string, max = NAME_MAX): string | undefined {
  const value = fields[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.length > max) throw new Unfit('wrong_type', field)
  return value
}

/** A text that must be there. */
export function required(fields: Fields, field: string, max = NAME_MAX): string {
  const value = optional(fields, field, max)
  if (value === undefined || value === '') throw new Unfit('missing_field', field)
  return value
}

export function optionalId(fields: Fields, field: string): string | undefined {
  const value = optional(fields, field)
  if (value !== undefined && !ID.test(value)) throw new Unfit('bad_id', field)
  return value
}

export function requiredId(fields: Fields, field: string): string {
  required(fields, field)
  return optionalId(fields, field)!
}

/** The field of an object that a tool was given: the one thing of its input that is looked at. */
export function inputText(input: unknown, field: string): string | undefined {
  const value = typeof input === 'object' && input !== null ? (input as Fields)[field] : undefined
  return typeof value === 'string' && value !== '' ? value.slice(0, NAME_MAX) : undefined
}

/** Leaves out what is undefined, so that an event holds its fields and nothing else. */
export function some<T extends Fields>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)) as never
}

/**
 * Reads one hook body by `read`, which takes what it knows of the fields. Unknown fields are fine (newer versions); a missing
 * or odd required one is a failure that names it.
 */
export function readHookBody(bytes: Uint8Array, read: (fields: Fields) => HookEvent): HookEvent | ParseFailure {
  const failed = (reason: ParseFailure['reason'], field?: string): ParseFailure => ({
    kind: 'parse_failure',
    reason,
    ...(field === undefined ? {} : { field }),
    sizeBytes: bytes.length,
  })
  if (bytes.length > HOOK_BODY_MAX) return failed('too_large')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return failed('not_utf8')
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return failed('not_json')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return failed('not_object')
  try {
    return read(parsed as Fields)
  } catch (error) {
    if (error instanceof Unfit) return failed(error.reason, error.field)
    throw error
  }
}
