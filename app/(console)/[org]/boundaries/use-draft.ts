'use client'

import { useCallback, useEffect, useRef, useState } from 'react'
import { type Base, type Draft, draftKey, dropDraft, keepDraft, loadDraft } from './draft-store.ts'

const MOST_UNDO = 100

type State = { base: Base; text: string; past: readonly string[] }

/**
 * The text being written, what it was written against, and the steps back. Whatever differs from its base is kept in this
 * browser at once and found again after a reload, an error or a new sign-in.
 */
export function useDraft(org: string, memberId: string, current: Base, enabled: boolean) {
  const key = draftKey(org, memberId)
  const [{ base, text, past }, setState] = useState<State>({ base: current, text: current.text, past: [] })
  const [found, setFound] = useState<Draft>()
  const [kept, setKept] = useState(true)
  const [ready, setReady] = useState(false)
  /** Whether what is kept is of this page: another one's draft is not for us to drop. */
  const keeping = useRef(false)
  const dirty = text !== base.text

  useEffect(() => {
    const draft = enabled ? loadDraft(key) : undefined
    if (draft && draft.text !== draft.base.text) {
      setState({ base: draft.base, text: draft.text, past: [] })
      setFound(draft)
      keeping.current = true
    }
    setReady(true)
  }, [key, enabled])

  // Somebody published while nothing of ours was written: show theirs. Versions only rise; just after a publication of our
  // own, what the page was rendered with is still the older one.
  useEffect(() => {
    if (ready && !dirty && current.version > base.version) setState({ base: current, text: current.text, past: [] })
  }, [ready, dirty, base.version, current])

  useEffect(() => {
    if (!ready || !enabled) return
    if (text !== base.text) {
      keeping.current = true
      setKept(keepDraft(key, { base, text, savedAt: new Date().toISOString() }))
    } else if (keeping.current) {
      keeping.current = false
      dropDraft(key)
    }
  }, [ready, enabled, key, base, text])

  /** A step that Undo takes back; typing passes `typing` and leaves undo to the text box. */
  const write = useCallback((next: string, typing = false) => {
    setState(state => {
      if (next === state.text) return state
      return { ...state, text: next, past: typing ? state.past : [...state.past.slice(1 - MOST_UNDO), state.text] }
    })
  }, [])
  const undo = useCallback(() => {
    setState(state =>
      state.past.length === 0 ? state : { ...state, text: state.past.at(-1)!, past: state.past.slice(0, -1) },
    )
  }, [])
  /** Starts anew from a base, with a text on top of it. */
  const restart = useCallback((nextBase: Base, nextText = nextBase.text) => {
    setState(state => ({ base: nextBase, text: nextText, past: [...state.past, state.text] }))
    setFound(undefined)
  }, [])

  return { base, text, dirty, ready, kept, found, canUndo: past.length > 0, write, undo, restart }
}
