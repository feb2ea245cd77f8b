import { join } from 'node:path'
import { crypto } from '#agent/crypto.ts'
import type { Membership } from '#agent/daemon/runtime.ts'
import { type Home, readText, writeAtomic } from '#agent/home.ts'
import { usageSince } from '#agent/trust/team.ts'
import type { Basis, LocalBudget } from '#core/budget/budget.ts'
import { type FleetBudget, type FleetBudgets, openFleetBudgets } from '#core/budget/fleet.ts'
import {
  budgetReadings,
  isExhausted,
  mayDrawOn,
  type ReadableBudget,
  remaining,
  type Use,
  usedPct,
  useSince,
} from '#core/budget/use.ts'
import { resetLabel, type Window, windowAt } from '#core/budget/window.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { type FigureReading, isFresh } from '#core/figure.ts'
import type { TrustedRuleSet } from '#core/rule-set.ts'
import type { ExchangeRates } from '#core/spend/exchange.ts'
import type { Tags } from '#core/usage/tags.ts'
import { spendOf } from './attribute.ts'
import { type Converter, converterFor, IN_DOLLARS, toldRates } from './budget-rates.ts'
import { type Cell, Cells, countsFor, isOfShare, type Joined } from './cells.ts'
import type { Meter } from './meter.ts'
import { readKept, wasSentBefore } from './upload-state.ts'

const JWS_MAX = 4 * 1024 * 1024

/** What a session has spent since the ledger was read, what of it is known to be paid for by the call, and whose it is. */
export type Live = { tags: Tags; workspace: string; pico: bigint; metered: bigint }

/** Whose call it is. */
export type Caller = Live & { machine?: readonly string[]; member?: readonly string[] }

type Spent = {
  from: number
  to: number
  basis: Basis
  belongs(cell: Pick<Cell, 'tags' | 'workspace'>): boolean
  /** Undefined: its currency has no rate that is known here. */
  converter: Converter | undefined
  use(own: bigint): Use | undefined
}
type Counted = {
  workspace?: string
  readable: Omit<ReadableBudget, 'use'>
  spent: Spent
  own: bigint
  shown: Omit<ShownBudget, 'used' | 'left' | 'leftUsd' | 'pct' | 'exhausted'>
}

/** A budget as commands show it. Amounts are exact decimals of its currency. */
export type ShownBudget = {
  /** As rules name it. */
  name: string
  of?: { key: string; value: string }
  scope: string
  amount: string
  currency: string
  used: string
  left: string
  /** The same in dollars of today; absent where no rate is known. */
  leftUsd?: string
  pct: string
  exhausted: boolean
  windowStart: string
  windowEnd: string
  /** When the next window begins, in words. */
  resets?: string
  /** When the fleet was counted, or this machine's ledger read. */
  countedAt: string
  notes: string[]
}

type Deps = {
  home: Home
  now(): number
  membership(): Membership | undefined
  meter(): Meter
  localBudgets(): readonly LocalBudget[]
}

/**
 * Budgets as this machine can judge by them: the organisation's, of which the control plane tells what the fleet has spent at
 * its last count, brought up to date by this machine's own ledger; and a developer's own, from the ledger alone.
 */
export class Budgets {
  private readonly cells: Cells
  private fleet: { machine: string; told: FleetBudgets } | undefined
  private counted: Counted[] = []
  private local: { budget: LocalBudget; window: Window; at: number }[] = []
  problem: { code: string; message: string; at: string } | undefined

  constructor(private readonly deps: Deps) {
    this.cells = new Cells(deps.home)
  }

  /** Whether a budget has a figure that is young enough; without a name, whether any has. */
  isRead(qualifier: string | undefined): boolean {
    const now = this.deps.now()
    const figures = [
      ...this.counted.map(({ readable }) => readable),
      ...this.local.map(({ budget, at }) => ({ qualifier: budget.name, observedAt: at, source: 'daemon' as const })),
    ]
    return figures.some(
      ({ qualifier: name, observedAt, source }) =>
        (qualifier === undefined || qualifier === name) &&
        isFresh({ name: 'budget_used_pct', unit: 'pct', value: 0, observedAt, source }, now),
    )
  }

