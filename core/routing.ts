/** The router of the local proxy: which requests go to another model, and the one change that this makes to them. Pure. */
import { compileRules } from '#core/boundary/evaluate.ts'
import type { Condition } from '#core/boundary/shape.ts'
import { concat, fromUtf8, utf8 } from '#core/bytes.ts'
import type { Figures } from '#core/figure.ts'
import { globMatches } from '#core/glob.ts'
import { type Tier, tierRank } from '#core/model-tier.ts'
import type { Provider } from '#core/pricing.ts'

/** `observe`: what would be routed is counted, and nothing else happens. The default first. */
export const ROUTE_MODES = ['observe', 'active'] as const
export type RouteMode = (typeof ROUTE_MODES)[number]

/** Where requests go whose path begins with `/<name>/`. `url` has no slash at its end. */
export type Upstream = { name: string; url: string; provider: Provider }

/** Moves requests from one model to another of the same provider. The first rule that fits a request decides. */
export type RouteRule = {
  name: string
  /** Exact id, or a pattern that matches the whole of it (`*`). */
  from: string
  /** Exact id. */
  to: string
  /** Only requests to this provider. */
  provider?: Provider
  /** All must hold; of figures only what is left of the provider's plan. A figure that is unread holds none. */
  when: readonly Condition[]
  /** Only requests of subagents (true), only those of the session itself (false). */
  subagent?: boolean
}

export type Routing = {
  mode: RouteMode
  /** Whether `continue` and `spend` boundaries also stop model requests at the proxy. */
  hardStop: boolean
  upstreams: readonly Upstream[]
  rules: readonly RouteRule[]
}

const DEFAULT_UPSTREAMS: readonly Upstream[] = [
  { name: 'anthropic', url: 'https://api.anthropic.com', provider: 'anthropic' },
  { name: 'openai', url: 'https://api.openai.com', provider: 'openai' },
]

/** The upstreams that are always there, with a document's own in their place or beside them. */
export const withDefaults = (own: readonly Upstream[]): Upstream[] => [
  ...DEFAULT_UPSTREAMS.filter(({ name }) => !own.some(one => one.name === name)),
  ...own,
]

export const NO_ROUTING: Routing = { mode: 'observe', hardStop: false, upstreams: DEFAULT_UPSTREAMS, rules: [] }

/** A request as the router sees it. */
export type Routable = { provider: Provider; model: string; subagent: boolean; figures: Figures; now: number }

/** What models cost and how high they stand, as far as it is known. */
export type Ranks = {
  tierOf(model: string): Tier | 'unknown'
  /** List prices in any one unit. */
  priceOf(model: string, provider: Provider): { input: bigint; output: bigint } | undefined
}

/**
 * The rule that moves a request, and where to. Only downward: a rule that would move it to a model that is dearer, or of which
 * nobody can tell, is passed over and named in `upward`.
 */
export function chooseRoute(
  rules: readonly RouteRule[],
  request: Routable,
  ranks: Ranks,
): { rule: RouteRule | undefined; upward: RouteRule[] } {
  const upward: RouteRule[] = []
  for (const rule of rules) {
    if (rule.to === request.model || !globMatches(rule.from, request.model)) continue
    if (rule.provider !== undefined && rule.provider !== request.provider) continue
    if (rule.subagent !== undefined && rule.subagent !== request.subagent) continue
    if (!holds(rule, request)) continue
    if (isDownward(request.model, rule.to, request.provider, ranks)) return { rule, upward }
    upward.push(rule)
  }
  return { rule: undefined, upward }
}

function holds({ name, when }: RouteRule, { figures, now }: Routable): boolean {
  if (when.length === 0) return true
  const rule = {
    name,
    action: 'model_route',
    when,
    require: { kind: 'ask' },
    stage: 'enforce',
    onUnknown: 'pass',
  } as const
  const compiled = compileRules([{ key: name, scope: 'local', rule }])
  return compiled.decide({ action: 'model_route', figures, now }).outcome.kind !== 'pass'
}

