import { type ParsedBoundaries, readBoundaries } from '#core/boundary/parse.ts'
import { isNothing, itemsOf, type OpenDocument, openDocument, sectionTree } from '#core/boundary/sections.ts'
import type { BoundaryCase, Rule } from '#core/boundary/shape.ts'
import type { Tree, TreeMap } from '#core/boundary/tree.ts'
import type { LocalBudget } from '#core/budget/budget.ts'
import { DEFAULT_UNPRICED } from '#core/pricing.ts'
import type { LadderRole } from '#core/role.ts'
import type { Routing } from '#core/routing.ts'
import type { ExchangeRate } from '#core/spend/exchange.ts'
import type { DeclaredCover } from '#core/usage/declared-cover.ts'
import { type Rename, renameMap } from '#core/usage/renames.ts'
import type { TagLists } from '#core/usage/tags.ts'
import { checkBudgetReach, checkCases, checkFor, namesIn, readNamed } from './check.ts'
import { readChoice } from './fields.ts'
import { MAX_ATTRIBUTION_RULES, MAX_BUDGETS, MAX_EXCHANGE, MAX_RATES, MAX_RENAMES } from './limits.ts'
import { readAttributionRule, readTags } from './read-attribution.ts'
import { type BudgetContext, readBudget, readLocalBudget } from './read-budget.ts'
import { readCovered } from './read-covered.ts'
import { checkExchange, checkRatesNeeded, readExchangeRate } from './read-exchange.ts'
import { checkRates, readRate, readUnpriced } from './read-rates.ts'
import { checkRenamed, checkRenames, readRename } from './read-renames.ts'
import { readRouting } from './read-routing.ts'
import type { AttributionRule, Rate, SpendRules } from './shape.ts'

/** The sections of an organisation's document, in the order it gives them. */
export const DOCUMENT_SECTIONS = [
  'boundaries',
  'tests',
  'tags',
  'renames',
  'attribution',
  'budgets',
  'rates',
  'unpriced',
  'exchange',
  'covered',
] as const

/** Of config.yaml, as far as it is rules. */
export const LOCAL_SECTIONS = ['boundaries', 'tests', 'budgets', 'covered', 'routing', 'notify'] as const

/** What the reader knows of the organisation; what is absent is not checked, except that defaults are filled in. */
export interface DocumentOptions {
  /** Currency and zone of budgets that do not say: the organisation's. `USD` and `UTC` when absent. */
  defaults?: BudgetContext['defaults']
  roles?: readonly LadderRole[]
  /** Keys of the tenants there are. */
  tenants?: readonly string[]
  /** Ids of the members there are. */
  members?: readonly string[]
  /** The moment of publication: budgets of other currencies need rates from their window of then. Absent: any rate will do. */
  now?: number
  /** Whether the card in use has a model of its own accord: days before an override's first are the card's then. */
  isOnCard?: (provider: string, model: string) => boolean
}

/** An entry of a list with the lines it stands on, from 1. `index` counts within its section. */
export interface EntryPlace {
  section: string
  /** The name; a rate's model; `#2` where entries have no name. */
  entry: string
  index: number
  line: number
  endLine: number
}

/** A whole document. With any error it is refused as a whole: what was read is for display only. */
export interface RuleDocument extends ParsedBoundaries, SpendRules {
  places: EntryPlace[]
}

/** Reads an organisation's document, every section of it. Never throws; everything unknown is an error at its place. */
export function parseRuleDocument(text: string, options: DocumentOptions = {}): RuleDocument {
  const doc = openDocument(text, { scope: 'organisation', known: DOCUMENT_SECTIONS })
  const { findings } = doc
  const tags = readTags(sectionTree(doc, 'tags'), findings, options.tenants)
  const attribution = itemsOf(sectionTree(doc, 'attribution'), 'attribution', MAX_ATTRIBUTION_RULES, findings).flatMap(
    (item): AttributionRule | [] => readAttributionRule(item, tags, findings) ?? [],
  )
  const renames = readRenames(sectionTree(doc, 'renames'), tags, doc)
  const budgetTree = sectionTree(doc, 'budgets')
  const context: BudgetContext = {
    defaults: options.defaults ?? { currency: 'USD', zone: 'UTC' },
    tags,
    members: options.members,
  }
  const exchangeTree = sectionTree(doc, 'exchange')
  const exchange = readExchange(exchangeTree, doc)
  const budgets = readNamed(
    itemsOf(budgetTree, 'budgets', MAX_BUDGETS, findings),
    'budget',
    item => readBudget(item, context, findings),
    findings,
  )
  const rates = readRates(sectionTree(doc, 'rates'), options, doc)
  const unpricedTree = sectionTree(doc, 'unpriced')
  const unpriced =
    unpricedTree === undefined || isNothing(unpricedTree)
      ? undefined
      : readUnpriced(unpricedTree, DEFAULT_UNPRICED, findings)
  checkRatesNeeded(
    {
      budgets,
      budgetTree,
      billing: context.defaults.currency,
      section: doc.sections.get('exchange')?.at ?? { start: 0, end: 0 },
    },
    exchange,
    options.now,
    findings,
  )
  const trees = { boundaries: sectionTree(doc, 'boundaries'), tests: sectionTree(doc, 'tests') }
  const { rules, tests } = readBoundaries(doc, trees, {
    scope: 'organisation',
    ...(options.roles === undefined ? {} : { roles: options.roles }),
    budgets: namesIn(budgetTree),
  })
  checkFor(trees.boundaries, tags, findings)
  checkRenamed([trees.boundaries, budgetTree], renameMap(renames), findings)
  checkCases(trees.tests, namesIn(budgetTree), findings)
  checkBudgetReach(trees.boundaries, rules, budgets, findings)
  return {
    rules,
    tests,
    tags,
    renames,
    attribution,
    budgets,
    rates,
    unpriced,
    exchange,
    covered: readCovered(sectionTree(doc, 'covered'), findings),
    places: placesOf(doc),
    ...doc.problems(),
  }
}

