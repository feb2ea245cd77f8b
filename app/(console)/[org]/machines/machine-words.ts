import type { PillState } from '#app/_ui/pill.tsx'
import type { MachineRow } from '../outputs.ts'

type State = MachineRow['state']

/** A machine's state in a word, and in a sentence for somebody who has not read the docs. */
export const MACHINE_STATES: Record<State, { word: string; help: string; pill: PillState }> = {
  current: { word: 'current', help: 'It has the rules in force, and was heard of lately.', pill: 'passed' },
  behind: { word: 'behind', help: 'It was heard of lately and obeys another version.', pill: 'waiting' },
  silent: {
    word: 'silent',
    help: 'Not heard of for a quarter of an hour. It goes on by the rules it has.',
    pill: 'neutral',
  },
  alarm: { word: 'look at it', help: 'It reported something that an owner should look at.', pill: 'held' },
  left: { word: 'has left', help: 'It left by itself: it forgot the rules, the pin and its token.', pill: 'neutral' },
  revoked: {
    word: 'revoked',
    help: 'Its membership was ended here; its token opens nothing any more.',
    pill: 'neutral',
  },
}

/** What machines raise, in words; what is not listed is shown by its own name. */
const ALARMS: Record<string, string> = {
  daemon_impostor: 'Something else answered at the daemon’s door and could not prove itself',
  daemon_was_down: 'Its daemon was down for a while',
  journal_reset: 'Its journal began anew: what stood in it before is gone',
  journal_rolled_back: 'Its journal went back to an earlier state',
  machine_cloned: 'Two machines use the same key: the home folder was copied',
  ruleset_equivocation: 'It was shown two different rule sets with one version number',
  root_unknown: 'It was shown a root of keys that does not follow from its own',
  version_unproven: 'It claims rules newer than any published here, and shows no signature for them',
  answer_refused: 'It refused an answer that did not verify',
  second_use_of_answer: 'An answer for one call was used twice',
  local_answer_without_journal: 'A local answer turned up that its journal does not know',
  clock_moved_back: 'Its clock was set back',
  clock_off: 'Its clock is off',
  first_use_pin: 'It pinned the first root it saw, without a digest',
  disk_full: 'Its disk is full',
  local_rules_broken: 'The developer’s own rules cannot be read; the last good ones hold',
  guard_refused: 'An approval at the terminal, or a stop of the daemon, was refused: it may have come from an agent',
  transcript_unreadable: 'A session’s transcript was no readable file of the developer’s: its cost is not known',
  figure_odd:
    'It was told something of a plan’s limits that cannot be: another login, or somebody wrote to the status line’s file. It was not believed',
  other: 'It raised an alarm that this server does not know yet, being older than its connector: update the server',
}

/** Why a machine did not take what was offered to it. */
const REFUSALS: Record<string, string> = {
  malformed: 'what it was sent is not of the agreed form',
  bad_signature: 'the signature does not verify',
  unknown_key: 'it is signed by a key that the root does not name',
  other_organisation: 'it belongs to another organisation',
  lower_version: 'it is older than what the machine has',
  same_version_other_content: 'it has the same version number as what the machine has, and other content',
  too_large: 'it is larger than machines accept',
  wrong_sequence: 'the root does not follow the one it has',
  wrong_predecessor: 'the root does not name the one before it',
  wrong_next_key: 'the root is not signed by the key that was promised',
  too_few_signatures: 'the root carries too few signatures',
  key_in_two_roles: 'the root uses one key for two roles',
  equivocation: 'it was shown two roots with one number',
  not_the_pinned_root: 'the root is not the one that it pinned when it joined',
  expired: 'the proof that the rules are fresh had run out',
  from_the_future: 'it was signed in the future: one of the clocks is off',
  unreachable: 'the control plane could not be reached',
  revoked: 'its membership was ended',
  disk: 'it could not write to its disk',
  other: 'for a reason that this server does not know yet, being older than its connector',
}

const worded = (words: Record<string, string>) => (name: string) => words[name] ?? name.replaceAll('_', ' ')
export const alarmWords = worded(ALARMS)
export const refusalWords = worded(REFUSALS)

/** Platforms as people write them. */
export function platformWords(platform: string): string {
  const [os = '', arch] = platform.split(/[-/ ]/)
  const name = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' }[os] ?? os
  return arch ? `${name}, ${arch}` : name
}

/** What a met rule did, in words: `refused`, `asked at the keyboard`, `recorded (shadow)`. */
export function didWords({ did, stage }: { did: string; stage: string }): string {
  if (stage === 'shadow') return 'recorded only (shadow)'
  return (
    { passed: 'let through', asked: 'asked at the keyboard', refused: 'refused', released: 'let through by an answer' }[
      did
    ] ?? did
  )
}
