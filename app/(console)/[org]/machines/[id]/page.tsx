import { notFound } from 'next/navigation'
import { cache } from 'react'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { may } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { errorCode } from '../../app-error.ts'
import { BackLink } from '../../back-link.tsx'
import type { MachineDetail } from '../../outputs.ts'
import { titled } from '../../page-title.ts'
import { MACHINE_STATES } from '../machine-words.ts'
import { RefreshWhileOpen } from '../refresh-while-open.tsx'
import { MachineStatePill } from '../state-pill.tsx'
import { AgentsCard } from './agents-card.tsx'
import { AlarmsCard } from './alarms-card.tsx'
import { FactsCard } from './facts-card.tsx'
import { Notices } from './notices.tsx'
import { OutcomesCard } from './outcomes-card.tsx'
import { RevokeMachine } from './revoke-machine.tsx'
import { UnguardedCard } from './unguarded-card.tsx'

export const generateMetadata = titled<{ org: string; id: string }, MachineDetail>(
  (_, { label }) => `Machine ${label}`,
  ({ org, id }) => load(org, id),
)

export default async function MachinePage({ params }: { params: Promise<{ org: string; id: string }> }) {
  const { org, id } = await params
  const actor = await requireActor(org)
  const machine = await load(org, id)
  const gone = machine.state === 'left' || machine.state === 'revoked'
  const mayRevoke = !gone && may(actor, machine.own ? 'machine.add' : 'machine.revoke')
  return (
    <>
      <RefreshWhileOpen />
      <PageHeader
        above={
          <>
            <BackLink href={`/${org}/machines`}>Machines</BackLink>
            <MachineStatePill state={machine.state} />
          </>
        }
        title={machine.label}
        sub={`${machine.member.name}’s machine. ${MACHINE_STATES[machine.state].help}`}
        actions={mayRevoke && <RevokeMachine org={org} id={machine.id} label={machine.label} />}
      />
      <div className="mb-4 grid gap-2 empty:hidden">
        <Notices machine={machine} />
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)]">
        <div className="grid min-w-0 gap-4">
          <AgentsCard machine={machine} />
          <OutcomesCard machine={machine} />
          <UnguardedCard machine={machine} />
        </div>
        <div className="grid min-w-0 gap-4">
          <FactsCard org={org} machine={machine} />
          <AlarmsCard machine={machine} />
        </div>
      </div>
    </>
  )
}

/** Once per request: the title asks, too. */
const load = cache(async (org: string, id: string): Promise<MachineDetail> => {
  try {
    return await (await api()).machine.get({ org, id })
  } catch (error) {
    if (errorCode(error) === 'NOT_FOUND') notFound()
    throw error
  }
})
