import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import type { MachineRow } from '../outputs.ts'
import { titled } from '../page-title.ts'
import type { Binding } from './binding-card.tsx'
import { BoundaryEditor } from './boundary-editor.tsx'
import { whyReadOnly } from './why-read-only.ts'

export const generateMetadata = titled('Boundaries')

export default async function BoundariesPage({ params }: { params: Promise<{ org: string }> }) {
  const { org } = await params
  const actor = await requireActor(org)
  const readOnlyWhy = whyReadOnly(actor)
  const caller = await api()
  const [current, machines, session] = await Promise.all([
    caller.boundary.current({ org }),
    caller.machine.list({ org }),
    caller.session.current(),
  ])
  return (
    <BoundaryEditor
      org={org}
      orgName={session?.org.name ?? org}
      memberId={actor.memberId}
      current={current}
      bindings={bindingsOf(machines)}
      {...(readOnlyWhy === undefined ? {} : { readOnlyWhy })}
    />
  )
}

/** Clients by level over the machines that are still joined, the most of each client first. */
function bindingsOf(machines: readonly MachineRow[]): Binding[] {
  const counts = new Map<string, Binding>()
  for (const machine of machines) {
    if (machine.state === 'left' || machine.state === 'revoked') continue
    for (const { client, level } of machine.hooks) {
      const found = counts.get(`${client} ${level}`) ?? { client, level, machines: 0 }
      counts.set(`${client} ${level}`, { ...found, machines: found.machines + 1 })
    }
  }
  return [...counts.values()].sort((a, b) => a.client.localeCompare(b.client) || b.machines - a.machines)
}
