'use client'

import { Printer } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'

/** Opens the browser's own printing: the page without navigation and buttons, on white. */
export function PrintButton() {
  return (
    <Button icon={<Printer aria-hidden />} onClick={() => window.print()}>
      Print
    </Button>
  )
}
