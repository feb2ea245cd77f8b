import Link from 'next/link'
import { NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import type { InvitationRow, MemberRow, Reader } from '../outputs.ts'
import { MemberActs } from './member-acts.tsx'
import { RevokeInvitation } from './revoke-invitation.tsx'
import { RolePill } from './role-pill.tsx'

const none = <span className="text-ink-3">{NONE}</span>

const person = (row: { name: string; email: string; self?: boolean }) => (
  <div className="min-w-0">
    <div className="font-medium">
      <Name inTable>{row.name}</Name>
      {row.self && <span className="font-normal text-ink-3"> (you)</span>}
    </div>
    <div className="font-normal text-ink-3 text-xs">
      <Name inTable>{row.email}</Name>
    </div>
  </div>
)

/** Everybody who belongs to the organisation now. */
export function MemberTable({ org, rows, reader }: { org: string; rows: readonly MemberRow[]; reader: Reader }) {
  const columns: Column<MemberRow>[] = [
    { key: 'name', head: 'Member', cell: person },
    { key: 'role', head: 'Role', nowrap: true, cell: row => <RolePill role={row.role} /> },
    {
      key: 'machines',
      head: 'Machines',
      numeric: true,
      cell: row =>
        row.machines === 0 ? (
          <span className="text-ink-3">0</span>
        ) : (
          <Link
            className="link"
            href={`/${org}/machines`}
            aria-label={`${row.machines} of ${row.name}, to the machines`}
          >
            {row.machines}
          </Link>
        ),
    },
    {
      key: 'signed-in',
      head: 'Last signed in',
      nowrap: true,
      numeric: true,
      cell: row =>
        row.lastSignedInAt ? (
          <Time at={row.lastSignedInAt} show="relative" />
        ) : (
          <span className="text-ink-3">never</span>
        ),
    },
    {
      key: 'joined',
      head: 'Joined',
      nowrap: true,
      wideOnly: true,
      cell: row => (
        <>
          <Time at={row.joinedAt} show="day" />
          {row.invitedBy && (
            <div className="text-ink-3 text-xs">
              invited by <Name className="max-w-40">{row.invitedBy}</Name>
            </div>
          )}
        </>
      ),
    },
    {
      key: 'acts',
      head: 'Acts',
      hideHead: true,
      numeric: true,
      className: '@max-[35rem]:justify-end',
      cell: row => <MemberActs org={org} member={row} reader={reader} />,
    },
  ]
  return <Table caption="Members" columns={columns} rows={rows} rowKey={row => row.id} />
}

/** Invitations that nobody has accepted yet. */
export function InvitationTable({
  org,
  rows,
  mayRevoke,
}: {
  org: string
  rows: readonly InvitationRow[]
  mayRevoke: boolean
}) {
  const columns: Column<InvitationRow>[] = [
    { key: 'name', head: 'Invited', cell: person },
    { key: 'role', head: 'Role', nowrap: true, cell: row => <RolePill role={row.role} /> },
    { key: 'by', head: 'By', cell: row => <Name inTable>{row.invitedBy}</Name> },
    { key: 'until', head: 'Open until', nowrap: true, cell: row => <Time at={row.expiresAt} /> },
    ...(mayRevoke
      ? [
          {
            key: 'acts',
            head: 'Acts',
            hideHead: true,
            numeric: true,
            className: '@max-[35rem]:justify-end',
            cell: (row: InvitationRow) => <RevokeInvitation org={org} invitation={row} />,
          },
        ]
      : []),
  ]
  return <Table caption="Open invitations" columns={columns} rows={rows} rowKey={row => row.id} />
}

/** Those who left; kept, because the record names them. */
export function FormerTable({ rows }: { rows: readonly MemberRow[] }) {
  const columns: Column<MemberRow>[] = [
    { key: 'name', head: 'Former member', cell: person },
    { key: 'role', head: 'Last role', nowrap: true, cell: row => <RolePill role={row.role} /> },
    { key: 'joined', head: 'Joined', nowrap: true, wideOnly: true, cell: row => <Time at={row.joinedAt} show="day" /> },
    {
      key: 'removed',
      head: 'Left',
      nowrap: true,
      cell: row => (row.removedAt ? <Time at={row.removedAt} show="day" /> : none),
    },
  ]
  return <Table caption="Former members" columns={columns} rows={rows} rowKey={row => row.id} />
}
