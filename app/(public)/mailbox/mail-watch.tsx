'use client'

import { useRouter } from 'next/navigation'
import { useEffect } from 'react'

const EVERY_MS = 4000

/** Looks for new mail while the page is seen. */
export function MailWatch() {
  const router = useRouter()
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && router.refresh(), EVERY_MS)
    return () => clearInterval(timer)
  }, [router])
  return null
}
