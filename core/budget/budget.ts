import type { BudgetWindow } from './window.ts'

/** What a budget counts: all tokens at list price, or what is really billed for. */
export const BASES = ['equivalent', 'billed'] as const
export type Basis = (typeof BASES)[number]

/** Percentages at which a budget's owners are told. */
export const DEFAULT_STEPS: readonly number[] = [50, 75, 90, 100]
/** Whom steps are told: a role (and above), or one member. */
export const DEFAULT_OWNERS: readonly string[] = ['role:admin']

/** `^[a-z0-9][a-z0-9_-]{0,62}$`: fits what a boundary's `budget:` may name. */
export const BUDGET_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/

/** Kinds of whom a budget may be for, beside tag keys. */
export const OWN_KEYS = ['member', 'machine'] as const

/**
 * Whose spend a budget bounds: one value of one key, or `*`: a budget of the same amount for every value. The key is `tenant`,
 * `project`, another of the organisation's tags, `member` or `machine`.
 */
export interface BudgetFor {
  key: string
  value: string
}

/** A budget of an organisation, everything that was left out filled in. */
export interface Budget {
  name: string
  /** Exact decimal, shortest form: `500`, `12.5`. */
  amount: string
  /** ISO 4217. */
  currency: string
  window: BudgetWindow
  /** IANA zone. */
  zone: string
  /** Absent: the whole organisation. */
  for?: BudgetFor
  basis: Basis
  /** Whole percentages, rising. */
  steps: readonly number[]
  /** `role:<role>` or `member:<id>`. */
  owners: readonly string[]
}

/** What a developer's own budget bounds: this repository's spend, all of this machine's, or that of each value of a tag. */
export type LocalScope = 'workspace' | 'global' | `tag:${string}`

/** A budget of config.yaml; in US dollars, the currency that prices are in. */
export interface LocalBudget {
  name: string
  amount: string
  window: BudgetWindow
  zone: string
  scope: LocalScope
  basis: Basis
  steps: readonly number[]
}
