import type { Json, JsonObject } from './rule.ts'

const WORDS_WITH_ANOTHER_MEANING = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i

/** A JSON value as YAML on one line, in the style of the first page: `{ session_cost_usd: ">= 20" }`. */
export function flowText(value: Json): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return scalarText(value)
  if (isList(value)) return `[${value.map(flowText).join(', ')}]`
  const entries = Object.entries(value).map(([key, item]) => `${key}: ${flowText(item)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** An object as the lines of one entry of a block list: `- name: x`, then its other keys two further in. */
export function itemLines(value: JsonObject, indent: string): string[] {
  return Object.entries(value).map(([key, item], i) => `${indent}${i === 0 ? '- ' : '  '}${key}: ${flowText(item)}`)
}

/** Plain where YAML reads it back as the same string everywhere, in double quotes elsewhere. JSON's quoting is YAML's. */
function scalarText(text: string): string {
  const plain = /^[A-Za-z][A-Za-z0-9_.-]*(?::[A-Za-z0-9_.-]+)*$/.test(text) && !WORDS_WITH_ANOTHER_MEANING.test(text)
  const duration = /^\d+[hms](?:\d+[ms]){0,2}$/.test(text)
  return plain || duration ? text : JSON.stringify(text)
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
