import type { CoverBy, Covered } from '#core/usage/bucket.ts'

const COVERS: Record<Covered, string> = { plan: 'flat plan', metered: 'by use', unknown: 'not known' }
const BY: Record<CoverBy, string> = { organisation: 'organisation’s word', machine: 'machine’s own word' }

/** What a `coverWord` says, for people, short enough for a table: `flat plan, machine’s own word`, `by use, from records`. */
export function coverName(word: string): string {
  const [covered, by] = word.split('/')
  const said = COVERS[covered as Covered] ?? word
  if (by !== undefined) return `${said}, ${BY[by as CoverBy] ?? by}`
  return covered === 'unknown' ? said : `${said}, from records`
}
