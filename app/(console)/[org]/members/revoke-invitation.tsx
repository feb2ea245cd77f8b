'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import type { InvitationRow } from '../outputs.ts'
import { withRemedy } from '../with-remedy.ts'

export function RevokeInvitation({ org, invitation }: { org: string; invitation: InvitationRow }) {
  const router = useRouter()
  const revoke = useMutation(useTRPC().member.revokeInvitation.mutationOptions({ onSuccess: () => router.refresh() }))
  return (
    <ConfirmDialog
      title={`Withdraw the invitation of ${invitation.name}?`}
      description={`The link in the mail to ${invitation.email} stops working. You can invite the address again.`}
      trigger={
        <Button size="sm" aria-label={`Withdraw the invitation of ${invitation.name}`}>
          Withdraw
        </Button>
      }
      confirmLabel="Withdraw invitation"
      onConfirm={async () => {
        await withRemedy(revoke.mutateAsync({ org, id: invitation.id }))
        toast('The invitation is withdrawn')
      }}
    />
  )
}
