/**
 * What Claude Code's sums of a session have beyond its calls: attempts that broke off before their first whole block. No event and
 * no record tells of those, and only the client's totals have what they used.
 */
import * as z from 'zod/mini'
import type { Home } from '#agent/home.ts'
import { type LedgerCall, ledgerDays, readLedgerDay } from '#agent/usage/ledger.ts'
import { DAY_MS, utcDay } from '#core/day.ts'
import { NO_TOKENS, PRICE_AXES, type UsageTokens } from '#core/pricing.ts'
import { type Tags, TagsShape } from '#core/usage/tags.ts'
import type { ObservedSum } from './observed.ts'

/** Events and records of a session's last calls are here long before: nothing of it was told for so long. */
const QUIET_MS = 10 * 60_000
/** The one whose records and events leave such attempts out, as was measured. */
const CLIENT = 'claude-code'

const whole = z.int().check(z.gte(0))
const Tokens = z.record(z.string(), whole)
/** Sums of one session by model, since they were first told. `times`: how far each series was added up; `at`: our clock. */
export const SessionSums = z.object({
  models: z.record(z.string(), Tokens),
  times: z.record(z.string(), z.string()),
  fromMs: z.number(),
  toMs: z.number(),
  at: z.number(),
  tags: z.optional(TagsShape),
  isSettled: z.optional(z.boolean()),
})
export type SessionSums = z.infer<typeof SessionSums>

/** Adds up what a session that is counted by its calls tells in sums as well. `added`: what the point brings. */
export function noteSum(all: Record<string, SessionSums>, sum: ObservedSum, added: UsageTokens, now: number): void {
  const { client, session, model, series, start, time, atMs, tags } = sum
  if (client !== CLIENT || session === undefined) return
  const sums = all[session] ?? { models: {}, times: {}, fromMs: atMs, toMs: atMs, at: now }
  const name = `${series} ${start}`
  // a batch that is sent again
  if (sums.times[name] !== undefined && BigInt(time) <= BigInt(sums.times[name])) return
  const before = sums.models[model] ?? {}
  sums.models[model] = Object.fromEntries(PRICE_AXES.map(axis => [axis, (before[axis] ?? 0) + added[axis]]))
  sums.times[name] = time
  Object.assign(sums, {
    fromMs: Math.min(sums.fromMs, atMs),
    toMs: Math.max(sums.toMs, atMs),
    at: now,
    ...(tags ? { tags } : {}),
  })
  delete sums.isSettled
  all[session] = sums
}

export type LeftOut = {
  session: string
  tags: Tags | undefined
  key: string
  model: string
  atMs: number
  tokens: UsageTokens
}

/** How long a cache write is kept is not told in sums. */
const AXES = ['input', 'cacheRead', 'cacheWrite5m', 'output'] as const
const flat = (t: Partial<Record<string, number>>) => ({
  input: t.input ?? 0,
  cacheRead: t.cacheRead ?? 0,
  cacheWrite5m: (t.cacheWrite5m ?? 0) + (t.cacheWrite1h ?? 0),
  output: t.output ?? 0,
})

function totalOf(all: Iterable<Partial<Record<string, number>>>): UsageTokens {
  const total = { ...NO_TOKENS }
  for (const one of all) for (const axis of AXES) total[axis] += flat(one)[axis]
  return total
}

/**
 * What each session that has been quiet for a while leaves out. Only where its sums are no less than its calls on every axis:
 * otherwise they are not of the whole session, and nothing can be said. Marks what it has looked at.
 */
export async function leftOut(home: Home, all: Record<string, SessionSums>, now: number): Promise<LeftOut[]> {
  const due = Object.entries(all).filter(([, sums]) => !sums.isSettled && Math.abs(now - sums.at) >= QUIET_MS)
  if (due.length === 0) return []
  const from = utcDay(Math.min(...due.map(([, { fromMs }]) => fromMs)) - DAY_MS)
  const calls = new Map<string, LedgerCall[]>(due.map(([session]) => [session, []]))
  for (const day of ledgerDays(home)) {
    if (day < from) continue
    for (const call of await readLedgerDay(home, day))
      if (call.place.client === CLIENT && !call.key.endsWith(keyOf(call.place.session)))
        calls.get(call.place.session)?.push(call)
  }
  return due.flatMap(([session, sums]) => {
    sums.isSettled = true
    const told = totalOf(Object.values(sums.models))
    const counted = calls.get(session)!
    const had = totalOf(counted.map(({ tokens }) => tokens))
    const tokens = { ...NO_TOKENS }
    for (const axis of AXES) tokens[axis] = told[axis] - had[axis]
    if (counted.length === 0 || AXES.some(axis => tokens[axis] < 0) || AXES.every(axis => tokens[axis] === 0)) return []
    return [{ session, tags: sums.tags, key: keyOf(session), model: modelOf(sums, counted), atMs: sums.toMs, tokens }]
  })
}

const keyOf = (session: string) => `left-out:${session}`

/** The model of which the sums have most beyond its calls. */
function modelOf({ models }: SessionSums, calls: readonly LedgerCall[]): string {
  const beyond = Object.entries(models).map(([model, sum]) => {
    const had = totalOf(calls.filter(call => call.model === model).map(({ tokens }) => tokens))
    return { model, by: AXES.reduce((all, axis) => all + flat(sum)[axis] - had[axis], 0) }
  })
  return beyond.reduce((most, one) => (one.by > most.by ? one : most)).model
}
