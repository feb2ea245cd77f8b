import type { CoverBy, Covered } from '#core/usage/bucket.ts'

const COVERS: Record<Covered, string> = { plan: 'under a flat plan', metered: 'paid for by use', unknown: 'not known' }
const BY: Record<CoverBy, string> = {
  organisation: 'declared by the organisation',
  machine: 'declared by the machine itself',
}

/** What a {@link coverWord} says, for people: `under a flat plan, declared by the machine itself`. */
export function coverName(word: string): string {
  const [covered, by] = word.split('/')
  const said = COVERS[covered as Covered] ?? word
  if (by !== undefined) return `${said}, ${BY[by as CoverBy] ?? by}`
  return covered === 'unknown' ? said : `${said}, read from records and sign-ins`
}
