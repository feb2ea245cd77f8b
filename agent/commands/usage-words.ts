/** What status says of usage, in lines for people: label, text, and whether it is a warning. */
import { count, localTime, plain } from '#agent/terminal.ts'
import type { UsageStatus } from '#agent/usage/usage.ts'

export type Words = [label: string, text: string, warns: boolean]

/** Everything that status says of usage. */
export const usageWords = (status: UsageStatus): Words[] => [
  ...sentWords(status),
  ...readingWords(status),
  ...telemetryWords(status),
  ...status.said.map((text): Words => ['usage', plain(text), false]),
]

/** How far the organisation has this machine's usage, and what keeps it from having more. */
export function sentWords({ upload, heldBy = [] }: UsageStatus): Words[] {
  const words: Words[] = []
  const say = (text: string, warns = false) => words.push(['usage', text, warns])
  if (upload) {
    const { sentAt, seq, waiting, quarantined, refused, unlisted } = upload
    const due = waiting > 0 ? `, ${count(waiting, 'day')} still to send` : ''
    say(
      sentAt === undefined || seq === 0 ? `nothing sent yet${due}` : `sent ${localTime(sentAt)} (upload ${seq})${due}`,
    )
    if (heldBy.length > 0)
      say(
        `held back by ${heldBy.map(key => plain(key, 80)).join(', ')}: nothing is sent until that rule lets it, and nobody is asked`,
        true,
      )
    if (upload.problem)
      say(`the newest upload was not taken (${localTime(upload.problem.at)}): ${problemWords(upload.problem)}`, true)
    if (quarantined.length > 0)
      say(
        `${daysWords(quarantined)} kept apart by the control plane: this machine’s clock was ahead of its. Set the clock right; it is taken when the time has come`,
        true,
      )
    if (refused.length > 0)
      say(`${daysWords(refused)} refused by the control plane and not sent again until it changes`, true)
    for (const [key, pct] of Object.entries(unlisted))
      say(
        `${pct} % of the last 30 days’ cost went up without its ${plain(key, 40)}: the value here is on no list of the organisation`,
        true,
      )
  }
  return words
}

const MODELS_NAMED = 5
const RATE_WORDS: Readonly<Record<string, string>> = {
  fallback: 'it counts at most, at the dearest known price, until somebody gives it one',
  zero: 'your organisation has chosen to count it as nothing',
  substitute: 'another model’s stands in, as your organisation has chosen',
}

/** What reading the clients' records has come to, as far as there is something to say. */
export function readingWords({
  reading,
  tagProblems,
  unpriced,
  brokeOff,
  tooOld,
  unsound,
  retainDays,
  problem,
}: UsageStatus): Words[] {
  const words: Words[] = []
  const say = (text: string, warns = false) => words.push(['usage', text, warns])
  if (reading.running) say(`reading the clients’ records: ${reading.done} of ${count(reading.of, 'session')}`)
  if (reading.problems > 0) say(`${count(reading.problems, 'session')} could not be read`, true)
  if (problem !== undefined) say(`the ledger could not be written: ${plain(problem, 200)}`, true)
  for (const { model, rate } of unpriced.slice(0, MODELS_NAMED))
    say(`rate=${rate}: ${plain(model, 100)} has no price of its own; ${RATE_WORDS[rate] ?? 'another stands in'}`, true)
  if (unpriced.length > MODELS_NAMED)
    say(`${count(unpriced.length - MODELS_NAMED, 'more model')} without a price`, true)
  if (brokeOff > 0) say(`${count(brokeOff, 'call')} broke off: what was used until then is counted, and marked`)
  if (tooOld > 0) say(`${count(tooOld, 'call')} older than ${retainDays} days left out`)
  if (unsound > 0) say(`${count(unsound, 'call')} with impossible token counts left out`, true)
  for (const { file, line, message, remedy } of tagProblems)
    say(`${plain(file)}:${line}: ${plain(message)} (${plain(remedy)}); the tags it had before hold`, true)
  return words
}

/** What clients have told by OpenTelemetry and what became of it: nothing of it is left out without a word. */
export function telemetryWords({ telemetry }: UsageStatus): Words[] {
  if (!telemetry) return []
  const { lastAt, calls, sums, own, repeated, otherwise, outer, rejected, waiting, problem } = telemetry
  const words: Words[] = []
  const say = (text: string, warns = false) => words.push(['telemetry', text, warns])
  const counted = [`${count(calls, 'call')}`, ...(sums > 0 ? [`${count(sums, 'sum')} of calls`] : [])].join(' and ')
  say(
    `${counted} counted${waiting > 0 ? `, ${waiting} still waiting for the clients’ own records` : ''}${lastAt ? `; last heard ${localTime(lastAt)}` : ''}`,
  )
  if (own > 0) say(`${count(own, 'entry', 'entries')} left out: this machine reads that client’s own records`)
  if (repeated > 0) say(`${count(repeated, 'call')} told again, or known from elsewhere, counted once`)
  if (otherwise > 0)
    say(
      `${count(otherwise, 'entry', 'entries')} left out: that session is counted by its calls or its sums, never by both`,
    )
  if (outer > 0) say(`${count(outer, 'sum')} of agents and workflows left out: the calls within them count`)
  if (rejected > 0) say(`${count(rejected, 'entry', 'entries')} with impossible token counts refused`, true)
  if (problem !== undefined)
    say(`the newest could not be kept (${plain(problem, 200)}); the client was asked to send it again`, true)
  return words
}

const daysWords = (days: readonly string[]) =>
  `${days.slice(0, 3).join(', ')}${days.length > 3 ? ` and ${count(days.length - 3, 'more day')}` : ''}`

/** Codes of refusals in words; what is not known is said as the control plane put it. */
function problemWords({ code, message }: { code: string; message: string }): string {
  switch (code) {
    case 'NOT_FOUND':
      return 'this control plane takes no usage yet; it is kept here and sent once it does'
    case 'unreachable':
      return 'the control plane could not be reached; everything is kept and sent later'
    case 'RATE_LIMITED':
      return 'too many uploads in ten minutes; it goes on by itself'
    case 'CONFLICT':
      return 'its number was used with another content; it goes on above that'
    default:
      return plain(message, 200)
  }
}
