/** What an answer tells of usage, in each of the three protocols: read on the way, from a copy. */
import { NO_TOKENS, type UsageTokens } from '#core/pricing.ts'
import { modelId, UNKNOWN_MODEL } from '#core/usage/bucket.ts'
import { fromInclusive, splitWrites } from '#core/usage/convention.ts'
import { EventLines } from './lines.ts'
import type { Protocol } from './target.ts'

/** `told` is false where the answer bore no counts; `whole` when it came to its end. */
export type AnswerUsage = { id?: string; model: string; tokens: UsageTokens; told: boolean; whole: boolean }

/** A whole answer in one piece: far more than a model ever writes. */
const ANSWER_MAX = 32 * 1024 * 1024

/** What stands in the lines that tell of usage, the first line apart, which is always read. */
const MARKERS: Readonly<Record<Protocol, string>> = {
  messages: 'message_delta"',
  responses: 'usage"',
  chat: 'usage"',
}

type Json = Record<string, unknown>
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const member = (value: unknown, name: string): Json => {
  const found = isJson(value) ? value[name] : undefined
  return isJson(found) ? found : {}
}
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** Takes an answer in as it passes by, and says at its end what it told. */
export class AnswerReader {
  private readonly lines: EventLines | undefined
  private body: Buffer[] = []
  private bodyBytes = 0
  private id: string | undefined
  private model: string | undefined
  private variant: string | undefined
  private usage: Json | undefined
  private searches = 0
  private finished = false

  constructor(
    private readonly protocol: Protocol,
    isStream: boolean,
  ) {
    this.lines = isStream ? new EventLines(MARKERS[protocol], json => this.takeEvent(json)) : undefined
  }

  take(chunk: Buffer): void {
    if (this.lines) {
      this.lines.take(chunk)
      return
    }
    this.bodyBytes += chunk.length
    if (this.bodyBytes <= ANSWER_MAX) this.body.push(chunk)
    else this.body = []
  }

  /** Undefined for what is no answer of a model. */
  end(arrived: boolean): AnswerUsage | undefined {
    if (this.lines) this.lines.end()
    else if (arrived && this.bodyBytes <= ANSWER_MAX) {
      const whole = parse(Buffer.concat(this.body).toString('utf8'))
      this.body = []
      if (whole) this.takeWhole(whole)
    }
    if (this.id === undefined && this.usage === undefined) return undefined
    const model = modelId(this.model ?? '')
    return {
      ...(this.id === undefined ? {} : { id: this.id }),
      // a dearer tier or speed has prices of its own, which the plain id must not stand for
      model: this.variant === undefined || model === UNKNOWN_MODEL ? model : modelId(`${model}:${this.variant}`),
      tokens: this.usage === undefined ? NO_TOKENS : this.tokensOf(this.usage),
      told: this.usage !== undefined,
      whole: arrived && this.finished,
    }
  }

  private takeEvent(text: string): void {
    const event = parse(text)
    if (!event) return
    if (this.protocol === 'messages') {
      if (event.type === 'message_start') this.takeMessage(member(event, 'message'))
      else if (event.type === 'message_delta') {
        this.takeUsage(event.usage)
        if (typeof member(event, 'delta').stop_reason === 'string') this.finished = true
      }
    } else if (this.protocol === 'responses') this.takeResponse(member(event, 'response'))
    else this.takeChat(event)
  }

  private takeWhole(answer: Json): void {
    if (this.protocol === 'messages') this.takeMessage(answer)
    else if (this.protocol === 'responses') this.takeResponse(answer)
    else this.takeChat(answer)
    this.finished = true
  }

  private takeMessage(message: Json): void {
    this.name(message)
    this.takeUsage(message.usage)
  }

  private takeResponse(response: Json): void {
    this.name(response)
    const { service_tier: tier } = response
    if (typeof tier === 'string') this.variant = /^(auto|default|standard)$/.test(tier) ? undefined : tier
    if (!isJson(response.usage)) return
    this.takeUsage(response.usage)
    this.finished = true
    const output = Array.isArray(response.output) ? response.output.filter(isJson) : []
    this.searches = output.filter(
      item => item.type === 'web_search_call' && (member(item, 'action').type ?? 'search') === 'search',
    ).length
  }

  private takeChat(chunk: Json): void {
    this.name(chunk)
    if (!isJson(chunk.usage)) return
    this.takeUsage(chunk.usage)
    this.finished = true
  }

  private name({ id, model }: Json): void {
    if (typeof id === 'string') this.id = id
    if (typeof model === 'string') this.model = model
  }

  /** Counts are running totals, and a later event may leave some of them out. */
  private takeUsage(usage: unknown): void {
    if (!isJson(usage)) return
    const told = Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))
    this.usage = { ...this.usage, ...told }
    if (typeof told.speed === 'string') this.variant = told.speed === 'standard' ? undefined : told.speed
  }

  private tokensOf(usage: Json): UsageTokens {
    if (this.protocol === 'messages') {
      const split = member(usage, 'cache_creation')
      return {
        input: count(usage.input_tokens) ?? 0,
        cacheRead: count(usage.cache_read_input_tokens) ?? 0,
        ...splitWrites(count(usage.cache_creation_input_tokens) ?? 0, {
          fiveMinutes: count(split.ephemeral_5m_input_tokens),
          oneHour: count(split.ephemeral_1h_input_tokens),
        }),
        output: count(usage.output_tokens) ?? 0,
        webSearches: count(member(usage, 'server_tool_use').web_search_requests) ?? 0,
      }
    }
    const isChat = this.protocol === 'chat'
    const details = member(usage, isChat ? 'prompt_tokens_details' : 'input_tokens_details')
    return fromInclusive({
      input: count(isChat ? usage.prompt_tokens : usage.input_tokens) ?? 0,
      cacheRead: count(details.cached_tokens),
      cacheWrite: count(details.cache_write_tokens),
      output: count(isChat ? usage.completion_tokens : usage.output_tokens) ?? 0,
      webSearches: this.searches,
    })
  }
}

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJson(value) ? value : undefined
  } catch {
    return undefined
  }
}
