'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Field } from '#app/_ui/field.tsx'
import { Select } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import type { JsonObject } from '#core/boundary/rule.ts'
import { PRICE_AXES, PROVIDERS, type PriceAxis } from '#core/pricing.ts'
import { EditProblems } from '../edit-problems.tsx'
import type { Base } from '../edit-review.tsx'
import { AXIS_NAMES, providerName } from '../rates/words.ts'
import { SpendEditReview } from '../spend-edit-review.tsx'
import { type Draft, documentOf, problemsOf } from './draft.ts'

type Props = {
  org: string
  draft: Draft
  base: Base
  /** The price that is changed, as it was seen; absent: a new one. */
  at?: { index: number; was: JsonObject } | undefined
  /** Where usage begins that could be priced anew, a UTC day; absent: from the price's own day. */
  usedFrom?: string | undefined
  today: string
}

/** What may be left out, and what then holds. */
const FALLS: Partial<Record<PriceAxis, string>> = {
  cacheRead: 'Left out: the input price.',
  cacheWrite5m: 'Left out: the input price.',
  cacheWrite1h: 'Left out: as for 5 minutes.',
  webSearches: 'Dollars a request. Left out: nothing.',
}

/** One price as a form. It is read as the document is, so that what is wrong is said before anything is sent. */
export function RateForm({ org, draft: given, base: current, at, usedFrom, today }: Props) {
  const router = useRouter()
  const [draft, setDraft] = useState(given)
  const [base, setBase] = useState(current)
  const [asked, setAsked] = useState(false)
  const [review, setReview] = useState<'save' | 'remove'>()
  const set = (change: Partial<Draft>) => setDraft(before => ({ ...before, ...change }))
  const problems = problemsOf(draft)
  const prices = (part: 'prices' | 'long') =>
    PRICE_AXES.map(axis => (
      <Field
        key={axis}
        label={`${AXIS_NAMES[axis]}${part === 'long' ? ', large calls' : ''}`}
        required={part === 'prices' && (axis === 'input' || axis === 'output')}
        hint={part === 'prices' ? FALLS[axis] : undefined}
      >
        <TextInput
          inputMode="decimal"
          prefix="$"
          maxLength={20}
          value={draft[part][axis]}
          onChange={event => set({ [part]: { ...draft[part], [axis]: event.target.value } })}
        />
      </Field>
    ))
  const toReprice = () => {
    const from = usedFrom ?? (draft.from || undefined)
    router.push(
      from !== undefined && from <= today ? `/${org}/spend/reprice?from=${from}&published=1` : `/${org}/spend/rates`,
    )
  }
  return (
    <>
      <form
        aria-label={at ? `Price of ${given.model}` : 'New price'}
        noValidate
        onSubmit={event => {
          event.preventDefault()
          setAsked(true)
          if (problems.length === 0) setReview('save')
        }}
        className="grid gap-4"
      >
        {asked && <EditProblems problems={problems} />}
        <Card padded title="Which model, and when">
          <div className="grid gap-4 sm:grid-cols-2">
            <Field label="Model" required hint="Its exact id, as usage shows it.">
              <TextInput
                mono
                value={draft.model}
                maxLength={100}
                onChange={event => set({ model: event.target.value })}
              />
            </Field>
            <Field label="Provider">
              <Select
                options={PROVIDERS.map(value => ({ value, label: providerName(value) }))}
                value={draft.provider}
                onChange={event => set({ provider: event.target.value })}
              />
            </Field>
            <Field label="Holds from" optional hint="The first day, by UTC. Empty: it has always held.">
              <TextInput type="date" value={draft.from} onChange={event => set({ from: event.target.value })} />
            </Field>
            <Field
              label="First day without it"
              optional
              hint="By UTC; it holds to the end of the day before. The list price follows, if there is one."
            >
              <TextInput type="date" value={draft.until} onChange={event => set({ until: event.target.value })} />
            </Field>
            <Field
              label="Other names"
              optional
              className="sm:col-span-2"
              hint="Further exact ids that cost the same, with spaces between them."
            >
              <TextInput
                mono
                value={draft.aliases}
                maxLength={2000}
                onChange={event => set({ aliases: event.target.value })}
              />
            </Field>
          </div>
        </Card>
        <Card padded title="What it costs" sub="US dollars per million tokens">
          <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">{prices('prices')}</div>
        </Card>
        <Card padded title="Large calls" sub="where a model costs more above a size">
          <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
            <Field
              label="Above so many input tokens"
              optional
              className="sm:col-span-2 lg:col-span-3"
              hint="Everything that is read, cached or not, counts. Empty: all calls cost the same."
            >
              <TextInput
                inputMode="numeric"
                className="max-w-56"
                value={draft.above}
                maxLength={12}
                onChange={event => set({ above: event.target.value })}
              />
            </Field>
            {draft.above.trim() !== '' && prices('long')}
          </div>
        </Card>
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary">
            Review and publish
          </Button>
          <Button href={`/${org}/spend/rates`}>Cancel</Button>
          {at && (
            <Button variant="danger" className="sm:ml-auto" onClick={() => setReview('remove')}>
              Remove this price
            </Button>
          )}
        </div>
      </form>
      {review === 'save' && (
        <SpendEditReview
          org={org}
          base={base}
          edit={{ kind: 'put_rate', rate: documentOf(draft), at }}
          title="Review and publish"
          description="The price is written into the text of the rules and signed as the next version. It holds for what is used from now on; pricing past days anew is a step of its own, offered next."
          onBase={setBase}
          onClose={() => setReview(undefined)}
          onDone={toReprice}
        />
      )}
      {review === 'remove' && at && (
        <SpendEditReview
          org={org}
          base={base}
          edit={{ kind: 'remove_rate', at }}
          title={`Remove the price of ${given.model}?`}
          description="As if it had never been: what was priced by it keeps its cost until it is priced anew. To let it stand for past days, go back and give it an end instead."
          confirmLabel="Sign and remove"
          danger
          onBase={setBase}
          onClose={() => setReview(undefined)}
          onDone={() => router.push(`/${org}/spend/rates`)}
        />
      )}
    </>
  )
}
