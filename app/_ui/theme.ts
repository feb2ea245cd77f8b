const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** Read on the server in app/layout.tsx, written in the browser by ThemeChoice. */
export const THEME_COOKIE = 'theme'

/** Anything but a known theme counts as `system`. */
export function parseTheme(value: string | undefined): Theme {
  return THEMES.find(theme => theme === value) ?? 'system'
}
