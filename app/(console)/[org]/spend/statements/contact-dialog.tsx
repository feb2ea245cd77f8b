'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type FormEvent, useId, useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Dialog, DialogClose } from '#app/_ui/dialog.tsx'
import { Field } from '#app/_ui/field.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { errorRemedy } from '../../app-error.ts'
import type { Tenant } from './words.ts'

/** A tenant's name on its statements, and whom they are mailed to. */
export function ContactDialog({ org, tenant, words = 'Change' }: { org: string; tenant: Tenant; words?: string }) {
  const router = useRouter()
  const form = useId()
  const [open, setOpen] = useState(false)
  const save = useMutation(
    useTRPC().statement.setContact.mutationOptions({
      onSuccess: () => {
        toast('Saved', { description: 'It holds for what is closed and mailed from now on.' })
        setOpen(false)
        router.refresh()
      },
    }),
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const contact = String(data.get('contact')).trim()
    save.mutate({ org, tenant: tenant.key, name: String(data.get('name')), contact: contact === '' ? null : contact })
  }
  return (
    <Dialog
      title={
        <>
          Tenant <code>{tenant.key}</code>
        </>
      }
      description="Statements that are closed stay as they are, name included."
      size="sm"
      trigger={
        <Button size="sm" aria-label={`${words}: tenant ${tenant.key}`}>
          {words}
        </Button>
      }
      open={open}
      onOpenChange={next => {
        if (save.isPending) return
        setOpen(next)
        save.reset()
      }}
      footer={
        <>
          <DialogClose>
            <Button disabled={save.isPending}>Cancel</Button>
          </DialogClose>
          <Button type="submit" form={form} variant="primary" loading={save.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form id={form} className="grid gap-4" onSubmit={submit}>
        <Field label="Name on statements" required>
          <TextInput name="name" defaultValue={tenant.name} maxLength={100} autoComplete="off" />
        </Field>
        <Field
          label="Mail statements to"
          optional
          hint="Somebody who need not be a member: they get each closed statement with all its lines as a file, and a link that opens for members only."
        >
          <TextInput name="contact" type="email" defaultValue={tenant.contact ?? ''} autoComplete="off" />
        </Field>
        {save.error && (
          <Banner kind="problem" title={save.error.message}>
            {errorRemedy(save.error)}
          </Banner>
        )}
      </form>
    </Dialog>
  )
}
