'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type ReactNode, useState } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { DiffView } from '#app/_ui/diff-view.tsx'
import { Field } from '#app/_ui/field.tsx'
import { TextArea } from '#app/_ui/text-area.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { NOTE_MAX } from '#core/limits.ts'
import { errorCode, errorDetails, errorRemedy } from '../app-error.ts'
import { readInForce } from '../boundaries/read-in-force.ts'

/** The text that the edit is made in. */
export type Base = { version: number; text: string; etag: string }
type Applied = { ok: true; text: string } | { ok: false; message: string; remedy?: string }

type Props = {
  title: ReactNode
  description: ReactNode
  confirmLabel: string
  danger?: boolean
  base: Base
  /** Makes the edit in a text: again in another one when somebody published meanwhile. */
  apply: (text: string) => Applied
  publish: (publication: { note: string; etag: string }) => Promise<{ version: number }>
  onBase: (base: Base) => void
  /** Where it leads once it is published. */
  onDone: (version: number) => void
  onClose: () => void
  /** What is said where nothing differs. */
  alike: string
}

/** What an edit changes in the rules' text, and why it is done; then it is signed as the next version. */
export function EditReview(props: Props) {
  const { title, description, confirmLabel, danger, base, apply, publish, onBase, onDone, onClose, alike } = props
  const router = useRouter()
  const [note, setNote] = useState('')
  const [asked, setAsked] = useState(false)
  const [moved, setMoved] = useState<number>()
  const act = useMutation({
    mutationFn: publish,
    onSuccess: ({ version }) => {
      toast(`Version ${version} is signed`, { description: 'Machines read it within seconds.' })
      onDone(version)
      router.refresh()
    },
    onError: error => {
      const theirs = errorCode(error) === 'STALE_EDIT' ? readInForce(errorDetails(error).current) : undefined
      if (!theirs) return
      setMoved(theirs.version)
      onBase(theirs)
    },
  })
  const edited = apply(base.text)
  const noteError = asked && note.trim() === '' ? 'Say why, for whoever reads the history.' : undefined
  const same = edited.ok && edited.text === base.text
  const send = () => {
    setAsked(true)
    if (note.trim() === '' || !edited.ok || same || act.isPending) return
    act.mutate({ note: note.trim(), etag: base.etag })
  }
  const error = act.error && errorCode(act.error) !== 'STALE_EDIT' ? act.error : undefined
  return (
    <Dialog
      open
      onOpenChange={open => !open && !act.isPending && onClose()}
      size="lg"
      title={title}
      description={description}
      footer={
        <>
          <DialogClose>
            <Button disabled={act.isPending}>Go back</Button>
          </DialogClose>
          <Button
            variant={danger ? 'danger-solid' : 'primary'}
            loading={act.isPending}
            disabled={!edited.ok || same}
            onClick={send}
          >
            {confirmLabel}
          </Button>
        </>
      }
    >
      <form
        className="grid grid-cols-[minmax(0,1fr)] gap-4"
        onSubmit={event => {
          event.preventDefault()
          send()
        }}
      >
        {moved !== undefined && (
          <Banner kind="stale" title={`Version ${moved} was published meanwhile.`}>
            Nothing was saved. What you see below is your change in that text; look again, then publish.
          </Banner>
        )}
        {error && (
          <Banner kind="problem" title={error.message}>
            {errorRemedy(error)} Nothing was published.
          </Banner>
        )}
        {!edited.ok && (
          <Banner kind="problem" title="The text cannot be changed here.">
            {edited.message.charAt(0).toUpperCase() + edited.message.slice(1)}.{' '}
            {edited.remedy ?? 'Change it in the text of the rules, under Boundaries.'}
          </Banner>
        )}
        <Field label="Note: why it is done" required error={noteError}>
          <TextArea value={note} maxLength={NOTE_MAX} rows={2} onChange={event => setNote(event.target.value)} />
        </Field>
        {edited.ok && (
          <section className="rounded-md border">
            <h3 className="border-b px-4 py-2 text-sm">
              {base.version === 0 ? 'What is written' : `What changes against version ${base.version}`}
            </h3>
            <DiffView
              before={base.text}
              after={edited.text}
              label={`version ${base.version} and the next`}
              alike={alike}
            />
          </section>
        )}
      </form>
    </Dialog>
  )
}
