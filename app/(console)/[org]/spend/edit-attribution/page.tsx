import { notFound } from 'next/navigation'
import { Banner } from '#app/_ui/banner.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { readAsked } from '#app/asked.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { BackLink } from '../../back-link.tsx'
import { whyReadOnly } from '../../boundaries/why-read-only.ts'
import { titled } from '../../page-title.ts'
import { RuleForm } from './rule-form.tsx'

export const generateMetadata = titled('Edit an attribution rule')

type Props = {
  params: Promise<{ org: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function EditAttributionPage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const { index } = await readAsked(searchParams, 'index')
  const call = await api()
  const [current, { rules, lists }] = await Promise.all([
    call.boundary.current({ org }),
    call.attribution.inForce({ org }),
  ])
  const rule = index === undefined ? undefined : rules.find(one => String(one.index) === index)
  if (index !== undefined && !rule) notFound()
  const readOnly = whyReadOnly(actor)
  return (
    <>
      <PageHeader
        above={<BackLink href={`/${org}/spend/attribution`}>Attribution</BackLink>}
        title={rule ? `Rule ${rule.index + 1}` : 'New rule'}
        sub="Says whose usage it is that is done in a repository, a folder, on a machine or by a person."
      />
      {readOnly === undefined ? (
        <div className="max-w-3xl">
          <RuleForm
            org={org}
            base={{ version: current.version, text: current.text, etag: current.etag }}
            at={rule && { index: rule.index, was: rule.was }}
            when={rule?.when ?? {}}
            set={rule?.set ?? {}}
            lists={lists.map(({ key, values }) => ({ key, values: values.map(({ value }) => value) }))}
          />
        </div>
      ) : (
        <Banner kind="note" title="You can read the rules, not change them.">
          {readOnly}
        </Banner>
      )}
    </>
  )
}
