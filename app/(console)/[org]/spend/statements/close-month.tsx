'use client'

import { useMutation } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { toast } from '#app/_ui/toast-store.ts'
import { monthWords } from '#core/day.ts'
import { errorRemedy } from '../../app-error.ts'
import { SignInAgain, type TooOld } from '../../sign-in-again.tsx'
import { hinderWords, money, type StatementRow } from './words.ts'

type Props = {
  org: string
  month: string
  zone: string
  /** Every draft of the month, and those of them that nothing hinders. */
  rows: readonly StatementRow[]
  ready: readonly StatementRow[]
  tooOld: TooOld | undefined
}

/** Closes every draft of a month that can be closed, in one act; each is a statement of its own and says how it went. */
export function CloseMonth({ org, month, zone, rows, ready, tooOld }: Props) {
  const router = useRouter()
  const [open, setOpen] = useState(false)
  const close = useMutation(
    useTRPC().statement.closeMonth.mutationOptions({
      onSuccess: results => {
        router.refresh()
        const done = results.filter(({ ok }) => ok).length
        if (done < results.length) return
        toast(`${formatPlural(done, 'statement')} of ${monthWords(month)} closed`)
        setOpen(false)
      },
    }),
  )
  const failed = close.data?.filter(result => !result.ok) ?? []
  const name = (key: string) => rows.find(({ tenant }) => tenant.key === key)?.tenant.name ?? key
  const waits = rows.filter(row => !ready.includes(row))
  return (
    <Dialog
      title={`Close ${monthWords(month)}?`}
      description="Each statement below is frozen and its digest goes into the evidence. That cannot be undone: what changes later is an adjustment of the next one."
      trigger={
        <Button size="sm" icon={<Lock aria-hidden />} disabled={ready.length === 0}>
          {ready.length === 0 ? 'None can be closed yet' : `Close ${formatPlural(ready.length, 'statement')}`}
        </Button>
      }
      open={open}
      onOpenChange={next => {
        if (close.isPending) return
        setOpen(next)
        close.reset()
      }}
      footer={
        <>
          <DialogClose>
            <Button disabled={close.isPending}>{close.data ? 'Done' : 'Cancel'}</Button>
          </DialogClose>
          {!close.data && (
            <Button
              variant="primary"
              loading={close.isPending}
              disabled={tooOld !== undefined || ready.length === 0}
              onClick={() =>
                close.mutate({
                  org,
                  month,
                  statements: ready.map(row => ({ tenant: row.tenant.key, tag: row.tag ?? '' })),
                })
              }
            >
              Close {formatPlural(ready.length, 'statement')}
            </Button>
          )}
        </>
      }
    >
      <div className="grid gap-3">
        {tooOld && <SignInAgain tooOld={tooOld}>Closing takes a sign-in of the last ten minutes.</SignInAgain>}
        {close.error && (
          <Banner kind="problem" title={close.error.message}>
            {errorRemedy(close.error)}
          </Banner>
        )}
        {failed.length > 0 && (
          <Banner kind="stale" title={`${formatPlural(failed.length, 'statement')} stayed open.`}>
            {failed.map(result => `${name(result.tenant)}: ${'message' in result ? result.message : ''}`).join(' ')} All
            others are closed.
          </Banner>
        )}
        {!close.data && (
          <ul className="divide-y rounded-md border">
            {ready.map(row => (
              <li key={row.tenant.key} className="flex flex-wrap items-baseline gap-x-3 px-3 py-2">
                <span className="font-medium">{row.tenant.name}</span>
                <span className="min-w-0 text-ink-3 text-sm">{row.tenant.contact ?? 'nobody to mail it to'}</span>
                <span className="ml-auto tabular-nums">{money(row.total, row.currency)}</span>
              </li>
            ))}
          </ul>
        )}
        {!close.data && waits.length > 0 && (
          <div className="text-ink-2 text-sm">
            These stay open:
            <ul className="mt-1 list-disc pl-5">
              {waits.map(row => (
                <li key={row.tenant.key}>
                  {row.tenant.name}: {row.hinders.map(hinder => hinderWords(hinder, zone)).join('; ')}
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Dialog>
  )
}
