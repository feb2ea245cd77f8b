'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { withRemedy } from '../../with-remedy.ts'

/** Ends a machine's membership. */
export function RevokeMachine({ org, id, label }: { org: string; id: string; label: string }) {
  const router = useRouter()
  const revoke = useMutation(useTRPC().machine.revoke.mutationOptions())
  return (
    <ConfirmDialog
      title={`Revoke ${label}?`}
      description="Its token ends at once: it gets no new rules, files no requests and uploads nothing. What it asked for is withdrawn; what it reported stays. To come back it needs a new join line."
      confirmLabel="Revoke the machine"
      trigger={<Button variant="danger">Revoke</Button>}
      onConfirm={async () => {
        await withRemedy(revoke.mutateAsync({ org, id }))
        toast(`${label} is revoked`)
        router.refresh()
      }}
    />
  )
}
