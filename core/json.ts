import { AppError } from './error.ts'

/** A JSON value of signed documents: no null, no fraction, no number beyond 2^53−1 (money and figures are decimal strings). */
export type Json = string | boolean | number | Json[] | { [key: string]: Json }

const bad = (what: string, at: number) => new AppError('BAD_INPUT', `Not strict JSON: ${what} at position ${at}.`)

/**
 * Parses JSON strictly, for bytes that are signed or hashed: a key that stands twice, null, a fraction or exponent, an
 * unsafe integer, `-0`, a lone surrogate, deep nesting and anything after the value are refused with their position.
 * `JSON.parse` keeps the last of two equal keys, so two readers of the same bytes could see different documents.
 */
export function parseStrictJson(text: string, { maxDepth = 32 }: { maxDepth?: number } = {}): Json {
  let at = 0
  const space = () => {
    while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++
  }
  const skip = (literal: string) => {
    const stands = text.startsWith(literal, at)
    if (stands) at += literal.length
    return stands
  }

  function string(): string {
    const start = at
    for (at++; at < text.length && text[at] !== '"'; at++) {
      if (text[at] === '\\') at++
      else if (text.charCodeAt(at) < 0x20) throw bad('a control character in a string', at)
    }
    if (at >= text.length) throw bad('a string without an end', start)
    at++
    let value: string
    try {
      value = JSON.parse(text.slice(start, at)) as string
    } catch {
      throw bad('a bad escape in a string', start)
    }
    if (!isWellFormed(value)) throw bad('half of a surrogate pair', start)
    return value
  }

  function number(): number {
    const start = at
    const match = /^-?(0|[1-9][0-9]*)/.exec(text.slice(at, at + 20))
    if (!match) throw bad('something that is no value', at)
    at += match[0].length
    if (/[.eE0-9]/.test(text[at] ?? '')) throw bad('a number that is no safe integer (write it as a string)', start)
    const value = Number(match[0])
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) throw bad('a number that is no safe integer', start)
    return value
  }

  function value(depth: number): Json {
    if (depth > maxDepth) throw bad(`more than ${maxDepth} levels of nesting`, at)
    space()
    const char = text[at]
    if (char === '"') return string()
    if (char === '{') return object(depth)
    if (char === '[') return array(depth)
    if (skip('true')) return true
    if (skip('false')) return false
    if (skip('null')) throw bad('null (leave the member out)', at)
    return number()
  }

  function object(depth: number): Json {
    const out: { [key: string]: Json } = Object.create(null)
    at++
    space()
    if (skip('}')) return out
    for (;;) {
      space()
      if (text[at] !== '"') throw bad('an object key that is no string', at)
      const where = at
      const key = string()
      if (key in out) throw bad(`the key ${JSON.stringify(key)} twice`, where)
      if (key === '__proto__') throw bad('the key "__proto__"', where)
      space()
      if (text[at++] !== ':') throw bad('a key without a colon', at - 1)
      out[key] = value(depth + 1)
      space()
      if (skip('}')) return out
      if (text[at++] !== ',') throw bad('an object without its end', at - 1)
    }
  }

  function array(depth: number): Json {
    const out: Json[] = []
    at++
    space()
    if (skip(']')) return out
    for (;;) {
      out.push(value(depth + 1))
      space()
      if (skip(']')) return out
      if (text[at++] !== ',') throw bad('a list without its end', at - 1)
    }
  }

  const result = value(0)
  space()
  if (at < text.length) throw bad('something after the value', at)
  return result
}

/**
 * Canonical JSON (RFC 8785) of the subset {@link Json}: keys sorted by UTF-16 code units, no white space, shortest escapes.
 * Members that are undefined are left out. Throws on null, fractions and unsafe integers, which the subset does not have.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') {
    if (!isWellFormed(value)) throw new AppError('BAD_INPUT', 'A text holds half of a surrogate pair.')
    return JSON.stringify(value)
  }
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
      throw new AppError('BAD_INPUT', 'Only whole numbers stand in signed documents; write others as decimal strings.')
    }
    return String(value)
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.keys(value)
      .filter(key => (value as Record<string, unknown>)[key] !== undefined)
      .sort()
      .map(key => `${canonicalJson(key)}:${canonicalJson((value as Record<string, unknown>)[key])}`)
    return `{${members.join(',')}}`
  }
  throw new AppError('BAD_INPUT', `A signed document cannot hold ${value === null ? 'null' : typeof value}.`)
}

/** Whether every surrogate in a text is paired (String.prototype.isWellFormed, which Node 20 has and older browsers lack). */
function isWellFormed(text: string): boolean {
  if (!/[\ud800-\udfff]/.test(text)) return true
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text)
}
