'use client'

import { useMutation } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type FormEvent, useId, useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { errorDetails, errorRemedy } from '../app-error.ts'
import { againAt } from '../sign-in-again.tsx'
import { typedDomains } from './setting-words.ts'

/** Connects an OpenID Connect provider; the server reads its published configuration first, so that a slip shows here. */
export function AddConnection({ org }: { org: string }) {
  const router = useRouter()
  const form = useId()
  const [open, setOpen] = useState(false)
  const add = useMutation(
    useTRPC().settings.addConnection.mutationOptions({
      onSuccess: (_, { name }) => {
        toast(`${name} is connected`, {
          description: 'Now give the provider the redirect address that the settings show, then try it.',
        })
        setOpen(false)
        router.refresh()
      },
    }),
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '')
    add.mutate({
      org,
      name: text('name'),
      issuer: text('issuer'),
      clientId: text('clientId'),
      clientSecret: text('clientSecret'),
      domains: typedDomains(text('domains')),
    })
  }
  return (
    <Dialog
      title="Connect a sign-in provider"
      description="Any provider that speaks OpenID Connect. Register Holdpoint there as a web application first; the redirect address is shown here once it is connected. Signing in through it makes no members: people are invited as before."
      trigger={<Button icon={<Plus aria-hidden />}>Connect a provider</Button>}
      open={open}
      onOpenChange={next => {
        setOpen(next)
        add.reset()
      }}
      footer={
        <>
          <DialogClose>
            <Button>Cancel</Button>
          </DialogClose>
          <Button type="submit" form={form} variant="primary" loading={add.isPending}>
            Check and connect
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="grid gap-4" autoComplete="off">
        <Field label="Name" hint="Stands on the button of the sign-in page" required>
          <TextInput name="name" maxLength={100} placeholder="Acme login" />
        </Field>
        <Field label="Issuer" hint="Exactly as the provider calls itself, to the last slash" required>
          <TextInput
            name="issuer"
            type="url"
            maxLength={300}
            mono
            placeholder="https://login.example.com/acme"
            spellCheck={false}
          />
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Client id" required>
            <TextInput name="clientId" maxLength={300} mono spellCheck={false} autoComplete="off" />
          </Field>
          <Field label="Client secret" hint="Kept sealed, never shown again" required>
            <TextInput name="clientSecret" type="password" maxLength={1000} mono autoComplete="new-password" />
          </Field>
        </div>
        <Field
          label="Domains"
          optional
          hint="The only ones whose addresses this provider is believed about, such as acme.example. Empty: all."
        >
          <TextInput name="domains" maxLength={2000} mono spellCheck={false} />
        </Field>
        {add.error && (
          <Banner
            kind="problem"
            title={add.error.message}
            action={
              errorDetails(add.error).why === 'sign_in_again' && (
                <Button size="sm" href={againAt(org, 'settings')}>
                  Sign in again
                </Button>
              )
            }
          >
            {errorRemedy(add.error)}
          </Banner>
        )}
      </form>
    </Dialog>
  )
}
