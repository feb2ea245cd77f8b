import { ScrollText, SearchX } from 'lucide-react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { CopyButton } from '#app/_ui/copy-button.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Field } from '#app/_ui/field.tsx'
import { FilterBar } from '#app/_ui/filter-bar.tsx'
import { formatCount } from '#app/_ui/format.ts'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Pager } from '#app/_ui/pager.tsx'
import { Select } from '#app/_ui/select.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { type Asked, pathWith, readAsked } from '#app/asked.ts'
import { seesEverybody } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { CsvLink } from '../csv-link.tsx'
import { titled } from '../page-title.ts'
import { csvQuery, daysBetween, filterInput } from './audit-filter.ts'
import { EntryList } from './entry-list.tsx'
import { kindChoices } from './kind-words.ts'

export const generateMetadata = titled('Audit')

type Choice = { value: string; label: string }
type Props = { params: Promise<{ org: string }>; searchParams: Asked }

export default async function AuditPage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const { before, ...filter } = await readAsked(searchParams, 'kind', 'actor', 'subject', 'from', 'to', 'before')
  const cursor = before && /^[1-9]\d{0,8}$/.test(before) ? Number(before) : undefined
  const call = await api()
  const [page, { members }, machines] = await Promise.all([
    call.evidence.list({ org, ...filterInput(filter), ...(cursor ? { cursor } : {}) }),
    call.member.list({ org }),
    call.machine.list({ org }),
  ])
  const base = `/${org}/audit`
  const isFiltered = Object.values(filter).some(Boolean)
  const people = seesEverybody(actor) ? members : members.filter(member => member.self)
  const named: Choice[] = [
    ...people.map(({ id, name, removedAt }) => ({ value: id, label: removedAt ? `${name} (left)` : name })),
    ...machines.map(({ id, label }) => ({ value: id, label: `Machine ${label}` })),
  ]
  const days = daysBetween(filter)
  return (
    <>
      <PageHeader
        title="Audit"
        sub="Everything that changed who may do what, and every answer to a held agent. Entries are only ever added, each chained to the one before."
        actions={<CsvLink org={org} list="audit" query={csvQuery(filter)} />}
      />
      <section
        aria-label="State of the ledger"
        className="mb-4 grid gap-x-6 gap-y-2 rounded-lg border bg-panel px-4 py-3 sm:grid-cols-[auto_minmax(0,1fr)]"
      >
        <div>
          <div className="text-ink-3 text-xs">Entries</div>
          <div className="font-semibold text-2xl tabular-nums tracking-[-0.02em]">{formatCount(page.size)}</div>
        </div>
        <div className="min-w-0">
          <div className="text-ink-3 text-xs">Tree hash over all of them</div>
          <div className="flex items-start gap-2">
            <code className="min-w-0 break-all py-1">{page.root}</code>
            <CopyButton text={page.root} iconOnly label="Copy the tree hash" />
          </div>
        </div>
        <p className="text-ink-2 text-sm sm:col-span-2">
          <strong className="font-semibold">Attested by the control plane.</strong> It writes this ledger itself, and
          nobody outside has countersigned it. Keep size and tree hash somewhere else: whoever changes an old entry
          later cannot make them come out the same.
        </p>
      </section>
      {!seesEverybody(actor) && (
        <Banner kind="note" title="Names of others are hidden." className="mb-4">
          You see your own; owners, admins and auditors see everybody’s.
        </Banner>
      )}
      <FilterBar label="Filter entries" action={base} clearHref={isFiltered ? base : undefined}>
        <Field label="What" className="w-56 max-sm:w-full">
          <Select name="kind" defaultValue={filter.kind ?? ''} placeholder="Everything" options={kindChoices()} />
        </Field>
        <Field label="Who" className="w-44 max-sm:w-full">
          <Select
            name="actor"
            defaultValue={filter.actor ?? ''}
            placeholder="Anybody"
            options={withAsked(filter.actor, [...named, { value: 'control-plane', label: 'The control plane' }])}
          />
        </Field>
        <Field label="About" className="w-44 max-sm:w-full">
          <Select
            name="subject"
            defaultValue={filter.subject ?? ''}
            placeholder="Anything"
            options={withAsked(filter.subject, named)}
          />
        </Field>
        <Field label="From (UTC)" className="w-36 max-sm:w-[calc(50%-0.375rem)]">
          <TextInput name="from" type="date" defaultValue={days.from && filter.from} />
        </Field>
        <Field label="To (UTC)" className="w-36 max-sm:w-[calc(50%-0.375rem)]">
          <TextInput name="to" type="date" defaultValue={days.to && filter.to} />
        </Field>
      </FilterBar>
      <Card>
        {page.items.length === 0 ? (
          isFiltered ? (
            <EmptyState
              headingLevel={2}
              icon={<SearchX aria-hidden />}
              title="No entry fits"
              action={<Button href={base}>Show everything</Button>}
            >
              Nothing in the ledger is of this kind, by this person and in this time.
            </EmptyState>
          ) : (
            <EmptyState headingLevel={2} icon={<ScrollText aria-hidden />} title="Nothing older">
              These were all.
            </EmptyState>
          )
        ) : (
          <EntryList org={org} rows={page.items} size={page.size} />
        )}
      </Card>
      {(page.next || cursor) && (
        <Pager
          label="Pages of entries"
          previousHref={cursor ? pathWith(base, filter) : undefined}
          nextHref={page.next ? pathWith(base, { ...filter, before: String(page.next) }) : undefined}
        >
          {page.items[0] && `Entries ${page.items[0].seq} to ${page.items.at(-1)!.seq}`}
        </Pager>
      )}
    </>
  )
}

/** What the address asks for stands among the choices, also when it is a request or somebody whom this reader may not name. */
function withAsked(asked: string | undefined, choices: readonly Choice[]): Choice[] {
  if (!asked || choices.some(({ value }) => value === asked)) return [...choices]
  return [{ value: asked, label: asked }, ...choices]
}
