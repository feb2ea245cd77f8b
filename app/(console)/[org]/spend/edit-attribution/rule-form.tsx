'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Field } from '#app/_ui/field.tsx'
import { Select } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { Findings } from '#core/boundary/problem.ts'
import type { JsonObject } from '#core/boundary/rule.ts'
import { treeFromJson } from '#core/boundary/tree.ts'
import { readAttributionRule } from '#core/rules/read-attribution.ts'
import { ATTRIBUTION_CONDITIONS } from '#core/rules/shape.ts'
import { CONDITION_HINTS, CONDITION_NAMES, keyName } from '../attribution/words.ts'
import { EditProblems } from '../edit-problems.tsx'
import type { Base } from '../edit-review.tsx'
import { SpendEditReview } from '../spend-edit-review.tsx'

type Words = Readonly<Record<string, string>>
type Props = {
  org: string
  base: Base
  at?: { index: number; was: JsonObject } | undefined
  when: Words
  set: Words
  lists: readonly { key: string; values: readonly string[] }[]
}

const given = (words: Words): JsonObject =>
  Object.fromEntries(
    Object.entries(words).flatMap(([key, value]) => (value.trim() === '' ? [] : [[key, value.trim()]])),
  )

/** One rule as a form. It is read as the document is, so that what is wrong is said before anything is sent. */
export function RuleForm({ org, base: current, at, when: conditions, set: values, lists }: Props) {
  const router = useRouter()
  const [when, setWhen] = useState(conditions)
  const [set, setSet] = useState(values)
  const [base, setBase] = useState(current)
  const [asked, setAsked] = useState(false)
  const [review, setReview] = useState(false)
  const rule = { when: given(when), set: given(set) }
  const findings = new Findings()
  const tree = treeFromJson(rule)
  if (tree) readAttributionRule(tree, Object.fromEntries(lists.map(({ key, values: of }) => [key, of])), findings)
  const problems = findings.errors
  return (
    <>
      <form
        aria-label={at ? `Rule ${at.index + 1}` : 'New rule'}
        noValidate
        className="grid gap-4"
        onSubmit={event => {
          event.preventDefault()
          setAsked(true)
          if (problems.length === 0) setReview(true)
        }}
      >
        {asked && <EditProblems problems={problems} />}
        <Card padded title="Where all of this holds" sub="leave out what does not matter; * stands for anything">
          <div className="grid gap-4 sm:grid-cols-2">
            {ATTRIBUTION_CONDITIONS.map(condition => (
              <Field key={condition} label={CONDITION_NAMES[condition]} optional hint={CONDITION_HINTS[condition]}>
                <TextInput
                  mono
                  maxLength={300}
                  value={when[condition] ?? ''}
                  onChange={event => setWhen(before => ({ ...before, [condition]: event.target.value }))}
                />
              </Field>
            ))}
          </div>
        </Card>
        <Card padded title="Usage belongs to" sub="of each tag a value of its list, or nothing">
          <div className="grid gap-4 sm:grid-cols-2">
            {lists.map(({ key, values: of }) => (
              <Field
                key={key}
                label={keyName(key)}
                optional
                hint={of.length === 0 ? 'Nothing is listed yet; list values under Attribution first.' : undefined}
              >
                <Select
                  options={of.map(value => ({ value, label: value }))}
                  placeholder="says nothing of it"
                  value={set[key] ?? ''}
                  disabled={of.length === 0}
                  onChange={event => setSet(before => ({ ...before, [key]: event.target.value }))}
                />
              </Field>
            ))}
          </div>
        </Card>
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary">
            Review and publish
          </Button>
          <Button href={`/${org}/spend/attribution`}>Cancel</Button>
        </div>
      </form>
      {review && (
        <SpendEditReview
          org={org}
          base={base}
          edit={{ kind: 'put_attribution', rule, at }}
          title="Review and publish"
          description={
            at
              ? 'The rule keeps its place. It counts for what is used from then on; what was recorded stays.'
              : 'The rule is the last to be tried; move it up where it has to come before another. It counts for what is used from then on.'
          }
          onBase={setBase}
          onClose={() => setReview(false)}
          onDone={() => router.push(`/${org}/spend/attribution`)}
        />
      )}
    </>
  )
}
