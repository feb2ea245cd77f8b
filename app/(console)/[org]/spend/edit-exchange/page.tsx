import { notFound } from 'next/navigation'
import { Banner } from '#app/_ui/banner.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { readAsked } from '#app/asked.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { BackLink } from '../../back-link.tsx'
import { whyReadOnly } from '../../boundaries/why-read-only.ts'
import { titled } from '../../page-title.ts'
import { currencyOptions } from '../currency/words.ts'
import { ExchangeForm } from './exchange-form.tsx'

export const generateMetadata = titled('Edit an exchange rate')

type Props = {
  params: Promise<{ org: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function EditExchangePage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const { index } = await readAsked(searchParams, 'index')
  const call = await api()
  const [current, view] = await Promise.all([call.boundary.current({ org }), call.spend.currency({ org })])
  const found = index === undefined ? undefined : view.rates.find(rate => String(rate.index) === index)
  if (index !== undefined && !found) notFound()
  const readOnly = whyReadOnly(actor)
  return (
    <>
      <PageHeader
        above={<BackLink href={`/${org}/spend/currency`}>Currency</BackLink>}
        title={found ? `${found.currency} from ${found.from}` : 'New exchange rate'}
        sub="It becomes part of the signed rules: this server and every machine convert by the same rate."
      />
      {readOnly === undefined ? (
        <div className="max-w-3xl">
          <ExchangeForm
            org={org}
            draft={
              found
                ? { currency: found.currency, from: found.from, perUsd: found.perUsd }
                : { currency: view.rates[0]?.currency ?? '', from: view.today, perUsd: '' }
            }
            base={{ version: current.version, text: current.text, etag: current.etag }}
            at={found && { index: found.index, was: found.was }}
            today={view.today}
            currencies={currencyOptions(Intl.supportedValuesOf('currency').filter(code => code !== 'USD'))}
          />
        </div>
      ) : (
        <Banner kind="note" title="You can read exchange rates, not change them.">
          {readOnly}
        </Banner>
      )}
    </>
  )
}
