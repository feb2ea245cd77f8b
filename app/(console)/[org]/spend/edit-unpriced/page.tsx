import { Banner } from '#app/_ui/banner.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { BackLink } from '../../back-link.tsx'
import { whyReadOnly } from '../../boundaries/why-read-only.ts'
import { titled } from '../../page-title.ts'
import { UnpricedForm } from './unpriced-form.tsx'

export const generateMetadata = titled('When a model has no price')

export default async function EditUnpricedPage({ params }: { params: Promise<{ org: string }> }) {
  const { org } = await params
  const actor = await requireActor(org)
  const call = await api()
  const [current, { unpriced }] = await Promise.all([call.boundary.current({ org }), call.rate.own({ org })])
  const how = unpriced.on_unpriced_model
  const readOnly = whyReadOnly(actor)
  return (
    <>
      <PageHeader
        above={<BackLink href={`/${org}/spend/rates`}>Rates</BackLink>}
        title="When a model has no price"
        sub="New models appear before their prices are known. Until somebody gives one a price, this decides what its calls count as."
      />
      {readOnly === undefined ? (
        <div className="max-w-3xl">
          <UnpricedForm
            org={org}
            base={{ version: current.version, text: current.text, etag: current.etag }}
            how={how === 'max_rate' || how === 'zero' ? how : 'model'}
            model={how === 'max_rate' || how === 'zero' ? '' : how}
            providers={unpriced.providers}
          />
        </div>
      ) : (
        <Banner kind="note" title="You can read this, not change it.">
          {readOnly}
        </Banner>
      )}
    </>
  )
}
