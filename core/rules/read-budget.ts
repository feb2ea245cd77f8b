import { type Findings, nearest, oneOf } from '#core/boundary/problem.ts'
import { refuseUnknownKeys } from '#core/boundary/read-rule.ts'
import { describeTree, entryOf, type Tree, type TreeEntry, type TreeMap } from '#core/boundary/tree.ts'
import {
  BASES,
  BUDGET_NAME,
  type Budget,
  type BudgetFor,
  DEFAULT_OWNERS,
  DEFAULT_STEPS,
  type LocalBudget,
  type LocalScope,
  OWN_KEYS,
} from '#core/budget/budget.ts'
import { type BudgetWindow, parseWindow, WINDOW_WORDS } from '#core/budget/window.ts'
import { isZone, zoneNames } from '#core/budget/zone.ts'
import { clip } from '#core/plain-text.ts'
import { ROLES } from '#core/role.ts'
import { STANDING_KEYS, TAG_KEY, type TagLists } from '#core/usage/tags.ts'
import { oneOrMore, readChoice, readDecimal, readMap, readWhole, required, writtenText } from './fields.ts'
import { MAX_AMOUNT, MAX_OWNERS, MAX_STEP_PCT, MAX_STEPS } from './limits.ts'
import { readCurrencyCode } from './read-exchange.ts'

/** What a document says of a budget, in its order. */
export const BUDGET_KEYS = ['name', 'amount', 'currency', 'window', 'zone', 'for', 'basis', 'steps', 'owners'] as const
export const LOCAL_BUDGET_KEYS = ['name', 'amount', 'window', 'zone', 'scope', 'basis', 'steps'] as const

export interface BudgetContext {
  /** What holds where a budget does not say. */
  defaults: { currency: string; zone: string }
  /** What the document lists; undefined: not checked (a signed set was checked when it was published). */
  tags?: TagLists | undefined
  /** Ids of members; undefined: not checked. */
  members?: readonly string[] | undefined
  /** Currencies that amounts can be in: the dollar and those with an exchange rate; undefined: any that exists. */
  currencies?: readonly string[] | undefined
}

const WINDOWS = 'daily, weekly, monthly, quarterly or rolling 30d'
const EXAMPLE = '{ name: monthly, amount: "500.00", window: monthly }'

/** One entry of an organisation's `budgets:`; undefined, with findings, when anything in it is wrong. */
export function readBudget(tree: Tree, context: BudgetContext, findings: Findings): Budget | undefined {
  const map = readMap(tree, 'a budget', EXAMPLE, findings)
  if (map === undefined) return undefined
  const before = findings.errors.length
  refuseUnknownKeys(map, BUDGET_KEYS, 'a budget', findings)
  const base = readBase(map, context.defaults.zone, findings)
  const given = <T>(key: string, read: (entry: TreeEntry) => T | undefined): T | undefined => {
    const entry = entryOf(map, key)
    return entry === undefined ? undefined : read(entry)
  }
  const currency = given('currency', entry => readCurrency(entry, context.currencies, findings))
  const whom = given('for', entry => readFor(entry, context, findings))
  const owners = given('owners', entry => readOwners(entry, context.members, findings)) ?? DEFAULT_OWNERS
  if (base === undefined || findings.errors.length > before) return undefined
  return {
    ...base,
    currency: currency ?? context.defaults.currency,
    ...(whom === undefined ? {} : { for: whom }),
    owners,
  }
}

/** One entry of `budgets:` in config.yaml. */
export function readLocalBudget(tree: Tree, defaults: { zone: string }, findings: Findings): LocalBudget | undefined {
  const map = readMap(tree, 'a budget', EXAMPLE, findings)
  if (map === undefined) return undefined
  const before = findings.errors.length
  refuseUnknownKeys(map, LOCAL_BUDGET_KEYS, "a developer's budget", findings)
  const base = readBase(map, defaults.zone, findings)
  const entry = entryOf(map, 'scope')
  const scope = entry === undefined ? 'workspace' : readScope(entry, findings)
  return base === undefined || scope === undefined || findings.errors.length > before ? undefined : { ...base, scope }
}

type Base = Pick<Budget, 'name' | 'amount' | 'window' | 'zone' | 'basis' | 'steps'>

