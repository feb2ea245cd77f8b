'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import type { KeyRole } from '#core/key.ts'
import { withRemedy } from '../with-remedy.ts'

export function RotateKey({
  org,
  role,
  name,
  rotating,
}: {
  org: string
  role: string
  name: string
  rotating: string
}) {
  const router = useRouter()
  const rotate = useMutation(useTRPC().settings.rotateKey.mutationOptions({ onSettled: () => router.refresh() }))
  return (
    <ConfirmDialog
      title={`Rotate the key “${name}”?`}
      description="A new key takes its place in a new root document, and machines refuse the old one from then on, whatever it signed. It cannot be undone. Do it when the key may be known to somebody else, or as your rules ask."
      trigger={
        <Button size="sm" aria-label={`Rotate the key ${name}`}>
          Rotate
        </Button>
      }
      confirmLabel="Rotate the key"
      typedWord="rotate"
      onConfirm={async () => {
        const { seq } = await withRemedy(rotate.mutateAsync({ org, role: role as KeyRole | 'owner' }))
        toast(`The key is rotated: root document ${seq}`, {
          description: 'Machines follow with their next poll, within five minutes.',
        })
      }}
    >
      <p className="text-ink-2">{rotating}</p>
    </ConfirmDialog>
  )
}
