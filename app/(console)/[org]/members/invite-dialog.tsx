'use client'

import { useMutation } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type FormEvent, useId, useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { RadioCards } from '#app/_ui/radio-cards.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import type { Role } from '#core/role.ts'
import { errorRemedy } from '../app-error.ts'
import { SignInAgain, type TooOld } from '../sign-in-again.tsx'
import { offeredRoles } from './offered-roles.ts'

/** Asks for address, name and role; the invited person accepts by signing in as that address. */
export function InviteDialog({ org, ownRole, tooOld }: { org: string; ownRole: Role; tooOld: TooOld | undefined }) {
  const router = useRouter()
  const trpc = useTRPC()
  const form = useId()
  const [open, setOpen] = useState(false)
  const [role, setRole] = useState<Role>('member')
  const invite = useMutation(
    trpc.member.invite.mutationOptions({
      onSuccess: (_, { name, email }) => {
        toast(`${name} is invited`, {
          description: `A mail to ${email} is on its way. The invitation is open for a week.`,
        })
        setOpen(false)
        router.refresh()
      },
    }),
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    invite.mutate({ org, email: String(data.get('email')), name: String(data.get('name')), role })
  }
  return (
    <Dialog
      title="Invite somebody"
      description="They get a mail with a link and join by signing in as that address. Inviting an address again replaces its invitation."
      trigger={
        <Button variant="primary" icon={<UserPlus aria-hidden />}>
          Invite
        </Button>
      }
      open={open}
      onOpenChange={next => {
        setOpen(next)
        invite.reset()
        setRole('member')
      }}
      footer={
        <>
          <DialogClose>
            <Button>Cancel</Button>
          </DialogClose>
          <Button type="submit" form={form} variant="primary" loading={invite.isPending}>
            Send the invitation
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="grid gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="E-mail address" required>
            <TextInput
              name="email"
              type="email"
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              maxLength={320}
            />
          </Field>
          <Field label="Name" required>
            <TextInput name="name" autoComplete="off" maxLength={100} />
          </Field>
        </div>
        <RadioCards legend="Role" value={role} onChange={setRole} options={offeredRoles(ownRole)} />
        {tooOld && role === 'owner' && (
          <SignInAgain tooOld={tooOld}>Inviting an owner asks who you are once more.</SignInAgain>
        )}
        {invite.error && (
          <Banner kind="problem" title={invite.error.message}>
            {errorRemedy(invite.error)}
          </Banner>
        )}
      </form>
    </Dialog>
  )
}
