import { base64url, type Sha256, utf8 } from './bytes.ts'
import { leafHash } from './evidence/merkle.ts'

/**
 * A machine's journal is a chain of lines: each holds the hash of the line before. `head` is the hash of the newest line.
 * The machine signs its head each minute and the control plane keeps it, so that a shortened or rewritten journal no longer
 * fits what was recorded.
 */
export type JournalHead = { seq: number; head: string }

/** A reported head: `anchor` is what the journal holds now at the position that the control plane last recorded. */
export type ReportedHead = JournalHead & { anchor?: JournalHead }

/** The hash of a line of the journal, without its line break. */
export const lineHash = (line: string, sha256: Sha256): string => base64url(leafHash(utf8(line), sha256))

/**
 * What a reported head means beside the one on record. `reset`: the journal says itself that it began anew (its file was
 * gone, so it cannot hold the recorded line); `rolled_back`: shorter than recorded, or another line where the recorded was.
 */
export function judgeHead(
  recorded: JournalHead | undefined,
  next: ReportedHead,
): 'first' | 'same' | 'extends' | 'rolled_back' | 'reset' {
  if (!recorded) return 'first'
  if (next.anchor === undefined) return 'reset'
  if (next.seq < recorded.seq || next.anchor.seq !== recorded.seq || next.anchor.head !== recorded.head)
    return 'rolled_back'
  return next.seq === recorded.seq ? 'same' : 'extends'
}
