'use client'

import { type KeyboardEvent, useState } from 'react'
import type { Suggest, Suggestion, Suggestions } from './suggestion.ts'

/** `active` is the one that Enter takes: none while nothing was begun, so that Enter still makes a new line. */
type Shown = Suggestions & { active: number | undefined }

/**
 * What a text box suggests at its cursor, and the keys that choose. Up and Down go through, Tab takes the one marked or the
 * first, Enter the one marked, Escape closes; Ctrl+Space asks.
 */
export function useSuggestions(suggest: Suggest | undefined, onTake: (found: Suggestions, item: Suggestion) => void) {
  const [shown, setShown] = useState<Shown>()
  const close = () => setShown(undefined)

  const look = (box: HTMLTextAreaElement, asked = false) => {
    const { value, selectionStart: at, selectionEnd: end } = box
    const found = at === end ? suggest?.(value, at, asked) : undefined
    setShown(found && { ...found, active: at > found.from ? 0 : undefined })
  }

  const take = (box: HTMLTextAreaElement, index: number) => {
    const item = shown?.items[index]
    if (!shown || !item) return
    close()
    onTake(shown, item)
    if (item.more) look(box, true)
  }

  /** True when the key was ours; the box does nothing more about it then. */
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    const box = event.currentTarget
    if (event.code === 'Space' && event.ctrlKey && suggest) {
      look(box, true)
      return true
    }
    if (!shown || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false
    const { items, active } = shown
    const move = (to: number) => setShown({ ...shown, active: (to + items.length) % items.length })
    switch (event.key) {
      case 'ArrowDown':
        move(active === undefined ? 0 : active + 1)
        return true
      case 'ArrowUp':
        move(active === undefined ? -1 : active - 1)
        return true
      case 'Tab':
        take(box, active ?? 0)
        return true
      case 'Enter':
        if (active === undefined) close()
        else take(box, active)
        return active !== undefined
      case 'Escape':
        close()
        return true
      default:
        return false
    }
  }

  /** The cursor went elsewhere. */
  const onSelect = (box: HTMLTextAreaElement) => {
    if (shown && (box.selectionStart < shown.from || box.selectionEnd > shown.to)) close()
  }
  return { shown, look, take, close, onKeyDown, onSelect }
}
