import { DAY_MS } from '#core/day.ts'
import { dateText, startOfDay, wallDay, wallMs, weekdayName, weekdayOf } from './zone.ts'

/**
 * The spans of time that budgets and reports are about. Calendar windows tile: each ends where the next begins, and every
 * moment lies in exactly one. A `rolling` window is the last so many local days, the current one included: it moves on at
 * the day's end. A calendar month and a rolling 30 days are two things.
 */
export type BudgetWindow =
  | { kind: 'daily' | 'weekly' | 'monthly' | 'quarterly' }
  | {
      kind: 'rolling'
      /** 1 to 366. */
      days: number
    }
export type WindowKind = BudgetWindow['kind']

/** One window: half-open, in milliseconds since 1970. */
export interface Window {
  start: number
  end: number
  /**
   * What "once per window" is kept by: stable, with its zone inside. A rolling window, which is another one each day, keeps one
   * id for as many days as it is long, so that a step is not told again every morning.
   */
  id: string
}

/** Every spelling there is; each stands for one window, here and everywhere. */
export const WINDOW_WORDS: Readonly<Record<string, 'daily' | 'weekly' | 'monthly' | 'quarterly'>> = {
  daily: 'daily',
  day: 'daily',
  '1d': 'daily',
  weekly: 'weekly',
  week: 'weekly',
  '1w': 'weekly',
  monthly: 'monthly',
  month: 'monthly',
  '1mo': 'monthly',
  quarterly: 'quarterly',
  quarter: 'quarterly',
  '1q': 'quarterly',
}
export const MAX_ROLLING_DAYS = 366

/** `monthly`, `1mo`, `rolling 30d`. Undefined for anything else: a bare `30d` says neither a month nor rolling. */
export function parseWindow(text: string): BudgetWindow | undefined {
  if (Object.hasOwn(WINDOW_WORDS, text)) return { kind: WINDOW_WORDS[text]! }
  const rolling = /^rolling ([1-9]\d{0,2}) ?d(?:ays?)?$/.exec(text)
  const days = Number(rolling?.[1])
  return rolling !== null && days <= MAX_ROLLING_DAYS ? { kind: 'rolling', days } : undefined
}

/** The one spelling of a window. The inverse of parseWindow. */
export const windowText = (window: BudgetWindow): string =>
  window.kind === 'rolling' ? `rolling ${window.days}d` : window.kind

/** The window that holds a moment. */
export function windowAt(spec: BudgetWindow, zone: string, ms: number): Window {
  if (spec.kind === 'rolling') {
    const { first, end } = periodAt('daily', zone, ms)
    const block = Math.floor(first / spec.days) * spec.days
    return {
      start: startOfDay(zone, first - spec.days + 1),
      end,
      id: `rolling-${spec.days}d:${dateText(block)}@${zone}`,
    }
  }
  const { first, start, end } = periodAt(spec.kind, zone, ms)
  return { start, end, id: `${spec.kind}:${periodText(spec.kind, first)}@${zone}` }
}

/** The local date a moment is counted on: that of the daily window that holds it. */
export const dateAt = (zone: string, ms: number): string => dateText(periodAt('daily', zone, ms).first)

/**
 * When a window ends and the next begins, in words made from that moment itself: `resets Monday 00:00 Europe/Amsterdam`.
 * `next` is the moment on the zone's clock: `2026-12-07 00:00`.
 */
export function resetLabel(
  spec: BudgetWindow,
  zone: string,
  window: Pick<Window, 'end'>,
): { label: string; next: string } {
  const wall = wallMs(zone, window.end)
  const day = Math.floor(wall / DAY_MS)
  const [date, time] = new Date(wall).toISOString().slice(0, 16).split('T') as [string, string]
  const words = {
    daily: `resets every day ${time}`,
    weekly: `resets ${weekdayName(day)} ${time}`,
    monthly: `resets on day ${Number(date.slice(8))} of the month ${time}`,
    quarterly: `resets on day ${Number(date.slice(8))} of the quarter ${time}`,
    rolling: `moves on every day ${time}`,
  }
  return { label: `${words[spec.kind]} ${zone}`, next: `${date} ${time}` }
}

type Kind = Exclude<WindowKind, 'rolling'>

/** `first`: the local date it begins with, as days since 1970-01-01. */
function periodAt(kind: Kind, zone: string, ms: number): { first: number; start: number; end: number } {
  let first = firstDayOf(kind, wallDay(zone, ms))
  let start = startOfDay(zone, first)
  let end = startOfDay(zone, firstDayAfter(kind, first))
  // A clock that was set back over midnight shows the old date again: the moment belongs to the day that has begun.
  while (ms >= end) {
    first = firstDayAfter(kind, first)
    start = end
    end = startOfDay(zone, firstDayAfter(kind, first))
  }
  return { first, start, end }
}

function firstDayOf(kind: Kind, day: number): number {
  if (kind === 'daily') return day
  if (kind === 'weekly') return day - weekdayOf(day)
  const date = new Date(day * DAY_MS)
  const month = date.getUTCMonth()
  return Date.UTC(date.getUTCFullYear(), kind === 'monthly' ? month : month - (month % 3), 1) / DAY_MS
}

function firstDayAfter(kind: Kind, first: number): number {
  if (kind === 'daily') return first + 1
  if (kind === 'weekly') return first + 7
  const date = new Date(first * DAY_MS)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + (kind === 'monthly' ? 1 : 3), 1) / DAY_MS
}

function periodText(kind: Kind, first: number): string {
  const date = dateText(first)
  if (kind === 'monthly') return date.slice(0, 7)
  return kind === 'quarterly' ? `${date.slice(0, 4)}-Q${(Number(date.slice(5, 7)) + 2) / 3}` : date
}
