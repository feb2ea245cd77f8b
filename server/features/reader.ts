import { READER } from '#core/rule-set.ts'
import type { Tx } from '../db.ts'

/** What a connector must be able to read to understand everything that this control plane publishes. */
export const MIN_READER = READER

/** From which connector version on each reader is there, newest first. */
const READERS: readonly { reader: number; since: readonly [number, number, number] }[] = [
  { reader: 1, since: [0, 1, 0] },
]

/** The reader in a connector of some version; 0 for one older than all, or of no version that can be read. */
function readerOf(connector: string): number {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(connector)
  if (!match) return 0
  const [, ...parts] = match.map(Number) as [number, number, number, number]
  const found = READERS.find(({ since }) => {
    const at = parts.findIndex((part, i) => part !== since[i])
    return at === -1 || parts[at]! > since[at]!
  })
  return found?.reader ?? 0
}

/** A machine that could not read a set whole: an old connector, or one that says so of the set in force. */
export type MachineBehind = { id: string; label: string; connector: string; unsupported: string[] }

/** Joined machines below a reader, named when a set is published. */
export async function machinesBelow(tx: Tx, orgId: string, reader: number): Promise<MachineBehind[]> {
  const machines = await tx.machine.findMany({
    where: { orgId, leftAt: null, revokedAt: null },
    select: { id: true, label: true, connector: true, unsupported: true },
    orderBy: { label: 'asc' },
  })
  return machines.filter(machine => readerOf(machine.connector) < reader || machine.unsupported.length > 0)
}
