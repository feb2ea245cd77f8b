import Link from 'next/link'
import { notFound } from 'next/navigation'
import { cache } from 'react'
import { Card } from '#app/_ui/card.tsx'
import { CodeBlock } from '#app/_ui/code-block.tsx'
import { DiffView } from '#app/_ui/diff-view.tsx'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { Time } from '#app/_ui/time.tsx'
import { may } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { errorCode } from '../../../app-error.ts'
import { BackLink } from '../../../back-link.tsx'
import type { Version } from '../../../outputs.ts'
import { titled } from '../../../page-title.ts'
import { RollBack } from './roll-back.tsx'

type Props = { params: Promise<{ org: string; version: string }> }

export const generateMetadata = titled<Awaited<Props['params']>>(
  ({ version }) => `Boundaries, version ${version}`,
  ({ org, version }) => load(org, version),
)

export default async function VersionPage({ params }: Props) {
  const { org, version: wanted } = await params
  const actor = await requireActor(org)
  const caller = await api()
  const [version, current] = await Promise.all([load(org, wanted), caller.boundary.current({ org })])
  const base = `/${org}/boundaries`
  const inForce = version.version === current.version
  const before = version.previousVersion === 0 ? 'an empty set' : `version ${version.previousVersion}`
  return (
    <>
      <PageHeader
        above={
          <>
            <BackLink href={`${base}/history`}>History of boundaries</BackLink>
            {inForce && <Pill state="passed">in force</Pill>}
          </>
        }
        title={`Version ${version.version}`}
        sub={version.note}
        actions={
          !inForce &&
          may(actor, 'boundary.publish') && (
            <RollBack
              org={org}
              version={version.version}
              text={version.text}
              current={{ version: current.version, etag: current.etag, text: current.text }}
            />
          )
        }
      />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]">
        <div className="grid min-w-0 gap-4">
          <Card title="What it changed" sub={`against ${before}`}>
            <DiffView
              before={version.previousText}
              after={version.text}
              label={`${before} and version ${version.version}`}
              alike={`The text is that of ${before}.`}
            />
          </Card>
          <Card title="The whole text">
            {version.text.trim() === '' ? (
              <p className="px-4 py-3 text-ink-2">Empty: it has no rules.</p>
            ) : (
              <CodeBlock text={version.text} label={`Text of version ${version.version}`} />
            )}
          </Card>
        </div>
        <Card
          title="Publication"
          note="The digest names the signed content. Machines report the same one when they have it in force."
        >
          <KeyValue
            items={[
              { key: 'Published', value: <Time at={version.publishedAt} seconds /> },
              { key: 'By', value: version.publishedBy ?? 'the first start' },
              {
                key: 'How',
                value:
                  version.how === 'team-cli'
                    ? 'from the command line'
                    : version.how === 'system'
                      ? 'by the control plane itself'
                      : 'on these pages',
              },
              { key: 'Rules', value: version.rules },
              ...(version.rolledBackTo === null
                ? []
                : [
                    {
                      key: 'Rolled back to',
                      value: (
                        <Link className="link" href={`${base}/history/${version.rolledBackTo}`}>
                          the text of version {version.rolledBackTo}
                        </Link>
                      ),
                    },
                  ]),
              { key: 'Digest', value: <code className="break-all text-ink-2 text-xs">{version.digest}</code> },
            ]}
          />
        </Card>
      </div>
    </>
  )
}

/** Once per request: the title asks, too. */
const load = cache(async (org: string, wanted: string): Promise<Version> => {
  if (!/^[1-9]\d{0,8}$/.test(wanted)) notFound()
  try {
    return await (await api()).boundary.version({ org, version: Number(wanted) })
  } catch (error) {
    if (errorCode(error) === 'NOT_FOUND') notFound()
    throw error
  }
})