function readBase(map: TreeMap, defaultZone: string, findings: Findings): Base | undefined {
  const nameEntry = required(map, 'name', 'the budget', 'add name: monthly', findings)
  const amountEntry = required(map, 'amount', 'the budget', 'add amount: "500.00"', findings)
  const windowEntry = required(map, 'window', 'the budget', `add window: ${WINDOWS}`, findings)
  const zoneEntry = entryOf(map, 'zone')
  const basisEntry = entryOf(map, 'basis')
  const stepsEntry = entryOf(map, 'steps')
  const name = nameEntry === undefined ? undefined : readBudgetName(nameEntry.value, findings)
  const amount = amountEntry === undefined ? undefined : readDecimal(amountEntry, MAX_AMOUNT, findings)
  const window = windowEntry === undefined ? undefined : readWindow(windowEntry.value, findings)
  const zone = zoneEntry === undefined ? defaultZone : readZone(zoneEntry.value, findings)
  const basis = basisEntry === undefined ? 'equivalent' : readChoice(basisEntry, BASES, findings)
  const steps = stepsEntry === undefined ? DEFAULT_STEPS : readSteps(stepsEntry.value, findings)
  if (name === undefined || amount === undefined || window === undefined) return undefined
  if (zone === undefined || basis === undefined || steps === undefined) return undefined
  return { name, amount, window, zone, basis, steps }
}

function readBudgetName(tree: Tree, findings: Findings): string | undefined {
  const text = writtenText(tree)
  if (text !== undefined && BUDGET_NAME.test(text)) return text
  const what = text === undefined ? describeTree(tree) : `"${clip(text)}"`
  const remedy = 'use lower-case letters, digits, - and _, at most 63, a letter or digit first'
  findings.error(tree, 'bad_name', `${what} is not a budget's name`, remedy)
  return undefined
}

function readWindow(tree: Tree, findings: Findings): BudgetWindow | undefined {
  const text = writtenText(tree)
  const window = text === undefined ? undefined : parseWindow(text)
  if (window !== undefined) return window
  const days = /^(\d{1,3}) ?d(?:ays?)?$/.exec(text ?? '')?.[1]
  const near = text === undefined ? undefined : nearest(text, Object.keys(WINDOW_WORDS))
  const remedy =
    days !== undefined
      ? `write rolling ${days}d for the last ${days} days, or monthly for calendar months`
      : near === undefined
        ? `use ${WINDOWS}`
        : `did you mean ${near}?`
  findings.error(tree, 'bad_value', `${describeTree(tree)} is not a window`, remedy)
  return undefined
}

function readZone(tree: Tree, findings: Findings): string | undefined {
  const text = writtenText(tree)
  if (text !== undefined && isZone(text)) return text
  const near = text === undefined ? undefined : nearest(text, zoneNames())
  const remedy = near === undefined ? 'use a name such as Europe/Amsterdam or UTC' : `did you mean ${near}?`
  findings.error(tree, 'unknown_zone', `${describeTree(tree)} is not a time zone`, remedy)
  return undefined
}

function readCurrency(
  entry: TreeEntry,
  currencies: readonly string[] | undefined,
  findings: Findings,
): string | undefined {
  const code = readCurrencyCode(entry, findings)
  if (code === undefined || currencies === undefined || currencies.includes(code)) return code
  const remedy = `add one under exchange, or use ${oneOf(currencies)}`
  findings.error(entry.value, 'missing', `there is no exchange rate for ${code}`, remedy)
  return undefined
}

function readSteps(tree: Tree, findings: Findings): number[] | undefined {
  const items = oneOrMore(tree)
  if (tree.kind === 'map' || items.length > MAX_STEPS) {
    findings.error(tree, 'bad_value', `steps cannot be ${describeTree(tree)}`, `list at most ${MAX_STEPS} percentages`)
    return undefined
  }
  const steps = items.flatMap(item => readWhole(item, 'a step', 1, MAX_STEP_PCT, findings) ?? [])
  return steps.length < items.length ? undefined : [...new Set(steps)].sort((a, b) => a - b)
}

