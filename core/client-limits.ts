import type { Client } from './client.ts'

/** What each client's hooks cannot hold, in sentences for people: its adapter says so, and so do the pages. */
export const CLIENT_LIMITS: Readonly<Record<Client, readonly string[]>> = {
  'claude-code': ['The model of a session itself cannot be held, only the model of a subagent.'],
  codex: [
    'Codex cannot put a question of ours to its user: what a rule would ask about is refused there, and answered with `holdpoint approve`.',
    'What is typed into a program that already runs (write_stdin) is not held, and neither is the model of the session itself.',
    'A subagent whose role names a model in Codex’s own configuration is taken for one of its session’s model.',
  ],
  opencode: [
    'opencode records what a response has cost only after the tool calls in it have run: a call is judged by the cost up to the response before it.',
    'opencode has no form of hook that a developer cannot switch off: `--pure` or OPENCODE_PURE leaves it out, and calls then run unseen until they are found in its records.',
    'It cannot put a question to whoever is at its keyboard: what would be asked is refused, and is answered with `holdpoint approve`.',
    'What a person types as a shell command (`!…`) is not an agent’s call and is not held.',
  ],
  gemini: [
    'Nothing tells whether someone is at the keyboard, so what would be asked is refused, with the command that answers it.',
    'A call has no id there: those that nobody judged are found by how often each tool ran, and an answer for one call is spent by the next call.',
    'A subagent is taken to have the session’s model: a model that its own definition names is not seen.',
    'Its container sandbox, a folder that it was told not to trust, and `hooksConfig` in its settings switch the hook off.',
    'A hook that is over its time lets the call run, also where it was installed to block.',
  ],
  copilot: [
    'Nothing tells whether someone is at the keyboard, so what would be asked is refused, with the command that answers it.',
    'A call has no id there: it is known again in the records by its tool and its turn.',
    'A subagent whose call names no model is taken to have the session’s: a preference set by /subagents, or by the agent’s own definition, is not seen.',
    'The settings of a repository whose folder is trusted can switch the hook off.',
    'A hook that is over its time lets the call run, also where it was installed to block.',
  ],
  cursor: [
    'Not tried against the real client: built from its documents.',
    'What a session costs is not read: a rule about session_cost_usd finds that figure unread there, and budgets lack what Cursor used.',
    'Calls that nobody judged cannot be found: its records are not read.',
    'Nothing tells soundly whether someone is at the keyboard, so what would be asked is refused, with the command that answers it.',
    'Cloud agents do not have a user’s hooks, and a project’s own hooks stand above them.',
    'With third-party hooks switched on it runs Claude Code’s hooks as well, and a call is then judged twice, once under each name.',
  ],
}
