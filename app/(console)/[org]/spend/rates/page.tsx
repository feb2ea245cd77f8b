import { PageHeader } from '#app/_ui/page-header.tsx'
import { readAsked } from '#app/asked.ts'
import { dateAt } from '#core/budget/window.ts'
import { addDays } from '#core/day.ts'
import { may } from '#core/permission.ts'
import { PROVIDERS } from '#core/pricing.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { whyReadOnly } from '../../boundaries/why-read-only.ts'
import { titled } from '../../page-title.ts'
import { SpendTabs } from '../spend-tabs.tsx'
import { CardList } from './card-list.tsx'
import { OwnCard } from './own-card.tsx'
import { PolicyCard } from './policy-card.tsx'
import { UnpricedCard } from './unpriced-card.tsx'

export const generateMetadata = titled('Rates')

type Props = {
  params: Promise<{ org: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

const SPANS = [
  { days: 30, label: '30 days' },
  { days: 90, label: '90 days' },
  { days: 366, label: 'A year' },
]

export default async function RatesPage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const asked = await readAsked(searchParams, 'q', 'provider', 'page', 'days')
  const days = SPANS.find(span => String(span.days) === asked.days)?.days ?? 90
  const provider = PROVIDERS.find(one => one === asked.provider)
  const search = (asked.q ?? '').slice(0, 100)
  const call = await api()
  const { zone } = await call.spend.keys({ org })
  const to = addDays(dateAt(zone, Date.now()), 1)
  const period = { from: addDays(to, -days), to }
  const [own, list, { models }] = await Promise.all([
    call.rate.own({ org }),
    call.rate.list({
      org,
      search,
      ...(provider && { provider }),
      page: Math.min(1000, Math.max(1, Number.parseInt(asked.page ?? '1', 10) || 1)),
    }),
    call.rate.unpriced({ org, ...period }),
  ])
  const mayEdit = whyReadOnly(actor) === undefined
  return (
    <>
      <PageHeader
        title="Rates"
        sub="What tokens cost: list prices that come with this server, and your own from a day on. Usage keeps the price that held on its day until somebody prices it anew."
      />
      <SpendTabs org={org} current="rates" />
      <div className="grid gap-4">
        <UnpricedCard
          org={org}
          models={models}
          period={{ ...period, days }}
          spans={SPANS}
          mayEdit={mayEdit}
          mayReprice={may(actor, 'usage.reprice')}
        />
        <OwnCard org={org} own={own} mayEdit={mayEdit} />
        <PolicyCard org={org} own={own} mayEdit={mayEdit} />
        <CardList org={org} list={list} search={search} provider={provider ?? ''} card={own.card} />
      </div>
    </>
  )
}
