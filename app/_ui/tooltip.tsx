'use client'

import { Tooltip as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

/** Stands once, in the root layout. */
export function TooltipProvider({ children }: { children: ReactNode }) {
  return <Radix.Provider delayDuration={300}>{children}</Radix.Provider>
}

type Side = 'top' | 'right' | 'bottom' | 'left'

/** A short remark on hover and on focus. The child must take focus (a button or link). Never the only place of a fact. */
export function Tooltip({ text, side = 'top', children }: { text: ReactNode; side?: Side; children: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-72 animate-appear rounded-md bg-ink px-2 py-1 text-xs text-bg shadow-float"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
