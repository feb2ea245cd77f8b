'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useRef } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import type { Subject } from '#core/approval/request.ts'
import { useHandsFocusOn } from './decision.tsx'
import { SUBJECT_WORDS } from './subject-words.ts'

/** Ends a grant that still stands. */
export function RevokeButton({ org, handle, kind }: { org: string; handle: string; kind: Subject['kind'] }) {
  const router = useRouter()
  const part = useRef<HTMLSpanElement>(null)
  useHandsFocusOn(part)
  const revoke = useMutation(useTRPC().approval.revoke.mutationOptions())
  return (
    <span ref={part}>
      <ConfirmDialog
        title="End this grant?"
        description={`The machine learns it within seconds; ${SUBJECT_WORDS[kind].heldAgain}`}
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
