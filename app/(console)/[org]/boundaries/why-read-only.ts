import type { MemberActor } from '#core/actor.ts'
import { methodName } from '#core/permission.ts'
import { roleAtLeast } from '#core/role.ts'

/** Why somebody may read the rules and not publish them, in words for them. */
export function whyReadOnly(actor: Pick<MemberActor, 'role' | 'method'>): string {
  if (actor.role === 'auditor') return 'An auditor reads everything and changes nothing.'
  if (!roleAtLeast(actor.role, 'admin')) return `Publishing takes the role admin or above; yours is ${actor.role}.`
  return `A session that began with ${methodName(actor.method)} cannot publish. Sign in with your own account to change them.`
}
