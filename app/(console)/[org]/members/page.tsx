import { Banner } from '#app/_ui/banner.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Disclosure } from '#app/_ui/disclosure.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { may, rightsOf, whyNotFresh } from '#core/permission.ts'
import { ALL_ROLES, roleRank } from '#core/role.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { CsvLink } from '../csv-link.tsx'
import { titled } from '../page-title.ts'
import { againAt } from '../sign-in-again.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { FormerTable, InvitationTable, MemberTable } from './member-table.tsx'
import { RolePill } from './role-pill.tsx'
import { ROLE_WORDS } from './role-words.ts'

export const generateMetadata = titled('Members')

export default async function MembersPage({ params }: { params: Promise<{ org: string }> }) {
  const { org } = await params
  const actor = await requireActor(org)
  const { members, invitations } = await (await api()).member.list({ org })
  const now = members.filter(member => !member.removedAt)
  const former = members.filter(member => member.removedAt)
  const mayInvite = may(actor, 'member.invite')
  const tooOld = whyNotFresh(actor, new Date())
  const reader = {
    role: actor.role,
    rights: rightsOf(actor),
    ownSignIn: !['device_link', 'admin_credential'].includes(actor.method),
    tooOld: tooOld && { why: tooOld.why, again: againAt(org, 'members') },
  }
  return (
    <>
      <PageHeader
        title="Members"
        sub="Who belongs to this organisation. A role says what somebody may do here, and which held agents they may let go on."
        facts={formatPlural(now.length, 'member')}
        actions={
          <>
            <CsvLink org={org} list="members" />
            {mayInvite && <InviteDialog org={org} ownRole={actor.role} tooOld={reader.tooOld} />}
          </>
        }
      />
      <div className="grid gap-4">
        {!mayInvite && reader.ownSignIn && (
          <Banner kind="note" title={`You can read this; your role is ${actor.role}.`}>
            Inviting, changing roles and removing takes the role admin or above.
          </Banner>
        )}
        <Card>
          <MemberTable org={org} rows={now} reader={reader} />
        </Card>
        {invitations.length > 0 && (
          <Card title="Invitations that wait" sub="accepted by signing in as the invited address, within a week">
            <InvitationTable org={org} rows={invitations} mayRevoke={mayInvite} />
          </Card>
        )}
        <Card
          title="What each role may do"
          sub="each may also do what those below it may"
          note="Nobody invites, promotes or removes above their own role, and the last owner stays."
        >
          <KeyValue
            items={[...ALL_ROLES]
              .sort((a, b) => roleRank(b) - roleRank(a))
              .map(role => ({
                key: role,
                label: <RolePill role={role} />,
                value: (
                  <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
                    <span className="min-w-0 flex-1 basis-60 text-ink-2">{ROLE_WORDS[role]}</span>
                    {role === actor.role && <span className="text-ink-3 text-xs">your role</span>}
                  </div>
                ),
              }))}
          />
        </Card>
        {former.length > 0 && (
          <Disclosure className="rounded-lg border bg-panel" summary={formatPlural(former.length, 'former member')}>
            <FormerTable rows={former} />
          </Disclosure>
        )}
      </div>
    </>
  )
}
