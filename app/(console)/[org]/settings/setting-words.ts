import type { KeyRow, Settings } from '../outputs.ts'
import { ageWords } from './age-words.ts'

type Choice<V extends string> = { value: V; label: string; hint: string }

const SELF: Record<Settings['selfAnswer'], Choice<Settings['selfAnswer']>> = {
  never: {
    value: 'never',
    label: 'Nobody answers their own request',
    hint: 'Somebody else with the role has to. The safest choice where two people are always around.',
  },
  account: {
    value: 'account',
    label: 'With a sign-in of their own',
    hint: 'Whoever holds the role may answer their own request after signing in with single sign-on or a code by e-mail. The record marks it as their own. A code by e-mail does not prove a person: an agent that can read the mail can type it.',
  },
  key: {
    value: 'key',
    label: 'With an approval key',
    hint: 'Only an answer that is signed with an approval key counts for one’s own request. None can be registered yet, so nobody answers their own.',
  },
}

/** Approval keys cannot be enrolled yet, so that choice is shown only where it is set. */
export const selfChoices = (set: Settings['selfAnswer']): Choice<Settings['selfAnswer']>[] =>
  set === 'key' ? [SELF.never, SELF.account, SELF.key] : [SELF.never, SELF.account]

export const BROKEN_CHOICES: Choice<Settings['whenBroken']>[] = [
  {
    value: 'pass',
    label: 'The call goes through',
    hint: 'Work goes on, and the machine reports every call that nobody judged.',
  },
  {
    value: 'block',
    label: 'The call is refused',
    hint: 'Where the agent program can do that: Claude Code from 2.1.295. Others let the call through, and their machine’s page says so.',
  },
]

const HOUR_S = 3600
const AGES_S = [1, 6, 12, 24, 72, 168, 720].map(hours => hours * HOUR_S)

/** How old rules may grow before they release nothing; what is set stands among the choices, whatever it is. */
export function ageChoices(set: number): { value: string; label: string }[] {
  return [...new Set([...AGES_S, set])]
    .sort((a, b) => a - b)
    .map(seconds => ({ value: String(seconds), label: ageWords(seconds) }))
}

/** The keys that sign something today, in the order of their weight, and what a new one means. */
const KEY_WORDS: Record<string, { name: string; signs: string; rotating: string }> = {
  owner: {
    name: 'Owner',
    signs: 'the root document, which lists all other keys',
    rotating:
      'The key that was committed beforehand takes over, and another one is committed. Machines accept no other successor.',
  },
  ruleset: {
    name: 'Rule set',
    signs: 'the boundaries that machines obey',
    rotating: 'The boundaries in force are signed anew with the new key. Their content and version stay.',
  },
  answer: {
    name: 'Answers',
    signs: 'answers to held agents',
    rotating:
      'Answers that a machine has fetched already keep their effect; those on their way are refused, and the agent asks again.',
  },
  fresh: {
    name: 'Freshness',
    signs: 'the statement that the rules of a machine are the newest',
    rotating: 'Machines take the new key with their next poll.',
  },
}

export type ShownKey = KeyRow & { words: (typeof KEY_WORDS)[string] }

/** Current keys first, role by role; then those that were retired. The committed successor of the owner key is told apart. */
export function shownKeys(keys: readonly KeyRow[]): {
  current: ShownKey[]
  retired: ShownKey[]
  committed: ShownKey | undefined
} {
  const order = Object.keys(KEY_WORDS)
  const known = keys.filter(key => KEY_WORDS[key.role]).map(key => ({ ...key, words: KEY_WORDS[key.role]! }))
  const current = known
    .filter(key => !key.retiredAt && !key.next)
    .sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role))
  const retired = known.filter(key => key.retiredAt).sort((a, b) => b.retiredAt!.getTime() - a.retiredAt!.getTime())
  return { current, retired, committed: known.find(key => key.next && !key.retiredAt) }
}

/** Domains as somebody types them: by comma, space or line, with or without an @. */
export const typedDomains = (text: string): string[] => [
  ...new Set(
    text
      .split(/[\s,;]+/)
      .map(domain => domain.trim().toLowerCase().replace(/^@/, ''))
      .filter(Boolean),
  ),
]
