'use client'

import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { DiffView } from '#app/_ui/diff-view.tsx'
import { Field } from '#app/_ui/field.tsx'
import { formatList, formatPlural } from '#app/_ui/format.ts'
import { TextArea } from '#app/_ui/text-area.tsx'
import { NOTE_MAX } from '#core/limits.ts'
import { errorCode, errorDetails, errorRemedy } from '../app-error.ts'
import type { DraftCheck } from '../outputs.ts'
import { type Analysis, problemText } from './analyse.ts'
import type { Base } from './draft-store.ts'
import { Published } from './published.tsx'
import { readInForce } from './read-in-force.ts'
import type { InForce } from './stale-dialog.tsx'

type Props = {
  org: string
  base: Base
  text: string
  analysis: Analysis
  machines: number
  onAcceptCases: (rules: readonly string[]) => void
  onClose: () => void
  onPublished: (published: InForce) => void
  onStale: (theirs: InForce) => void
}

/** The last look: what changes, what is missing, who could not take it, and why it is done. */
export function PublishDialog(props: Props) {
  const { org, text, analysis, machines, onAcceptCases, onClose, onPublished, onStale } = props
  const trpc = useTRPC()
  // What was in force when the dialog opened: it must not turn into "nothing differs" once it is published.
  const [base] = useState(props.base)
  const [note, setNote] = useState('')
  const [asked, setAsked] = useState(false)
  const check = useQuery(trpc.boundary.check.queryOptions({ org, text }, { staleTime: 0 }))
  const publish = useMutation(
    trpc.boundary.publish.mutationOptions({
      onSuccess: done => onPublished({ version: done.version, etag: done.etag, text, publishedBy: null, note }),
      onError: error => {
        const theirs = errorCode(error) === 'STALE_EDIT' ? readInForce(errorDetails(error).current) : undefined
        if (theirs) onStale(theirs)
      },
    }),
  )
  if (publish.data) return <Published org={org} version={publish.data.version} machines={machines} onClose={onClose} />
  const errors = check.data?.errors ?? []
  const lacking = [...analysis.rules.values()].filter(
    view => view.rule.stage === 'enforce' && !view.proven && view.proposed.length > 0,
  )
  const noteError = asked && note.trim() === '' ? 'Say why, for whoever reads the history.' : undefined
  const from = base.version === 0 ? 'an empty set' : `version ${base.version}`
  const send = () => {
    setAsked(true)
    if (note.trim() !== '' && errors.length === 0) publish.mutate({ org, text, note: note.trim(), etag: base.etag })
  }
  return (
    <Dialog
      open
      onOpenChange={open => !open && !publish.isPending && onClose()}
      size="lg"
      title="Review and publish"
      description={
        'It becomes the next version: signed, never changed again, and in force on a machine within seconds of reaching it.'
      }
      footer={
        <>
          <DialogClose>
            <Button disabled={publish.isPending}>Go on writing</Button>
          </DialogClose>
          <Button
            variant="primary"
            loading={publish.isPending}
            disabled={!check.data || errors.length > 0}
            onClick={send}
          >
            Sign and publish
          </Button>
        </>
      }
    >
      <form
        className="grid grid-cols-[minmax(0,1fr)] gap-4"
        onSubmit={event => {
          event.preventDefault()
          send()
        }}
      >
        {publish.error && errorCode(publish.error) !== 'STALE_EDIT' && (
          <Banner
            kind="problem"
            title={publish.error.message}
            action={
              errorCode(publish.error) === 'NOT_SIGNED_IN' && (
                <Button size="sm" href={`/sign-in?next=/${org}/boundaries`}>
                  Sign in
                </Button>
              )
            }
          >
            {errorRemedy(publish.error)} Nothing was published, and your draft is kept in this browser.
          </Banner>
        )}
        {check.error && (
          <Banner kind="problem" title="It could not be checked.">
            {check.error.message}
          </Banner>
        )}
        {errors.length > 0 && (
          <Banner
            kind="problem"
            title={`${formatPlural(errors.length, 'thing')} to put right first.`}
            action={
              lacking.length > 0 && (
                <Button size="sm" onClick={() => onAcceptCases(lacking.map(view => view.rule.name))}>
                  Accept the proposed cases
                </Button>
              )
            }
          >
            <ul className="mt-1 grid gap-1">
              {errors.slice(0, 12).map(problem => (
                <li key={`${problem.line}:${problem.column}:${problem.message}`}>
                  Line {problem.line}: {problemText(problem)}
                </li>
              ))}
            </ul>
          </Banner>
        )}
        {check.data?.warnings.map(problem => (
          <Banner key={`${problem.line}:${problem.message}`} kind="stale" title={`Line ${problem.line}:`}>
            {problemText(problem)}
          </Banner>
        ))}
        <Field
          label="Note: why it is done"
          required
          error={noteError}
          hint="It stands in the history and in the record beside your name."
        >
          <TextArea value={note} maxLength={NOTE_MAX} rows={2} onChange={event => setNote(event.target.value)} />
        </Field>
        <Consequences analysis={analysis} check={check.data} machines={machines} />
        <section className="rounded-md border" aria-busy={check.isPending}>
          <h3 className="border-b px-4 py-2 text-sm">What changes against {from}</h3>
          <DiffView
            before={base.text}
            after={text}
            label={`${from} and the draft`}
            alike="Nothing differs from what is in force."
          />
        </section>
      </form>
    </Dialog>
  )
}

function Consequences({
  analysis,
  check,
  machines,
}: {
  analysis: Analysis
  check: DraftCheck | undefined
  machines: number
}) {
  const rules = [...analysis.rules.values()]
  const enforced = rules.filter(view => view.rule.stage === 'enforce').map(view => view.rule.name)
  const behind = check?.behind ?? []
  const roles = check?.ruleRoleHolders ?? []
  return (
    <ul className="grid list-disc gap-1 pl-5 text-ink-2 marker:text-ink-3">
      {rules.length > 0 && (
        <li>
          {formatPlural(rules.length, 'rule')}, of which{' '}
          {enforced.length === 0
            ? 'none binds: all are in shadow'
            : `${formatList(few(enforced))} ${enforced.length === 1 ? 'binds' : 'bind'}`}
          .
        </li>
      )}
      {roles.map(({ role, holders }) => (
        <li key={role}>
          {formatPlural(holders, 'person', 'people')} can answer for the role {role}.
        </li>
      ))}
      <li>
        {machines === 0
          ? 'No machine has joined yet; the first one takes it when it does.'
          : `${formatPlural(machines, 'machine')} ${machines === 1 ? 'takes it at once, or at its' : 'take it at once, or at their'} next poll.`}
      </li>
      {behind.length > 0 && (
        <li className="text-waiting">
          {formatPlural(behind.length, 'machine')} cannot read all of it until the connector is brought up to date:{' '}
          {formatList(few(behind.map(machine => `${machine.label} (${machine.connector})`)))}.
        </li>
      )}
    </ul>
  )
}

/** The first of many names, and how many more there are. */
const few = (names: readonly string[], most = 5): string[] =>
  names.length <= most ? [...names] : [...names.slice(0, most), `${names.length - most} more`]
