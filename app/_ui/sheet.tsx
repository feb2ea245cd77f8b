'use client'

import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { IconButton } from './icon-button.tsx'

type Props = {
  title: string
  trigger: ReactNode
  open?: boolean
  onOpenChange?: (open: boolean) => void
  head?: ReactNode
  children: ReactNode
}

/** A panel from the left edge, for the navigation on phones. `title` is for screen readers; `head` is what is seen. */
export function Sheet({ title, trigger, open, onOpenChange, head, children }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <div data-scrim className="fixed inset-0 z-40 animate-appear bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          aria-modal="true"
          className="fixed inset-y-0 left-0 z-50 flex w-72 max-w-[calc(100vw-3rem)] animate-slide-in flex-col overflow-y-auto border-r bg-panel px-3 py-3 shadow-float outline-0"
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          <div className="mb-2 pr-11">{head}</div>
          {children}
          <Radix.Close asChild>
            <IconButton label="Close" tooltip={false} icon={<X aria-hidden />} className="absolute top-3 right-2" />
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
