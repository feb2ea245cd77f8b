'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { RadioCards } from '#app/_ui/radio-cards.tsx'
import { Select } from '#app/_ui/select.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import type { Basis } from '#core/budget/budget.ts'
import { monthWords } from '#core/day.ts'
import { errorRemedy } from '../../app-error.ts'

type Props = { org: string; basis: Basis; firstMonth: string | null; months: readonly string[] }

/** What statements count and from when on; for as long as none is closed. */
export function SetUpDialog({ org, months, ...now }: Props) {
  const router = useRouter()
  const [open, setOpen] = useState(false)
  const [basis, setBasis] = useState<Basis>(now.basis)
  const [first, setFirst] = useState(now.firstMonth ?? '')
  const save = useMutation(
    useTRPC().statement.setUp.mutationOptions({
      onSuccess: () => {
        toast('Saved')
        setOpen(false)
        router.refresh()
      },
    }),
  )
  const choices = [...new Set([...(now.firstMonth ? [now.firstMonth] : []), ...months])].sort()
  return (
    <Dialog
      title="What statements count"
      description="You can change it until the first statement is closed; from then on it stays."
      trigger={
        <Button size="sm" aria-label="Change what statements count">
          Change
        </Button>
      }
      open={open}
      onOpenChange={next => {
        if (save.isPending) return
        setOpen(next)
        setBasis(now.basis)
        setFirst(now.firstMonth ?? '')
        save.reset()
      }}
      footer={
        <>
          <DialogClose>
            <Button disabled={save.isPending}>Cancel</Button>
          </DialogClose>
          <Button
            variant="primary"
            loading={save.isPending}
            onClick={() => save.mutate({ org, basis, firstMonth: first || null })}
          >
            Save
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <RadioCards
          legend="They count"
          value={basis}
          onChange={setBasis}
          options={[
            {
              value: 'equivalent',
              label: 'All usage at list prices',
              hint: 'What the tokens would have cost by use, whatever plan covers them.',
            },
            {
              value: 'billed',
              label: 'What is paid for by use',
              hint: 'Calls under a flat plan are listed and cost nothing; what nobody knows the cover of stands beside the total.',
            },
          ]}
        />
        <Field label="The first month with statements" hint="Usage before it is on nobody’s statement.">
          <Select
            value={first}
            onChange={event => setFirst(event.target.value)}
            options={[
              { value: '', label: 'The first one with usage' },
              ...choices.map(month => ({ value: month, label: monthWords(month) })),
            ]}
          />
        </Field>
        {save.error && (
          <Banner kind="problem" title={save.error.message}>
            {errorRemedy(save.error)}
          </Banner>
        )}
      </div>
    </Dialog>
  )
}
