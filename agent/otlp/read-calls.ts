/**
 * Calls in log records and spans: Claude Code's `api_request` events, and whatever follows OpenTelemetry's conventions for
 * generative AI. Texts of prompts and answers, which both may carry, go no further than here.
 */
import { hash } from 'node:crypto'
import { areSound } from '#core/usage/bucket.ts'
import { fromInclusive, splitWrites } from '#core/usage/convention.ts'
import {
  type Attributes,
  attributesOf,
  countOf,
  isObject,
  millisOf,
  NotACount,
  type OtlpEntry,
  textOf,
} from './entries.ts'
import { ID, type ObservedCall } from './observed.ts'
import { ofClaude, whoOf } from './who.ts'

/** What was read of a request, and how many of its entries say something of usage that cannot be taken. */
export type ReadCalls = {
  calls: ObservedCall[]
  rejected: number
  /** Sums over other spans, which are counted themselves. */
  outer: number
}

/** Operations that ask a model; around them stand spans of agents and workflows, which may repeat the sum of what is in them. */
const OUTER = /^(invoke_agent|create_agent|invoke_workflow|execute_tool|plan)$/
const USAGE = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.prompt_tokens',
  'gen_ai.usage.completion_tokens',
]

/** Calls out of spans and log records, and the events in them. What is none of them is passed over, what is a broken one rejected. */
export function readCalls(entries: readonly OtlpEntry[], nowMs: number): ReadCalls {
  const read: ReadCalls = { calls: [], rejected: 0, outer: 0 }
  for (const { entry, resource, scope } of entries) {
    const attributes = attributesOf(entry.attributes, resource)
    take(read, entry, attributes, scope, nowMs)
    for (const event of Array.isArray(entry.events) ? entry.events.filter(isObject) : [])
      take(
        read,
        { ...event, traceId: entry.traceId, spanId: entry.spanId },
        attributesOf(event.attributes, resource),
        scope,
        nowMs,
      )
  }
  return read
}

type Entry = Record<string, unknown>

function take(read: ReadCalls, entry: Entry, attributes: Attributes, scope: string, nowMs: number): void {
  try {
    const call = isClaudeRequest(entry, attributes, scope)
      ? claudeCall(entry, attributes, nowMs)
      : USAGE.some(key => attributes.has(key))
        ? genAiCall(read, entry, attributes, nowMs)
        : undefined
    if (call === undefined) return
    if (areSound(call.tokens)) read.calls.push(call)
    else read.rejected++
  } catch (error) {
    if (!(error instanceof NotACount)) throw error
    read.rejected++
  }
}

function isClaudeRequest({ eventName, body }: Entry, attributes: Attributes, scope: string): boolean {
  const name = eventName ?? (isObject(body) ? body.stringValue : undefined)
  if (name === 'claude_code.api_request') return true
  return attributes.get('event.name') === 'api_request' && scope.startsWith('com.anthropic.claude_code')
}

/** Its input leaves cached tokens out. */
function claudeCall(entry: Entry, attributes: Attributes, nowMs: number): ObservedCall {
  const who = { ...whoOf(attributes), ...ofClaude(attributes) }
  const count = (key: string) => countOf(attributes, key)
  const sequence = attributes.get('event.sequence')
  const requestId = textOf(attributes, 'request_id')
  return {
    kind: 'call',
    ...who,
    atMs: timeOf(entry, nowMs),
    tokens: {
      input: count('input_tokens') ?? 0,
      cacheRead: count('cache_read_tokens') ?? 0,
      ...splitWrites(count('cache_creation_tokens') ?? 0, {
        fiveMinutes: count('cache_creation_5m_tokens'),
        oneHour: count('cache_creation_1h_tokens'),
      }),
      output: count('output_tokens') ?? 0,
      webSearches: 0,
    },
    ids: idsOf(
      [requestId, textOf(attributes, 'client_request_id')],
      who.session !== undefined && typeof sequence === 'number' ? `${who.session}:${sequence}` : undefined,
      entry,
      attributes,
    ),
    ...(requestId !== undefined && ID.test(requestId) ? { isRecordsId: true as const } : {}),
  }
}

/** Its input holds everything that was read, cached or not. */
function genAiCall(read: ReadCalls, entry: Entry, attributes: Attributes, nowMs: number): ObservedCall | undefined {
  const operation = textOf(attributes, 'gen_ai.operation.name')
  if (operation !== undefined && OUTER.test(operation)) {
    read.outer++
    return undefined
  }
  const count = (...keys: string[]) => countOf(attributes, ...keys)
  const { status, traceId, spanId } = entry
  const failed = (isObject(status) && Number(status.code) === 2) || attributes.has('error.type')
  const span = typeof traceId === 'string' && typeof spanId === 'string' ? `${traceId}:${spanId}` : undefined
  return {
    kind: 'call',
    ...whoOf(attributes),
    atMs: timeOf(entry, nowMs),
    tokens: fromInclusive({
      input: count('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens') ?? 0,
      cacheRead: count('gen_ai.usage.cache_read.input_tokens'),
      cacheWrite: count('gen_ai.usage.cache_creation.input_tokens'),
      output: count('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens') ?? 0,
    }),
    ids: idsOf([textOf(attributes, 'gen_ai.response.id'), textOf(attributes, 'request_id')], span, entry, attributes),
    ...(failed ? { partial: true as const } : {}),
  }
}

/** When it ended; a time that nobody gave is now. */
const timeOf = ({ timeUnixNano, endTimeUnixNano, observedTimeUnixNano }: Entry, nowMs: number): number =>
  millisOf(endTimeUnixNano) ?? millisOf(timeUnixNano) ?? millisOf(observedTimeUnixNano) ?? nowMs

/**
 * The provider's ids; where there is none, where the entry stands; and where even that is not told, the entry itself, down to the
 * nanosecond: what is sent again is then the same, and two calls are not.
 */
function idsOf(
  given: (string | undefined)[],
  place: string | undefined,
  entry: Entry,
  attributes: Attributes,
): string[] {
  const ids = [...new Set(given)].filter((id): id is string => id !== undefined && ID.test(id))
  if (ids.length > 0) return ids
  if (place !== undefined && ID.test(place)) return [place]
  const { timeUnixNano, endTimeUnixNano, observedTimeUnixNano } = entry
  const whole = JSON.stringify([timeUnixNano, endTimeUnixNano, observedTimeUnixNano, [...attributes].sort()])
  return [hash('sha256', whole, 'base64url').slice(0, 32).replace(/^[_-]/, 'x')]
}
