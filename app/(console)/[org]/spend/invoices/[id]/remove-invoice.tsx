'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { withRemedy } from '../../../with-remedy.ts'

export function RemoveInvoice({ org, id, isSpread }: { org: string; id: string; isSpread: boolean }) {
  const router = useRouter()
  const remove = useMutation(useTRPC().invoice.remove.mutationOptions())
  return (
    <ConfirmDialog
      title="Remove this invoice?"
      description={
        isSpread
          ? 'Its lines go, and its difference goes from the drafts of statements; what was billed of it is taken back by an adjustment of the next month. What the evidence says of it stays.'
          : 'Its lines and the comparison go. What the evidence says of it stays, and it can be brought in again.'
      }
      trigger={<Button variant="danger">Remove</Button>}
      confirmLabel="Remove the invoice"
      onConfirm={async () => {
        await withRemedy(remove.mutateAsync({ org, id }))
        toast('The invoice is removed')
        router.push(`/${org}/spend/invoices`)
        router.refresh()
      }}
    />
  )
}
