'use client'

import { useEffect, useState } from 'react'

/** A value that follows once it has been still for a while. */
export function useDebounced<T>(value: T, ms: number): T {
  const [still, setStill] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setStill(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return still
}