function readRenames(tree: Tree | undefined, tags: TagLists, doc: OpenDocument): Rename[] {
  const read: { rename: Rename; tree: TreeMap }[] = []
  for (const item of itemsOf(tree, 'renames', MAX_RENAMES, doc.findings)) {
    const rename = readRename(item, tags, doc.findings)
    if (rename !== undefined && item.kind === 'map') read.push({ rename, tree: item })
  }
  checkRenames(read, tags, doc.findings)
  return read.map(({ rename }) => rename)
}

function readRates(tree: Tree | undefined, options: DocumentOptions, doc: OpenDocument): Rate[] {
  const read: { rate: Rate; tree: TreeMap }[] = []
  for (const item of itemsOf(tree, 'rates', MAX_RATES, doc.findings)) {
    const rate = readRate(item, doc.findings)
    if (rate !== undefined && item.kind === 'map') read.push({ rate, tree: item })
  }
  checkRates(read, options.isOnCard, doc.findings)
  return read.map(({ rate }) => rate)
}

function readExchange(tree: Tree | undefined, doc: OpenDocument): ExchangeRate[] {
  const read: { rate: ExchangeRate; tree: TreeMap }[] = []
  for (const item of itemsOf(tree, 'exchange', MAX_EXCHANGE, doc.findings)) {
    const rate = readExchangeRate(item, doc.findings)
    if (rate !== undefined && item.kind === 'map') read.push({ rate, tree: item })
  }
  checkExchange(read, doc.findings)
  return read.map(({ rate }) => rate)
}

function placesOf(doc: OpenDocument): EntryPlace[] {
  const count = new Map<string, number>()
  return doc.entries.map(({ section, name, start, end }) => {
    const index = count.get(section) ?? 0
    count.set(section, index + 1)
    // A block ends where the next begins; its last line is the one before.
    const endLine = Math.max(doc.lineOf(start), doc.lineOf(Math.max(start, end - 1)))
    return { section, entry: name, index, line: doc.lineOf(start), endLine }
  })
}

export interface LocalDocument {
  rules: Rule[]
  tests: BoundaryCase[]
  budgets: LocalBudget[]
  /** Which clients a plan covers; absent where nothing is declared. */
  covered?: DeclaredCover
  /** Upstreams and routes of the local proxy; absent where nothing is said. */
  routing?: Routing
  /** Whether the desktop tells when something waits; it does when nothing is said. */
  notify?: 'on' | 'off'
  errors: ParsedBoundaries['errors']
  warnings: ParsedBoundaries['warnings']
}

/**
 * The same of config.yaml: boundaries and a developer's own budgets. `zone` is the machine's, for budgets that do not say.
 * A boundary's `budget:` names one of these, or `org:<name>`. `other`: sections that are somebody else's.
 */
export function parseLocalDocument(
  text: string,
  options: { zone: string; other?: readonly string[]; organisationBudgets?: readonly string[] },
): LocalDocument {
  const doc = openDocument(text, { scope: 'local', known: LOCAL_SECTIONS, other: options.other })
  const budgetTree = sectionTree(doc, 'budgets')
  const budgets = readNamed(
    itemsOf(budgetTree, 'budgets', MAX_BUDGETS, doc.findings),
    'budget',
    item => readLocalBudget(item, { zone: options.zone }, doc.findings),
    doc.findings,
  )
  const { organisationBudgets } = options
  const trees = { boundaries: sectionTree(doc, 'boundaries'), tests: sectionTree(doc, 'tests') }
  const { rules, tests } = readBoundaries(doc, trees, {
    scope: 'local',
    budgets: namesIn(budgetTree),
    ...(organisationBudgets === undefined ? {} : { organisationBudgets }),
  })
  checkCases(trees.tests, namesIn(budgetTree), doc.findings, organisationBudgets)
  const covered = readCovered(sectionTree(doc, 'covered'), doc.findings)
  const routing = readRouting(sectionTree(doc, 'routing'), doc.findings)
  const notifyTree = sectionTree(doc, 'notify')
  const notify =
    notifyTree === undefined || isNothing(notifyTree)
      ? undefined
      : readChoice({ key: 'notify', value: notifyTree }, ['on', 'off'], doc.findings)
  return {
    rules,
    tests,
    budgets,
    ...(covered ? { covered } : {}),
    ...(routing ? { routing } : {}),
    ...(notify ? { notify } : {}),
    ...doc.problems(),
  }
}
