'use client'

import { useEffect, useState } from 'react'

/**
 * While something is unpublished: asks the browser to ask before the page is closed, and stops links of our own so that
 * the page can ask. Gives the address that was stopped, and a way to let it go.
 */
export function useLeaveWarning(active: boolean) {
  const [wanted, setWanted] = useState<string>()
  useEffect(() => {
    if (!active) return
    const onBeforeUnload = (event: BeforeUnloadEvent) => event.preventDefault()
    // In the capture phase, before the router's own listener hears the click.
    const onClick = (event: MouseEvent) => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      const link = (event.target as Element | null)?.closest?.('a[href]')
      if (!(link instanceof HTMLAnchorElement) || link.target === '_blank' || link.origin !== location.origin) return
      if (link.pathname === location.pathname) return
      event.preventDefault()
      event.stopImmediatePropagation()
      setWanted(link.pathname + link.search + link.hash)
    }
    window.addEventListener('beforeunload', onBeforeUnload)
    window.addEventListener('click', onClick, { capture: true })
    return () => {
      window.removeEventListener('beforeunload', onBeforeUnload)
      window.removeEventListener('click', onClick, { capture: true })
    }
  }, [active])
  return { wanted, stay: () => setWanted(undefined) }
}
