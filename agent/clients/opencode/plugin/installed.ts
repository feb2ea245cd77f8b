/** What an install writes into the module that opencode loads, as its second line. */
export type Installed = {
  /** Holdpoint's version. */
  version: string
  /** The Node that runs {@link hook}: opencode brings one of its own that runs no files. */
  node: string
  /** The small program, which says what only a process of the client's can know of a session, and starts the daemon. */
  hook: string
  /** The folder of this machine's Holdpoint. */
  home: string
  /** Whether a call that nobody judged is refused. */
  whenBroken: 'pass' | 'block'
}

/** How a refusal of ours begins that no rule stands behind, in opencode's own records as well. */
export const UNJUDGED = 'Holdpoint could not judge this call'

/** The event by which the module is tried outside opencode; no such event comes from it. */
export const TRY_EVENT = 'holdpoint.try'
