'use client'

import { useMutation, useQuery } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { RadioCards } from '#app/_ui/radio-cards.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import type { AllocationRule } from '#core/spend/allocate.ts'
import { errorRemedy } from '../../../app-error.ts'
import { SpreadTable } from './spread-table.tsx'

type Kind = AllocationRule['kind']
const RULES: readonly { value: Kind; label: string; hint: string }[] = [
  { value: 'none', label: 'Not spread', hint: 'It stays with the organisation and stands on no statement.' },
  {
    value: 'proportional',
    label: 'In proportion',
    hint: 'Each tenant takes a part like its own paid use of this provider in the month.',
  },
  {
    value: 'equivalent',
    label: 'In proportion to list prices',
    hint: 'A part like its use of this provider at list prices, whatever covers it.',
  },
  { value: 'even', label: 'In equal parts', hint: 'Every tenant takes the same, also one that used nothing.' },
  { value: 'fixed', label: 'By fixed shares', hint: 'Percentages that you write; what they leave of a hundred stays.' },
]

type Props = {
  org: string
  id: string
  rule: AllocationRule
  tenants: readonly { key: string; name: string }[]
  currency: string
  /** Usage that may be in the difference stands on the statements already. */
  twice: boolean
}

/** How the difference is spread, and before it is what each tenant would take by it. */
export function SpreadDialog({ org, id, rule: before, tenants, currency, twice }: Props) {
  const router = useRouter()
  const trpc = useTRPC()
  const [open, setOpen] = useState(false)
  const [kind, setKind] = useState<Kind>(before.kind === 'none' ? 'proportional' : before.kind)
  const [shares, setShares] = useState<Record<string, string>>(before.kind === 'fixed' ? { ...before.shares } : {})
  const written = Object.fromEntries(
    Object.entries(shares).flatMap(([tenant, share]) => (share.trim() ? [[tenant, share.trim()]] : [])),
  )
  const rule: AllocationRule = kind === 'fixed' ? { kind, shares: written } : { kind }
  const preview = useQuery({
    ...trpc.invoice.previewSpread.queryOptions({ org, id, rule }),
    enabled: open && (kind !== 'fixed' || Object.keys(written).length > 0),
    placeholderData: last => last,
    retry: false,
  })
  const save = useMutation(
    trpc.invoice.spread.mutationOptions({
      onSuccess: () => {
        toast(kind === 'none' ? 'The difference is on no statement' : 'The difference stands on the statements')
        setOpen(false)
        router.refresh()
      },
    }),
  )
  return (
    <Dialog
      size="lg"
      title="Who bears the difference"
      description="It becomes a line of its own on each tenant’s statement of that month, with the rule in words. What the rule leaves stays with the organisation."
      trigger={<Button size="sm">{before.kind === 'none' ? 'Spread it' : 'Change'}</Button>}
      open={open}
      onOpenChange={next => {
        if (save.isPending) return
        save.reset()
        setOpen(next)
      }}
      footer={
        <>
          <DialogClose>
            <Button disabled={save.isPending}>Cancel</Button>
          </DialogClose>
          <Button variant="primary" loading={save.isPending} onClick={() => save.mutate({ org, id, rule })}>
            {kind === 'none' ? 'Spread it no more' : 'Put it on the statements'}
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        {twice && kind !== 'none' && (
          <Banner kind="note" title="Tenants may be charged twice.">
            Statements count all usage at list prices, also that of which nobody knows whether a plan covers it, and the
            difference may hold the same usage. First say what covers it, with <code>covered:</code> in the rule set.
          </Banner>
        )}
        <RadioCards legend="The rule" columns={2} value={kind} onChange={setKind} options={RULES} />
        {kind === 'fixed' && (
          <fieldset className="grid gap-2">
            <legend className="mb-1.5 font-medium text-sm">Shares</legend>
            {tenants.length === 0 ? (
              <p className="text-ink-2">There is no tenant yet. List them under Attribution.</p>
            ) : (
              <div className="grid gap-3 sm:grid-cols-3">
                {tenants.map(({ key: tenant, name }) => (
                  <Field key={tenant} label={name}>
                    <TextInput
                      inputMode="decimal"
                      autoComplete="off"
                      suffix="%"
                      value={shares[tenant] ?? ''}
                      onChange={event => setShares({ ...shares, [tenant]: event.target.value })}
                    />
                  </Field>
                ))}
              </div>
            )}
          </fieldset>
        )}
        {save.error && (
          <Banner kind="problem" title={save.error.message}>
            {errorRemedy(save.error)}
          </Banner>
        )}
        {kind !== 'none' && (
          <section className="rounded-md border">
            <h3 className="border-b px-4 py-2 text-sm">What each would take</h3>
            {preview.error ? (
              <p role="alert" className="px-4 py-3 text-held">
                {preview.error.message} {errorRemedy(preview.error)}
              </p>
            ) : preview.data ? (
              <SpreadTable
                spread={preview.data}
                invoiceCurrency={currency}
                remedy={
                  <Button size="sm" onClick={() => setKind('equivalent')}>
                    Go by list prices
                  </Button>
                }
              />
            ) : (
              <p className="px-4 py-3 text-ink-2">
                {kind === 'fixed' ? 'Write a share to see it.' : 'Reading the month…'}
              </p>
            )}
          </section>
        )}
      </div>
    </Dialog>
  )
}
