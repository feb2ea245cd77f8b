'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useRef, useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { TextArea } from '#app/_ui/text-area.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { pathWith } from '#app/asked.ts'
import type { Ceiling } from '#core/approval/answer.ts'
import { ceilingText } from '#core/approval/describe.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import { compareDecimals } from '#core/decimal.ts'
import { REASON_MAX } from '#core/limits.ts'
import type { ApprovalDetail } from '../../outputs.ts'
import { useDecision, useHandsFocusOn } from './decision.tsx'
import { SUBJECT_WORDS } from './subject-words.ts'

type Deed = 'step' | 'session' | 'deny'

/** The three answers. Which one, up to what figure, and what will happen stands on the buttons themselves. */
export function AnswerForm({ org, approval }: { org: string; approval: ApprovalDetail }) {
  const router = useRouter()
  const trpc = useTRPC()
  const { reason, setReason, sent, say } = useDecision()
  const part = useRef<HTMLDivElement>(null)
  useHandsFocusOn(part)
  const [limit, setLimit] = useState('')
  const [deed, setDeed] = useState<Deed>()
  const answer = useMutation(
    trpc.approval.answer.mutationOptions({
      onSuccess: answered => {
        sent()
        if (!answered.settled) say(`Counted. ${answered.missing} more needed.`)
      },
      onSettled: () => router.refresh(),
    }),
  )
  const withdraw = useMutation(trpc.approval.withdraw.mutationOptions({ onSettled: () => router.refresh() }))
  const ceilings = wantedCeilings(approval, limit)
  const limitError =
    ceilings === undefined ? 'Write an amount above what the session has cost, such as 40 or 40.50.' : undefined
  const input = (which: Deed) => ({
    org,
    handle: approval.handle,
    decision: which === 'deny' ? ('deny' as const) : ('approve' as const),
    scope: which === 'session' ? ('session' as const) : ('step' as const),
    until: which === 'session' ? (ceilings ?? []) : [],
    reason,
  })
  const send = (which: Deed) => {
    setDeed(which)
    answer.mutate(input(which))
  }
  if (!approval.mayAnswer.ok) {
    // This session began in a way that does not count here; one with an account of their own would.
    const helps = approval.eligible.some(member => member.me)
    const counts = answer.data && !answer.data.settled
    return (
      <div ref={part}>
        <Banner
          kind="note"
          title={counts ? countsWords(answer.data.missing) : approval.mayAnswer.why}
          action={
            (helps || approval.mayWithdraw) && (
              <>
                {helps && (
                  <Button size="sm" href={pathWith('/sign-in', { next: `/${org}/approvals/${approval.handle}` })}>
                    Sign in with a code
                  </Button>
                )}
                {approval.mayWithdraw && (
                  <Button
                    size="sm"
                    loading={withdraw.isPending}
                    onClick={() => withdraw.mutate({ org, handle: approval.handle })}
                  >
                    Withdraw the request
                  </Button>
                )}
              </>
            )
          }
        >
          {!counts && approval.mayAnswer.remedy}
          {withdraw.error && (
            <span role="alert" className="mt-1 block text-held">
              {withdraw.error.message}
            </span>
          )}
        </Banner>
      </div>
    )
  }
  const cost = approval.figures.some(figure => figure.name === 'session_cost_usd')
  const shown = ceilings?.[0] ?? approval.ceilings[0]
  const words = SUBJECT_WORDS[approval.subject.kind]
  const busy = (which: Deed) => answer.isPending && deed === which
  // Not the pressed one: a button that is shut loses the focus.
  const otherBusy = (which: Deed) => answer.isPending && deed !== which
  return (
    <div ref={part}>
      <Card padded>
        <form className="grid gap-4" onSubmit={event => event.preventDefault()}>
          {answer.error && <Banner kind="problem" title={answer.error.message} />}
          {answer.data && !answer.data.settled && <Banner kind="note" title={countsWords(answer.data.missing)} />}
          {approval.ownRequest && (
            <Banner kind="note" title="This is your own request.">
              Your organisation allows answering it; the record says that you did.
            </Banner>
          )}
          <div className="grid gap-4 sm:grid-cols-[1fr_14rem]">
            <Field label="Reason, for the record" optional hint="People see it here. The agent does not.">
              <TextArea
                value={reason}
                maxLength={REASON_MAX}
                rows={2}
                onChange={event => setReason(event.target.value)}
              />
            </Field>
            {cost && (
              <Field
                label="Ceiling for the session"
                optional
                hint="It asks again when the session costs this much. It may have cost more since it asked."
                error={limit === '' ? undefined : limitError}
              >
                <TextInput
                  prefix="$"
                  inputMode="decimal"
                  value={limit}
                  onChange={event => setLimit(event.target.value)}
                  placeholder="none"
                />
              </Field>
            )}
          </div>
          <div className="grid gap-2 sm:flex sm:flex-wrap sm:items-center">
            <Button variant="primary" loading={busy('step')} disabled={otherBusy('step')} onClick={() => send('step')}>
              {words.step}
            </Button>
            <Button
              loading={busy('session')}
              disabled={otherBusy('session') || (limit !== '' && limitError !== undefined)}
              onClick={() => send('session')}
            >
              {words.session}
              {shown ? ` up to ${ceilingText(shown)}` : ''}
            </Button>
            <ConfirmDialog
              title="Deny it for a day?"
              description={words.denied(CLIENT_NAMES[approval.client])}
              confirmLabel="Deny for a day"
              trigger={
                <Button variant="danger" className="sm:ml-auto" disabled={otherBusy('deny')}>
                  Deny
                </Button>
              }
              onConfirm={() => {
                setDeed('deny')
                return answer.mutateAsync(input('deny'))
              }}
            >
              <Field label="Reason, for the record" optional hint="People see it here. The agent does not.">
                <TextArea
                  value={reason}
                  maxLength={REASON_MAX}
                  rows={2}
                  onChange={event => setReason(event.target.value)}
                />
              </Field>
            </ConfirmDialog>
          </div>
          <p className="text-ink-2 text-sm">{words.meaning}</p>
        </form>
      </Card>
    </div>
  )
}

const countsWords = (missing: number) => `Your approval counts; ${missing} more ${missing === 1 ? 'is' : 'are'} needed.`

/** The ceiling typed, beside nothing; undefined when it is no amount above what was crossed. */
function wantedCeilings(approval: ApprovalDetail, limit: string): Ceiling[] | undefined {
  const value = limit.trim()
  if (value === '') return []
  const now = approval.figures.find(figure => figure.name === 'session_cost_usd')?.value ?? '0'
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(value)) return undefined
  if (/^\d/.test(now) && compareDecimals(value, now) <= 0) return undefined
  return [{ figure: 'session_cost_usd', op: '<', value }]
}
