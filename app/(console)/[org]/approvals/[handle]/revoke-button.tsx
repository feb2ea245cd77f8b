'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useRef } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { useHandsFocusOn } from './decision.tsx'

/** Ends a grant that still stands. */
export function RevokeButton({ org, handle }: { org: string; handle: string }) {
  const router = useRouter()
  const part = useRef<HTMLSpanElement>(null)
  useHandsFocusOn(part)
  const revoke = useMutation(useTRPC().approval.revoke.mutationOptions())
  return (
    <span ref={part}>
      <ConfirmDialog
        title="End this grant?"
        description="The machine learns it within seconds; the session is held again at its next tool call. A call that was let through already is not taken back."
        confirmLabel="End the grant"
        trigger={
          <Button size="sm" variant="danger">
            End the grant
          </Button>
        }
        onConfirm={async () => {
          await revoke.mutateAsync({ org, handle })
          router.refresh()
        }}
      />
    </span>
  )
}
