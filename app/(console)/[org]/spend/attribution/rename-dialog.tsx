'use client'

import { useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { TAG_VALUE } from '#core/usage/tags.ts'

type Props = { tag: string; value: string; onRename: (to: string) => void; onClose: () => void }

/** What a value of a tag is called from now on. */
export function RenameDialog({ tag, value, onRename, onClose }: Props) {
  const [to, setTo] = useState('')
  const [asked, setAsked] = useState(false)
  const word = to.trim()
  const error =
    word === value || !TAG_VALUE.test(word) ? 'Write another value: small letters, digits, dots, - and _.' : undefined
  const send = () => {
    setAsked(true)
    if (!error) onRename(word)
  }
  return (
    <Dialog
      open
      size="sm"
      onOpenChange={open => !open && onClose()}
      title={`Rename ${value}`}
      description={
        tag === 'tenant'
          ? 'To another tenant of yours, by its key. If there is none of that key yet, add it under Tenants first.'
          : 'Recorded usage keeps the old value; everything that reads it shows the new one. A value that is listed already takes the other’s usage in.'
      }
      footer={
        <>
          <DialogClose>
            <Button>Cancel</Button>
          </DialogClose>
          <Button variant="primary" onClick={send}>
            Review
          </Button>
        </>
      }
    >
      <form
        onSubmit={event => {
          event.preventDefault()
          send()
        }}
      >
        <Field label={`New ${tag}`} required error={asked && error}>
          <TextInput mono value={to} maxLength={63} onChange={event => setTo(event.target.value)} />
        </Field>
      </form>
    </Dialog>
  )
}
