'use client'

import { Monitor, Moon, Sun } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { parseTheme, THEME_COOKIE, type Theme } from './theme.ts'

const YEAR_S = 31_536_000

export const THEME_CHOICES = [
  { value: 'system', label: 'As the system', icon: <Monitor aria-hidden /> },
  { value: 'light', label: 'Light', icon: <Sun aria-hidden /> },
  { value: 'dark', label: 'Dark', icon: <Moon aria-hidden /> },
] as const

function subscribe(onChange: () => void) {
  const observer = new MutationObserver(onChange)
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => observer.disconnect()
}

/** The reader's theme and how to change it: at once on this page, and by cookie for every later one. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const theme = useSyncExternalStore<Theme>(
    subscribe,
    () => parseTheme(document.documentElement.dataset.theme),
    () => 'system',
  )
  return [theme, storeTheme]
}

function storeTheme(theme: Theme) {
  document.documentElement.dataset.theme = theme
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not yet in every browser
  document.cookie = `${THEME_COOKIE}=${theme}; Path=/; Max-Age=${YEAR_S}; SameSite=Lax${secure}`
}
