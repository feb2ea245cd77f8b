import { type Home, writeJson } from '#agent/home.ts'
import { wireFigure } from '#core/boundary/crossed.ts'
import type { Action } from '#core/boundary/shape.ts'
import type { Client } from '#core/client.ts'
import { FIGURES, type Figures } from '#core/figure.ts'
import type { HourlyCount } from '#core/protocol.ts'
import { type Fired, keptCounters } from './kept.ts'

/** Three weeks without a control plane at a hundred sessions a day; beyond it the oldest go. */
const HOURS_MAX = 20_000
const SESSIONS_MAX = 1000

/**
 * What is only counted: calls per hour and how often each rule held. Kept in memory and written each minute, so that a call
 * that crosses nothing costs no write.
 */
export class Counters {
  private hours = new Map<string, HourlyCount>()
  private rules = new Map<string, Fired>()
  private dirty = false
  private hour = { startMs: Number.NaN, text: '' }
  /** Calls let through although something failed, since the start. */
  failures = 0
  calls = 0

  constructor(private readonly home: Home) {
    const { hours, rules } = keptCounters(home)
    for (const row of hours) this.hours.set(keyOf(row), row)
    this.rules = new Map(rules)
  }

  /** Counts one judged call. Of each figure the hour keeps the reading that is nearest to holding somebody. */
  judged(call: { client: Client; action: Action; sessionRef: string; figures: Figures }, nowMs: number): void {
    const hour = this.hourOf(nowMs)
    const key = `${hour} ${call.client} ${call.action} ${call.sessionRef}`
    let row = this.hours.get(key)
    if (!row) {
      row = { hour, client: call.client, action: call.action, sessionRef: call.sessionRef, calls: 0, figures: [] }
      this.hours.set(key, row)
      if (this.hours.size > HOURS_MAX) this.hours.delete(this.hours.keys().next().value!)
    }
    row.calls++
    this.calls++
    this.dirty = true
    for (const reading of call.figures) {
      // what a workflow or agent is called says nothing in a count
      if (reading.unit === 'name') continue
      const wire = wireFigure(reading)
      if (!wire) continue
      const at = row.figures.findIndex(figure => figure.name === wire.name && figure.qualifier === wire.qualifier)
      if (at < 0) {
        row.figures.push(wire)
        continue
      }
      if (typeof reading.value === 'number') {
        const kept = Number(row.figures[at]!.value) * 1e6
        if (FIGURES[reading.name].worst === 'min' ? kept <= reading.value : kept >= reading.value) continue
      }
      row.figures[at] = wire
    }
  }

  private hourOf(nowMs: number): string {
    const startMs = nowMs - (nowMs % 3_600_000)
    if (this.hour.startMs !== startMs) this.hour = { startMs, text: new Date(startMs).toISOString() }
    return this.hour.text
  }

  /** Counts that a rule held. */
  fired(key: string, sessionRef: string, nowMs: number): void {
    const rule = this.rules.get(key) ?? { fired: 0, sessions: [], last: '' }
    rule.fired++
    rule.last = new Date(nowMs).toISOString()
    if (!rule.sessions.includes(sessionRef) && rule.sessions.length < SESSIONS_MAX) rule.sessions.push(sessionRef)
    this.rules.set(key, rule)
    this.dirty = true
  }

  ofRule(key: string): Fired | undefined {
    return this.rules.get(key)
  }

  /** Rows that have not been reported yet, oldest first. */
  pending(max: number): HourlyCount[] {
    return [...this.hours.values()].slice(0, max)
  }

  /** Forgets what was not reported: it is from before an organisation was joined, and none of its business. */
  dropPending(): void {
    this.hours.clear()
    this.dirty = true
  }

  /** Takes away what the control plane has taken: a row that has grown since keeps the rest. */
  reported(rows: readonly HourlyCount[]): void {
    for (const row of rows) {
      const key = keyOf(row)
      const now = this.hours.get(key)
      if (!now) continue
      if (now.calls <= row.calls) this.hours.delete(key)
      else now.calls -= row.calls
      this.dirty = true
    }
  }

  /** Throws what the disk says. */
  save(): void {
    if (!this.dirty) return
    writeJson(this.home, this.home.counters, { hours: [...this.hours.values()], rules: Object.fromEntries(this.rules) })
    this.dirty = false
  }
}

const keyOf = (row: Pick<HourlyCount, 'hour' | 'client' | 'action' | 'sessionRef'>) =>
  `${row.hour} ${row.client} ${row.action} ${row.sessionRef}`
