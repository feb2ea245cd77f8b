import { Laptop } from 'lucide-react'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { may } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { CsvLink } from '../csv-link.tsx'
import { titled } from '../page-title.ts'
import { AddMachine } from './add-machine.tsx'
import { LaptopLost } from './laptop-lost.tsx'
import { MachineTable } from './machine-table.tsx'
import { MACHINE_STATES } from './machine-words.ts'
import { RefreshWhileOpen } from './refresh-while-open.tsx'
import { MachineStatePill } from './state-pill.tsx'

export const generateMetadata = titled('Machines')

type Props = { params: Promise<{ org: string }>; searchParams: Promise<{ add?: string }> }

export default async function MachinesPage({ params, searchParams }: Props) {
  const { org } = await params
  const { add } = await searchParams
  const actor = await requireActor(org)
  const caller = await api()
  const [rows, { members }] = await Promise.all([caller.machine.list({ org }), caller.member.list({ org })])
  const here = rows.filter(row => row.state !== 'left' && row.state !== 'revoked')
  const gone = rows.filter(row => row.state === 'left' || row.state === 'revoked')
  const people = members
    .filter(member => !member.removedAt)
    .map(({ id, name }) => ({ id, name, machines: here.filter(row => row.member.id === id).length }))
  // An admin reports anybody's laptop lost, everybody their own.
  const owners = may(actor, 'laptop.lost')
    ? people
    : may(actor, 'machine.add')
      ? people.filter(person => person.id === actor.memberId)
      : []
  const adder = may(actor, 'machine.add') && (
    <AddMachine
      org={org}
      me={actor.memberId}
      members={may(actor, 'machine.add_for_others') ? people : []}
      known={rows.map(row => row.id)}
      openAtOnce={add !== undefined}
    />
  )
  return (
    <>
      <RefreshWhileOpen />
      <PageHeader
        title="Machines"
        sub="Each joined connector, whose it is, which rules it obeys and how far every agent on it is bound. What you see is what the machines told."
        facts={here.length > 0 ? formatPlural(here.length, 'machine') : undefined}
        actions={
          (adder || rows.length > 0) && (
            <>
              {rows.length > 0 && <CsvLink org={org} list="machines" />}
              {owners.length > 0 && <LaptopLost org={org} members={owners} />}
              {adder}
            </>
          )
        }
      />
      <div className="grid gap-4">
        <Card
          note={
            here.length > 0 && (
              <dl className="flex flex-wrap gap-x-5 gap-y-1.5 text-xs">
                {(['current', 'behind', 'silent', 'alarm'] as const)
                  .filter(state => here.some(row => row.state === state))
                  .map(state => (
                    <div key={state} className="flex items-center gap-2">
                      <dt>
                        <MachineStatePill state={state} />
                      </dt>
                      <dd>{MACHINE_STATES[state].help}</dd>
                    </div>
                  ))}
              </dl>
            )
          }
        >
          <MachineTable
            org={org}
            rows={here}
            caption="Joined machines"
            empty={
              <EmptyState
                icon={<Laptop aria-hidden />}
                title={gone.length > 0 ? 'No machine is joined now' : 'No machine has joined yet'}
              >
                {may(actor, 'machine.add')
                  ? 'Rules bind where a connector runs. Press “Add a machine”: you get one line to paste into a terminal there.'
                  : 'Rules bind where a connector runs. Your session cannot add one: sign in with your own account.'}
              </EmptyState>
            }
          />
        </Card>
        {gone.length > 0 && (
          <Card title="No longer joined" sub="kept for the record">
            <MachineTable org={org} rows={gone} caption="Machines that left or were revoked" />
          </Card>
        )}
      </div>
    </>
  )
}