  get isEmpty(): boolean {
    return this.counted.length === 0 && this.local.length === 0
  }

  private get path(): string {
    return join(this.deps.home.usage, 'budgets.jws')
  }

  /** Asks the control plane how far its budgets are used. What goes wrong is told; the figure then grows old and counts as unread. */
  async fetch(): Promise<void> {
    const membership = this.deps.membership()
    if (!membership) return
    try {
      const jws = await membership.controlPlane.budgets()
      this.take(membership, jws)
      writeAtomic(this.deps.home, this.path, jws)
      this.problem = undefined
    } catch (error) {
      const { code = 'failed', message } = error as { code?: string; message: string }
      this.problem = { code, message, at: new Date(this.deps.now()).toISOString() }
    }
  }

  /** Only a later count takes the place of one: an old answer that is played back makes nothing look unspent. */
  private take({ team, trust }: Membership, jws: string): void {
    const root = trust.root?.root
    if (!root) return
    const told = openFleetBudgets(jws.trim(), root, team.machine, crypto)
    const before = this.fleet?.machine === team.machine ? this.fleet.told : undefined
    if (before && Date.parse(told.cut) < Date.parse(before.cut)) return
    this.fleet = { machine: team.machine, told }
  }

  private told(): FleetBudgets | undefined {
    const membership = this.deps.membership()
    if (!membership) return undefined
    if (this.fleet?.machine !== membership.team.machine) {
      this.fleet = undefined
      const kept = readText(this.path, JWS_MAX)
      try {
        if (kept !== undefined) this.take(membership, kept)
      } catch {
        // of another organisation, or damaged: asked for again
      }
    }
    return this.fleet?.told
  }

  /** Without its history nothing of a machine is from before it joined. */
  private joined(team: Membership['team']): Joined {
    const [machine, since] = [team.machine, usageSince(team)]
    if (!team.backfill) return { machine, since, wasSent: () => false }
    const kept = readKept(this.deps.home, { machine, org: team.org.id, since })
    return { machine, since, wasSent: (day, atMs) => wasSentBefore(kept, day, atMs) }
  }

  /** Counts the ledger into each budget's window. */
  async count(): Promise<void> {
    const { now, membership, meter } = this.deps
    const at = now()
    const local = this.deps.localBudgets()
    const fleet = this.told()
    const windows = local.map(budget => windowAt(budget.window, budget.zone, at))
    const fleetBudgets = fleet ? [...fleet.budgets, ...untouched(fleet, meter().set, at)] : []
    const starts = [...windows.map(({ start }) => start), ...fleetBudgets.map(b => Date.parse(b.windowStart))]
    const team = membership()?.team
    const cells =
      starts.length === 0 ? [] : await this.cells.since(Math.min(...starts), meter(), team && this.joined(team))
    const counted: Counted[] = []
    const rates = toldRates(fleet?.exchange)
    for (const budget of fleetBudgets) counted.push(this.countFleet(budget, fleet!.cut, cells, rates))
    for (const [i, budget] of local.entries()) counted.push(...countLocal(budget, windows[i]!, cells, at))
    this.counted = counted
    this.local = local.map((budget, i) => ({ budget, window: windows[i]!, at }))
  }

