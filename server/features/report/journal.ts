import { judgeHead } from '#core/journal.ts'
import type { Json } from '#core/json.ts'
import type { Report } from '#core/protocol.ts'
import type { Machine } from '#generated/prisma/client.ts'
import type { Taken } from './taken.ts'

/**
 * Sets a reported head beside the one on record. What no longer fits is told once and then taken over as the new
 * record, so that the next report is judged by itself.
 */
export function takeJournal(machine: Machine, report: Report): Taken {
  const { journal } = report
  if (!journal) return {}
  const recorded = machine.journalHead === null ? undefined : { seq: machine.journalSeq, head: machine.journalHead }
  if (recorded?.seq === journal.seq && recorded.head === journal.head) return {}
  const verdict = judgeHead(recorded, journal)
  if (verdict === 'same') return {}
  const subject = { kind: 'machine', id: machine.id } as const
  const row = { journalSeq: journal.seq, journalHead: journal.head }
  const data: Record<string, Json> = { seq: journal.seq, head: journal.head }
  if (recorded) Object.assign(data, { recordedSeq: recorded.seq, recordedHead: recorded.head })
  switch (verdict) {
    case 'first':
    case 'extends':
      return {
        machine: row,
        happened: [
          {
            kind: 'journal.segment',
            subject,
            data: { from: (recorded?.seq ?? 0) + (recorded ? 1 : 0), to: journal.seq, head: journal.head },
          },
        ],
      }
    case 'rolled_back':
      return {
        machine: row,
        happened: [{ kind: 'journal.rolled_back', subject, data }],
        alarms: [{ what: 'journal_rolled_back', at: report.at, count: 1 }],
      }
    case 'reset':
      return {
        machine: row,
        happened: [{ kind: 'journal.reset', subject, data }],
        alarms: [{ what: 'journal_reset', at: report.at, count: 1 }],
      }
  }
}
