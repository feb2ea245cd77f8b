'use client'

import { useRouter } from 'next/navigation'
import { useEffect } from 'react'

/** Reads the page anew every so often while somebody looks at it: machines say nothing when they fall silent. */
export function RefreshWhileOpen({ seconds = 15 }: { seconds?: number }) {
  const router = useRouter()
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && router.refresh(), seconds * 1000)
    return () => clearInterval(timer)
  }, [router, seconds])
  return null
}
