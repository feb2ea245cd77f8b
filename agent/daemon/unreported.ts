import type { Entry } from './entry.ts'

/** After weeks without a control plane the newest are kept. */
const KEPT_MAX = 10_000

/** What the control plane is to be told and is not known to have: organisation decisions, spends and alarms, oldest first. */
export class Unreported {
  private entries: Entry[] = []

  add(entry: Entry): void {
    if (isReported(entry)) this.entries.push(entry)
  }

  /** Puts an entry in the place of the one with its number; one that has been told stays as it was told. */
  replace(entry: Entry): void {
    const at = this.entries.findLastIndex(one => one.seq === entry.seq)
    if (at >= 0) this.entries[at] = entry
  }

  after(seq: number): Entry[] {
    return this.entries.filter(entry => entry.seq > seq)
  }

  /** Forgets what the control plane has, up to a number of the journal. */
  forget(reportedTo: number): void {
    this.entries = this.after(reportedTo).slice(-KEPT_MAX)
  }
}

/** Organisation decisions, what became of its answers, and alarms. */
function isReported(entry: Entry): boolean {
  switch (entry.kind) {
    case 'decision':
      return entry.rules.some(rule => rule.key.startsWith('org:'))
    case 'spend':
    case 'lapsed':
      return !entry.answerId.startsWith('bnd-')
    case 'journal_reset':
    case 'journal_rolled_back':
    case 'second_use':
    case 'guard_refused':
    case 'alarm':
      return true
    default:
      return false
  }
}
