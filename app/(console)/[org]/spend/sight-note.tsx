import Link from 'next/link'
import { formatList } from '#app/_ui/format.ts'
import type { GrantRow } from '../outputs.ts'

/** Told to whoever it is about: who else sees their own figures now. Nothing where nobody does. */
export function SightNote({
  org,
  grants,
  me,
  now,
}: {
  org: string
  grants: readonly GrantRow[]
  me: string
  now: Date
}) {
  const others = grants.filter(
    grant => grant.aboutMe && grant.endedAt === null && grant.expiresAt > now && grant.holder.id !== me,
  )
  const names = [...new Set(others.map(({ holder }) => holder.name))]
  return (
    <p className="text-ink-3 text-sm">
      {names.length > 0 ? `${formatList(names)} may see your own figures. ` : 'Only you see your own figures by name. '}
      <Link className="link" href={`/${org}/spend/who-may-see`}>
        Who may see figures
      </Link>
    </p>
  )
}
