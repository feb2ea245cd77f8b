'use client'

import { useMutation } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { Select } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { MACHINE_LABEL, MACHINE_LABEL_WORDS } from '#core/id.ts'
import { errorRemedy } from '../app-error.ts'
import { JoinSteps } from './join-steps.tsx'

type Props = {
  org: string
  me: string
  /** For whom a line may be made; empty when only for oneself. */
  members: readonly { id: string; name: string }[]
  /** Machines that were there before. */
  known: readonly string[]
  openAtOnce: boolean
}

/** Makes a one-time line and shows what to do with it, until the machine has joined. */
export function AddMachine({ org, me, members, known, openAtOnce }: Props) {
  const router = useRouter()
  const [open, setOpen] = useState(openAtOnce)
  const [member, setMember] = useState(me)
  const [name, setName] = useState('')
  // As it was when the dialog opened: the page reads itself anew behind it.
  const [before, setBefore] = useState(known)
  const make = useMutation(useTRPC().machine.joinLine.mutationOptions())
  const label = name.trim()
  const isOdd = label !== '' && !MACHINE_LABEL.test(label)
  const makeLine = () =>
    make.mutate({ org, ...(member === me ? {} : { memberId: member }), ...(label === '' ? {} : { label }) })
  const close = (next: boolean) => {
    setOpen(next)
    setBefore(known)
    setName('')
    make.reset()
    if (!next) router.refresh()
  }
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      size="lg"
      trigger={
        <Button variant="primary" icon={<Plus aria-hidden />}>
          Add a machine
        </Button>
      }
      title="Add a machine"
      description={
        make.data
          ? `For ${make.data.member.name}. The line works once, for fifteen minutes.`
          : 'You get one line to paste into a terminal on that machine. It downloads the connector from here, checks it, and joins.'
      }
      footer={
        make.data ? (
          <DialogClose>
            <Button>Close</Button>
          </DialogClose>
        ) : (
          <>
            <DialogClose>
              <Button>Cancel</Button>
            </DialogClose>
            <Button variant="primary" loading={make.isPending} disabled={isOdd} onClick={makeLine}>
              Make the line
            </Button>
          </>
        )
      }
    >
      {make.data ? (
        <JoinSteps org={org} line={make.data} known={before} onAgain={makeLine} />
      ) : (
        <div className="grid gap-4">
          {make.error && (
            <Banner kind="problem" title={make.error.message}>
              {errorRemedy(make.error)}
            </Banner>
          )}
          {members.length > 1 ? (
            <Field
              label="Whose machine is it?"
              hint="What its agents ask for is asked in this person’s name, and an answer of their own takes a sign-in of their own, where your organisation allows it."
            >
              <Select
                value={member}
                options={members.map(({ id, name }) => ({ value: id, label: id === me ? `${name} (you)` : name }))}
                onChange={event => setMember(event.target.value)}
              />
            </Field>
          ) : (
            <p className="text-ink-2">It joins in your name. What its agents ask for is asked in your name too.</p>
          )}
          <Field
            label="Name"
            optional
            hint="How it is called on these pages; without one, by its host name."
            error={isOdd ? `A name has ${MACHINE_LABEL_WORDS}.` : undefined}
          >
            <TextInput
              value={name}
              maxLength={63}
              autoComplete="off"
              spellCheck={false}
              placeholder="build-1"
              onChange={event => setName(event.target.value)}
              onKeyDown={event => event.key === 'Enter' && !isOdd && !make.isPending && makeLine()}
            />
          </Field>
        </div>
      )}
    </Dialog>
  )
}
