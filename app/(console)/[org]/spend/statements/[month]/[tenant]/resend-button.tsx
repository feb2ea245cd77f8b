'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { withRemedy } from '../../../../with-remedy.ts'

type Props = { org: string; month: string; tenant: string; contact: string; again: boolean }

/** Mails a closed statement to the contact of today. */
export function ResendButton({ org, month, tenant, contact, again }: Props) {
  const router = useRouter()
  const send = useMutation(useTRPC().statement.resend.mutationOptions({ onSettled: () => router.refresh() }))
  return (
    <ConfirmDialog
      tone="primary"
      title={again ? 'Mail it again?' : 'Mail it?'}
      description={`${contact} gets the statement as it was closed, every line as a file with it. It is recorded.`}
      trigger={<Button size="sm">{again ? 'Mail again' : 'Mail it'}</Button>}
      confirmLabel="Mail it"
      onConfirm={async () => {
        const { to } = await withRemedy(send.mutateAsync({ org, month, tenant }))
        toast(`A mail to ${to} is on its way`)
      }}
    />
  )
}
