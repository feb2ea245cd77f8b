'use client'

import { useRouter } from 'next/navigation'
import { startTransition } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { ErrorState } from '#app/_ui/error-state.tsx'

/** A page failed; the frame stands. */
export default function PageError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  const router = useRouter()
  const again = () =>
    startTransition(() => {
      router.refresh()
      reset()
    })
  return (
    <ErrorState
      headingLevel={1}
      title="This page could not be shown"
      reference={error.digest}
      action={
        <Button variant="primary" onClick={again}>
          Try again
        </Button>
      }
    >
      Nothing was changed by this, and a draft of yours is kept in this browser. Machines go on holding by the rules
      they have.
    </ErrorState>
  )
}
