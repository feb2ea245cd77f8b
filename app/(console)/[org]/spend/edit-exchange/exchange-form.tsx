'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Field } from '#app/_ui/field.tsx'
import { Select, type SelectOption } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { Findings } from '#core/boundary/problem.ts'
import type { JsonObject } from '#core/boundary/rule.ts'
import { treeFromJson } from '#core/boundary/tree.ts'
import { readExchangeRate } from '#core/rules/read-exchange.ts'
import { EditProblems } from '../edit-problems.tsx'
import type { Base } from '../edit-review.tsx'
import { SpendEditReview } from '../spend-edit-review.tsx'

type Draft = { currency: string; from: string; perUsd: string }
type Props = {
  org: string
  draft: Draft
  base: Base
  /** The rate that is changed, as it was seen; absent: a new one. */
  at: { index: number; was: JsonObject } | undefined
  today: string
  /** Every currency but the dollar. */
  currencies: readonly SelectOption[]
}

const documentOf = ({ currency, from, perUsd }: Draft): JsonObject => ({ currency, from, per_usd: perUsd.trim() })

/** What is wrong with it, read as the document is. */
function problemsOf(draft: Draft): { message: string; remedy: string }[] {
  if (draft.currency === '') return [{ message: 'No currency is chosen', remedy: 'choose one' }]
  const findings = new Findings()
  const tree = treeFromJson(documentOf(draft))
  if (tree) readExchangeRate(tree, findings)
  return findings.errors.map(({ message, remedy }) => ({
    message: message.replace('per_usd', 'the rate').replace(/^./, first => first.toUpperCase()),
    remedy,
  }))
}

/** One exchange rate as a form. */
export function ExchangeForm({ org, draft: given, base: current, at, today, currencies }: Props) {
  const router = useRouter()
  const [draft, setDraft] = useState(given)
  const [base, setBase] = useState(current)
  const [asked, setAsked] = useState(false)
  const [review, setReview] = useState<'save' | 'remove'>()
  const set = (change: Partial<Draft>) => setDraft(before => ({ ...before, ...change }))
  const problems = problemsOf(draft)
  const back = () => router.push(`/${org}/spend/currency`)
  return (
    <>
      <form
        aria-label={at ? `${given.currency} from ${given.from}` : 'New exchange rate'}
        noValidate
        onSubmit={event => {
          event.preventDefault()
          setAsked(true)
          if (problems.length === 0) setReview('save')
        }}
        className="grid gap-4"
      >
        {asked && <EditProblems problems={problems} />}
        <Card padded title="Which currency, and when">
          <div className="grid gap-4 sm:grid-cols-3">
            <Field label="Currency" required>
              <Select
                options={[...(draft.currency === '' ? [{ value: '', label: 'Choose one' }] : []), ...currencies]}
                value={draft.currency}
                onChange={event => set({ currency: event.target.value })}
              />
            </Field>
            <Field
              label="Holds from"
              required
              hint={
                draft.from !== '' && draft.from < today
                  ? 'A past day: reports and open statements from it on change with it.'
                  : 'The first day, by UTC, until the next rate of the currency.'
              }
            >
              <TextInput type="date" value={draft.from} onChange={event => set({ from: event.target.value })} />
            </Field>
            <Field label="One US dollar is" required hint="At most six places, such as 0.92.">
              <TextInput
                inputMode="decimal"
                suffix={draft.currency || undefined}
                maxLength={20}
                value={draft.perUsd}
                onChange={event => set({ perUsd: event.target.value })}
              />
            </Field>
          </div>
        </Card>
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary">
            Review and publish
          </Button>
          <Button href={`/${org}/spend/currency`}>Cancel</Button>
          {at && (
            <Button variant="danger" className="sm:ml-auto" onClick={() => setReview('remove')}>
              Remove this rate
            </Button>
          )}
        </div>
      </form>
      {review === 'save' && (
        <SpendEditReview
          org={org}
          base={base}
          edit={{ kind: 'put_exchange', rate: documentOf(draft), at }}
          title="Review and publish"
          description="The rate is written into the text of the rules and signed as the next version. Budgets in this currency are counted anew with it."
          onBase={setBase}
          onClose={() => setReview(undefined)}
          onDone={back}
        />
      )}
      {review === 'remove' && at && (
        <SpendEditReview
          org={org}
          base={base}
          edit={{ kind: 'remove_exchange', at }}
          title={`Remove the rate of ${given.currency} from ${given.from}?`}
          description="The one before it holds for its days instead. Where a budget or the billing needs this one, publishing says so and changes nothing."
          confirmLabel="Sign and remove"
          danger
          onBase={setBase}
          onClose={() => setReview(undefined)}
          onDone={back}
        />
      )}
    </>
  )
}
