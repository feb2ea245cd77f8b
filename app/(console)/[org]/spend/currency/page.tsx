import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { whyReadOnly } from '../../boundaries/why-read-only.ts'
import { titled } from '../../page-title.ts'
import { SpendTabs } from '../spend-tabs.tsx'
import { RatesCard } from './rates-card.tsx'
import { currencyName } from './words.ts'

export const generateMetadata = titled('Currency')

export default async function CurrencyPage({ params }: { params: Promise<{ org: string }> }) {
  const { org } = await params
  const actor = await requireActor(org)
  const view = await (await api()).spend.currency({ org })
  return (
    <>
      <PageHeader
        title="Currency"
        sub="Prices are in US dollars. What is shown in another currency is converted day by day, each day of UTC at the rate that you entered for it."
      />
      <SpendTabs org={org} current="currency" />
      <div className="grid gap-4">
        <Card
          title="Billed in"
          aside={
            <Button size="sm" href={`/${org}/settings#currency`}>
              {actor.role === 'owner' ? 'Change' : 'Who can change it'}
            </Button>
          }
        >
          <div className="grid gap-1 p-4">
            <p className="font-medium text-base">
              {currencyName(view.currency)} <span className="font-normal text-ink-2">{view.currency}</span>
            </p>
            <p className="text-ink-2 text-sm">
              Chargeback, its CSV and open statements are in it, and budgets that name no currency. A month that was
              closed keeps the currency it was closed in.
            </p>
          </div>
        </Card>
        <RatesCard org={org} view={view} mayEdit={whyReadOnly(actor) === undefined} />
      </div>
    </>
  )
}