  private countFleet(budget: FleetBudget, cut: string, cells: readonly Cell[], rates: ExchangeRates): Counted {
    const { name, of, amount, currency, basis, windowStart, windowEnd, zone, used, own } = budget
    const { team } = this.deps.membership()!
    const from = Date.parse(windowStart)
    const to = Date.parse(windowEnd)
    const belongs = ({ tags }: Pick<Cell, 'tags'>) =>
      of === undefined ||
      (of.key === 'machine'
        ? of.value === team.machine || of.value === team.label
        : of.key === 'member'
          ? of.value === team.member.id
          : tags[of.key] === of.value)
    const fleet = {
      limit: pico(amount),
      used: pico(used),
      own: pico(own),
      end: to,
      cutAt: Date.parse(cut),
    }
    // prices are in dollars: without a rate of each day, what this machine has spent since the count is not known
    const converter = converterFor(rates, currency, from)
    const mine = cells.filter(
      cell =>
        !cell.isBefore && cell.startMs >= from && cell.startMs < to && belongs(cell) && countsFor(basis, cell.covered),
    )
    return {
      readable: {
        qualifier: `org:${name}`,
        ...(of ? { for: of } : {}),
        observedAt: fleet.cutAt,
        source: 'fleet',
      },
      own: converter?.sum(mine) ?? 0n,
      spent: {
        from,
        to,
        converter,
        basis,
        belongs,
        use: ownNow => useSince(fleet, converter ? ownNow : fleet.own, this.deps.now()),
      },
      shown: {
        name: `org:${name}`,
        ...(of ? { of } : {}),
        scope: of ? `${of.key} ${of.value}` : 'organisation',
        amount,
        currency,
        windowStart,
        windowEnd,
        resets: `resets ${new Date(to).toISOString().slice(0, 16).replace('T', ' ')} UTC${zone === 'UTC' ? '' : ` (${zone})`}`,
        countedAt: cut,
        notes: converter
          ? []
          : [`what this machine has spent since the count is not added: no rate of ${currency} is known`],
      },
    }
  }

  /**
   * The readings of one call: of every budget that it may draw on. `live`: what sessions have spent since the ledger was read, the
   * call's own among them.
   */
  readings(call: Caller, live: readonly Live[]): FigureReading[] {
    const readable = this.sharesOf(call).map((one): ReadableBudget => ({ ...one.readable, use: this.useOf(one, live) }))
    return budgetReadings(readable, call)
  }

  /** Every share that was counted, of other workspaces left out; and a call's own, though nothing was spent in it yet. */
  private sharesOf(call: Caller): Counted[] {
    const shares = this.local.flatMap(({ budget, window, at }) => ownShare(budget, window, call, at))
    const known = new Set(this.counted.map(shareOf))
    return [...this.counted, ...shares.filter(share => !known.has(shareOf(share)))].filter(
      ({ workspace }) => workspace === undefined || workspace === call.workspace,
    )
  }

  /** For people: the budgets that bind a call. */
  shownFor(call: Caller): ShownBudget[] {
    return this.sharesOf(call).flatMap(one => {
      const use = this.useOf(one, [])
      return use === undefined || !mayDrawOn(one.readable.for, call) ? [] : show(one, use, this.deps.now())
    })
  }

  private useOf({ spent, own }: Counted, live: readonly Live[]): Use | undefined {
    if (this.deps.now() >= spent.to) return undefined
    const { converter } = spent
    if (!converter) return spent.use(own)
    // rounded once, so that dollars stay what they are and parts add up
    const ofBasis = ({ pico, metered }: Live) => (spent.basis === 'equivalent' ? pico : metered)
    const since = live.reduce((sum, session) => (spent.belongs(session) ? sum + ofBasis(session) : sum), 0n)
    return spent.use(own + converter.fromUsd(since, this.deps.now()))
  }

  /** For people: every budget that can be read, and what is wrong with its figure. */
  shown(live: readonly Live[]): ShownBudget[] {
    return this.counted.flatMap(one => {
      const use = this.useOf(one, live)
      return use === undefined ? [] : show(one, use, this.deps.now())
    })
  }
}

const shareOf = ({ readable: { qualifier, for: whom }, workspace }: Counted) =>
  `${qualifier} ${whom?.value ?? ''} ${workspace ?? ''}`

