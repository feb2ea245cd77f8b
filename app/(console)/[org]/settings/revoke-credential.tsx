'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { withRemedy } from '../with-remedy.ts'

export function RevokeCredential({ org, id, name }: { org: string; id: string; name: string }) {
  const router = useRouter()
  const revoke = useMutation(useTRPC().settings.revokeCredential.mutationOptions({ onSuccess: () => router.refresh() }))
  return (
    <ConfirmDialog
      title={`End this credential of ${name}?`}
      description="The command that holds it is signed out at its next call. What it did stays as it is."
      trigger={
        <Button size="sm" aria-label={`End the credential of ${name}`}>
          End
        </Button>
      }
      confirmLabel="End the credential"
      onConfirm={async () => {
        await withRemedy(revoke.mutateAsync({ org, id }))
        toast('The credential has ended')
      }}
    />
  )
}
