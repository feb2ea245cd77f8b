import type { MemberActor } from '#core/actor.ts'
import { whyNot } from '#core/permission.ts'

/** Why somebody may read the rules and not publish them, with what helps; undefined when they may publish. */
export function whyReadOnly(actor: MemberActor): string | undefined {
  const refusal = whyNot(actor, 'boundary.publish')
  return refusal && [refusal.why, refusal.remedy].filter(Boolean).join(' ')
}
