'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { withRemedy } from '../../with-remedy.ts'

/** Ends a grant before its time. */
export function EndButton({ org, id, holder }: { org: string; id: string; holder: string }) {
  const trpc = useTRPC()
  const router = useRouter()
  const act = useMutation(trpc.spend.endGrant.mutationOptions({ onSuccess: () => router.refresh() }))
  return (
    <ConfirmDialog
      trigger={
        <Button size="sm" aria-label={`End what ${holder} may see`}>
          End
        </Button>
      }
      title="End it now?"
      description={`${holder} sees only the total and their own figures from the next click on. That it was given stays on record.`}
      confirmLabel="End it"
      onConfirm={async () => {
        await withRemedy(act.mutateAsync({ org, id }))
        toast('It has ended')
      }}
    />
  )
}
