'use client'

import { useSubscription } from '@trpc/tanstack-react-query'
import { useRouter } from 'next/navigation'
import { useRef } from 'react'
import { useTRPC } from './trpc.tsx'

/**
 * Reads the page anew from the server whenever a request came, was answered or ended (server-sent events). The first message
 * only says that the line is open; every later one, a reconnect's included, may mean that something was missed.
 */
export function LiveRefresh({ org }: { org: string }) {
  const router = useRouter()
  const heard = useRef(false)
  useSubscription(
    useTRPC().approval.changed.subscriptionOptions(
      { org },
      {
        onData: () => {
          if (heard.current) router.refresh()
          heard.current = true
        },
      },
    ),
  )
  return null
}
