/**
 * opencode's messages to usage. Pure. The format is the client's own and moves, so everything is read leniently; what is not
 * understood is left out. Text of prompts, answers and tools never leaves this file.
 */

import { count, idOf, isObject, type Json, pathOf } from '#agent/clients/json-lines.ts'
import type { UsageRecord } from '#agent/clients/usage-source.ts'
import { NO_TOKENS, type UsageTokens } from '#core/pricing.ts'
import { UNKNOWN_MODEL } from '#core/usage/bucket.ts'
import { providerOf } from './providers.ts'

/** A part of a message that is a tool call: its row's id, and what it holds. Of a long one only what stands at its beginning. */
export type StoredTool = { id: string; tool: string; callId: string; status: string; state: Json }

/** A message as it is stored, the ends of the steps (calls of the model) that it tells of, in their order, and its tool calls. */
export type StoredMessage = { id: string; message: Json; steps: Json[]; tools: StoredTool[] }

const timesOf = (message: Json): Json => (isObject(message.time) ? message.time : {})

/** Whether a message is an answer of a model that is still being written, or was when the client ended. */
export const isUnfinished = ({ message }: StoredMessage): boolean =>
  message.role === 'assistant' && count(timesOf(message).completed) === 0

/**
 * Counts on disjoint axes. Input leaves out what was read from a cache or written to it. Output leaves out reasoning, but in
 * older versions holds it: `total` tells which, and before there was one, it held it.
 */
export function tokensOf(tokens: unknown): UsageTokens {
  if (!isObject(tokens)) return NO_TOKENS
  const cache = isObject(tokens.cache) ? tokens.cache : {}
  const [input, output, reasoning] = [count(tokens.input), count(tokens.output), count(tokens.reasoning)]
  const [cacheRead, cacheWrite] = [count(cache.read), count(cache.write)]
  const isInside =
    tokens.total === undefined ? reasoning <= output : count(tokens.total) === input + output + cacheRead + cacheWrite
  return {
    ...NO_TOKENS,
    input,
    cacheRead,
    // how long it is kept is not told: the client asks for the provider's default
    cacheWrite5m: cacheWrite,
    output: isInside ? output : output + reasoning,
  }
}

const ID_TIME = /^msg_([0-9a-f]{12})/
/** The time in an id is cut to so many milliseconds. */
const ID_SPAN = 2 ** 36
const PER_MS = 4096
/** An id is made a moment before the message is; that of an answer that never ended is not later than this. */
const UNFINISHED_MS = 5000

/**
 * Whether a message is a copy that a fork has made: it has an id of its own, made when it was copied, and the times of the
 * message that it is a copy of.
 */
export function isCopy(id: string, created: number, completed: number): boolean {
  const found = ID_TIME.exec(id)?.[1]
  if (found === undefined) return false
  const idTime = Math.floor(Number.parseInt(found, 16) / PER_MS)
  const ended = completed || created + UNFINISHED_MS
  const later = (((idTime - ended) % ID_SPAN) + ID_SPAN) % ID_SPAN
  return later > 0 && later < ID_SPAN / 2
}

/**
 * The calls that a message tells of: one a step, else the one of its own counts. A call is known by the millisecond in which its
 * message was begun, which a copy shares; two messages of one millisecond are told apart by their ids.
 */
export function recordsOf({ id, message, steps }: StoredMessage): UsageRecord[] {
  if (message.role !== 'assistant') return []
  const times = timesOf(message)
  const [created, completed] = [count(times.created), count(times.completed)]
  const path = isObject(message.path) ? pathOf(message.path.cwd) : undefined
  const providerId = idOf(message.providerID)
  const isOriginal = created === 0 || !isCopy(id, created, completed)
  const beside = {
    model: idOf(message.modelID) ?? UNKNOWN_MODEL,
    atMs: created,
    ...(isOriginal ? { requestId: id } : {}),
    ...(path === undefined ? {} : { cwd: path }),
    ...(providerId === undefined ? {} : { provider: providerOf(providerId) }),
  }
  const key = created === 0 ? id : String(created)
  if (steps.length > 0)
    return steps.map((step, n) => ({ key: n === 0 ? key : `${key}#${n}`, tokens: tokensOf(step.tokens), ...beside }))
  // what was counted of an answer that broke off
  const partial = isObject(message.error) ? { partial: true } : {}
  return [{ key, tokens: tokensOf(message.tokens), ...beside, ...partial }]
}

/** A message of the later kind of table, whose output always leaves out reasoning, in the form of the earlier one. */
export function fromLater(type: string | undefined, data: Json, created: number | undefined): Json {
  const model = isObject(data.model) ? data.model : {}
  const tokens = isObject(data.tokens) ? data.tokens : {}
  const cache = isObject(tokens.cache) ? tokens.cache : {}
  const total = [tokens.input, tokens.output, tokens.reasoning, cache.read, cache.write].map(count)
  return {
    role: type,
    modelID: model.id,
    providerID: model.providerID,
    tokens: { ...tokens, total: total.reduce((sum, n) => sum + n, 0) },
    error: data.error,
    time: { created, completed: timesOf(data).completed },
  }
}
