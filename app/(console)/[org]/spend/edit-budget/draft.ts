/** What the form holds, and the same as the document writes it. */
import type { EditResult } from '#core/boundary/document-edit.ts'
import { type Finding, Findings } from '#core/boundary/problem.ts'
import { treeFromJson } from '#core/boundary/tree.ts'
import type { Budget } from '#core/budget/budget.ts'
import { removeBudget, upsertBudget } from '#core/rules/edit.ts'
import { readBudget } from '#core/rules/read-budget.ts'

export type Draft = {
  name: string
  amount: string
  currency: string
  window: 'daily' | 'weekly' | 'monthly' | 'quarterly' | 'rolling'
  days: string
  zone: string
  /** Empty: the whole organisation. */
  key: string
  /** `*`: each of them. */
  value: string
  basis: Budget['basis']
  steps: string
  /** `role:<role>` and `member:<id>`. */
  owners: readonly string[]
}
export type Defaults = { currency: string; zone: string }

export const emptyDraft = ({ currency, zone }: Defaults): Draft => ({
  name: '',
  amount: '',
  currency,
  window: 'monthly',
  days: '30',
  zone,
  key: '',
  value: '*',
  basis: 'equivalent',
  steps: '50, 75, 90, 100',
  owners: ['role:admin'],
})

/** A budget as the form holds it. */
export function draftOf({ name, amount, currency, window, zone, for: whom, basis, steps, owners }: Budget): Draft {
  return {
    name,
    amount,
    currency,
    window: window.kind,
    days: window.kind === 'rolling' ? String(window.days) : '30',
    zone,
    key: whom?.key ?? '',
    value: whom?.value ?? '*',
    basis,
    steps: steps.join(', '),
    owners,
  }
}

const listed = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** The budget in the document's own keys and words; whatever is wrong with it is found when it is read. */
export function documentOf(draft: Draft): Record<string, unknown> {
  const { name, amount, currency, window, days, zone, key, value, basis, steps, owners } = draft
  return {
    name: name.trim(),
    amount: amount.trim(),
    currency,
    window: window === 'rolling' ? `rolling ${days.trim()}d` : window,
    zone: zone.trim(),
    ...(key === '' ? {} : { for: { [key]: value.trim() } }),
    basis,
    steps: listed(steps).map(step => (/^\d{1,4}$/.test(step) ? Number(step) : step)),
    owners: [...owners],
  }
}

export type Reading = { budget: Budget; problems?: never } | { budget?: never; problems: Finding[] }

/** Reads a draft as the server will. */
export function readDraft(draft: Draft, defaults: Defaults, currencies: readonly string[]): Reading {
  const findings = new Findings()
  const tree = treeFromJson(documentOf(draft))
  const budget = tree && readBudget(tree, { defaults, currencies }, findings)
  return budget ? { budget } : { problems: findings.errors }
}

/** The text that saving publishes: the one in force with this budget in it, or without it. */
export const textWith = (
  text: string,
  budget: Budget,
  defaults: Defaults,
  previousName: string | undefined,
): EditResult => upsertBudget(text, budget, { defaults, ...(previousName === undefined ? {} : { previousName }) })
export const textWithout = removeBudget
