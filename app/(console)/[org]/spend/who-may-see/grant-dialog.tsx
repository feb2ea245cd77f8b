'use client'

import { useMutation } from '@tanstack/react-query'
import { Eye } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { Select, type SelectOption } from '#app/_ui/select.tsx'
import { TextArea } from '#app/_ui/text-area.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { REASON_MAX } from '#core/limits.ts'
import { SignInAgain, type TooOld } from '../../sign-in-again.tsx'
import { withRemedy } from '../../with-remedy.ts'

const SPANS: SelectOption[] = [
  { value: '7', label: 'A week' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '366', label: 'A year' },
]

type Props = { org: string; members: readonly SelectOption[]; tooOld: TooOld | undefined }

/** Opens individuals' figures to somebody: whose, why and for how long. The people it is about see all of it. */
export function GrantDialog({ org, members, tooOld }: Props) {
  const trpc = useTRPC()
  const router = useRouter()
  const [holder, setHolder] = useState('')
  const [subject, setSubject] = useState('')
  const [days, setDays] = useState('30')
  const [reason, setReason] = useState('')
  const act = useMutation(trpc.spend.grant.mutationOptions({ onSuccess: () => router.refresh() }))
  const nameOf = (id: string) => members.find(({ value }) => value === id)?.label ?? ''
  return (
    <ConfirmDialog
      trigger={
        <Button variant="primary" icon={<Eye aria-hidden />}>
          Let somebody see
        </Button>
      }
      tone="primary"
      title="Let somebody see individuals’ figures"
      description="The person it is about sees who may look, why and until when. It ends by itself, and an owner or whoever may see can end it before."
      confirmLabel="Let them see"
      onOpenChange={open => {
        if (!open) return
        setHolder('')
        setSubject('')
        setReason('')
      }}
      onConfirm={async () => {
        if (holder === '') throw new Error('Choose who may see.')
        await withRemedy(
          act.mutateAsync({
            org,
            holderId: holder,
            ...(subject === '' ? {} : { subjectId: subject }),
            reason,
            days: Number(days),
          }),
        )
        toast(
          `${nameOf(holder)} may see ${subject === '' ? 'everybody’s figures' : `the figures of ${nameOf(subject)}`}`,
        )
      }}
    >
      {tooOld && <SignInAgain tooOld={tooOld}>To grant it takes a sign-in of the last ten minutes.</SignInAgain>}
      <Field label="Who may see" required>
        <Select
          options={members}
          placeholder="choose"
          value={holder}
          onChange={event => setHolder(event.target.value)}
        />
      </Field>
      <Field label="Whose figures">
        <Select
          options={members}
          placeholder="everybody’s"
          value={subject}
          onChange={event => setSubject(event.target.value)}
        />
      </Field>
      <Field label="For how long">
        <Select options={SPANS} value={days} onChange={event => setDays(event.target.value)} />
      </Field>
      <Field label="Why" required hint="They read it word for word.">
        <TextArea value={reason} maxLength={REASON_MAX} rows={2} onChange={event => setReason(event.target.value)} />
      </Field>
    </ConfirmDialog>
  )
}
