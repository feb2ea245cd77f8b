/** The ladder of roles, least first. Whoever holds a role may do what every lower role may. */
export const ROLES = ['member', 'lead', 'admin', 'owner'] as const

/** A role on the ladder: it can answer requests that name it or a lower role. */
export type LadderRole = (typeof ROLES)[number]

/** What a member may hold: a rung of the ladder, or `auditor`, who reads everything and answers and changes nothing. */
export type Role = LadderRole | 'auditor'

/** Every role a member may hold, the ladder first. */
export const ALL_ROLES = [...ROLES, 'auditor'] as const satisfies readonly Role[]

/** True for a role on the ladder; `auditor` stands beside it. */
export function isLadderRole(value: unknown): value is LadderRole {
  return typeof value === 'string' && (ROLES as readonly string[]).includes(value)
}

/** The rung, 0 for member up to 3 for owner; -1 for auditor, who is below every rung. */
export function roleRank(role: Role): number {
  return role === 'auditor' ? -1 : ROLES.indexOf(role)
}

/** True when `held` stands at `wanted` or above. An auditor is at least an auditor and nothing else. */
export function roleAtLeast(held: Role, wanted: Role): boolean {
  if (wanted === 'auditor') return held === 'auditor'
  return roleRank(held) >= roleRank(wanted)
}
