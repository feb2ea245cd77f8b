/** Dollars that a machine knows of in the currency of a budget, by the rates that the fleet was counted with. */

import type { FleetBudgets } from '#core/budget/fleet.ts'
import { utcDay } from '#core/day.ts'
import {
  attoIn,
  compileExchange,
  type ExchangeRates,
  fromUsd,
  hasRateSince,
  picoOf,
  toUsd,
} from '#core/spend/exchange.ts'
import type { Cell } from './cells.ts'

export interface Converter {
  /** Cells, each at the rate of its UTC day; rounded once. */
  sum(cells: readonly Cell[]): bigint
  /** Dollars at the rate of a moment's UTC day. */
  fromUsd(pico: bigint, ms: number): bigint
  toUsd(pico: bigint, ms: number): bigint
}

export const IN_DOLLARS: Converter = {
  sum: cells => cells.reduce((all, cell) => all + cell.pico, 0n),
  fromUsd: pico => pico,
  toUsd: pico => pico,
}

/** Rates as they were told; none when they contradict each other. */
export function toldRates(told: FleetBudgets['exchange']): ExchangeRates {
  try {
    return compileExchange(told ?? [])
  } catch {
    return new Map()
  }
}

/** Undefined where days from `fromMs` on have no rate: what was spent then is not known in that currency. */
export function converterFor(rates: ExchangeRates, currency: string, fromMs: number): Converter | undefined {
  if (currency === 'USD') return IN_DOLLARS
  if (!hasRateSince(rates, currency, utcDay(fromMs))) return undefined
  return {
    sum: cells =>
      picoOf(
        attoIn(
          rates,
          currency,
          cells.map(({ startMs, pico }) => ({ day: utcDay(startMs), picoUsd: pico })),
        ),
      ),
    fromUsd: (pico, ms) => fromUsd(rates, pico, currency, utcDay(ms)),
    toUsd: (pico, ms) => toUsd(rates, pico, currency, utcDay(ms)),
  }
}
