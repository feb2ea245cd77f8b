/** What a client's events are to the process that it starts for them, and how that process says that it heard no answer. */

/**
 * How the process ends: what the client reads, on standard error where there is something to say. `json`: the same in the client's own
 * form, where it hands the model nothing else.
 */
export type Ending = { exit: number; says: boolean; json?: (words: string) => object }

export type EventRoles = {
  /** A call waits for the answer: it goes over the socket or nowhere, since a port may be another user's. */
  pause: readonly string[]
  /** A session begins: the process tells what only it can know of the session. */
  start: readonly string[]
  /** A prompt reached the model. */
  prompt: readonly string[]
  /** The ending at which the client lets the call run, because nobody judged it. */
  passes: Ending
  /** The ending at which the client refuses the call: for hooks that were installed with `block`. */
  refuses: Ending
}

const FAILED: Ending = { exit: 1, says: true }
const REFUSED: Ending = { exit: 2, says: true }

const COMMON: EventRoles = {
  pause: ['PreToolUse'],
  start: ['SessionStart'],
  prompt: ['UserPromptSubmit'],
  passes: FAILED,
  refuses: REFUSED,
}

/** By the client's name. One that is not here is taken for one with the names that most of them share. */
const CLIENTS: Readonly<Record<string, EventRoles>> = {
  'claude-code': COMMON,
  codex: COMMON,
  // our own module there speaks for it, in these names
  opencode: COMMON,
  gemini: { ...COMMON, pause: ['BeforeTool'], prompt: ['BeforeAgent'] },
  copilot: {
    pause: ['preToolUse', 'PreToolUse'],
    start: ['sessionStart', 'SessionStart'],
    prompt: ['userPromptSubmitted', 'UserPromptSubmit'],
    // it refuses at every exit code but 0
    passes: { exit: 0, says: false },
    refuses: { ...REFUSED, json: words => ({ permissionDecision: 'deny', permissionDecisionReason: words }) },
  },
  cursor: {
    pause: ['preToolUse', 'beforeShellExecution', 'beforeMCPExecution', 'beforeReadFile', 'subagentStart'],
    start: ['sessionStart'],
    prompt: ['beforeSubmitPrompt'],
    passes: FAILED,
    refuses: { ...REFUSED, json: words => ({ permission: 'deny', user_message: words, agent_message: words }) },
  },
}

export const rolesOf = (client: string): EventRoles => (Object.hasOwn(CLIENTS, client) ? CLIENTS[client]! : COMMON)
