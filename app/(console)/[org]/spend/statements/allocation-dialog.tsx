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
import { Select } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import type { Basis } from '#core/budget/budget.ts'
import { monthWords } from '#core/day.ts'
import { errorRemedy } from '../../app-error.ts'
import { AllocationPreview } from './allocation-preview.tsx'
import { type Allocation, SHARING, type Tenant } from './words.ts'

type Of = { key: string; value: string }
type Props = {
  org: string
  tenants: readonly Tenant[]
  basis: Basis
  /** Newest first; a preview is of one of them. */
  months: readonly string[]
  /** A rule that stands; or values of which one may be shared. */
  edited?: Of & { rule: Allocation }
  offered?: readonly Of[]
}

const wordOf = ({ key, value }: Of) => `${key} ${value}`

/** Who bears what is nobody's own: the rule, and before it is set what each tenant would take of a month by it. */
export function AllocationDialog({ org, tenants, basis, months, edited, offered = [] }: Props) {
  const router = useRouter()
  const trpc = useTRPC()
  const [open, setOpen] = useState(false)
  const [of, setOf] = useState<Of>(edited ?? offered[0] ?? { key: '', value: '' })
  const [kind, setKind] = useState<Allocation['kind']>(edited?.rule.kind ?? 'proportional')
  const [shares, setShares] = useState<Record<string, string>>(
    edited?.rule.kind === 'fixed' ? { ...edited.rule.shares } : {},
  )
  const [month, setMonth] = useState(months[0] ?? '')
  const written = Object.fromEntries(
    Object.entries(shares).flatMap(([key, share]) => (share.trim() ? [[key, share.trim()]] : [])),
  )
  const rule: Allocation = kind === 'fixed' ? { kind, shares: written } : { kind }
  const { key, value } = of
  const preview = useQuery({
    ...trpc.statement.previewAllocation.queryOptions({ org, key, value, rule, month }),
    enabled: open && month !== '' && (kind !== 'fixed' || Object.keys(written).length > 0),
    placeholderData: before => before,
    retry: false,
  })
  const save = useMutation(
    trpc.statement.setAllocation.mutationOptions({
      onSuccess: () => {
        toast('Saved', { description: 'Drafts of months that nothing is closed of follow it now.' })
        setOpen(false)
        router.refresh()
      },
    }),
  )
  const isUnattributed = key === ''
  // Statements at list prices go by them in either way.
  const rules = SHARING.filter(({ value }) => value !== 'equivalent' || basis === 'billed' || kind === 'equivalent')
  const takers = tenants.filter(tenant => key !== 'tenant' || tenant.key !== value)
  return (
    <Dialog
      size="lg"
      title={
        isUnattributed ? 'What no tenant is found for' : edited ? `What is of ${wordOf(of)}` : 'Share a value of a tag'
      }
      description={
        isUnattributed
          ? 'Usage that no rule of attribution gives to a tenant. Rules can still be written for it; this says who bears what is left.'
          : 'Usage that carries this value is nobody’s own, whatever its tenant: it is taken out and spread over all.'
      }
      trigger={
        <Button
          size="sm"
          aria-label={`${edited ? 'Change' : 'Share'} ${isUnattributed ? 'unattributed' : edited ? wordOf(of) : 'a value'}`}
        >
          {edited ? 'Change' : 'Share a value'}
        </Button>
      }
      open={open}
      onOpenChange={next => !save.isPending && setOpen(next)}
      footer={
        <>
          {edited && !isUnattributed && (
            <Button
              className="mr-auto"
              loading={save.isPending}
              onClick={() => save.mutate({ org, key, value, rule: null })}
            >
              Share it no more
            </Button>
          )}
          <DialogClose>
            <Button disabled={save.isPending}>Cancel</Button>
          </DialogClose>
          <Button
            variant="primary"
            loading={save.isPending}
            onClick={() => save.mutate({ org, key, value, rule: isUnattributed && kind === 'none' ? null : rule })}
          >
            Save
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        {offered.length > 0 && (
          <Field label="Tag and value" className="max-w-sm">
            <Select
              value={wordOf(of)}
              onChange={event => setOf(offered.find(one => wordOf(one) === event.target.value) ?? of)}
              options={offered.map(one => ({ value: wordOf(one), label: `${one.key}: ${one.value}` }))}
            />
          </Field>
        )}
        <RadioCards legend="Who bears it" columns={2} value={kind} onChange={setKind} options={rules} />
        {kind === 'fixed' && (
          <fieldset className="grid gap-2">
            <legend className="mb-1.5 font-medium text-sm">Shares</legend>
            <div className="grid gap-3 sm:grid-cols-3">
              {takers.map(tenant => (
                <Field key={tenant.key} label={tenant.name}>
                  <TextInput
                    inputMode="decimal"
                    autoComplete="off"
                    suffix="%"
                    value={shares[tenant.key] ?? ''}
                    onChange={event => setShares({ ...shares, [tenant.key]: event.target.value })}
                  />
                </Field>
              ))}
            </div>
          </fieldset>
        )}
        {save.error && (
          <Banner kind="problem" title={save.error.message}>
            {errorRemedy(save.error)}
          </Banner>
        )}
        <section className="rounded-md border">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5">
            <h3 className="mr-auto text-sm">What each would take</h3>
            {months.length > 0 && (
              <Select
                aria-label="Month of the preview"
                className="w-44"
                value={month}
                onChange={event => setMonth(event.target.value)}
                options={months.map(one => ({ value: one, label: monthWords(one) }))}
              />
            )}
          </div>
          {preview.error ? (
            <p role="alert" className="px-4 py-3 text-held">
              {preview.error.message} {errorRemedy(preview.error)}
            </p>
          ) : preview.data ? (
            <AllocationPreview
              preview={preview.data}
              isProportional={kind === 'proportional'}
              remedy={
                basis === 'billed' && (
                  <Button size="sm" onClick={() => setKind('equivalent')}>
                    Go by list prices
                  </Button>
                )
              }
            />
          ) : (
            <p className="px-4 py-3 text-ink-2">
              {months.length === 0
                ? 'There is no month with usage yet.'
                : kind === 'fixed'
                  ? 'Write a share to see it.'
                  : 'Reading the month…'}
            </p>
          )}
        </section>
      </div>
    </Dialog>
  )
}
