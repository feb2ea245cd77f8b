'use client'

import { useSubscription } from '@trpc/tanstack-react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from './trpc.tsx'

/**
 * Reads the page anew from the server whenever a request came, was answered or ended (server-sent events). `seen` is where
 * the record stood before the page was read: what happened before the line was open, or while it was broken, is not missed.
 */
export function LiveRefresh({ org, seen }: { org: string; seen: number }) {
  const router = useRouter()
  const [first] = useState(seen) // the line goes on where it is; a page read anew needs no new one
  useSubscription(
    useTRPC().approval.changed.subscriptionOptions(
      { org, seen: first },
      {
        onData: ({ data }) => {
          if (data.missed) router.refresh()
        },
      },
    ),
  )
  return null
}
