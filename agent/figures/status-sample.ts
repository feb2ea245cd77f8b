/**
 * What Claude Code gives its status line, as far as it is kept: numbers and the session's id. For the program that the client
 * starts too: built-in modules only.
 */
import { join } from 'node:path'

/** Where the newest one lies. */
export const statusSampleFile = (home: string): string => join(home, 'figures', 'status-line.json')
/** Far more than a sample is. */
export const STATUS_SAMPLE_MAX = 4096

/** The client's names of the windows, and ours. */
export const CLAUDE_WINDOWS = { five_hour: '5h', seven_day: 'week' } as const
type ClaudeWindow = keyof typeof CLAUDE_WINDOWS

/** `resetsAt`: seconds since 1970, as the client has it. */
export type StatusWindow = { used: number; resetsAt: number }
export type StatusSample = {
  v: 1
  /** When it was told, milliseconds since 1970. */
  at: number
  session: string
  /** How long the session has waited for responses: limits come with those, so that without a new one they are the same old ones. */
  apiMs: number
  windows: Partial<Record<ClaudeWindow, StatusWindow>>
}

/** What the line itself shows when the daemon is not there to say it. */
export type StatusFacts = { session: string; costUsd: number | undefined; sample: StatusSample | undefined }

const SESSION = /^[A-Za-z0-9_-]{1,128}$/
type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

function windowsIn(limits: unknown, used: string, resets: string): StatusSample['windows'] {
  const windows: StatusSample['windows'] = {}
  for (const name of Object.keys(CLAUDE_WINDOWS) as ClaudeWindow[]) {
    const one = isObject(limits) ? limits[name] : undefined
    if (isObject(one) && isCount(one[used]) && isCount(one[resets]))
      windows[name] = { used: one[used], resetsAt: Math.floor(one[resets]) }
  }
  return windows
}

/** The client's own JSON; undefined for what is not of that form. Without limits, as with an API key, there is no sample. */
export function readStatusInput(text: string, nowMs: number): StatusFacts | undefined {
  const input = parse(text)
  if (!isObject(input) || typeof input.session_id !== 'string' || !SESSION.test(input.session_id)) return undefined
  const cost = isObject(input.cost) ? input.cost : {}
  const windows = windowsIn(input.rate_limits, 'used_percentage', 'resets_at')
  const { session_id: session } = input
  const apiMs = isCount(cost.total_api_duration_ms) ? cost.total_api_duration_ms : 0
  return {
    session,
    costUsd: isCount(cost.total_cost_usd) ? cost.total_cost_usd : undefined,
    sample: Object.keys(windows).length > 0 ? { v: 1, at: nowMs, session, apiMs, windows } : undefined,
  }
}

/** A sample as it was kept; undefined for anything else. */
export function readStatusSample(text: string): StatusSample | undefined {
  const kept = parse(text)
  if (!isObject(kept) || kept.v !== 1 || !isCount(kept.at) || !isCount(kept.apiMs)) return undefined
  if (typeof kept.session !== 'string' || !SESSION.test(kept.session)) return undefined
  const windows = windowsIn(kept.windows, 'used', 'resetsAt')
  return { v: 1, at: kept.at, session: kept.session, apiMs: kept.apiMs, windows }
}

/** Whether the line was only drawn again: no response has come since, so that nothing newer is known. */
export const isRedrawn = (before: StatusSample | undefined, { session, apiMs, windows }: StatusSample): boolean =>
  before?.session === session && before.apiMs === apiMs && JSON.stringify(before.windows) === JSON.stringify(windows)

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
