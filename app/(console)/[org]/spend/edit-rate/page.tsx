import { notFound } from 'next/navigation'
import { Banner } from '#app/_ui/banner.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { readAsked } from '#app/asked.ts'
import { isDay } from '#core/day.ts'
import { PROVIDERS } from '#core/pricing.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { BackLink } from '../../back-link.tsx'
import { whyReadOnly } from '../../boundaries/why-read-only.ts'
import { titled } from '../../page-title.ts'
import { draftOf, NO_PRICES } from './draft.ts'
import { RateForm } from './rate-form.tsx'

export const generateMetadata = titled('Edit a price')

type Props = {
  params: Promise<{ org: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function EditRatePage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const asked = await readAsked(searchParams, 'index', 'model', 'provider', 'from')
  const call = await api()
  const [current, own] = await Promise.all([call.boundary.current({ org }), call.rate.own({ org })])
  const found = asked.index === undefined ? undefined : own.overrides.find(({ index }) => String(index) === asked.index)
  if (asked.index !== undefined && !found) notFound()
  const at = found && { index: found.index, was: found.was }
  const usedFrom = isDay(asked.from) ? asked.from : undefined
  const draft = at
    ? draftOf(at.was)
    : {
        model: (asked.model ?? '').slice(0, 100),
        provider: PROVIDERS.find(one => one === asked.provider) ?? 'anthropic',
        from: usedFrom ?? own.today,
        until: '',
        prices: NO_PRICES,
        above: '',
        long: NO_PRICES,
        aliases: '',
      }
  const readOnly = whyReadOnly(actor)
  return (
    <>
      <PageHeader
        above={<BackLink href={`/${org}/spend/rates`}>Rates</BackLink>}
        title={at ? `Price of ${String(at.was.model)}` : 'New price'}
        sub="It becomes part of the signed rules, next to the boundaries: machines and this server reckon by the same price."
      />
      {readOnly === undefined ? (
        <div className="max-w-4xl">
          <RateForm
            org={org}
            draft={draft}
            base={{ version: current.version, text: current.text, etag: current.etag }}
            at={at}
            usedFrom={usedFrom}
            today={own.today}
          />
        </div>
      ) : (
        <Banner kind="note" title="You can read prices, not change them.">
          {readOnly}
        </Banner>
      )}
    </>
  )
}
