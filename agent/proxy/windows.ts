/** What answers tell of a plan's windows in their headers: how much of each is left, and when it begins anew. */
import type { IncomingHttpHeaders } from 'node:http'
import { type FigureReading, type PLAN_WINDOWS, percentReading } from '#core/figure.ts'
import type { Provider } from '#core/pricing.ts'

export type PlanWindow = (typeof PLAN_WINDOWS)[number]
/** `usedPct`: 0 and above, with places. `resetsAt` and `atMs`: milliseconds since 1970. */
export type WindowReading = {
  provider: Provider
  window: PlanWindow
  usedPct: number
  resetsAt?: number
  atMs: number
}

const number = (value: string | string[] | undefined): number | undefined =>
  typeof value === 'string' && /^\d{1,12}(\.\d{1,20})?$/.test(value) ? Number(value) : undefined

/** Anthropic: shares of 1 by the window's name. Codex: percentages of two windows that tell their length. */
export function windowsIn(headers: IncomingHttpHeaders, provider: Provider, atMs: number): WindowReading[] {
  const read: WindowReading[] = []
  const add = (window: PlanWindow | undefined, usedPct: number | undefined, resetsAt: number | undefined) => {
    if (window === undefined || usedPct === undefined) return
    read.push({ provider, window, usedPct, atMs, ...(resetsAt === undefined ? {} : { resetsAt }) })
  }
  for (const [name, window] of [
    ['5h', '5h'],
    ['7d', 'week'],
  ] as const) {
    const share = number(headers[`anthropic-ratelimit-unified-${name}-utilization`])
    const reset = number(headers[`anthropic-ratelimit-unified-${name}-reset`])
    add(window, share === undefined ? undefined : share * 100, reset === undefined ? undefined : reset * 1000)
  }
  for (const which of ['primary', 'secondary']) {
    const minutes = number(headers[`x-codex-${which}-window-minutes`])
    const window = minutes === 300 ? '5h' : minutes === 10_080 ? 'week' : undefined
    const at = number(headers[`x-codex-${which}-reset-at`])
    const after = number(headers[`x-codex-${which}-reset-after-seconds`])
    const resetsAt = at !== undefined ? at * 1000 : after === undefined ? undefined : atMs + after * 1000
    add(window, number(headers[`x-codex-${which}-used-percent`]), resetsAt)
  }
  return read
}

/** The newest reading of each window, as figures of a route. A window that has begun anew since is unread. */
export class Windows {
  private readonly newest = new Map<string, WindowReading>()

  note(readings: readonly WindowReading[]): void {
    for (const reading of readings) this.newest.set(`${reading.provider} ${reading.window}`, reading)
  }

  all(): WindowReading[] {
    return [...this.newest.values()]
  }

  figures(provider: Provider, now: number): FigureReading[] {
    return this.all().flatMap(({ provider: of, window, usedPct, resetsAt, atMs }) => {
      if (of !== provider || (resetsAt !== undefined && resetsAt <= now)) return []
      return (
        percentReading('plan_left_pct', 100 - usedPct, { qualifier: window, observedAt: atMs, source: 'daemon' }) ?? []
      )
    })
  }
}