/** Not dearer on either side by list price; where a price is missing, of no higher tier. */
function isDownward(from: string, to: string, provider: Provider, { tierOf, priceOf }: Ranks): boolean {
  const [before, after] = [priceOf(from, provider), priceOf(to, provider)]
  if (before && after) return after.input <= before.input && after.output <= before.output
  const [high, low] = [tierRank(tierOf(from)), tierRank(tierOf(to))]
  return high >= 0 && low >= 0 && low <= high
}

/** Where the value of a request's own `model` stands in its bytes, its quotes included. */
export type ModelPlace = { model: string; start: number; end: number }

const [QUOTE, BACKSLASH, OPEN, CLOSE, COLON, COMMA] = [0x22, 0x5c, 0x7b, 0x7d, 0x3a, 0x2c]
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d]

/**
 * Finds the member `model` of a JSON object in its bytes. Undefined for what is no whole object, has no such member, has it twice
 * (nobody could say which one a provider takes), or has something other than a text there.
 */
export function findModel(body: Uint8Array): ModelPlace | undefined {
  let at = skipSpace(body, 0)
  if (body[at] !== OPEN) return undefined
  at = skipSpace(body, at + 1)
  let place: { start: number; end: number } | undefined
  for (;;) {
    const key = readText(body, at)
    if (key === undefined) return undefined
    at = skipSpace(body, key.end)
    if (body[at] !== COLON) return undefined
    at = skipSpace(body, at + 1)
    const end = valueEnd(body, at)
    if (end === undefined) return undefined
    if (key.text === 'model') {
      if (place !== undefined) return undefined
      place = { start: at, end }
    }
    at = skipSpace(body, end)
    if (body[at] === CLOSE) break
    if (body[at] !== COMMA) return undefined
    at = skipSpace(body, at + 1)
  }
  if (skipSpace(body, at + 1) !== body.length || place === undefined) return undefined
  const model = readText(body, place.start)
  return model === undefined || model.end !== place.end ? undefined : { ...place, model: model.text }
}

/** The same bytes with another model in that place. */
export const withModel = (body: Uint8Array, { start, end }: ModelPlace, model: string): Uint8Array =>
  concat(body.subarray(0, start), utf8(JSON.stringify(model)), body.subarray(end))

function skipSpace(body: Uint8Array, from: number): number {
  let at = from
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++
  return at
}

/** The place behind a text that begins at `at`; undefined when it has no end. */
function textEnd(body: Uint8Array, at: number): number | undefined {
  for (let from = at + 1; ; ) {
    const quote = body.indexOf(QUOTE, from)
    if (quote < 0) return undefined
    let escapes = 0
    while (body[quote - 1 - escapes] === BACKSLASH && quote - 1 - escapes > at) escapes++
    if (escapes % 2 === 0) return quote + 1
    from = quote + 1
  }
}

/** Longer than any key or any model's name: what is longer is passed over unread. */
const NAME_MAX = 1000

function readText(body: Uint8Array, at: number): { text: string; end: number } | undefined {
  if (body[at] !== QUOTE) return undefined
  const end = textEnd(body, at)
  if (end === undefined) return undefined
  if (end - at > NAME_MAX) return { text: '', end }
  try {
    return { text: JSON.parse(fromUtf8(body.subarray(at, end))) as string, end }
  } catch {
    return undefined
  }
}

/** The place behind a value of any kind; undefined when it has no end. */
function valueEnd(body: Uint8Array, from: number): number | undefined {
  if (body[from] === QUOTE) return textEnd(body, from)
  let depth = 0
  for (let at = from; at < body.length; at++) {
    const byte = body[at]
    if (byte === QUOTE) {
      const end = textEnd(body, at)
      if (end === undefined) return undefined
      at = end - 1
    } else if (byte === OPEN || byte === OPEN_LIST) depth++
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (depth === 0) return at > from ? at : undefined
      depth--
      if (depth === 0) return at + 1
    } else if (byte === COMMA && depth === 0) return at > from ? at : undefined
  }
  return undefined
}
