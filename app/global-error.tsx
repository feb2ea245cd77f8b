'use client'

import { Button } from '#app/_ui/button.tsx'
import { ErrorState } from '#app/_ui/error-state.tsx'
import './globals.css'

/** When even the layout failed. Next's own page would use style elements, which the CSP forbids. */
export default function GlobalError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <html lang="en" data-theme="system">
      <body>
        <main className="grid min-h-dvh place-content-center">
          <ErrorState
            headingLevel={1}
            title="The page could not be shown"
            reference={error.digest}
            action={
              <>
                <Button variant="primary" onClick={reset}>
                  Try again
                </Button>
                <Button onClick={() => window.location.assign('/')}>Go to the start</Button>
              </>
            }
          >
            Nothing was changed by this. Machines keep the rules they have and go on holding.
          </ErrorState>
        </main>
      </body>
    </html>
  )
}
