import { clip } from '#core/plain-text.ts'
import type { LadderRole } from '#core/role.ts'
import { MAX_CASES, MAX_RULES } from './limits.ts'
import type { Findings, Problem } from './problem.ts'
import { readCase } from './read-case.ts'
import { readRule } from './read-rule.ts'
import { itemsOf, type OpenDocument, openDocument, sectionTree } from './sections.ts'
import type { BoundaryCase, Rule, Scope } from './shape.ts'
import { entryOf, type Tree } from './tree.ts'

/** The sections of a document that hold rules. */
export const SECTIONS = ['boundaries', 'tests'] as const

export interface ParseOptions {
  scope: Scope
  /** Roles an approver may be named by; the whole ladder when absent. */
  roles?: readonly LadderRole[]
  /** The budgets there are, by the name a rule gives them; when absent any well-formed name is taken. */
  budgets?: readonly string[]
  /** The organisation's budgets that a local rule may name as `org:<name>`; when absent any well-formed name is taken. */
  organisationBudgets?: readonly string[]
  /** Other top-level keys the same document may have. In a local file any other key is only warned about. */
  sections?: readonly string[]
}

export interface ParsedBoundaries {
  /** The rules that are right. With any error the document as a whole is refused: these are for display only. */
  rules: Rule[]
  tests: BoundaryCase[]
  errors: Problem[]
  warnings: Problem[]
}

/** Reads `boundaries:` and `tests:` of one document. Never throws. A document without them has no rules, and that is fine. */
export function parseBoundaries(text: string, options: ParseOptions): ParsedBoundaries {
  const doc = openDocument(text, { scope: options.scope, known: SECTIONS, other: options.sections })
  const trees = { boundaries: sectionTree(doc, 'boundaries'), tests: sectionTree(doc, 'tests') }
  return { ...readBoundaries(doc, trees, options), ...doc.problems() }
}

/** The same of a document that was opened for more than its rules. */
export function readBoundaries(
  doc: OpenDocument,
  trees: Record<(typeof SECTIONS)[number], Tree | undefined>,
  options: ParseOptions,
): { rules: Rule[]; tests: BoundaryCase[] } {
  const rules: Rule[] = []
  const tests: BoundaryCase[] = []
  readRules(trees.boundaries, options, doc.findings, rules)
  const names = doc.entries.filter(entry => entry.section === 'boundaries').map(entry => entry.name)
  readCases(trees.tests, options, names, doc.findings, tests)
  return { rules, tests }
}

function readRules(tree: Tree | undefined, options: ParseOptions, findings: Findings, rules: Rule[]): void {
  const names = new Set<string>()
  for (const item of itemsOf(tree, 'boundaries', MAX_RULES, findings)) {
    const rule = readRule(item, options, findings)
    const written = item.kind === 'map' ? entryOf(item, 'name')?.value : undefined
    const name = written?.kind === 'scalar' && written.value !== null ? written.source : undefined
    if (written !== undefined && name !== undefined && names.has(name)) {
      const message = `a boundary called ${clip(name)} stands above already`
      findings.error(written, 'duplicate', message, 'give every boundary a name of its own')
    } else if (rule !== undefined) rules.push(rule)
    if (name !== undefined) names.add(name)
  }
}

function readCases(
  tree: Tree | undefined,
  options: ParseOptions,
  ruleNames: string[],
  findings: Findings,
  tests: BoundaryCase[],
): void {
  for (const item of itemsOf(tree, 'tests', MAX_CASES, findings)) {
    const read = readCase(item, { roles: options.roles, ruleNames }, findings)
    if (read !== undefined) tests.push(read)
  }
}
