'use client'

import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { cn } from './class-names.ts'
import type { Suggestions } from './suggestion.ts'

type Props = {
  id: string
  found: Suggestions
  active: number | undefined
  /** Where on the screen the word begins that the list is about; undefined while it cannot be seen. */
  place: () => DOMRect | undefined
  onTake: (index: number) => void
}

export const optionId = (id: string, index: number) => `${id}-${index}`

/** The suggestions beneath a word, or above it where there is no room. The text box keeps the focus. */
export function SuggestionList({ id, found, active, place, onTake }: Props) {
  const list = useRef<HTMLDivElement>(null)
  usePlacing(list, place, found)
  useEffect(() => {
    if (active !== undefined) document.getElementById(optionId(id, active))?.scrollIntoView({ block: 'nearest' })
  }, [id, active])
  return createPortal(
    <div
      ref={list}
      id={id}
      role="listbox"
      aria-label="Suggestions"
      className="invisible fixed top-0 left-0 z-50 max-h-64 w-max min-w-56 max-w-[min(32rem,calc(100%-1rem))] overflow-y-auto rounded-lg border bg-panel p-1 shadow-float"
    >
      {found.items.map((item, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the text box's, which keeps the focus
        <div
          key={item.label}
          id={optionId(id, index)}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          onPointerDown={event => event.preventDefault()}
          onClick={() => onTake(index)}
          className={cn(
            'grid cursor-pointer items-baseline gap-x-3 sm:grid-cols-[minmax(8rem,auto)_minmax(0,1fr)] rounded-sm px-2 py-1 hover:bg-raised pointer-coarse:py-2.5',
            index === active && 'bg-accent-soft hover:bg-accent-soft',
          )}
        >
          <code className="text-ink">{item.label}</code>
          {item.help && <span className="text-pretty text-ink-2 text-xs">{item.help}</span>}
        </div>
      ))}
    </div>,
    document.body,
  )
}

/** Keeps the list by its word while anything scrolls. Set from script: the policy of the page allows no style in markup. */
function usePlacing(list: RefObject<HTMLDivElement | null>, place: () => DOMRect | undefined, found: Suggestions) {
  const current = useRef(place)
  current.current = place
  // biome-ignore lint/correctness/useExhaustiveDependencies: other suggestions stand elsewhere and are of another height
  useLayoutEffect(() => {
    const put = () => {
      const box = list.current
      const word = current.current()
      if (!box) return
      box.style.visibility = word ? 'visible' : 'hidden'
      if (!word) return
      const { width, height } = box.getBoundingClientRect()
      const below = word.bottom + 4
      const fits = below + height <= window.innerHeight - 8 || word.top < height
      box.style.top = `${fits ? below : word.top - height - 4}px`
      box.style.left = `${Math.max(8, Math.min(word.left - 9, document.documentElement.clientWidth - width - 8))}px`
    }
    put()
    window.addEventListener('scroll', put, { capture: true, passive: true })
    window.addEventListener('resize', put)
    return () => {
      window.removeEventListener('scroll', put, { capture: true })
      window.removeEventListener('resize', put)
    }
  }, [list, found])
}
