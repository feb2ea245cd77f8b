'use client'

import { useCallback, useSyncExternalStore } from 'react'

/**
 * The present, cut down to whole steps; re-renders once a step while mounted and visible.
 * On the server it is the moment of rendering; callers mark their text `suppressHydrationWarning`.
 */
export function useNow(stepMs: number): Date {
  const subscribe = useCallback(
    (onTick: () => void) => {
      const timer = setInterval(onTick, Math.min(stepMs, 5000))
      document.addEventListener('visibilitychange', onTick)
      return () => {
        clearInterval(timer)
        document.removeEventListener('visibilitychange', onTick)
      }
    },
    [stepMs],
  )
  const read = () => Math.floor(Date.now() / stepMs) * stepMs
  return new Date(useSyncExternalStore(subscribe, read, read))
}

const subscribeNever = () => () => {}

/** False on the server and in the first browser render, true from then on. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    subscribeNever,
    () => true,
    () => false,
  )
}
