'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { DiffView } from '#app/_ui/diff-view.tsx'
import { Field } from '#app/_ui/field.tsx'
import { TextArea } from '#app/_ui/text-area.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import type { EditResult } from '#core/boundary/document-edit.ts'
import { NOTE_MAX } from '#core/limits.ts'
import { errorCode, errorDetails, errorRemedy } from '../../app-error.ts'
import { readInForce } from '../../boundaries/read-in-force.ts'

/** The text that the edit is made in. */
export type Base = { version: number; text: string; etag: string }
type Edit =
  | { kind: 'save'; name?: string | undefined; budget: Record<string, unknown> }
  | { kind: 'remove'; name: string }

type Props = {
  org: string
  base: Base
  edit: Edit
  /** Makes the edit in a text: again in another one when somebody published meanwhile. */
  apply: (text: string) => EditResult
  onBase: (base: Base) => void
  onClose: () => void
}

/** What the edit changes in the rules' text, and why it is done; then it is signed as the next version. */
export function ReviewDialog({ org, base, edit, apply, onBase, onClose }: Props) {
  const trpc = useTRPC()
  const router = useRouter()
  const [note, setNote] = useState('')
  const [asked, setAsked] = useState(false)
  const [moved, setMoved] = useState<number>()
  const done = ({ version }: { version: number }) => {
    toast(`Version ${version} is signed`, { description: 'Machines read it within seconds.' })
    const name = edit.kind === 'save' ? String(edit.budget.name) : undefined
    router.push(`/${org}/spend/budgets${name ? `/${name}` : ''}`)
    router.refresh()
  }
  const failed = (error: unknown) => {
    const theirs = errorCode(error) === 'STALE_EDIT' ? readInForce(errorDetails(error).current) : undefined
    if (!theirs) return
    setMoved(theirs.version)
    onBase(theirs)
  }
  const save = useMutation(trpc.budget.save.mutationOptions({ onSuccess: done, onError: failed }))
  const remove = useMutation(trpc.budget.remove.mutationOptions({ onSuccess: done, onError: failed }))
  const act = edit.kind === 'save' ? save : remove
  const edited = apply(base.text)
  const noteError = asked && note.trim() === '' ? 'Say why, for whoever reads the history.' : undefined
  const same = edited.ok && edited.text === base.text
  const send = () => {
    setAsked(true)
    if (note.trim() === '' || !edited.ok || same || act.isPending) return
    const publication = { org, note: note.trim(), etag: base.etag }
    if (edit.kind === 'remove') remove.mutate({ ...publication, name: edit.name })
    else save.mutate({ ...publication, budget: edit.budget, ...(edit.name === undefined ? {} : { name: edit.name }) })
  }
  const error = act.error && errorCode(act.error) !== 'STALE_EDIT' ? act.error : undefined
  return (
    <Dialog
      open
      onOpenChange={open => !open && !act.isPending && onClose()}
      size="lg"
      title={edit.kind === 'save' ? 'Review and publish' : `Remove budget ${edit.name}?`}
      description={
        edit.kind === 'save'
          ? 'The budget is written into the text of the rules; comments and everything else stay. It is signed as the next version.'
          : 'Nobody is told of its steps any more. A boundary that names it would be refused: change that first. What was told stays on record.'
      }
      footer={
        <>
          <DialogClose>
            <Button disabled={act.isPending}>Go back</Button>
          </DialogClose>
          <Button
            variant={edit.kind === 'save' ? 'primary' : 'danger-solid'}
            loading={act.isPending}
            disabled={!edited.ok || same}
            onClick={send}
          >
            {edit.kind === 'save' ? 'Sign and publish' : 'Sign and remove'}
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
            {edited.message} Change it in the text of the rules, under Boundaries.
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
              alike="Nothing differs: the budget stands like this already."
            />
          </section>
        )}
      </form>
    </Dialog>
  )
}
