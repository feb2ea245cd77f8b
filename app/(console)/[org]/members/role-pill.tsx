import { Crown, Eye, ShieldCheck, User, UserCheck } from 'lucide-react'
import type { ComponentType } from 'react'
import { Pill } from '#app/_ui/pill.tsx'
import type { Role } from '#core/role.ts'

const ICON: Record<Role, ComponentType<{ className?: string }>> = {
  owner: Crown,
  admin: ShieldCheck,
  lead: UserCheck,
  member: User,
  auditor: Eye,
}

/** A role as picture and word. */
export function RolePill({ role }: { role: Role }) {
  const Icon = ICON[role]
  return (
    <Pill state="neutral" icon={<Icon aria-hidden />}>
      {role}
    </Pill>
  )
}
