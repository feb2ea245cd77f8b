/** Shared and unattributed amounts spread over tenants by a stated rule, exact to the pico. */
import { parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { shareOut } from './exchange.ts'

/**
 * `none`: shown as it is. `proportional`: by each tenant's own spend. `even`: the same to each. `fixed`: percentages that people
 * wrote, of at most four places; what they leave of a hundred stays unallocated.
 */
export type AllocationRule =
  | { kind: 'none' }
  | { kind: 'proportional' }
  | { kind: 'even' }
  | { kind: 'fixed'; shares: Readonly<Record<string, string>> }

/** Parts by tenant (only who gets something stands here) and what stays; together exactly the amount. */
export type Allocated = {
  parts: Map<string, bigint>
  left: bigint
  /** Why something stays: the rule says so, nobody is there to take it, or nobody spent anything to go by. */
  why?: 'rule' | 'no_tenants' | 'no_spend'
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
 * Spreads an amount (negative ones too) over tenants. `own` is what each spent itself; a tenant of zero or less takes no
 * proportional part and its even one; a fixed share of a tenant that is not there stays. Nothing is ever lost or made: parts and
 * what is left are the amount.
 * @throws AppError BAD_INPUT for shares that are none (see {@link checkAllocation})
 */
export function allocate(amount: bigint, rule: AllocationRule, own: ReadonlyMap<string, bigint>): Allocated {
  const stays = (why: Allocated['why']): Allocated =>
    amount === 0n ? { parts: new Map(), left: 0n } : { parts: new Map(), left: amount, ...(why ? { why } : {}) }
  if (rule.kind === 'none') return stays('rule')
  if (own.size === 0) return stays('no_tenants')
  // a fixed order, so that the same amounts always fall the same way
  const tenants = [...own.keys()].sort()
  let weights: bigint[]
  if (rule.kind === 'even') weights = tenants.map(() => 1n)
  else if (rule.kind === 'proportional')
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
    whole,
  )
  const left = parts.at(-1)!
  return {
    parts: new Map(tenants.map((tenant, i) => [tenant, parts[i]!] as const).filter(([, part]) => part !== 0n)),
    left,
    ...(left === 0n ? {} : { why: 'rule' as const }),
  }
}

/** The rule in words for a line of a bill. */
export function describeAllocation(rule: AllocationRule): string {
  switch (rule.kind) {
    case 'none':
      return 'not allocated'
    case 'proportional':
      return 'in proportion to own spend'
    case 'even':
      return 'in equal parts'
    case 'fixed':
      return `by fixed shares (${Object.entries(rule.shares)
        .map(([tenant, share]) => `${tenant} ${share} %`)
        .join(', ')})`
  }
}