/** Shares of budgets for every value of which the fleet's count had no spend to tell: nothing of them is used but here. */
function untouched({ cut, budgets }: FleetBudgets, set: TrustedRuleSet | undefined, at: number): FleetBudget[] {
  const spend = spendOf(set)
  if (!set || !spend || Date.parse(cut) < Date.parse(set.set.issuedAt)) return []
  return spend.budgets.flatMap(({ name, amount, currency, basis, window, zone, for: whom }) => {
    if (whom?.value !== '*') return []
    const { start, end } = windowAt(window, zone, at)
    const windowStart = new Date(start).toISOString()
    const windowEnd = new Date(end).toISOString()
    return (spend.tags[whom.key] ?? [])
      .filter(value => !budgets.some(told => told.name === name && told.of?.value === value))
      .map(value => {
        const of = { key: whom.key, value }
        return { name, of, amount, currency, basis, windowStart, windowEnd, zone, used: '0', own: '0', ownSeq: 0 }
      })
  })
}

const pico = (text: string): bigint => parseDecimal(text) ?? 0n

const show = ({ shown, spent: { converter } }: Counted, use: Use, now: number): ShownBudget => ({
  ...shown,
  used: formatDecimal(use.used),
  left: formatDecimal(remaining(use)),
  ...(converter ? { leftUsd: formatDecimal(converter.toUsd(remaining(use), now)) } : {}),
  pct: (usedPct(use).value / 1_000_000).toFixed(1),
  exhausted: isExhausted(use),
})

const keyOf = (scope: LocalBudget['scope']) => (scope.startsWith('tag:') ? scope.slice('tag:'.length) : scope)

/** A developer's own budget: one share for each workspace or value that has spent anything in its window, or one for all. */
function countLocal(budget: LocalBudget, window: Window, all: readonly Cell[], at: number): Counted[] {
  const { scope, basis } = budget
  const cells = all.filter(
    cell => cell.startMs >= window.start && cell.startMs < window.end && countsFor(basis, cell.covered),
  )
  const nameOf = ({ tags, workspace }: Pick<Cell, 'tags' | 'workspace'>) =>
    scope === 'workspace' ? workspace : tags[keyOf(scope)]
  const values = scope === 'global' ? [undefined] : [...new Set(cells.map(nameOf))].filter(v => v !== undefined)
  return values.map(value =>
    localShare(budget, window, value, IN_DOLLARS.sum(cells.filter(cell => isOfShare(scope, value, cell))), at),
  )
}

/** The share of a call's own workspace or value, of which nothing may have been spent yet. */
function ownShare(budget: LocalBudget, window: Window, { tags, workspace }: Caller, at: number): Counted[] {
  const { scope } = budget
  if (scope === 'global') return [localShare(budget, window, undefined, 0n, at)]
  const value = scope === 'workspace' ? workspace : tags[keyOf(scope)]
  return value === undefined ? [] : [localShare(budget, window, value, 0n, at)]
}

function localShare(budget: LocalBudget, window: Window, value: string | undefined, own: bigint, at: number): Counted {
  const { name, amount, scope, basis, zone } = budget
  const key = keyOf(scope)
  const isOfTag = scope.startsWith('tag:') && value !== undefined
  return {
    ...(scope === 'workspace' && value !== undefined ? { workspace: value } : {}),
    readable: {
      qualifier: name,
      ...(isOfTag ? { for: { key, value } } : {}),
      observedAt: at,
      source: 'daemon',
    },
    own,
    spent: {
      from: window.start,
      to: window.end,
      basis,
      belongs: cell => isOfShare(scope, value, cell),
      converter: IN_DOLLARS,
      use: used => ({ limit: pico(amount), used }),
    },
    shown: {
      name,
      ...(value === undefined ? {} : { of: { key, value } }),
      scope: value === undefined ? scope : `${key} ${value}`,
      amount,
      currency: 'USD',
      windowStart: new Date(window.start).toISOString(),
      windowEnd: new Date(window.end).toISOString(),
      resets: resetLabel(budget.window, zone, window).label,
      countedAt: new Date(at).toISOString(),
      notes: basis === 'billed' ? ['counts what is known to be paid for by the call'] : [],
    },
  }
}
