import { expect, it } from 'vitest'
import {
  alarmWords,
  answerRefusalWords,
  endedWords,
  guardRefusalWords,
  levelWords,
  methodWords,
  offWords,
  readingWords,
} from '#agent/commands/code-words.ts'
import { refusalWords } from '#agent/commands/refusal-words.ts'
import { CLAIM_REFUSAL_WORDS } from '#agent/guard/claimant.ts'
import {
  alarmWords as alarmOnPage,
  refusalWords as refusalOnPage,
} from '#app/(console)/[org]/machines/machine-words.ts'
import { ANSWER_REFUSALS } from '#core/approval/accept.ts'
import { SESSION_METHODS } from '#core/approval/answer.ts'
import { LEVELS } from '#core/client.ts'
import { switchedOffWords } from '#core/level-words.ts'
import { ALARM_KINDS, HOOK_OFF, REPORTED_REFUSALS } from '#core/protocol.ts'
import { readSources } from '../../rules/sources.ts'

const LISTS: [string, (code: string) => string, readonly string[]][] = [
  ['an alarm', alarmWords, ALARM_KINDS],
  ['an alarm on the page', alarmOnPage, [...ALARM_KINDS, 'other']],
  ['what switches a hook off', offWords, HOOK_OFF],
  ['what switches a hook off, on the page', switchedOffWords, [...HOOK_OFF, 'other']],
  ['a refused document', refusalWords, REPORTED_REFUSALS],
  ['a refused document on the page', refusalOnPage, [...REPORTED_REFUSALS, 'other']],
  ['a refused answer', answerRefusalWords, [...ANSWER_REFUSALS, 'bad_signature', 'unknown_key', 'malformed']],
  ['a refused person', guardRefusalWords, [...Object.keys(CLAIM_REFUSAL_WORDS), 'not_answered_here']],
  ['an end on this machine', endedWords, ['session_ended', 'denied_here', 'rule_gone', 'left', 'revoked']],
  [
    'a figure that cannot be read',
    readingWords,
    ['no_transcript', 'unreadable', 'not_a_file', 'not_ours', 'too_many_files', 'too_large'],
  ],
  ['a sign-in', methodWords, SESSION_METHODS],
  ['a level', code => levelWords(code as never, 'enforced'), LEVELS],
]

it.each(LISTS)('%s is told in words, each code in its own', (_, words, codes) => {
  const said = codes.map(words)
  expect(new Set(said).size).toBe(new Set(codes).size)
  for (const [i, text] of said.entries()) {
    expect(text, codes[i]).not.toMatch(/[a-z]_[a-z]/)
    expect(text, codes[i]).not.toBe(codes[i]!.replaceAll('_', ' '))
    expect(text, codes[i]).toMatch(/ /)
  }
})

it.each([alarmWords, offWords, answerRefusalWords, guardRefusalWords, endedWords])(
  'a code of a newer daemon is shown as the code it is, cleaned',
  words => {
    expect(words('some_new_code')).toMatch(/^[a-z].* \(some_new_code\)$/)
    expect(words('constructor')).toContain('(constructor)')
    expect(words('a\u001b[31mb')).toContain('(ab)')
  },
)

it('no code of ours is shown with its underscores taken out: whoever adds one writes its words', () => {
  const shown = [...readSources()].filter(
    ([file, text]) => file.startsWith('agent/') && text.includes("replaceAll('_'"),
  )
  expect(shown.map(([file]) => file)).toEqual([])
})
