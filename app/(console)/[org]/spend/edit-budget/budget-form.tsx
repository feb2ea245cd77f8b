'use client'

import { useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Field } from '#app/_ui/field.tsx'
import { SegmentedControl } from '#app/_ui/segmented-control.tsx'
import { Select, type SelectOption } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { EditProblems } from '../edit-problems.tsx'
import { type Defaults, type Draft, documentOf, readDraft, textWith, textWithout } from './draft.ts'
import { OwnersField } from './owners-field.tsx'
import { type Base, ReviewDialog } from './review-dialog.tsx'

export type Choices = {
  /** Keys that a budget may be for, each with the values that it may have. */
  keys: { key: string; values: SelectOption[] }[]
  owners: SelectOption[]
  /** The dollar and those with an exchange rate. */
  currencies: readonly SelectOption[]
  zones: readonly string[]
}
type Props = {
  org: string
  /** The budget that is changed; absent: a new one. */
  name?: string
  draft: Draft
  base: Base
  defaults: Defaults
  choices: Choices
}

const WINDOWS: SelectOption[] = [
  { value: 'daily', label: 'Each day' },
  { value: 'weekly', label: 'Each week, from Monday' },
  { value: 'monthly', label: 'Each month' },
  { value: 'quarterly', label: 'Each quarter' },
  { value: 'rolling', label: 'The last so many days' },
]

/** One budget as a form. It is read as the document is, so that what is wrong is said before anything is sent. */
export function BudgetForm({ org, name, draft: given, base: current, defaults, choices }: Props) {
  const [draft, setDraft] = useState(given)
  const [base, setBase] = useState(current)
  const [asked, setAsked] = useState(false)
  const [review, setReview] = useState<'save' | 'remove'>()
  const set = (change: Partial<Draft>) => setDraft(before => ({ ...before, ...change }))
  const reading = readDraft(
    draft,
    defaults,
    choices.currencies.map(({ value }) => value),
  )
  const values = choices.keys.find(({ key }) => key === draft.key)?.values ?? []
  const open = () => {
    setAsked(true)
    if (reading.budget) setReview('save')
  }
  return (
    <>
      <form
        aria-label={name === undefined ? 'New budget' : `Budget ${name}`}
        noValidate
        onSubmit={event => {
          event.preventDefault()
          open()
        }}
        className="grid gap-4"
      >
        {asked && <EditProblems problems={reading.problems ?? []} />}
        <Card padded title="How much, and when it begins anew">
          <div className="grid gap-4 sm:grid-cols-2">
            <Field
              label="Name"
              required
              hint={`Small letters, digits, - and _. A boundary with the action spend names it: budget_used_pct: ">= 100", budget: ${draft.name || 'its-name'}.`}
            >
              <TextInput mono value={draft.name} maxLength={63} onChange={event => set({ name: event.target.value })} />
            </Field>
            <Field label="Amount" required>
              <TextInput
                inputMode="decimal"
                prefix={draft.currency}
                value={draft.amount}
                maxLength={30}
                onChange={event => set({ amount: event.target.value })}
              />
            </Field>
            {choices.currencies.length > 1 && (
              <Field label="Currency" hint="Each UTC day counts at the rate entered for it.">
                <Select
                  options={[...choices.currencies]}
                  value={draft.currency}
                  onChange={event => set({ currency: event.target.value })}
                />
              </Field>
            )}
            <Field label="Window">
              <Select
                options={WINDOWS}
                value={draft.window}
                onChange={event => set({ window: event.target.value as Draft['window'] })}
              />
            </Field>
            {draft.window === 'rolling' && (
              <Field label="Days" hint="1 to 366; it moves on at each day’s end.">
                <TextInput
                  inputMode="numeric"
                  value={draft.days}
                  onChange={event => set({ days: event.target.value })}
                />
              </Field>
            )}
            <Field label="Time zone" hint="Days begin and end by its clock.">
              <Select
                options={choices.zones.map(zone => ({ value: zone, label: zone }))}
                value={draft.zone}
                onChange={event => set({ zone: event.target.value })}
              />
            </Field>
          </div>
        </Card>
        <Card padded title="Of whom, and what counts">
          <div className="grid gap-4 sm:grid-cols-2">
            <Field label="Of whom">
              <Select
                options={[
                  { value: '', label: 'The whole organisation' },
                  ...choices.keys.map(({ key }) => ({ value: key, label: key })),
                ]}
                value={draft.key}
                onChange={event => set({ key: event.target.value, value: '*' })}
              />
            </Field>
            {draft.key !== '' && (
              <Field label={`Which ${draft.key}`}>
                <Select
                  options={[{ value: '*', label: `Each ${draft.key}, one budget a piece` }, ...values]}
                  value={draft.value}
                  onChange={event => set({ value: event.target.value })}
                />
              </Field>
            )}
            <div className="sm:col-span-2">
              <SegmentedControl
                label="What counts"
                showLabel
                value={draft.basis}
                onChange={basis => set({ basis })}
                segments={[
                  { value: 'equivalent', label: 'List price' },
                  { value: 'billed', label: 'Billed only' },
                ]}
              />
              <p className="mt-1.5 text-ink-3 text-sm">
                {draft.basis === 'billed'
                  ? 'Only what is known to be paid for by use. Calls under a flat plan, and of unknown cover, count nothing.'
                  : 'What the tokens cost at list price, whatever plan covers them.'}
              </p>
            </div>
          </div>
        </Card>
        <Card padded title="Who is told, and when">
          <div className="grid gap-4 sm:grid-cols-2">
            <Field label="Steps, in percent" hint="Each is told once in a window.">
              <TextInput value={draft.steps} onChange={event => set({ steps: event.target.value })} />
            </Field>
            <OwnersField choices={choices.owners} owners={draft.owners} onChange={owners => set({ owners })} />
          </div>
        </Card>
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary">
            Review and publish
          </Button>
          <Button href={`/${org}/spend/budgets${name === undefined ? '' : `/${name}`}`}>Cancel</Button>
          {name !== undefined && (
            <Button variant="danger" className="sm:ml-auto" onClick={() => setReview('remove')}>
              Remove this budget
            </Button>
          )}
        </div>
      </form>
      {review === 'save' && reading.budget && (
        <ReviewDialog
          org={org}
          base={base}
          edit={{ kind: 'save', name, budget: documentOf(draft) }}
          apply={text => textWith(text, reading.budget, defaults, name)}
          onBase={setBase}
          onClose={() => setReview(undefined)}
        />
      )}
      {review === 'remove' && name !== undefined && (
        <ReviewDialog
          org={org}
          base={base}
          edit={{ kind: 'remove', name }}
          apply={text => textWithout(text, name)}
          onBase={setBase}
          onClose={() => setReview(undefined)}
        />
      )}
    </>
  )
}
