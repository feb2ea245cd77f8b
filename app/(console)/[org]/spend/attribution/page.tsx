import { PageHeader } from '#app/_ui/page-header.tsx'
import { readAsked } from '#app/asked.ts'
import { dateAt } from '#core/budget/window.ts'
import { addDays } from '#core/day.ts'
import { renameMap } from '#core/usage/renames.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { whyReadOnly } from '../../boundaries/why-read-only.ts'
import { titled } from '../../page-title.ts'
import { SpendTabs } from '../spend-tabs.tsx'
import { ListsCard } from './lists-card.tsx'
import { RulesCard } from './rules-card.tsx'
import { TenantsCard } from './tenants-card.tsx'
import { TesterCard, TRY_FIELDS } from './tester-card.tsx'
import { UnlistedCard, WhyCard } from './why-card.tsx'

export const generateMetadata = titled('Attribution')

type Props = {
  params: Promise<{ org: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

/** Days that the figures of this page are of. */
const DAYS = 90

export default async function AttributionPage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const asked = await readAsked(searchParams, 'key', 'list', ...TRY_FIELDS)
  const call = await api()
  const [{ lists, rules, renames }, { zone }, current, machines, { members }, tenants] = await Promise.all([
    call.attribution.inForce({ org }),
    call.spend.keys({ org }),
    call.boundary.current({ org }),
    call.machine.list({ org }),
    call.member.list({ org }),
    call.tenant.list({ org }),
  ])
  const keys = lists.map(({ key }) => key)
  const tag = keys.find(key => key === asked.key) ?? 'tenant'
  const to = addDays(dateAt(zone, Date.now()), 1)
  const period = { from: addDays(to, -DAYS), to, days: DAYS }
  const [why, unlisted] = await Promise.all([
    call.attribution.why({ org, key: tag, from: period.from, to }),
    call.attribution.unlisted({ org, from: period.from, to }),
  ])
  const readOnly = whyReadOnly(actor)
  const base = { version: current.version, text: current.text, etag: current.etag }
  const { key: _, list, ...tried } = asked
  const ready = tenants.find(({ key, listed }) => key === list && !listed)?.key
  return (
    <>
      <PageHeader
        title="Attribution"
        sub="Whose usage is whose: the tags there are, the rules that give them, and what no rule reached. All of it is part of the signed rules."
      />
      <SpendTabs org={org} current="attribution" />
      <div className="grid gap-4">
        <RulesCard
          org={org}
          rules={rules}
          base={base}
          mayEdit={readOnly === undefined}
          people={Object.fromEntries(members.map(({ id, name }) => [id, name]))}
        />
        <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)]">
          <div className="grid gap-4">
            <ListsCard org={org} lists={lists} base={base} mayEdit={readOnly === undefined} ready={ready} />
            <TenantsCard org={org} tenants={tenants} mayEdit={readOnly === undefined} />
          </div>
          <div className="grid gap-4">
            <TesterCard
              org={org}
              tried={tried}
              rules={rules}
              keys={keys}
              renames={renameMap(renames)}
              machines={machines.map(({ id, label }) => ({ value: id, label }))}
              members={members.filter(one => !one.removedAt).map(({ id, name }) => ({ value: id, label: name }))}
            />
            <UnlistedCard org={org} rows={unlisted} period={period} />
          </div>
        </div>
        <WhyCard org={org} tag={tag} keys={keys} period={period} why={why} />
      </div>
    </>
  )
}
