/** Shared and unattributed amounts, and invoices' differences, spread over tenants by a stated rule. */
import { parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { shareOut } from './exchange.ts'

/**
 * `none`: shown as it is. `proportional`: by each tenant's own spend as it is counted there. `equivalent`: by its use at list prices,
 * whatever covers it. `even`: the same to each. `fixed`: percentages that people wrote, of at most four places; what they leave of a
 * hundred stays unallocated.
 */
export type AllocationRule =
  | { kind: 'none' }
  | { kind: 'proportional' }
  | { kind: 'equivalent' }
  | { kind: 'even' }
  | { kind: 'fixed'; shares: Readonly<Record<string, string>> }

/** Parts by tenant (only who gets something stands here) and what stays; together exactly the amount. */
export type Allocated = {
  parts: Map<string, bigint>
  left: bigint
  /** Why something stays: the rule says so, nobody is there to take it, nobody spent anything to go by, or it is less than a unit. */
  why?: 'rule' | 'no_tenants' | 'no_spend' | 'rest'
}

const PERCENT_PLACES = 4
const HUNDRED = 100n * 10n ** BigInt(PERCENT_PLACES)

/**
 * Checks a rule and the tenants it names.
 * @throws AppError BAD_INPUT for a share that is none, shares above a hundred together, or a tenant that is not there
 */
export function checkAllocation(rule: AllocationRule, tenants: readonly string[]): void {
  if (rule.kind !== 'fixed') return
  for (const tenant of fixedShares(rule.shares).keys())
    if (!tenants.includes(tenant)) throw new AppError('BAD_INPUT', `There is no tenant ${tenant} to take a share.`)
}

function fixedShares(shares: Readonly<Record<string, string>>): Map<string, bigint> {
  const found = new Map<string, bigint>()
  let sum = 0n
  for (const [tenant, text] of Object.entries(shares)) {
    const share = parseDecimal(text, PERCENT_PLACES)
    if (share === undefined || share < 0n)
      throw new AppError('BAD_INPUT', `The share of ${tenant} is not a percentage.`, { remedy: 'Write it as 12.5.' })
    found.set(tenant, share)
    sum += share
  }
  if (sum > HUNDRED) throw new AppError('BAD_INPUT', 'The shares come to more than 100 percent.')
  return found
}

/**
 * Spreads an amount (negative ones too) over tenants. `own` is what each spent itself, by which `proportional` and `equivalent` go;
 * a tenant of zero or less takes no proportional part and its even one; a fixed share of a tenant that is not there stays. Nothing is
 * ever lost or made: parts and what is left are the amount.
 * @param unit parts are whole multiples of it, which together are the amount to the nearest: with a currency's smallest paid amount
 *   a part is the same figure wherever it stands, whatever is rounded beside it. Less than half of it stays, of either sign.
 * @throws AppError BAD_INPUT for shares that are none (see {@link checkAllocation})
 */
export function allocate(amount: bigint, rule: AllocationRule, own: ReadonlyMap<string, bigint>, unit = 1n): Allocated {
  const stays = (why: Allocated['why']): Allocated =>
    amount === 0n ? { parts: new Map(), left: 0n } : { parts: new Map(), left: amount, ...(why ? { why } : {}) }
  if (rule.kind === 'none') return stays('rule')
  if (own.size === 0) return stays('no_tenants')
  // a fixed order, so that the same amounts always fall the same way
  const tenants = [...own.keys()].sort()
  let weights: bigint[]
  if (rule.kind === 'even') weights = tenants.map(() => 1n)
  else if (rule.kind === 'proportional' || rule.kind === 'equivalent')
    weights = tenants.map(tenant => (own.get(tenant)! > 0n ? own.get(tenant)! : 0n))
  else {
    const shares = fixedShares(rule.shares)
    weights = tenants.map(tenant => shares.get(tenant) ?? 0n)
  }
  const sum = weights.reduce((a, b) => a + b, 0n)
  const whole = rule.kind === 'fixed' ? HUNDRED : sum
  if (whole === 0n) return stays('no_spend')
  const { parts } = shareOut(
    [...weights, whole - sum].map(weight => amount * weight),
    whole * unit,
  )
  const taken = tenants.map((tenant, i) => [tenant, parts[i]! * unit] as const).filter(([, part]) => part !== 0n)
  const left = taken.reduce((rest, [, part]) => rest - part, amount)
  return {
    parts: new Map(taken),
    left,
    ...(left === 0n ? {} : { why: sum < whole ? ('rule' as const) : ('rest' as const) }),
  }
}

/** The rule in words for a line of a bill. @param nameOf what a tenant is called by; its key unless told */
export function describeAllocation(rule: AllocationRule, nameOf: (tenant: string) => string = key => key): string {
  switch (rule.kind) {
    case 'none':
      return 'not allocated'
    case 'proportional':
      return 'in proportion to own spend'
    case 'equivalent':
      return 'in proportion to own use at list prices'
    case 'even':
      return 'in equal parts'
    case 'fixed':
      return `by fixed shares (${Object.entries(rule.shares)
        .map(([tenant, share]) => `${nameOf(tenant)} ${share} %`)
        .join(', ')})`
  }
}
