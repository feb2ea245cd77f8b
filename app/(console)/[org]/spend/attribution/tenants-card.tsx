'use client'

import { useMutation } from '@tanstack/react-query'
import { Pencil, Plus, Trash2, Users } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '#app/_client/trpc.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Field } from '#app/_ui/field.tsx'
import { IconButton } from '#app/_ui/icon-button.tsx'
import { Name } from '#app/_ui/name.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { Table } from '#app/_ui/table.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { toast } from '#app/_ui/toast-store.ts'
import { CsvLink } from '../../csv-link.tsx'
import type { TenantRow } from '../../outputs.ts'
import { withRemedy } from '../../with-remedy.ts'

type Act = { kind: 'add' } | { kind: 'rename' | 'remove'; tenant: TenantRow }

/** Whom usage is charged to: a key that tags say, and a name that people read. */
export function TenantsCard({
  org,
  tenants,
  mayEdit,
}: {
  org: string
  tenants: readonly TenantRow[]
  mayEdit: boolean
}) {
  const trpc = useTRPC()
  const router = useRouter()
  const [act, setAct] = useState<Act>()
  const [key, setKey] = useState('')
  const [name, setName] = useState('')
  const after = { onSuccess: () => router.refresh() }
  const add = useMutation(trpc.tenant.add.mutationOptions(after))
  const rename = useMutation(trpc.tenant.rename.mutationOptions(after))
  const remove = useMutation(trpc.tenant.remove.mutationOptions(after))
  const open = (next: Act) => {
    setKey('')
    setName(next.kind === 'add' ? '' : next.tenant.name)
    setAct(next)
  }
  const onOpenChange = (isOpen: boolean) => !isOpen && setAct(undefined)
  return (
    <Card
      title="Tenants"
      sub="whom usage is charged to"
      aside={
        <>
          <CsvLink org={org} list="tenants" />
          {mayEdit && (
            <Button size="sm" icon={<Plus aria-hidden />} onClick={() => open({ kind: 'add' })}>
              Add a tenant
            </Button>
          )}
        </>
      }
      note="A key never changes, for usage is recorded under it; rename it under Tags to have it read as another. Whom statements go to is set with the statements."
    >
      <Table
        caption="Tenants"
        rows={tenants}
        rowKey={tenant => tenant.key}
        empty={
          <EmptyState headingLevel={3} icon={<Users aria-hidden />} title="No tenant yet">
            A tenant is a customer, a department or a cost centre. Add one, list its key under Tags, and let a rule name
            it.
          </EmptyState>
        }
        columns={[
          {
            key: 'name',
            head: 'Tenant',
            cell: tenant => (
              <div className="min-w-0">
                <Name inTable className="font-medium">
                  {tenant.name}
                </Name>
                <div className="text-ink-3 text-xs">
                  <code>{tenant.key}</code>
                </div>
              </div>
            ),
          },
          {
            key: 'state',
            head: 'State',
            cell: ({ key, listed, used }) =>
              listed ? (
                <Pill state="passed">listed</Pill>
              ) : (
                <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
                  <Pill state={used ? 'partly' : 'neutral'}>{used ? 'past usage only' : 'not listed yet'}</Pill>
                  {mayEdit && (
                    <Link
                      href={`?list=${encodeURIComponent(key)}#new-tenant`}
                      className="link whitespace-nowrap text-sm"
                    >
                      List it
                    </Link>
                  )}
                </span>
              ),
          },
          {
            key: 'acts',
            head: 'What to do',
            hideHead: true,
            className: 'text-right',
            cell: tenant =>
              mayEdit ? (
                <div className="flex justify-end gap-1">
                  <IconButton
                    size="sm"
                    label={`Change the name of ${tenant.key}`}
                    icon={<Pencil aria-hidden />}
                    onClick={() => open({ kind: 'rename', tenant })}
                  />
                  {!tenant.listed && (
                    <IconButton
                      size="sm"
                      label={`Remove tenant ${tenant.key}`}
                      icon={<Trash2 aria-hidden />}
                      onClick={() => open({ kind: 'remove', tenant })}
                    />
                  )}
                </div>
              ) : null,
          },
        ]}
      />
      {act?.kind === 'add' && (
        <ConfirmDialog
          open
          onOpenChange={onOpenChange}
          tone="primary"
          title="Add a tenant"
          description="Usage names it once its key is listed under Tags and a rule or a person says it."
          confirmLabel="Add the tenant"
          onConfirm={async () => {
            await withRemedy(add.mutateAsync({ org, key: key.trim(), name }))
            toast(`${name.trim()} is a tenant now`)
          }}
        >
          <Field label="Name" required>
            <TextInput value={name} maxLength={100} onChange={event => setName(event.target.value)} />
          </Field>
          <Field label="Key" required hint="Small letters, digits, dots, - and _. It cannot be changed.">
            <TextInput mono value={key} maxLength={63} onChange={event => setKey(event.target.value)} />
          </Field>
        </ConfirmDialog>
      )}
      {act?.kind === 'rename' && (
        <ConfirmDialog
          open
          onOpenChange={onOpenChange}
          tone="primary"
          title={`What is ${act.tenant.key} called?`}
          description="Reports and statements to come show it. Closed statements keep the name that they were closed with."
          confirmLabel="Save the name"
          onConfirm={async () => {
            await withRemedy(rename.mutateAsync({ org, key: act.tenant.key, name }))
            toast(`${act.tenant.key} is called ${name.trim()}`)
          }}
        >
          <Field label="Name" required>
            <TextInput value={name} maxLength={100} onChange={event => setName(event.target.value)} />
          </Field>
        </ConfirmDialog>
      )}
      {act?.kind === 'remove' && (
        <ConfirmDialog
          open
          onOpenChange={onOpenChange}
          title={`Remove ${act.tenant.name}?`}
          description="What was recorded under its key stays in every report, by the key alone, and its closed statements stay as they are. Its contact is forgotten."
          confirmLabel="Remove the tenant"
          onConfirm={async () => {
            await withRemedy(remove.mutateAsync({ org, key: act.tenant.key }))
            toast(`${act.tenant.name} is removed`)
          }}
        />
      )}
    </Card>
  )
}
