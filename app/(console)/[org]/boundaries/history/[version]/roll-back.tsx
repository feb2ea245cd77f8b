'use client'

import { useMutation } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
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
import { NOTE_MAX } from '#core/limits.ts'
import { errorCode, errorRemedy } from '../../../app-error.ts'
import type { Base } from '../../draft-store.ts'

type Props = { org: string; version: number; text: string; current: Base }

/** Publishes an old text as a new version, after showing what that changes now. */
export function RollBack({ org, version, text, current }: Props) {
  const router = useRouter()
  const [open, setOpen] = useState(false)
  const [note, setNote] = useState('')
  const [asked, setAsked] = useState(false)
  const back = useMutation(
    useTRPC().boundary.rollBack.mutationOptions({
      onSuccess: done => {
        setOpen(false)
        toast(`Version ${done.version} is signed`, { description: `It holds the text of version ${version}.` })
        router.push(`/${org}/boundaries/history/${done.version}`)
        router.refresh()
      },
      onError: error => errorCode(error) === 'STALE_EDIT' && router.refresh(),
    }),
  )
  const noteError = asked && note.trim() === '' ? 'Say why, for whoever reads the history.' : undefined
  const send = () => {
    setAsked(true)
    if (note.trim() !== '') back.mutate({ org, version, note: note.trim(), etag: current.etag })
  }
  return (
    <Dialog
      size="lg"
      open={open}
      onOpenChange={next => {
        if (back.isPending) return
        back.reset()
        setAsked(false)
        setOpen(next)
      }}
      trigger={<Button icon={<Undo2 aria-hidden />}>Roll back to this</Button>}
      title={`Roll back to version ${version}?`}
      description={`Its text is published again as version ${current.version + 1} or above, signed and in force on every machine within seconds. Version ${current.version} stays in the history.`}
      footer={
        <>
          <DialogClose>
            <Button disabled={back.isPending}>Cancel</Button>
          </DialogClose>
          <Button variant="primary" loading={back.isPending} onClick={send}>
            Sign and roll back
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
        {back.error && (
          <Banner kind="problem" title={back.error.message}>
            {errorCode(back.error) === 'STALE_EDIT'
              ? 'What you see below is now against that version; look again.'
              : errorRemedy(back.error)}
          </Banner>
        )}
        <Field label="Note: why it is done" required error={noteError}>
          <TextArea value={note} maxLength={NOTE_MAX} rows={2} onChange={event => setNote(event.target.value)} />
        </Field>
        <section className="rounded-md border">
          <h3 className="border-b px-4 py-2 text-sm">What changes against version {current.version}</h3>
          <DiffView before={current.text} after={text} label={`version ${current.version} and version ${version}`} />
        </section>
      </form>
    </Dialog>
  )
}
