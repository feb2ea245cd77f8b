'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Checkbox } from '#app/_ui/checkbox.tsx'
import { Field } from '#app/_ui/field.tsx'
import { RadioCards } from '#app/_ui/radio-cards.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { PROVIDERS } from '#core/pricing.ts'
import type { SpendEdit } from '#core/rules/spend-edit.ts'
import { MODEL_ID } from '#core/usage/bucket.ts'
import type { Base } from '../edit-review.tsx'
import { providerName } from '../rates/words.ts'
import { SpendEditReview } from '../spend-edit-review.tsx'

type How = 'max_rate' | 'model' | 'zero'
type Props = { org: string; base: Base; how: How; model: string; providers: readonly string[] }

/** What a model without a price counts as. */
export function UnpricedForm({ org, base: current, how: given, model: standIn, providers: enabled }: Props) {
  const router = useRouter()
  const [how, setHow] = useState(given)
  const [model, setModel] = useState(standIn)
  const [providers, setProviders] = useState(enabled)
  const [base, setBase] = useState(current)
  const [asked, setAsked] = useState(false)
  const [edit, setEdit] = useState<SpendEdit>()
  const modelError = how === 'model' && !MODEL_ID.test(model.trim()) ? 'Write the exact id of a model.' : undefined
  const providerError = providers.length === 0 ? 'Choose one provider at least.' : undefined
  return (
    <>
      <form
        aria-label="When a model has no price"
        noValidate
        className="grid gap-4"
        onSubmit={event => {
          event.preventDefault()
          setAsked(true)
          if (modelError || providerError) return
          setEdit({
            kind: 'set_unpriced',
            unpriced: {
              on_unpriced_model: how === 'model' ? model.trim() : how,
              providers: PROVIDERS.filter(one => providers.includes(one)),
            },
          })
        }}
      >
        <Card padded title="What it counts as">
          <div className="grid gap-4">
            <RadioCards
              legend="What it counts as"
              hideLegend
              value={how}
              onChange={setHow}
              options={[
                {
                  value: 'max_rate',
                  label: 'The dearest price there is',
                  hint: 'Kind by kind of token, among the models of the providers below. A budget holds rather than lets go. This is the default.',
                },
                {
                  value: 'model',
                  label: 'The prices of one model',
                  hint: 'That may be too little: no bound is promised, and totals count it as if it were known.',
                },
                {
                  value: 'zero',
                  label: 'Nothing',
                  hint: 'A downgrade: no budget and no cap sees these calls, and totals leave them out without a word on the amount.',
                },
              ]}
            />
            {how === 'model' && (
              <Field label="Model" required error={asked && modelError}>
                <TextInput mono value={model} maxLength={100} onChange={event => setModel(event.target.value)} />
              </Field>
            )}
            {how === 'zero' && (
              <Banner kind="stale" title="Weaker than the default.">
                An agent that uses a model nobody has priced spends without a limit. Everybody who reads the rates is
                told.
              </Banner>
            )}
          </div>
        </Card>
        <Card padded title="Providers you use" sub="their models set the bound">
          <fieldset className="grid gap-2 sm:grid-cols-2">
            <legend className="sr-only">Providers you use</legend>
            {PROVIDERS.filter(one => one !== 'other').map(one => (
              <Checkbox
                key={one}
                label={providerName(one)}
                checked={providers.includes(one)}
                onChange={event =>
                  setProviders(before =>
                    event.target.checked ? [...before, one] : before.filter(other => other !== one),
                  )
                }
              />
            ))}
          </fieldset>
          {asked && providerError && (
            <p role="alert" className="mt-2 text-held text-sm">
              {providerError}
            </p>
          )}
        </Card>
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary">
            Review and publish
          </Button>
          <Button href={`/${org}/spend/rates`}>Cancel</Button>
          <Button className="sm:ml-auto" onClick={() => setEdit({ kind: 'set_unpriced' })}>
            Go back to the default
          </Button>
        </div>
      </form>
      {edit && (
        <SpendEditReview
          org={org}
          base={base}
          edit={edit}
          title="Review and publish"
          description="It is written into the text of the rules and signed as the next version. What was counted before keeps its cost until it is priced anew."
          onBase={setBase}
          onClose={() => setEdit(undefined)}
          onDone={() => router.push(`/${org}/spend/rates`)}
        />
      )}
    </>
  )
}
