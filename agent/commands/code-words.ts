/** Codes of the journal and of the daemon, as a person reads them. A code of a newer daemon is shown as what it is: a code. */
import type { DaemonStatus } from '#agent/daemon-client.ts'
import { CLAIM_REFUSAL_WORDS } from '#agent/guard/claimant.ts'
import { plain } from '#agent/terminal.ts'
import { REFUSAL_WORDS } from '#core/approval/accept.ts'
import type { SessionMethod } from '#core/approval/answer.ts'
import type { Level } from '#core/client.ts'
import { methodName } from '#core/permission.ts'
import { CommandFailure } from './exit.ts'
import { DOCUMENT_WORDS } from './refusal-words.ts'

type Words = Readonly<Record<string, string>>
const wordOf = (words: Words, code: string): string | undefined =>
  Object.hasOwn(words, code) ? words[code] : undefined
const said = (words: Words, code: string, otherwise: string): string =>
  wordOf(words, code) ?? `${otherwise} (${plain(code, 60)})`

/** Why an answer was refused on this machine: what it is bound to does not fit, or its signature does not. */
export const answerRefusalWords = (code: string): string =>
  wordOf(REFUSAL_WORDS, code) ?? said(DOCUMENT_WORDS, code, 'it did not fit')

/** Why the daemon refused to believe that a person stands behind an answer or a stop. */
export const guardRefusalWords = (code: string): string =>
  said(
    { ...CLAIM_REFUSAL_WORDS, not_answered_here: 'what an organisation’s rule sent to a role is not answered here' },
    code,
    'the check of who asked failed',
  )

const WITHDRAWN: Words = {
  session_ended: 'the session had ended',
  denied_here: 'somebody denied it here',
  rule_gone: 'its rule was changed, removed or put in shadow',
  left: 'this machine left the organisation',
  revoked: 'this machine was revoked',
}
/** Why a request or an approval ended on this machine by itself. */
export const endedWords = (code: string): string => said(WITHDRAWN, code, 'it ended here')

const ALARMS: Words = {
  daemon_impostor: 'another program sat on the daemon’s port',
  daemon_was_down: 'calls ran while the daemon was down',
  journal_reset: 'the journal was gone and began anew',
  journal_rolled_back: 'the journal had lost its newest lines',
  answer_refused: 'an answer from the control plane was refused',
  second_use_of_answer: 'a second call tried to use one answer',
  local_answer_without_journal: 'a local answer without its journal entry was ignored',
  clock_moved_back: 'the clock was set back',
  clock_off: 'the clock is far from the control plane’s',
  first_use_pin: 'the keys were trusted on first use',
  disk_full: 'the disk took no more',
  local_rules_broken: 'config.yaml has mistakes',
  guard_refused: 'an approval, or a stop of the daemon, was refused because no person could be seen behind it',
  transcript_unreadable: 'a session’s transcript was no file of this user’s, so that its cost is not known',
  figure_odd:
    'what was told of a plan’s limits cannot be (another login, or not the client’s own word), and was not believed',
}
export const alarmWords = (code: string): string => said(ALARMS, code, 'something that this program has no words for')

const OFF: Words = {
  hooks_disabled_by_user: 'your settings switch hooks off',
  hooks_disabled_by_project: 'a project’s settings switch hooks off',
  proxy_diverts_hook: 'a proxy variable diverts the hook',
  environment_diverts_hook: 'a variable in the settings runs other code in the hook',
  hook_edited: 'the hook is not as it was installed',
  hook_not_trusted: 'the agent program was not told to trust the hook',
  client_too_old: 'the agent program is too old',
  mods_may_overrule: 'an extension may overrule the hook',
  managed_only: 'the agent program heeds managed hooks only',
  url_not_allowed: 'the agent program does not allow the hook’s address',
  settings_unreadable: 'its settings cannot be read',
  canary_failed: 'the test call did not come through',
}
/** What switches a hook off, or could. */
export const offWords = (code: string): string => said(OFF, code, 'something switches it off')

/** What a rule does in an agent program at a level; `binds` says what it does where the hook holds. */
export function levelWords(level: Level, binds: string): string {
  const words: Record<Level, string> = {
    managed: `${binds} (managed hook: a developer cannot remove it)`,
    'managed-hook-user-daemon': `${binds} (managed hook, but the daemon is the user’s and can be stopped)`,
    'user-hook': `${binds} (user hook: a developer can remove it)`,
    'advice-only': 'advice only: its hooks cannot refuse this',
    idle: 'idle: nothing here would use it',
    'figure-unread': 'not judged: its figure cannot be read here',
    broken: 'NOT judged: the hook is broken or switched off, and calls pass unseen',
    'not-installed': 'NOT judged: no hook is installed',
  }
  return words[level] ?? plain(level, 60)
}

const READINGS: Words = {
  no_transcript: 'the session has written nothing yet',
  unreadable: 'its transcript cannot be read',
  not_a_file: 'what stands in its transcript’s place is no file',
  not_ours: 'its transcript belongs to another user',
  too_many_files: 'it has more files than are read',
  too_large: 'one of its files is larger than is read',
  too_old: 'too old, so no rule reads it',
  plan_untold:
    'no client has told it: `holdpoint statusline install` lets Claude Code tell it, Codex tells it in its records',
  budget_untold: 'no budget counts this session’s work, or none was counted lately',
}
/** Why a figure could not be read; the daemon’s own sentence passes as it is. */
export const readingWords = (problem: string): string => wordOf(READINGS, problem) ?? plain(problem, 200)

/** How the session of an answerer began. */
export const methodWords = (method: string): string => methodName(method as SessionMethod) ?? plain(method, 40)

export const REVOKED = 'This machine was revoked; ask an admin for a new line.'

/** The same where a command has other things to say as well. Nothing for a machine that is none, or in good standing. */
export const revokedLine = (status: Pick<DaemonStatus, 'team'> | undefined): string | undefined =>
  status?.team?.rules.lastError?.code === 'revoked' ? REVOKED : undefined

/** What every command says that meets a token which opens nothing any more. */
export const revokedFailure = () =>
  new CommandFailure(
    'failed',
    'revoked',
    REVOKED,
    'Then `holdpoint leave`, and `holdpoint join` with that line. Until then the rules here hold, and nothing is released.',
  )
