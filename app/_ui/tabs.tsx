'use client'

import Link from 'next/link'
import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import { cn } from './class-names.ts'

const TAB = 'relative inline-flex min-h-9 items-center gap-2 whitespace-nowrap px-1 text-ink-2 hover:text-ink'
const CHOSEN = 'font-medium text-ink after:absolute after:inset-x-0 after:bottom-0 after:h-0.5 after:bg-accent'
const BAR = 'flex gap-5 overflow-x-auto border-b'

export type Tab<V extends string> = { value: V; label: ReactNode; content: ReactNode }
type TabsProps<V extends string> = {
  label: string
  tabs: readonly Tab<V>[]
  value?: V
  defaultValue?: V
  onChange?: (value: V) => void
}

/** Views of one thing inside a page; arrow keys move. All panels are rendered, the others hidden. */
export function Tabs<V extends string>({ label, tabs, value, defaultValue, onChange }: TabsProps<V>) {
  const id = useId()
  const [own, setOwn] = useState(defaultValue ?? tabs[0]?.value)
  const bar = useRef<HTMLDivElement>(null)
  const chosen = value ?? own
  const choose = (next: V) => {
    setOwn(next)
    onChange?.(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex(tab => tab.value === chosen)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = tabs[(to + tabs.length) % tabs.length]
    if (!next) return
    choose(next.value)
    bar.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.value)}"]`)?.focus()
  }
  return (
    <div>
      <div ref={bar} role="tablist" aria-label={label} className={BAR} onKeyDown={onKeyDown}>
        {tabs.map(tab => (
          <button
            key={tab.value}
            type="button"
            role="tab"
            id={`${id}-${tab.value}`}
            data-tab={tab.value}
            aria-selected={tab.value === chosen}
            aria-controls={`${id}-${tab.value}-panel`}
            tabIndex={tab.value === chosen ? 0 : -1}
            onClick={() => choose(tab.value)}
            className={cn(TAB, '-outline-offset-2', tab.value === chosen && CHOSEN)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {tabs.map(tab => (
        <div
          key={tab.value}
          role="tabpanel"
          id={`${id}-${tab.value}-panel`}
          aria-labelledby={`${id}-${tab.value}`}
          hidden={tab.value !== chosen}
          className="pt-4"
        >
          {tab.content}
        </div>
      ))}
    </div>
  )
}

type TabLinksProps = { label: string; tabs: readonly { href: string; label: ReactNode; current: boolean }[] }

/** The same look for places with an address of their own. Where they do not all fit, the present one is in sight. */
export function TabLinks({ label, tabs }: TabLinksProps) {
  const bar = useRef<HTMLElement>(null)
  const present = tabs.find(tab => tab.current)?.href
  useLayoutEffect(() => {
    const tab = present && bar.current?.querySelector<HTMLElement>('[aria-current=page]')
    // Not scrollIntoView: that would move the page too.
    if (tab) bar.current!.scrollLeft = tab.offsetLeft - (bar.current!.clientWidth - tab.offsetWidth) / 2
  }, [present])
  return (
    <nav ref={bar} aria-label={label} className={cn(BAR, 'relative mb-4')}>
      {tabs.map(tab => (
        <Link
          key={tab.href}
          href={tab.href}
          aria-current={tab.current ? 'page' : undefined}
          className={cn(TAB, '-outline-offset-2', tab.current && CHOSEN)}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  )
}
