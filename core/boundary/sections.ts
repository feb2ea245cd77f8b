import { isMap, isScalar, isSeq, type ParsedNode } from 'yaml'
import { clip } from '#core/plain-text.ts'
import { MAX_PROBLEMS } from './limits.ts'
import { type Finding, Findings, nearest, oneOf, type Place, type Problem } from './problem.ts'
import type { Scope } from './shape.ts'
import { describeTree, type Tree } from './tree.ts'
import { readYaml, treeFromYaml } from './yaml-tree.ts'

/** One top-level key of a document: where the key stands, and its value. */
interface Section {
  at: Place
  node: ParsedNode | null
}

/** An entry of a section, whatever is wrong with it. `name` is the boundary's or budget's name, a rate's model, an exchange rate's currency, else `#2`. */
export interface NamedPlace extends Place {
  section: string
  name: string
}

/** A document parsed once, whose sections are then read one by one. */
export interface OpenDocument {
  findings: Findings
  sections: ReadonlyMap<string, Section>
  entries: readonly NamedPlace[]
  lineOf(offset: number): number
  /** What has been found so far, in the order of the text, as lines and columns. */
  problems(): { errors: Problem[]; warnings: Problem[] }
}

/** Sections whose entries are named in a problem as `rule`; the entries of all others as `section` and `entry`. */
const OF_BOUNDARIES = ['boundaries', 'tests']

/**
 * Parses a text and finds its sections. `known` are read by the caller, `other` are left alone; any other key is refused
 * (in a local file: only warned about, unless it is a slip of a known one).
 */
export function openDocument(
  text: string,
  options: { scope: Scope; known: readonly string[]; other?: readonly string[] | undefined },
): OpenDocument {
  const findings = new Findings()
  const { doc, lines } = readYaml(text, findings)
  const sections = new Map<string, Section>()
  if (doc !== undefined && findings.errors.length === 0) readRoot(doc.contents, options, findings, sections)
  const entries = namedPlaces(doc?.contents ?? null)
  const lineOf = (offset: number) => position(offset).line
  function position(offset: number): { line: number; column: number } {
    const at = lines.linePos(Math.max(0, Math.min(offset, text.length)))
    return at.line < 1 ? { line: 1, column: 1 } : { line: at.line, column: Math.max(1, at.col) }
  }
  function place(found: readonly Finding[]): Problem[] {
    return [...found]
      .sort((a, b) => a.start - b.start)
      .slice(0, MAX_PROBLEMS)
      .map(({ rule, start, end, code, message, remedy }) => {
        const to = end > start ? position(end) : undefined
        return {
          ...ownerOf(rule, start, entries),
          ...position(start),
          ...(to === undefined ? {} : { endLine: to.line, endColumn: to.column }),
          code,
          message,
          remedy,
        }
      })
  }
  const problems = () => ({ errors: place(findings.errors), warnings: place(findings.warnings) })
  return { findings, sections, entries, lineOf, problems }
}

/** The tree of one section; undefined when it is not there or holds what is not read here (with findings). */
export function sectionTree(doc: OpenDocument, name: string): Tree | undefined {
  const section = doc.sections.get(name)
  return section === undefined ? undefined : treeFromYaml(section.node, section.at, doc.findings)
}

/** The entries of a section that is a list; nothing (with a finding) when it is none, or longer than `most`. */
export function itemsOf(tree: Tree | undefined, section: string, most: number, findings: Findings): Tree[] {
  if (tree === undefined || isNothing(tree)) return []
  if (tree.kind !== 'list') {
    const message = `${section} takes a list, not ${describeTree(tree)}`
    findings.error(tree, 'wrong_kind', message, 'start each entry with a dash')
    return []
  }
  if (tree.items.length > most) {
    findings.error(tree, 'too_many', `${section} has ${tree.items.length} entries`, `use at most ${most}`)
    return []
  }
  return tree.items
}

/** True for a key without a value. */
export const isNothing = (tree: Tree): boolean => tree.kind === 'scalar' && tree.value === null

function readRoot(
  root: ParsedNode | null,
  options: { scope: Scope; known: readonly string[]; other?: readonly string[] | undefined },
  findings: Findings,
  sections: Map<string, Section>,
): void {
  if (root === null || (isScalar(root) && root.value === null)) return
  if (!isMap(root) || root.tag !== undefined || root.anchor !== undefined) {
    const at = { start: root.range[0], end: root.range[1] }
    findings.error(at, 'wrong_kind', 'the document is not a map of sections', 'start it with boundaries:')
    return
  }
  const seen = new Set<string>()
  for (const pair of root.items) {
    const key = pair.key as ParsedNode | null
    const at = key === null ? { start: root.range[0], end: root.range[1] } : { start: key.range[0], end: key.range[1] }
    const name = isScalar(key) ? String(key.value) : '?'
    if (seen.has(name))
      findings.error(at, 'duplicate', `${clip(name)} stands twice in one document`, 'keep one of the two')
    seen.add(name)
    if (options.known.includes(name)) sections.set(name, { node: pair.value as ParsedNode | null, at })
    else if (!options.other?.includes(name)) noteSection(name, at, options, findings)
  }
}

function noteSection(
  name: string,
  at: Place,
  { known, scope }: { known: readonly string[]; scope: Scope },
  findings: Findings,
): void {
  const near = nearest(name, known)
  const message = `${clip(name)} is not a section of this document`
  if (near !== undefined) findings.error(at, 'unknown_key', message, `did you mean ${near}?`)
  else if (scope === 'organisation')
    findings.error(at, 'unknown_key', message, `use ${oneOf(known).replace(/ or (?=\S+$)/, ' and ')}`)
  else findings.warn(at, 'unknown_section', message, 'remove it if it is a slip')
}

/** Keys that name an entry where it has no name. */
const NAMED_BY: Readonly<Record<string, string>> = { rates: 'model', exchange: 'currency' }

/** Where each entry stands, whatever is wrong with it: a mistake inside is that entry's. */
function namedPlaces(root: ParsedNode | null): NamedPlace[] {
  if (!isMap(root)) return []
  return root.items.flatMap(pair => {
    const list = pair.value
    if (!isScalar(pair.key) || !isSeq(list)) return []
    const section = String(pair.key.value)
    return list.items.flatMap((item, index) => {
      if (!isMap(item) || !item.range) return []
      const name = item.get(NAMED_BY[section] ?? 'name', true)
      const place = { section, start: item.range[0], end: item.range[1] }
      if (isScalar(name) && name.value !== null)
        return [{ ...place, name: typeof name.value === 'string' ? name.value : String(name.source) }]
      return OF_BOUNDARIES.includes(section) ? [] : [{ ...place, name: `#${index + 1}` }]
    })
  })
}

function ownerOf(rule: string | undefined, start: number, entries: readonly NamedPlace[]): Partial<Problem> {
  if (rule !== undefined) return { rule }
  const around = entries.find(entry => start >= entry.start && start < entry.end)
  if (around === undefined || around.section === 'tests') return {}
  if (around.section === 'boundaries') return { rule: clip(around.name) }
  return { section: around.section, entry: clip(around.name) }
}
