'use client'

import { CircleAlert, CircleCheck, Info, X } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { IconButton } from './icon-button.tsx'
import { dismissToast, readToasts, subscribeToasts, type ToastMessage } from './toast-store.ts'

const STAYS_MS = 6000
const NONE: readonly ToastMessage[] = []
const ICON = {
  passed: <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-passed" />,
  held: <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-held" />,
  neutral: <Info aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />,
}

/** Where `toast()` messages appear; stands once, in the root layout. Not a library: those write style elements, which the CSP forbids. */
export function Toaster() {
  const messages = useSyncExternalStore(subscribeToasts, readToasts, () => NONE)
  return (
    <section
      aria-label="Notices"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-60 ml-auto flex max-w-96 flex-col gap-2"
    >
      {/* Always there, so that a screen reader hears what is put into it. */}
      <div role="status" aria-live="polite" className="contents">
        {messages.map(message => (
          <Message key={message.id} message={message} />
        ))}
      </div>
    </section>
  )
}

function Message({ message }: { message: ToastMessage }) {
  const [paused, setPaused] = useState(false)
  const { id, tone, title, description } = message
  useEffect(() => {
    if (paused || tone === 'held') return
    const timer = setTimeout(() => dismissToast(id), STAYS_MS)
    return () => clearTimeout(timer)
  }, [id, tone, paused])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only holds the timer
    <div
      onMouseEnter={() => setPaused(true)}
      onMouseLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
      className="pointer-events-auto flex animate-appear items-start gap-2.5 rounded-lg border border-line-strong bg-panel py-2.5 pr-2 pl-3.5 shadow-float"
    >
      {ICON[tone]}
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        {description && <div className="text-ink-2 text-sm">{description}</div>}
      </div>
      <IconButton
        label="Close notice"
        tooltip={false}
        icon={<X aria-hidden />}
        size="sm"
        className="-my-1"
        onClick={() => dismissToast(id)}
      />
    </div>
  )
}
