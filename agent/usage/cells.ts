/** What the ledger comes to by quarter hour, tags and workspace: sums that budgets are counted from. */

import type { Home } from '#agent/home.ts'
import type { Basis, LocalScope } from '#core/budget/budget.ts'
import { DAY_MS, utcDay } from '#core/day.ts'
import { type Covered, QUARTER_MS } from '#core/usage/bucket.ts'
import { type Tags, tagsKey } from '#core/usage/tags.ts'
import { dayMark, ledgerDays, readLedgerDay } from './ledger.ts'
import { type Meter, meter, meterKey } from './meter.ts'
import type { Place } from './place.ts'

export type Cell = {
  /** First millisecond of the quarter hour. */
  startMs: number
  tags: Tags
  workspace: string
  covered: Covered
  /** From before this machine joined, or sent by this home as the machine it was: the organisation does not count it as this one's. */
  isBefore: boolean
  /** List price, bounds included: a budget fails closed. */
  pico: bigint
}

/** One repository, by its fullest name; a folder outside of any is one by itself. */
export const workspaceOf = ({ repository, directory }: Pick<Place, 'repository' | 'directory'>): string =>
  repository.at(-1) ?? directory ?? ''

/** Since when calls are this machine's, and which of those this home has sent as another one. */
export type Joined = { machine: string; since: number; wasSent(day: string, atMs: number): boolean }

/** Cells of days, each day read again only when its file, the prices or the rules have changed. */
export class Cells {
  private readonly days = new Map<string, { mark: string; cells: Cell[] }>()

  constructor(private readonly home: Home) {}

  /** All cells from a moment on. */
  async since(fromMs: number, by: Meter, joined: Joined | undefined): Promise<Cell[]> {
    const found: Cell[] = []
    const first = utcDay(fromMs)
    const madeBy = meterKey(by)
    for (const day of ledgerDays(this.home)) {
      if (day < first) continue
      const mark = `${dayMark(this.home, day)} ${madeBy} ${joined ? `${joined.machine} ${joined.since}` : ''}`
      let known = this.days.get(day)
      if (known?.mark !== mark) {
        known = { mark, cells: await this.read(day, by, joined) }
        this.days.set(day, known)
      }
      for (const cell of known.cells) if (cell.startMs >= fromMs) found.push(cell)
    }
    const oldest = utcDay(Date.now() - 400 * DAY_MS)
    for (const day of this.days.keys()) if (day < oldest) this.days.delete(day)
    return found
  }

  private async read(day: string, by: Meter, joined: Joined | undefined): Promise<Cell[]> {
    const cells = new Map<string, Cell>()
    for (const { atMs, tags, covered, picoUsd, place } of await meter(await readLedgerDay(this.home, day), by)) {
      const startMs = Math.floor(atMs / QUARTER_MS) * QUARTER_MS
      const isBefore = joined === undefined || atMs < joined.since || joined.wasSent(day, atMs)
      const workspace = workspaceOf(place)
      const key = JSON.stringify([startMs, tagsKey(tags), workspace, covered, isBefore])
      const cell = cells.get(key)
      if (cell) cell.pico += picoUsd
      else cells.set(key, { startMs, tags, workspace, covered, isBefore, pico: picoUsd })
    }
    return [...cells.values()]
  }
}

/** What counts for a basis: `billed` only what is known to be metered. */
export const countsFor = (basis: Basis, covered: Covered): boolean => basis === 'equivalent' || covered === 'metered'

/** Whether a cell belongs to one share of a developer's own budget; `value` is the workspace, or a tag's value. */
export function isOfShare(
  scope: LocalScope,
  value: string | undefined,
  cell: Pick<Cell, 'tags' | 'workspace'>,
): boolean {
  if (scope === 'global') return true
  if (scope === 'workspace') return cell.workspace === value
  return cell.tags[scope.slice('tag:'.length)] === value
}
