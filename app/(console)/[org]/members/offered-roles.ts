import { ALL_ROLES, type Role, roleRank } from '#core/role.ts'
import { ROLE_WORDS } from './role-words.ts'

/** Whether somebody with role `own` may give or take role `other`: never above their own; owners only by owners. */
export function mayGive(own: Role, other: Role): boolean {
  return other === 'owner' ? own === 'owner' : roleRank(other) <= roleRank(own)
}

/** Every role as a choice with its words, highest first; those out of reach are shut and say why. */
export function offeredRoles(own: Role): { value: Role; label: string; hint: string; disabled: boolean }[] {
  const order = [...ALL_ROLES].sort((a, b) => roleRank(b) - roleRank(a))
  return order.map(role => {
    const open = mayGive(own, role)
    const why = role === 'owner' ? 'Only an owner makes an owner.' : `Above your own role, which is ${own}.`
    return {
      value: role,
      label: role[0]!.toUpperCase() + role.slice(1),
      hint: open ? ROLE_WORDS[role] : why,
      disabled: !open,
    }
  })
}
