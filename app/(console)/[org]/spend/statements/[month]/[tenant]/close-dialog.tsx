'use client'

import { useMutation } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Checkbox } from '#app/_ui/checkbox.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { formatList } from '#app/_ui/format.ts'
import { toast } from '#app/_ui/toast-store.ts'
import { monthWords } from '#core/day.ts'
import { errorRemedy } from '../../../../app-error.ts'
import { SignInAgain, type TooOld } from '../../../../sign-in-again.tsx'
import { type Bill, exactMoney, money, type Tenant } from '../../words.ts'

type Props = {
  org: string
  month: string
  tenant: Tenant
  bill: Extract<Bill, { state: 'draft' }>
  mayAccept: boolean
  tooOld: TooOld | undefined
}

/** Says what closing does, takes an owner's word for what has no price, and closes exactly what is shown. */
export function CloseDialog({ org, month, tenant, bill, mayAccept, tooOld }: Props) {
  const router = useRouter()
  const [open, setOpen] = useState(false)
  const [accepted, setAccepted] = useState(false)
  const close = useMutation(
    useTRPC().statement.close.mutationOptions({
      onSuccess: ({ mailedTo }) => {
        toast(`${bill.tenantName}, ${monthWords(month)} is closed`, {
          description:
            mailedTo === null
              ? 'Nobody was mailed: the tenant has no contact.'
              : `A mail to ${mailedTo} is on its way.`,
        })
        setOpen(false)
      },
      onSettled: () => router.refresh(),
    }),
  )
  const { currency } = bill
  const models = bill.hinders.flatMap(hinder => (hinder.why === 'unpriced' ? hinder.models : []))
  const isBound = models.length > 0
  const total = money(isBound && accepted ? bill.totalWithBound : bill.total, currency)
  return (
    <Dialog
      title={`Close at ${total}?`}
      description={`${bill.tenantName}, ${monthWords(month)}. This cannot be undone.`}
      trigger={
        <Button variant="primary" icon={<Lock aria-hidden />}>
          Close
        </Button>
      }
      open={open}
      onOpenChange={next => {
        if (close.isPending) return
        setOpen(next)
        setAccepted(false)
        close.reset()
      }}
      footer={
        <>
          <DialogClose>
            <Button disabled={close.isPending}>Cancel</Button>
          </DialogClose>
          <Button
            variant="primary"
            loading={close.isPending}
            disabled={tooOld !== undefined || (isBound && !accepted)}
            onClick={() =>
              close.mutate({
                org,
                month,
                tenant: tenant.key,
                tag: bill.tag,
                ...(accepted ? { acceptBound: true } : {}),
              })
            }
          >
            {tenant.contact === null ? 'Close it' : 'Close and mail it'}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        {tooOld && <SignInAgain tooOld={tooOld}>Closing takes a sign-in of the last ten minutes.</SignInAgain>}
        <ul className="grid list-disc gap-1 pl-5 text-ink-2">
          <li>The lines and the total are frozen, and their digest goes into the evidence.</li>
          <li>
            {tenant.contact === null
              ? 'Nobody is mailed: this tenant has no contact. You can set one and mail it later.'
              : `${tenant.contact} gets a mail with the total and every line as a file.`}
          </li>
          <li>Usage that comes late, and prices that change, are adjustments of the next open month.</li>
        </ul>
        {isBound &&
          (mayAccept ? (
            <Checkbox
              checked={accepted}
              onChange={event => setAccepted(event.target.checked)}
              label={`Bill what has no price at the dearest: ${exactMoney(bill.atMost, currency)}`}
              hint={`There is no price of ${formatList(models)}. A price that is set later comes back as an adjustment.`}
            />
          ) : (
            <Banner kind="stale" title={`There is no price of ${formatList(models)}.`}>
              Give them one under Rates and price the month anew, or ask an owner to close it at the bound.
            </Banner>
          ))}
        {close.error && (
          <Banner kind="problem" title={close.error.message}>
            {errorRemedy(close.error)}
          </Banner>
        )}
      </div>
    </Dialog>
  )
}
