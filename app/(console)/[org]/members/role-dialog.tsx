'use client'

import { useState } from 'react'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { RadioCards } from '#app/_ui/radio-cards.tsx'
import type { Role } from '#core/role.ts'
import type { MemberRow } from '../outputs.ts'
import { SignInAgain, type TooOld } from '../sign-in-again.tsx'
import { offeredRoles } from './offered-roles.ts'

type Props = {
  member: MemberRow
  ownRole: Role
  tooOld: TooOld | undefined
  onOpenChange: (open: boolean) => void
  onChange: (role: Role) => Promise<unknown>
}

export function RoleDialog({ member, ownRole, tooOld, onOpenChange, onChange }: Props) {
  const [role, setRole] = useState<Role>(member.role)
  return (
    <ConfirmDialog
      open
      onOpenChange={onOpenChange}
      title={`Role of ${member.self ? 'yourself' : member.name}`}
      description={
        member.self
          ? 'It holds from your next click. If you step down, somebody else has to raise you again.'
          : 'It holds from their next click. Whoever you raise cannot answer requests that you made before.'
      }
      confirmLabel={role === member.role ? `Stay ${role}` : `Make ${member.self ? 'me' : 'them'} ${role}`}
      tone="primary"
      onConfirm={() => (role === member.role ? undefined : onChange(role))}
    >
      <RadioCards legend="Role" hideLegend value={role} onChange={setRole} options={offeredRoles(ownRole)} />
      {tooOld && role !== member.role && [role, member.role].includes('owner') && (
        <SignInAgain tooOld={tooOld}>Making or unmaking an owner asks who you are once more.</SignInAgain>
      )}
    </ConfirmDialog>
  )
}