function readFor({ value }: TreeEntry, context: BudgetContext, findings: Findings): BudgetFor | undefined {
  const map = readMap(value, 'for', 'for: { tenant: acme }', findings)
  if (map === undefined) return undefined
  const [entry, second] = map.entries
  if (entry === undefined || second !== undefined) {
    const at = second?.keyAt ?? map
    findings.error(at, 'bad_value', `for names ${map.entries.length} keys`, 'name one key, or make another budget')
    return undefined
  }
  const { key, keyAt } = entry
  const keys = [...new Set([...STANDING_KEYS, ...Object.keys(context.tags ?? {}), ...OWN_KEYS])]
  const own = (OWN_KEYS as readonly string[]).includes(key)
  if (context.tags === undefined ? !TAG_KEY.test(key) : !keys.includes(key)) {
    const near = nearest(key, keys)
    const remedy = near === undefined ? `use ${oneOf(keys)}, or list ${clip(key)} under tags` : `did you mean ${near}?`
    findings.error(keyAt, 'unknown_key', `"${clip(key)}" is not a key of for`, remedy)
    return undefined
  }
  const text = writtenText(entry.value)
  if (text === '*') return { key, value: '*' }
  if (text === undefined || !/^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/.test(text)) {
    const remedy = `write one ${key}, or "*" for a budget for each`
    findings.error(entry.value, 'bad_value', `${key} cannot be ${describeTree(entry.value)}`, remedy)
    return undefined
  }
  const listed = own ? (key === 'member' ? context.members : undefined) : context.tags && (context.tags[key] ?? [])
  if (listed !== undefined && !listed.includes(text)) {
    refuseUnlisted(entry.value, key, text, listed, findings)
    return undefined
  }
  return { key, value: text }
}

/** A value that stands on no list. */
export function refuseUnlisted(
  at: Tree,
  key: string,
  text: string,
  listed: readonly string[],
  findings: Findings,
): void {
  const near = nearest(text, listed)
  const add = key === 'member' ? 'name a member of the organisation' : `add it to ${key} under tags`
  const remedy = near === undefined ? add : `did you mean ${near}? Else ${add}`
  findings.error(at, 'unknown_tag', `no ${key} is called ${clip(text)}`, remedy)
}

function readOwners(
  { value }: TreeEntry,
  members: readonly string[] | undefined,
  findings: Findings,
): string[] | undefined {
  const items = oneOrMore(value)
  if (value.kind === 'map' || items.length === 0 || items.length > MAX_OWNERS) {
    const remedy = `list 1 to ${MAX_OWNERS}, such as role:admin`
    findings.error(value, 'bad_value', `owners cannot be ${describeTree(value)}`, remedy)
    return undefined
  }
  const owners = items.flatMap(item => readOwner(item, members, findings) ?? [])
  return owners.length < items.length ? undefined : [...new Set(owners)].sort()
}

function readOwner(item: Tree, members: readonly string[] | undefined, findings: Findings): string | undefined {
  const text = writtenText(item) ?? ''
  const [, kind, name = ''] = /^(role|member):([A-Za-z0-9_-]{1,40})$/.exec(text) ?? []
  if (kind === 'role' && (ROLES as readonly string[]).includes(name)) return text
  if (kind === 'member' && (members === undefined || members.includes(name))) return text
  if (kind === 'member')
    findings.error(item, 'bad_value', `no member has the id ${clip(name)}`, 'name a member, or a role')
  else if (kind === 'role')
    findings.error(item, 'unknown_role', `${clip(name)} is not a role`, `use role:${oneOf(ROLES)}`)
  else findings.error(item, 'bad_value', `${describeTree(item)} is no owner`, 'write role:admin or member:<id>')
  return undefined
}

function readScope({ value }: TreeEntry, findings: Findings): LocalScope | undefined {
  const text = writtenText(value)
  if (text === 'workspace' || text === 'global') return text
  const key = /^tag:(.*)$/.exec(text ?? '')?.[1]
  if (key !== undefined && TAG_KEY.test(key)) return `tag:${key}`
  const near = nearest(text ?? '', ['workspace', 'global', 'tag:tenant', 'tag:project'])
  const remedy = near === undefined ? 'use workspace, global or tag:<key>' : `did you mean ${near}?`
  findings.error(value, 'bad_value', `scope cannot be ${describeTree(value)}`, remedy)
  return undefined
}
