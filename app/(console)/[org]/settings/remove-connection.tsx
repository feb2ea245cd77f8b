'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { withRemedy } from '../with-remedy.ts'

export function RemoveConnection({ org, id, name }: { org: string; id: string; name: string }) {
  const router = useRouter()
  const remove = useMutation(useTRPC().settings.removeConnection.mutationOptions({ onSettled: () => router.refresh() }))
  return (
    <ConfirmDialog
      title={`Remove ${name}?`}
      description="Nobody signs in through it any more, and sessions that began through it end at once. Members stay, and can sign in with a code by e-mail."
      trigger={
        <Button size="sm" variant="danger" aria-label={`Remove ${name}`}>
          Remove
        </Button>
      }
      confirmLabel="Remove the provider"
      typedWord={name}
      onConfirm={async () => {
        await withRemedy(remove.mutateAsync({ org, id }))
        toast(`${name} is removed`)
      }}
    />
  )
}
