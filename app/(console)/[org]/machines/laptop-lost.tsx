'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { Select } from '#app/_ui/select.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { withRemedy } from '../with-remedy.ts'

type Props = { org: string; members: readonly { id: string; name: string; machines: number }[] }

/** One act for the worst day: everything that a member's lost laptop could still do ends. */
export function LaptopLost({ org, members }: Props) {
  const router = useRouter()
  const [member, setMember] = useState('')
  const lost = useMutation(useTRPC().machine.lost.mutationOptions())
  return (
    <ConfirmDialog
      title="Is a laptop lost?"
      description="Ends every machine of this person, every sign-in and every credential of theirs, and withdraws what waits in their name. They sign in again and add a new machine. It cannot be undone, and it stands in the record."
      confirmLabel="End everything of theirs"
      trigger={<Button variant="danger">Laptop lost</Button>}
      onOpenChange={() => setMember('')}
      onConfirm={async () => {
        if (member === '') throw new Error('Choose whose laptop it is.')
        const ended = await withRemedy(lost.mutateAsync({ org, memberId: member }))
        toast('Everything of theirs has ended', {
          description: `${formatPlural(ended.machines, 'machine')}, ${formatPlural(ended.sessions, 'sign-in')} and ${formatPlural(ended.tokens, 'credential')}.`,
        })
        router.refresh()
      }}
    >
      <Field label="Whose laptop?">
        <Select
          value={member}
          placeholder="Choose a person"
          options={members.map(({ id, name, machines }) => ({
            value: id,
            label: `${name}, ${formatPlural(machines, 'machine')}`,
          }))}
          onChange={event => setMember(event.target.value)}
        />
      </Field>
    </ConfirmDialog>
  )
}
