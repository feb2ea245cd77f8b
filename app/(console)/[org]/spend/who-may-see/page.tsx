import { EyeOff } from 'lucide-react'
import { Banner } from '#app/_ui/banner.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Name } from '#app/_ui/name.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { may, whyNotFresh } from '#core/permission.ts'
import { roleAtLeast } from '#core/role.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { BackLink } from '../../back-link.tsx'
import { CsvLink } from '../../csv-link.tsx'
import type { GrantRow } from '../../outputs.ts'
import { titled } from '../../page-title.ts'
import { againAt } from '../../sign-in-again.tsx'
import { EndButton } from './end-button.tsx'
import { GrantDialog } from './grant-dialog.tsx'

export const generateMetadata = titled('Who may see figures')

export default async function WhoMaySeePage({ params }: { params: Promise<{ org: string }> }) {
  const { org } = await params
  const actor = await requireActor(org)
  const call = await api()
  const [grants, { members }] = await Promise.all([call.spend.grants({ org }), call.member.list({ org })])
  const now = new Date()
  const runs = (grant: GrantRow) => grant.endedAt === null && grant.expiresAt > now
  const mayGrant = may(actor, 'figures.grant')
  const tooOld = mayGrant ? whyNotFresh(actor, now) : undefined
  const seesAll = actor.role === 'auditor' || roleAtLeast(actor.role, 'owner')
  const mayEnd = (grant: GrantRow) =>
    runs(grant) && (may(actor, 'figures.end_grant') || (grant.holder.id === actor.memberId && actor.role !== 'auditor'))
  const ordered = [...grants].sort((a, b) => Number(runs(b)) - Number(runs(a)))
  return (
    <>
      <PageHeader
        above={<BackLink href={`/${org}/spend`}>Spend</BackLink>}
        title="Who may see figures"
        sub="Everybody sees every total and their own figures. To see what one person spent takes an owner’s word, with a reason that this person reads."
        actions={
          <>
            <CsvLink org={org} list="figures-grants" />
            {mayGrant && (
              <GrantDialog
                org={org}
                tooOld={tooOld && { why: tooOld.why, again: againAt(org, 'spend/who-may-see') }}
                members={members.filter(one => !one.removedAt).map(({ id, name }) => ({ value: id, label: name }))}
              />
            )}
          </>
        }
      />
      <div className="grid gap-4">
        {!seesAll && (
          <Banner kind="note" title="You see what is about you.">
            Here stands who may look at your figures, and whose you may look at. Owners and auditors see the whole list.
          </Banner>
        )}
        <Card>
          <Table
            caption="Who may see figures"
            rows={ordered}
            rowKey={({ id }) => id}
            isMarked={grant => runs(grant) && grant.aboutMe && grant.holder.id !== actor.memberId}
            empty={
              <EmptyState
                headingLevel={2}
                icon={<EyeOff aria-hidden />}
                title={seesAll ? 'Nobody sees anybody’s own figures' : 'Nobody sees your own figures'}
              >
                Reports by member and by machine show everybody else as one row.
                {mayGrant
                  ? ' Let somebody see where there is a reason.'
                  : ' An owner can let somebody see, and you would read it here.'}
              </EmptyState>
            }
            columns={[
              {
                key: 'holder',
                head: 'Who may see',
                cell: ({ holder }) => (
                  <span className="font-medium">
                    {holder.id === actor.memberId ? 'You' : <Name inTable>{holder.name}</Name>}
                  </span>
                ),
              },
              {
                key: 'subject',
                head: 'Whose figures',
                cell: ({ subject }) =>
                  subject === null ? (
                    'everybody’s'
                  ) : subject.id === actor.memberId ? (
                    'yours'
                  ) : (
                    <Name inTable>{subject.name}</Name>
                  ),
              },
              {
                key: 'reason',
                head: 'Why',
                className: 'min-w-48',
                cell: ({ reason, grantedBy, createdAt }) => (
                  <div className="min-w-0">
                    <bdi className="[overflow-wrap:anywhere]">{reason}</bdi>
                    <div className="text-ink-3 text-xs">
                      by <Name inTable>{grantedBy}</Name>, <Time at={createdAt} />
                    </div>
                  </div>
                ),
              },
              {
                key: 'until',
                head: 'Until',
                cell: grant =>
                  runs(grant) ? (
                    <Time at={grant.expiresAt} />
                  ) : (
                    <span className="flex flex-wrap items-center gap-2">
                      <Pill state="neutral">ended</Pill>
                      <Time at={grant.endedAt ?? grant.expiresAt} />
                    </span>
                  ),
              },
              {
                key: 'acts',
                head: 'What to do',
                hideHead: true,
                className: 'text-right',
                cell: grant =>
                  mayEnd(grant) ? <EndButton org={org} id={grant.id} holder={grant.holder.name} /> : null,
              },
            ]}
          />
        </Card>
      </div>
    </>
  )
}
