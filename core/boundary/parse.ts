import type { LineCounter } from 'yaml'
import { isMap, isScalar, isSeq, type ParsedNode } from 'yaml'
import type { LadderRole } from '#core/role.ts'
import { MAX_CASES, MAX_PROBLEMS, MAX_RULES } from './limits.ts'
import { clip } from './plain-text.ts'
import { type Finding, Findings, nearest, type Place, type Problem } from './problem.ts'
import { readCase } from './read-case.ts'
import { readRule } from './read-rule.ts'
import type { BoundaryCase, Rule, Scope } from './shape.ts'
import { describeTree, entryOf, type Tree } from './tree.ts'
import { readYaml, treeFromYaml } from './yaml-tree.ts'

/** The sections of a document that hold rules. */
export const SECTIONS = ['boundaries', 'tests'] as const

export interface ParseOptions {
  scope: Scope
  /** Roles an approver may be named by; the whole ladder when absent. */
  roles?: readonly LadderRole[]
  /** The budgets there are, by the name a rule gives them; when absent any well-formed name is taken. */
  budgets?: readonly string[]
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
  const findings = new Findings()
  const yaml = readYaml(text, findings)
  const rules: Rule[] = []
  const tests: BoundaryCase[] = []
  if (yaml.doc !== undefined && findings.errors.length === 0)
    readRoot(yaml.doc.contents, options, findings, rules, tests)
  const named = namedPlaces(yaml.doc?.contents ?? null)
  return {
    rules,
    tests,
    errors: place(findings.errors, named, text, yaml.lines),
    warnings: place(findings.warnings, named, text, yaml.lines),
  }
}

interface NamedPlace extends Place {
  name: string
}

/** Where each rule stands, whatever is wrong with it: a mistake inside is that rule's. */
function namedPlaces(root: ParsedNode | null): NamedPlace[] {
  const list = isMap(root) ? root.get('boundaries') : undefined
  if (!isSeq(list)) return []
  return list.items.flatMap(item => {
    const name = isMap(item) ? item.get('name', true) : undefined
    if (!isScalar(name) || name.value === null || !isMap(item) || !item.range) return []
    return [
      {
        name: typeof name.value === 'string' ? name.value : String(name.source),
        start: item.range[0],
        end: item.range[1],
      },
    ]
  })
}

function readRoot(
  root: ParsedNode | null,
  options: ParseOptions,
  findings: Findings,
  rules: Rule[],
  tests: BoundaryCase[],
): void {
  if (root === null || (isScalar(root) && root.value === null)) return
  if (!isMap(root) || root.tag !== undefined || root.anchor !== undefined) {
    findings.error(
      { start: root.range[0], end: root.range[1] },
      'wrong_kind',
      'the document is not a map of sections',
      'start it with boundaries:',
    )
    return
  }
  const sections = new Map<string, { node: ParsedNode | null; at: { start: number; end: number } }>()
  const seen = new Set<string>()
  for (const pair of root.items) {
    const key = pair.key as ParsedNode | null
    const at = key === null ? { start: root.range[0], end: root.range[1] } : { start: key.range[0], end: key.range[1] }
    const name = isScalar(key) ? String(key.value) : '?'
    if (seen.has(name))
      findings.error(at, 'duplicate', `${clip(name)} stands twice in one document`, 'keep one of the two')
    seen.add(name)
    if (name === 'boundaries' || name === 'tests') sections.set(name, { node: pair.value as ParsedNode | null, at })
    else if (!options.sections?.includes(name)) noteSection(name, at, options.scope, findings)
  }
  const boundaries = sections.get('boundaries')
  if (boundaries !== undefined)
    readRules(treeFromYaml(boundaries.node, boundaries.at, findings), options, findings, rules)
  const cases = sections.get('tests')
  const names = namedPlaces(root).map(rule => rule.name)
  if (cases !== undefined) readCases(treeFromYaml(cases.node, cases.at, findings), options, names, findings, tests)
}

function noteSection(name: string, at: { start: number; end: number }, scope: Scope, findings: Findings): void {
  const near = nearest(name, SECTIONS)
  const message = `${clip(name)} is not a section of this document`
  if (near !== undefined) findings.error(at, 'unknown_key', message, `did you mean ${near}?`)
  else if (scope === 'organisation') findings.error(at, 'unknown_key', message, `use ${SECTIONS.join(' and ')}`)
  else findings.warn(at, 'unknown_section', message, 'remove it if it is a slip')
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

function itemsOf(tree: Tree | undefined, section: string, most: number, findings: Findings): Tree[] {
  if (tree === undefined || (tree.kind === 'scalar' && tree.value === null)) return []
  if (tree.kind !== 'list') {
    findings.error(
      tree,
      'wrong_kind',
      `${section} takes a list, not ${describeTree(tree)}`,
      'start each entry with a dash',
    )
    return []
  }
  if (tree.items.length > most) {
    findings.error(tree, 'too_many', `${section} has ${tree.items.length} entries`, `use at most ${most}`)
    return []
  }
  return tree.items
}

/** Findings in the order of the text, as lines and columns. */
function place(
  findings: readonly Finding[],
  named: readonly NamedPlace[],
  text: string,
  lines: LineCounter,
): Problem[] {
  return [...findings]
    .sort((a, b) => a.start - b.start)
    .slice(0, MAX_PROBLEMS)
    .map(({ rule: known, start, end, code, message, remedy }) => {
      const around = named.find(rule => start >= rule.start && start < rule.end)
      const rule = known ?? (around === undefined ? undefined : clip(around.name))
      const from = position(start, text, lines)
      const to = end > start ? position(end, text, lines) : undefined
      return {
        ...(rule === undefined ? {} : { rule }),
        ...from,
        ...(to === undefined ? {} : { endLine: to.line, endColumn: to.column }),
        code,
        message,
        remedy,
      }
    })
}

function position(offset: number, text: string, lines: LineCounter): { line: number; column: number } {
  const at = lines.linePos(Math.max(0, Math.min(offset, text.length)))
  return at.line < 1 ? { line: 1, column: 1 } : { line: at.line, column: Math.max(1, at.col) }
}
