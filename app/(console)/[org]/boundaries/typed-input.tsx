'use client'

import { useState } from 'react'
import { TextArea } from '#app/_ui/text-area.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'

type Props = {
  value: string
  /** Takes what was typed; gives a reason when it could not be written. */
  onWrite: (value: string) => string | undefined
  /** `change`: at every key. `leave`: on Enter or when the field is left, for what others hang on. */
  when?: 'change' | 'leave'
  onRefused?: (reason: string | undefined) => void
  area?: boolean
  mono?: boolean
  prefix?: string
  suffix?: string
  placeholder?: string
  disabled?: boolean
  inputMode?: 'decimal' | 'text'
  'aria-label'?: string
  className?: string
}

/** A field over the document's text: shows the document, but what is being typed while it has the focus. */
export function TypedInput({ value, onWrite, when = 'change', onRefused, area, ...rest }: Props) {
  const [typed, setTyped] = useState<string>()
  const write = (next: string) => {
    const reason = next === value ? undefined : onWrite(next)
    onRefused?.(reason)
  }
  const shared = {
    ...rest,
    value: typed ?? value,
    spellCheck: area,
    autoComplete: 'off',
    onFocus: () => setTyped(value),
    onChange: (event: { target: { value: string } }) => {
      setTyped(event.target.value)
      if (when === 'change') write(event.target.value)
    },
    onBlur: () => {
      if (when === 'leave' && typed !== undefined) write(typed.trim())
      setTyped(undefined)
    },
  }
  if (area) return <TextArea {...shared} rows={2} />
  return (
    <TextInput
      {...shared}
      onKeyDown={event => {
        if (event.key === 'Enter' && when === 'leave' && typed !== undefined) write(typed.trim())
      }}
    />
  )
}
