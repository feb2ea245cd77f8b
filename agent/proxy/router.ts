/** What the proxy does with a request before it goes on: nothing, another model, or a refusal. */
import { chooseRoute, findModel, type Ranks, type Routing, withModel } from '#core/routing.ts'
import type { Question, Verdict } from './ask.ts'
import type { Target } from './target.ts'
import type { Who } from './who.ts'
import type { Windows } from './windows.ts'

/** What routing came to, by rule and move. `upward`: the rule would have moved it to a dearer model, which it never does. */
export type RouteCount = {
  rule: string
  from: string
  to: string
  did: 'observed' | 'routed' | 'held' | 'upward'
  times: number
}

/** Moves that are told apart. */
const COUNTS_MAX = 500

export type Decided = { body: Uint8Array | undefined; stop?: NonNullable<Verdict['stop']> }

type Deps = {
  routing(): Routing
  ranks: Ranks
  windows: Windows
  /** Undefined when nobody answers in time. */
  ask(question: Question): Promise<Verdict | undefined>
  askMs: number
  now(): number
}

export class Router {
  private readonly counts = new Map<string, RouteCount>()
  /** Requests that were stopped, and questions that nobody answered in time. */
  stopped = 0
  unanswered = 0

  constructor(private readonly deps: Deps) {}

  /** Whether a request has to be read before it goes on. */
  reads(): boolean {
    const { rules, hardStop } = this.deps.routing()
    return rules.length > 0 || hardStop
  }

  all(): RouteCount[] {
    return [...this.counts.values()]
  }

  /**
   * Decides about a request whose body is there (undefined: it is too large, or packed, and goes on as it is). Asks the daemon
   * only where a route would be applied or calls can be stopped, and goes on unrouted where nobody answers.
   */
  async decide(target: Target, who: Who, body: Uint8Array | undefined): Promise<Decided> {
    const routing = this.deps.routing()
    const route = body && this.routeOf(routing, target, who, body)
    const isActive = routing.mode === 'active'
    if (route && !isActive) this.count(route.rule, route, 'observed')
    const asked = route && isActive ? route : undefined
    if (!asked && !routing.hardStop) return { body }
    const { client, session, agent } = who
    const verdict = await this.deps.ask({
      client,
      ...(session === undefined ? {} : { session }),
      ...(agent === undefined ? {} : { agent }),
      ...(asked ? { route: { provider: target.upstream.provider, from: asked.from, to: asked.to } } : {}),
      ...(routing.hardStop ? { stop: true as const } : {}),
      waitMs: this.deps.askMs,
    })
    if (!verdict) this.unanswered++
    if (verdict?.stop) {
      this.stopped++
      return { body, stop: verdict.stop }
    }
    if (!asked) return { body }
    const goes = verdict?.route === 'go'
    this.count(asked.rule, asked, goes ? 'routed' : 'held')
    return { body: goes ? withModel(body!, asked.place, asked.to) : body }
  }

  private routeOf(routing: Routing, target: Target, { subagent }: Who, body: Uint8Array) {
    const place = routing.rules.length === 0 ? undefined : findModel(body)
    if (!place) return undefined
    const { windows, ranks } = this.deps
    const now = this.deps.now()
    const { provider } = target.upstream
    const request = { provider, model: place.model, subagent, figures: windows.figures(provider, now), now }
    const { rule, upward } = chooseRoute(routing.rules, request, ranks)
    for (const one of upward) this.count(one.name, { from: place.model, to: one.to }, 'upward')
    // what no provider would take is not touched either
    return rule && isWholeJson(body) ? { rule: rule.name, from: place.model, to: rule.to, place } : undefined
  }

  private count(rule: string, { from, to }: { from: string; to: string }, did: RouteCount['did']): void {
    const key = `${rule} ${from} ${to} ${did}`
    const known = this.counts.get(key)
    if (known) known.times++
    else if (this.counts.size < COUNTS_MAX) this.counts.set(key, { rule, from, to, did, times: 1 })
  }
}

function isWholeJson(body: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(body).toString('utf8'))
    return true
  } catch {
    return false
  }
}
