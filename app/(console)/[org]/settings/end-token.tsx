'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { withRemedy } from '../with-remedy.ts'

export function EndToken({ org, id, name }: { org: string; id: string; name: string }) {
  const router = useRouter()
  const end = useMutation(useTRPC().token.end.mutationOptions({ onSettled: () => router.refresh() }))
  return (
    <ConfirmDialog
      title={`End the token “${name}”?`}
      description="The program that holds it is refused from its next call on. It cannot be undone; a new token takes its place."
      trigger={
        <Button size="sm" aria-label={`End the token ${name}`}>
          End
        </Button>
      }
      confirmLabel="End the token"
      onConfirm={async () => {
        await withRemedy(end.mutateAsync({ org, id }))
        toast('The token has ended')
      }}
    />
  )
}
