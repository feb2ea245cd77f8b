import type { UsageState } from '#agent/clients/usage-source.ts'
import type { Micros } from '#core/money.ts'
import type { Covered } from '#core/usage/bucket.ts'
import type { Tags } from '#core/usage/tags.ts'

/** What the daemon knows of one session of a client. Stays on the machine. */
export type Session = {
  client: string
  id: string
  ref: string
  cwd: string
  project: string
  transcriptPath?: string
  /** To whom the session's run belongs, as its start was told (HOLDPOINT_TAGS). */
  runTags?: Tags
  /** To whom the session that started this one belonged then. */
  parentTags?: Tags
  /** Its client's process, where a hook has said. */
  clientPid?: number
  /** What signed rules ask of its environment, as far as it held there; never a value. */
  environment?: string[]
  /** Whether a plan covers it, as its start showed. */
  covered?: Covered
  /** Whether somebody is at the keyboard, as far as it was said. */
  attended?: boolean
  /** Who answers in it, as far as an event or its newest own response has said. */
  model?: string
  provider?: string
  usage?: UsageState
  /** Undefined until it was read once; never falls. */
  cost?: Micros
  costReadAt?: number
  costProblem?: string
  /** That its transcript cannot be read has been told. */
  isToldUnreadable?: boolean
  /** What the dearest response so far has cost; undefined until one was read. */
  dearest?: Micros
  /** How many responses were read, a growing one at each look. */
  responses: number
  /** A call waited for its response and nothing came: none waits again until something is read. */
  waitedInVain?: boolean
  unpriced: string[]
  /** Tool uses that the transcript shows and no hook has judged, not known to have run yet. */
  waiting: Record<string, number>
  /** Calls that were judged without an id and that the transcript has not named yet, by their tool. */
  owed?: Record<string, number>
  /** Tool uses that ran without having been judged, by the UTC day on which they were asked for: running totals. */
  unguarded: Record<string, number>
  /** Every call that its records name is named by a response that is in the cost; not kept. */
  isWhole?: boolean
  /** The transcript was longer than the newest look could read. */
  isUnread?: boolean
  lastSeen: number
  ended?: { at: number; reason: string }
}
