import { notFound } from 'next/navigation'
import { Banner } from '#app/_ui/banner.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { readAsked } from '#app/asked.ts'
import { zoneNames } from '#core/budget/zone.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { BackLink } from '../../back-link.tsx'
import { whyReadOnly } from '../../boundaries/why-read-only.ts'
import { titled } from '../../page-title.ts'
import { currencyOptions } from '../currency/words.ts'
import { BudgetForm, type Choices } from './budget-form.tsx'
import { draftOf, emptyDraft } from './draft.ts'

export const generateMetadata = titled('Edit a budget')

type Props = {
  params: Promise<{ org: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function EditBudgetPage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const { name } = await readAsked(searchParams, 'name')
  const call = await api()
  const [current, keys, { members }, machines, money] = await Promise.all([
    call.boundary.current({ org }),
    call.spend.keys({ org }),
    call.member.list({ org }),
    call.machine.list({ org }),
    call.spend.currency({ org }),
  ])
  const budget = name === undefined ? undefined : keys.budgets.find(one => one.name === name)
  if (name !== undefined && !budget) notFound()
  const readOnly = whyReadOnly(actor)
  const present = members.filter(({ removedAt }) => !removedAt)
  const choices: Choices = {
    keys: [
      ...keys.lists.map(({ key, values }) => ({ key, values: values.map(value => ({ value, label: value })) })),
      { key: 'member', values: present.map(({ id, name: label }) => ({ value: id, label })) },
      { key: 'machine', values: machines.map(({ id, label }) => ({ value: id, label })) },
    ],
    owners: [
      { value: 'role:admin', label: 'Admins and above' },
      { value: 'role:owner', label: 'Owners' },
      { value: 'role:lead', label: 'Leads and above' },
      ...present.map(({ id, name: label }) => ({ value: `member:${id}`, label })),
    ],
    currencies: currencyOptions([...new Set(['USD', money.currency, ...money.rates.map(({ currency }) => currency)])]),
    zones: [...new Set([keys.zone, ...(budget ? [budget.zone] : []), 'UTC', ...zoneNames()])],
  }
  const defaults = { currency: money.currency, zone: keys.zone }
  const draft = budget ? draftOf(budget) : emptyDraft(defaults)
  return (
    <>
      <PageHeader
        above={<BackLink href={`/${org}/spend/budgets`}>Budgets</BackLink>}
        title={name === undefined ? 'New budget' : `Change budget ${name}`}
        sub="It becomes part of the signed rules, next to the boundaries, and is changed like them: with a note, a diff and a version."
      />
      {readOnly === undefined ? (
        <div className="max-w-3xl">
          <BudgetForm
            org={org}
            {...(name === undefined ? {} : { name })}
            draft={draft}
            base={{ version: current.version, text: current.text, etag: current.etag }}
            defaults={defaults}
            choices={choices}
          />
        </div>
      ) : (
        <Banner kind="note" title="You can read budgets, not change them.">
          {readOnly}
        </Banner>
      )}
    </>
  )
}
