'use client'

import { useMutation } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type FormEvent, useId, useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { CodeLine } from '#app/_ui/code-line.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { Select } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { Time } from '#app/_ui/time.tsx'
import { API_TOKEN_DAYS, API_TOKEN_DAYS_MAX } from '#core/limits.ts'
import { errorDetails, errorRemedy } from '../app-error.ts'
import { againAt, SignInAgain, type TooOld } from '../sign-in-again.tsx'

const LASTS = [
  { value: '30', label: '30 days' },
  { value: String(API_TOKEN_DAYS), label: `${API_TOKEN_DAYS} days` },
  { value: '180', label: '180 days' },
  { value: String(API_TOKEN_DAYS_MAX), label: 'a year' },
]

/** Makes a token and shows it once, with a call to try it by. */
export function MakeToken({ org, origin, tooOld }: { org: string; origin: string; tooOld?: TooOld | undefined }) {
  const router = useRouter()
  const form = useId()
  const [open, setOpen] = useState(false)
  const make = useMutation(useTRPC().token.make.mutationOptions({ gcTime: 0 }))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    make.mutate({ org, name: String(data.get('name')), days: Number(data.get('days')), scopes: ['spend.read'] })
  }
  const change = (next: boolean) => {
    if (make.isPending) return
    setOpen(next)
    // The token is in the page no longer than it is shown.
    if (make.data) router.refresh()
    make.reset()
  }
  const made = make.data
  return (
    <Dialog
      title={made ? 'The token, this once' : 'Make a token for a program'}
      description={
        made
          ? 'Copy it to where the program keeps its secrets. It is kept here only as a fingerprint: nobody can show it again.'
          : 'It reads the organisation’s spend and nothing else: the report of the spend page and the FOCUS export. It sees tenants, projects and models, and nobody’s own figures.'
      }
      trigger={<Button icon={<Plus aria-hidden />}>Make a token</Button>}
      open={open}
      onOpenChange={change}
      footer={
        made ? (
          <DialogClose>
            <Button variant="primary">I have it</Button>
          </DialogClose>
        ) : (
          <>
            <DialogClose>
              <Button>Cancel</Button>
            </DialogClose>
            <Button type="submit" form={form} variant="primary" loading={make.isPending}>
              Make the token
            </Button>
          </>
        )
      }
    >
      {made ? (
        <div className="grid gap-4">
          <CodeLine text={made.token} label="Copy the token" className="[&_code]:break-all" />
          <p className="text-ink-2">
            Good until <Time at={made.expiresAt} show="day" />. To try it, with the token in the variable{' '}
            <code>HOLDPOINT_TOKEN</code>:
          </p>
          <CodeLine
            command
            className="[&_code]:break-all"
            text={`curl -fH "Authorization: Bearer $HOLDPOINT_TOKEN" "${origin}/api/v1/spend?by=tenant&format=csv"`}
          />
        </div>
      ) : (
        <form id={form} onSubmit={submit} className="grid gap-4" autoComplete="off">
          {tooOld && !make.error && (
            <SignInAgain tooOld={tooOld}>Making a token takes a sign-in of the last minutes.</SignInAgain>
          )}
          <Field label="What it is for" hint="Shown in the list and nowhere else" required>
            <TextInput name="name" maxLength={80} placeholder="Import into the warehouse" />
          </Field>
          <Field label="Good for" className="max-w-44">
            <Select name="days" options={LASTS} defaultValue={String(API_TOKEN_DAYS)} />
          </Field>
          {make.error && (
            <Banner
              kind="problem"
              title={make.error.message}
              action={
                errorDetails(make.error).why === 'sign_in_again' && (
                  <Button size="sm" href={againAt(org, 'settings')}>
                    Sign in again
                  </Button>
                )
              }
            >
              {errorRemedy(make.error)}
            </Banner>
          )}
        </form>
      )}
    </Dialog>
  )
}
