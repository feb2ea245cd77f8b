'use client'

import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useRef } from 'react'
import { cn } from './class-names.ts'
import { IconButton } from './icon-button.tsx'

type Props = {
  title: ReactNode
  description?: ReactNode
  /** The button that opens it; or steer it with `open`. */
  trigger?: ReactNode
  open?: boolean
  onOpenChange?: (open: boolean) => void
  size?: 'sm' | 'md' | 'lg'
  /** `alertdialog` for a question that must be answered. */
  role?: 'dialog' | 'alertdialog'
  children?: ReactNode
  /** Buttons at the foot, the main one last. */
  footer?: ReactNode
}

const WIDTH = { sm: 'max-w-md', md: 'max-w-lg', lg: 'max-w-3xl' }

/** A modal dialog: keeps focus, closes on Escape, gives focus back. */
export function Dialog({
  title,
  description,
  trigger,
  open,
  onOpenChange,
  size = 'md',
  role = 'dialog',
  children,
  footer,
}: Props) {
  const opener = useRef<Element>(null)
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      {trigger && <Radix.Trigger asChild>{trigger}</Radix.Trigger>}
      <Radix.Portal>
        {/* Not Radix's Overlay: its scroll lock writes a style element, which the CSP forbids. globals.css locks instead. */}
        <div data-scrim className="fixed inset-0 z-40 animate-appear bg-scrim" />
        <Radix.Content
          role={role}
          aria-modal="true"
          onOpenAutoFocus={() => {
            opener.current = document.activeElement
          }}
          onCloseAutoFocus={() => {
            // Radix gives focus back to its own trigger, and without one to nobody.
            if (!trigger && opener.current instanceof HTMLElement) opener.current.focus()
          }}
          {...(description ? {} : { 'aria-describedby': undefined })}
          className={cn(
            'fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 animate-appear flex-col rounded-lg border bg-panel shadow-float outline-0',
            WIDTH[size],
          )}
        >
          <div className="min-w-0 break-words px-5 pt-4 pr-12">
            <Radix.Title className="text-lg">{title}</Radix.Title>
            {description && <Radix.Description className="mt-1 text-ink-2">{description}</Radix.Description>}
          </div>
          <div className="min-h-0 min-w-0 overflow-y-auto px-5 py-4 *:*:min-w-0 *:min-w-0 empty:pt-0">{children}</div>
          {footer && <div className="flex flex-wrap justify-end gap-2 border-t px-5 py-3">{footer}</div>}
          {/* Last in the order, so that focus starts in the first field or on the first button. */}
          <Radix.Close asChild>
            <IconButton
              label="Close"
              tooltip={false}
              icon={<X aria-hidden />}
              size="sm"
              className="absolute top-3.5 right-3.5"
            />
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Wraps a footer button that only closes the dialog. */
export const DialogClose = ({ children }: { children: ReactNode }) => <Radix.Close asChild>{children}</Radix.Close>
