import type { RootRefusal } from '#core/root.ts'
import type { RuleSetRefusal } from '#core/rule-set.ts'

type Code = RootRefusal | RuleSetRefusal | 'expired' | 'from_the_future' | 'unreachable' | 'revoked' | 'disk'

/** Why documents of the control plane were refused, in words; what was in force before stays in force each time. */
export const DOCUMENT_WORDS: Record<Code, string> = {
  malformed: 'it was not of a form that this connector can read',
  bad_signature: 'the signature does not fit the bytes: they were changed on the way or on disk',
  unknown_key: 'it was signed by a key that the pinned root document does not list',
  other_organisation: 'it belongs to another organisation',
  lower_version: 'it is older than a version that this machine has seen: the control plane was rolled back',
  same_version_other_content: 'it has the number of a version that this machine knows, with other content',
  too_large: 'it is larger than a rule set may be',
  wrong_sequence: 'the root document is not the one that follows the pinned one',
  wrong_predecessor: 'the root document follows another one than the one pinned here',
  wrong_next_key: 'the new owner key is not the one that was committed to before',
  too_few_signatures: 'the root document is not signed by enough owners',
  key_in_two_roles: 'one key stands in two roles of the root document',
  equivocation:
    'two different root documents have one number: the control plane shows different machines different things',
  not_the_pinned_root: 'no root document has the digest that was pinned at join',
  expired: 'its signed time is over, or this machine’s clock is ahead',
  from_the_future: 'its signed time is still to come, or this machine’s clock is behind',
  unreachable: 'the control plane could not be reached',
  revoked: 'this machine was revoked; ask an admin for a new line',
  disk: 'the copy on this disk cannot be read or written',
}

export const refusalWords = (code: string): string => DOCUMENT_WORDS[code as Code] ?? `it was refused (${code})`
