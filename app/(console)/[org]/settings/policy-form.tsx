'use client'

import { useState } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Field } from '#app/_ui/field.tsx'
import { RadioCards } from '#app/_ui/radio-cards.tsx'
import { Select } from '#app/_ui/select.tsx'
import { errorRemedy } from '../app-error.ts'
import type { Settings } from '../outputs.ts'
import { ageChoices, BROKEN_CHOICES, selfChoices } from './setting-words.ts'
import { useSetting } from './use-setting.ts'

type Policy = Pick<Settings, 'selfAnswer' | 'whenBroken' | 'maxAgeS'>

/** What machines learn about answering, broken hooks and old rules. */
export function PolicyForm({ org, policy, mayChange }: { org: string; policy: Policy; mayChange: boolean }) {
  const [selfAnswer, setSelfAnswer] = useState(policy.selfAnswer)
  const [whenBroken, setWhenBroken] = useState(policy.whenBroken)
  const [maxAgeS, setMaxAgeS] = useState(policy.maxAgeS)
  const save = useSetting('Saved. Machines learn it with the next boundaries that you publish.')
  const same = selfAnswer === policy.selfAnswer && whenBroken === policy.whenBroken && maxAgeS === policy.maxAgeS
  const shut = <V extends string>(choices: readonly { value: V; label: string; hint: string }[]) =>
    mayChange ? choices : choices.map(choice => ({ ...choice, disabled: true }))
  return (
    <form
      className="grid gap-5"
      onSubmit={event => {
        event.preventDefault()
        save.mutate({ org, selfAnswer, whenBroken, maxAgeS })
      }}
    >
      <RadioCards
        legend="May people answer their own requests?"
        value={selfAnswer}
        onChange={setSelfAnswer}
        options={shut(selfChoices(policy.selfAnswer))}
      />
      <RadioCards
        legend="When a hook does not answer"
        value={whenBroken}
        onChange={setWhenBroken}
        options={shut(BROKEN_CHOICES)}
      />
      <Field
        label="Rules let nothing through when they are older than"
        hint="A machine that has not heard from here for so long still holds and refuses, but honours no approval until it has."
        className="max-w-md"
      >
        <Select
          value={String(maxAgeS)}
          onChange={event => setMaxAgeS(Number(event.target.value))}
          options={ageChoices(policy.maxAgeS)}
          disabled={!mayChange}
        />
      </Field>
      {save.error && (
        <Banner kind="problem" title={save.error.message}>
          {errorRemedy(save.error)}
        </Banner>
      )}
      {mayChange && (
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" variant="primary" loading={save.isPending} disabled={same}>
            Save
          </Button>
          <span className="text-ink-3 text-sm">
            Machines learn these three with the next boundaries that you publish.
          </span>
        </div>
      )}
    </form>
  )
}
