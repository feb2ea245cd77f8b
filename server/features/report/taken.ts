import type { Machine } from '#generated/prisma/client.ts'
import type { Happening } from '../evidence.ts'

/** What one part of a report has to say: columns of the machine, things for the ledger, alarms of the control plane's own. */
export type Taken = {
  machine?: Partial<Machine>
  happened?: Happening[]
  alarms?: { what: string; at: string; count: number }[]
}
