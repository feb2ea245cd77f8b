/** What can be wrong with a boundary document. */
export type ProblemCode =
  | 'yaml' // not YAML, or YAML that we refuse (aliases, tags, several documents)
  | 'too_large'
  | 'too_deep'
  | 'too_many'
  | 'wrong_kind' // a list where a map is wanted, a number where a word is wanted
  | 'unknown_key'
  | 'duplicate'
  | 'missing'
  | 'bad_name'
  | 'unknown_action'
  | 'unknown_condition'
  | 'not_judged' // a condition its action cannot be judged by
  | 'bad_comparator'
  | 'bad_value'
  | 'out_of_range'
  | 'unknown_requirement'
  | 'unknown_role'
  | 'unknown_stage'
  | 'unknown_budget'
  | 'lone_qualifier' // window or budget without its condition
  | 'not_here' // a key this rule or this document cannot have
  | 'always' // warning: holds whatever the figure
  | 'never' // warning: cannot hold
  | 'unknown_tag' // a tenant, project or tag that the document does not list
  | 'unknown_zone'
  | 'overlap' // two prices for one model and day
  | 'gap' // days without a price; a warning at the ends of what an organisation prices
  | 'other_scope' // warning: a budget of one part judges all calls
  | 'downgrade' // warning: allowed, and weaker than the default
  | 'unknown_section' // warning: a top-level key that is not ours

/** A mistake with its place (lines and columns from 1) and what to write instead. */
export interface Problem {
  /** The boundary it is in. */
  rule?: string
  /** Of the other sections: which one, and the entry's name there (a rate's model, `#2` where entries have no name). */
  section?: string
  entry?: string
  line: number
  column: number
  endLine?: number
  endColumn?: number
  code: ProblemCode
  message: string
  remedy: string
}

/** Where something stands in its text, as character offsets; -1 where there is no text (a JSON value). */
export interface Place {
  start: number
  end: number
}

/** The place of what has no text. */
export const NOWHERE: Place = { start: -1, end: -1 }

/** A problem before its offsets have become lines and columns. */
export interface Finding extends Place {
  rule?: string
  code: ProblemCode
  message: string
  remedy: string
}

/** Collects findings while a document is read. */
export class Findings {
  readonly errors: Finding[] = []
  readonly warnings: Finding[] = []
  /** The rule being read, named in every finding. */
  rule: string | undefined

  error(at: Place, code: ProblemCode, message: string, remedy: string): void {
    this.errors.push(this.finding(at, code, message, remedy))
  }

  warn(at: Place, code: ProblemCode, message: string, remedy: string): void {
    this.warnings.push(this.finding(at, code, message, remedy))
  }

  private finding(at: Place, code: ProblemCode, message: string, remedy: string): Finding {
    const rule = this.rule === undefined ? {} : { rule: this.rule }
    return { ...rule, start: at.start, end: at.end, code, message, remedy }
  }
}

/** `"model_tier"`, `"a" or "b"`, `"a", "b" or "c"`. */
export function oneOf(words: readonly string[]): string {
  const head = words.slice(0, -1).join(', ')
  return head === '' ? (words[0] ?? '') : `${head} or ${words.at(-1)}`
}

/** The nearest of `words` to what was written, when it is near enough to be a slip of the fingers. */
export function nearest(written: string, words: readonly string[]): string | undefined {
  if (written.length > 40) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(written.length / 3)) + 1
  for (const word of words) {
    const d = editDistance(written.toLowerCase(), word.toLowerCase())
    if (d < least) {
      least = d
      best = word
    }
  }
  return best
}

/** Optimal string alignment distance: insert, delete, replace, swap neighbours. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let d = Math.min(row[j - 1]! + 1, above[j]! + 1, above[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) d = Math.min(d, before[j - 2]! + 1)
      row.push(d)
    }
    before = above
    above = row
  }
  return above[b.length]!
}
