import type { Metadata, Viewport } from 'next'
import localFont from 'next/font/local'
import { cookies } from 'next/headers'
import type { ReactNode } from 'react'
import { parseTheme, THEME_COOKIE } from '#app/_ui/theme.ts'
import { Toaster } from '#app/_ui/toast.tsx'
import { TooltipProvider } from '#app/_ui/tooltip.tsx'
import './globals.css'

// The Latin part is preloaded, so that text seldom shows in another face first; globals.css brings the other scripts.
const inter = localFont({
  src: '../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  weight: '100 900',
  display: 'swap',
  variable: '--font-inter',
  adjustFontFallback: false,
})

export const metadata: Metadata = {
  title: { default: 'Holdpoint', template: '%s · Holdpoint' },
  description:
    'Hold points for coding agents: a limit set before work starts, and a record of who let the agent go further.',
  robots: { index: false, follow: false },
}

export const viewport: Viewport = {
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#fafaf9' },
    { media: '(prefers-color-scheme: dark)', color: '#121110' },
  ],
}

/** The theme comes from a cookie and is in the first byte of HTML: no script runs before paint, and nothing flashes. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const theme = parseTheme((await cookies()).get(THEME_COOKIE)?.value)
  return (
    <html lang="en" className={inter.variable} data-theme={theme} suppressHydrationWarning>
      <body>
        <TooltipProvider>
          {children}
          <Toaster />
        </TooltipProvider>
      </body>
    </html>
  )
}
