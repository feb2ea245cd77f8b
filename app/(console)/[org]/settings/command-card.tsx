import { Card } from '#app/_ui/card.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { Countdown, Time } from '#app/_ui/time.tsx'
import type { Credential } from '../outputs.ts'
import { CommandSwitch } from './command-switch.tsx'
import { RevokeCredential } from './revoke-credential.tsx'

type Props = { org: string; on: boolean; credentials: readonly Credential[]; mayChange: boolean; ownId: string }

/** Credentials that owners and admins make for the command, and whether they may. */
export function CommandCard({ org, on, credentials, mayChange, ownId }: Props) {
  const columns: Column<Credential>[] = [
    { key: 'member', head: 'Of', cell: ({ member }) => member.name },
    { key: 'made', head: 'Made', nowrap: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'ends', head: 'Ends', nowrap: true, cell: ({ expiresAt }) => <Countdown until={expiresAt} /> },
    {
      key: 'act',
      head: 'Act',
      hideHead: true,
      numeric: true,
      className: '@max-[35rem]:justify-end',
      cell: ({ id, member }) =>
        mayChange || member.id === ownId ? <RevokeCredential org={org} id={id} name={member.name} /> : null,
    },
  ]
  return (
    <Card id="command" title="Credentials of the command">
      <div className="p-4">
        <CommandSwitch org={org} on={on} mayChange={mayChange} />
      </div>
      {credentials.length > 0 ? (
        <div className="border-t">
          <Table caption="Credentials in force" columns={columns} rows={credentials} rowKey={({ id }) => id} />
        </div>
      ) : (
        on && <p className="border-t px-4 py-2.25 text-ink-3">None is in force.</p>
      )}
    </Card>
  )
}
