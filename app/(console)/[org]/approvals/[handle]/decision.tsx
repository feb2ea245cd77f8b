'use client'

import {
  createContext,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { CopyButton } from '#app/_ui/copy-button.tsx'
import type { ApprovalState } from '#core/approval/state.ts'

type Held = {
  reason: string
  setReason: (reason: string) => void
  /** The answer with that reason was taken. */
  sent: () => void
  say: (words: string) => void
  /** What had the focus is about to go away. */
  focusGoes: () => void
}

const Context = createContext<Held | undefined>(undefined)

/** What the parts of a request's page share while it goes from waiting to its end. */
export function useDecision(): Held {
  const held = useContext(Context)
  if (!held) throw new Error('outside of a Decision')
  return held
}

/** Hands the focus on when the part within `ref`, or a dialog of it, goes away with it. */
export function useHandsFocusOn(ref: RefObject<HTMLElement | null>): void {
  const { focusGoes } = useDecision()
  const go = useRef(focusGoes)
  go.current = focusGoes
  // A layout effect is undone before the elements are taken away, while they still have the focus.
  useLayoutEffect(() => {
    const part = ref.current
    return () => {
      const at = document.activeElement
      if (at && (part?.contains(at) || at.closest('[role=alertdialog]'))) go.current()
    }
  }, [ref])
}

type Props = {
  state: ApprovalState
  /** How it ended, in a sentence; undefined while it waits. */
  ending?: string
  /** The form while it waits, its end afterwards. */
  children: ReactNode
}

/**
 * Stays while the page is read anew under it: says aloud what became of the request, gives the focus a place when the form
 * goes, and keeps what somebody was writing when another was first.
 */
export function Decision({ state, ending, children }: Props) {
  const [reason, setReason] = useState('')
  const [isSent, setSent] = useState(false)
  const [said, say] = useState('')
  const before = useRef(state)
  const goes = useRef(false)
  const end = useRef<HTMLDivElement>(null)

  useEffect(() => {
    if (before.current === state) return
    before.current = state
    if (ending) say(ending)
  }, [state, ending])
  // After every change: the part that had the focus may have gone with it.
  useLayoutEffect(() => {
    if (!goes.current) return
    goes.current = false
    end.current?.focus()
  })

  const held = useMemo(
    () => ({ reason, setReason, say, sent: () => setSent(true), focusGoes: () => (goes.current = true) }),
    [reason],
  )
  const unsent = state !== 'pending' && !isSent && reason.trim() !== ''
  return (
    <Context value={held}>
      <p role="status" className="sr-only">
        {said}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: no fieldset, but a place for the focus that has a name */}
      <div ref={end} role="group" tabIndex={-1} aria-label="Answer" className="grid gap-4 outline-0">
        {unsent && (
          <Banner
            kind="note"
            title="It was settled while you were writing."
            action={<CopyButton text={reason} label="Copy your words" />}
          >
            Your reason was not sent: “{reason.trim()}”
          </Banner>
        )}
        {children}
      </div>
    </Context>
  )
}
