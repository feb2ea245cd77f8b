import { Findings } from '#core/boundary/problem.ts'
import { COMPARATORS } from '#core/boundary/shape.ts'
import { entryOf, type Tree, type TreeMap } from '#core/boundary/tree.ts'
import { readYaml, treeFromYaml } from '#core/boundary/yaml-tree.ts'

/** One comparison as it is written, right or wrong. */
export type WrittenCondition = { figure: string; op: string; value: string }

/**
 * A rule as its text stands, wrong ones included: what the form shows. Nothing is judged here; the parser does that, and
 * its findings are shown beside the fields.
 */
export type WrittenRule = {
  /** Its place in the list. */
  index: number
  name: string
  /** False where another rule above has the same name, or it has none: then the form cannot edit it. */
  editable: boolean
  /** Plain keys as text: action, require, stage, note, approvals, expires, step, on_unknown. */
  fields: Readonly<Record<string, string>>
  when: readonly WrittenCondition[]
  qualifiers: { window?: string; budget?: string }
  for: { tenants: string[]; projects: string[]; machines: string[] }
  /** Keys that the form has no field for; they stay as they are. */
  others: readonly string[]
}

const PLAIN = ['action', 'require', 'stage', 'note', 'approvals', 'expires', 'step', 'on_unknown']

/** The rules of a text; undefined when it is no YAML, and then only the text can be edited. */
export function writtenRules(text: string): WrittenRule[] | undefined {
  const findings = new Findings()
  const { doc } = readYaml(text, findings)
  if (doc === undefined || findings.errors.length > 0) return undefined
  const root = treeFromYaml(doc.contents, { start: 0, end: 0 }, new Findings())
  if (root === undefined || (root.kind === 'scalar' && root.value === null)) return []
  if (root.kind !== 'map') return undefined
  const list = entryOf(root, 'boundaries')?.value
  if (list === undefined || (list.kind === 'scalar' && list.value === null)) return []
  if (list.kind !== 'list') return undefined
  const seen = new Set<string>()
  return list.items.map((item, index) => {
    const map: TreeMap = item.kind === 'map' ? item : { kind: 'map', entries: [], start: item.start, end: item.end }
    const name = written(entryOf(map, 'name')?.value)
    const editable = name !== '' && !seen.has(name)
    seen.add(name)
    return readWritten(map, index, name, editable)
  })
}

function readWritten(map: TreeMap, index: number, name: string, editable: boolean): WrittenRule {
  const fields: Record<string, string> = {}
  for (const key of PLAIN) {
    const entry = entryOf(map, key)
    if (entry !== undefined) fields[key] = written(entry.value)
  }
  const when = entryOf(map, 'when')?.value
  const conditions = when?.kind === 'map' ? when.entries : []
  const appliesTo = entryOf(map, 'for')?.value
  const names = (key: string) => (appliesTo?.kind === 'map' ? listed(entryOf(appliesTo, key)?.value) : [])
  const window = conditions.find(entry => entry.key === 'window')
  const budget = conditions.find(entry => entry.key === 'budget')
  return {
    index,
    name,
    editable,
    fields,
    when: conditions
      .filter(entry => entry.key !== 'window' && entry.key !== 'budget')
      .map(entry => ({ figure: entry.key, ...splitComparison(written(entry.value)) })),
    qualifiers: {
      ...(window ? { window: written(window.value) } : {}),
      ...(budget ? { budget: written(budget.value) } : {}),
    },
    for: { tenants: names('tenants'), projects: names('projects'), machines: names('machines') },
    others: map.entries.map(entry => entry.key).filter(key => ![...PLAIN, 'name', 'when', 'for'].includes(key)),
  }
}

/** `>= 20` in its two parts; a sign that is none of ours stays in the value, where it can be seen. */
export function splitComparison(text: string): { op: string; value: string } {
  const op = [...COMPARATORS].sort((a, b) => b.length - a.length).find(sign => text.trim().startsWith(sign)) ?? ''
  return { op, value: text.trim().slice(op.length).trim() }
}

/** `when:` as the document has it, from conditions in their order and the words that narrow them. */
export function whenOf(
  when: readonly WrittenCondition[],
  qualifiers: WrittenRule['qualifiers'],
): Record<string, string> {
  const json: Record<string, string> = {}
  for (const { figure, op, value } of when) {
    json[figure] = `${op} ${value}`.trim()
    if (figure === 'plan_left_pct' && qualifiers.window) json.window = qualifiers.window
    if (figure === 'budget_used_pct' && qualifiers.budget) json.budget = qualifiers.budget
  }
  return json
}

function written(tree: Tree | undefined): string {
  if (tree?.kind !== 'scalar' || tree.value === null) return ''
  return typeof tree.value === 'string' ? tree.value : tree.source
}

function listed(tree: Tree | undefined): string[] {
  if (tree === undefined) return []
  return tree.kind === 'list' ? tree.items.map(written) : [written(tree)]
}
