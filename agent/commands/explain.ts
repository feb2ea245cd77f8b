import type { DecisionEntry, DenialWay } from '#agent/daemon/entry.ts'
import { localTime, plain, type Terminal } from '#agent/terminal.ts'
import type { Answer } from '#core/approval/answer.ts'
import { fromUtf8 } from '#core/bytes.ts'
import { parseJws } from '#core/jws.ts'
import { UNDATED_SIGN_IN } from '#core/permission.ts'
import { readDecision } from './approve.ts'
import { clientName } from './boundaries.ts'
import { answerRefusalWords, endedWords, guardRefusalWords, methodWords } from './code-words.ts'
import type { Command } from './command.ts'
import {
  actionWords,
  ceilingWords,
  type DecisionRecord,
  entriesOf,
  figureWords,
  readHandle,
  scopeWords,
} from './decision.ts'
import { EXIT } from './exit.ts'
import { nowWords, outcomeWords } from './outcome-words.ts'

export const explain: Command = {
  name: 'explain',
  summary: 'who let an action go on, or who did not: how, when, under which rule',
  takes: '<id>',
  args: [1, 1],
  about:
    'Tells everything that this machine’s journal holds about one decision: what was crossed, under which rule and version, and who answered, how, when, up to what figure and until when.',
  examples: [['holdpoint explain bnd-1a2b3c4d5e6f', 'from a refusal, a status line or a mail']],
  async run({ args, home, json, terminal }) {
    const record = await readDecision(home, readHandle(args[0]!))
    if (json) terminal.json(record)
    else printDecision(terminal, record)
    return EXIT.ok
  },
}

function printDecision(terminal: Terminal, record: DecisionRecord): void {
  const { decision, request } = record
  terminal.line(terminal.paint('bold', `${record.handle}  ${outcomeWords(record, Date.now())}`))
  if (decision) {
    terminal.line(
      `${clientName(decision.client)}, ${actionWords(decision)} in ${decision.project}, ${localTime(decision.at)}`,
    )
    terminal.line(
      `session ${decision.session}${decision.agent ? `, agent ${decision.agent}` : ''}, user ${decision.user}`,
    )
    for (const figure of decision.figures) terminal.line(`  ${figureWords(figure)}`)
  }
  for (const { key, require, digest, note } of decision?.rules ?? []) {
    const version =
      key.startsWith('org:') && request ? `, version ${request.ruleset.version} of the organisation’s rules` : ''
    terminal.line(
      `  under ${key} → ${require}${version}${digest ? `, rule ${digest.slice(0, 12)}` : ''}${note ? `: ${note}` : ''}`,
    )
  }
  terminal.line()
  for (const line of storyOf(record, Date.now())) terminal.line(line)
}

/** What happened to it, oldest first, one sentence a line. */
export function storyOf(record: DecisionRecord, nowMs: number): string[] {
  const { decision, request, question, grants } = record
  const lines: [string, string][] = []
  const say = (at: string | undefined, text: string) => void lines.push([at ?? '', text])
  if (decision?.stage === 'shadow') {
    const would = {
      allow: 'let it through',
      ask: 'asked',
      approver: 'refused it and asked the role',
      deny: 'refused it',
    }[decision.outcome]
    say(decision.at, `The rule watches only; enforced, it would have ${would}.`)
  } else if (decision) {
    const did = {
      passed: 'It was let through.',
      asked: 'It was put to the person at the agent’s own prompt.',
      refused: heldWords(decision.subject),
      released: 'It went on under an answer given before.',
    }[decision.did]
    say(
      decision.at,
      decision.why === 'late' ? 'The decision took more than two seconds, and the agent had gone on by itself.' : did,
    )
  }
  for (const { at, role, approvals, eligible, url } of entriesOf(record, 'filed')) {
    say(
      at,
      `The request reached the organisation: ${approvals > 1 ? `${approvals} people` : 'somebody'} with the role ${plain(role)} or above (${eligible} now) can answer at ${plain(url)}`,
    )
  }
  for (const answer of entriesOf(record, 'local_answer')) {
    const where =
      answer.how === 'prompt'
        ? 'at the agent’s own prompt'
        : `with the command at ${plain(answer.tty ?? 'a terminal', 60)}${answer.chain ? ` (${answer.chain.map(name => plain(name, 40)).join(' < ')})` : ''}`
    say(
      answer.at,
      `${decision?.user ?? 'The user of this machine'} let it go on ${scopeWords(answer.scope, decision?.subject)}, ${where}.`,
    )
  }
  for (const { at, ok, why, jws } of entriesOf(record, 'answer')) say(at, answerWords(jws, ok, why, decision?.subject))
  for (const { at, why } of entriesOf(record, 'answer_refused'))
    say(at, `An answer was refused here: ${answerRefusalWords(why)}.`)
  for (const { at } of entriesOf(record, 'declined')) say(at, 'The person declined at the agent’s own prompt.')
  for (const { at, how } of entriesOf(record, 'denied_here'))
    say(
      at,
      `It was denied on this machine${denialWords(how)}${question?.standsUntil ? `; that stands until ${localTime(question.standsUntil)}` : ''}.`,
    )
  for (const { at, why, chain } of entriesOf(record, 'guard_refused'))
    say(
      at,
      `An approval on this machine was refused: ${guardRefusalWords(why)}${chain ? ` (${chain.join(' < ')})` : ''}.`,
    )
  for (const { at, toolUse } of entriesOf(record, 'spend')) say(at, `One call used the answer (${plain(toolUse, 80)}).`)
  for (const { at, toolUse } of entriesOf(record, 'second_use'))
    say(at, `Another call tried to use the same answer and was refused (${plain(toolUse, 80)}).`)
  // what this machine ended is told by the control plane again, and every look at its stream may tell it once more
  const ended = entriesOf(record, 'state')
  for (const [i, { at, state, by, why, how }] of ended.entries())
    if (ended.findIndex(entry => entry.state === state) === i)
      say(at, stateWords(state, by, why && `${endedWords(why)}${denialWords(how)}`))
  lines.sort((a, b) => a[0].localeCompare(b[0]))
  const out = lines.map(([at, text]) => (at ? `${localTime(at)}  ${text}` : text))
  for (const grant of grants) {
    const limit = ceilingWords(grant.until)
    const isOver = grant.notAfter !== undefined && Date.parse(grant.notAfter) <= nowMs
    const end = grant.ended
      ? ` ${grant.ended === 'revoked' ? 'It was revoked.' : grant.scope === 'step' ? 'It lapsed unused.' : 'That time is over.'}`
      : grant.spentBy
        ? ' It is used up.'
        : isOver
          ? ' That time is over.'
          : ''
    out.push(
      `The answer ${end === '' ? 'holds' : 'held'} ${scopeWords(grant.scope, decision?.subject)}${limit ? ` while ${limit}` : ''}${grant.notAfter ? `, until ${localTime(grant.notAfter)} at the latest` : ''}.${end}`,
    )
  }
  if (request?.state === 'denied' && request.standsUntil)
    out.push(
      Date.parse(request.standsUntil) > nowMs
        ? `The denial stands until ${localTime(request.standsUntil)}: retries are refused with it.`
        : `The denial stood until ${localTime(request.standsUntil)}; a new try asks again.`,
    )
  return [...out, ...nowWords(record)]
}

/** What became of what was held. */
function heldWords(subject: DecisionEntry['subject']): string {
  if (subject === undefined) return 'It was refused.'
  return subject.kind === 'route'
    ? 'It was held: the request went on with its own model.'
    : 'It was held: nothing was sent.'
}

const HOW: Record<string, string> = { web: 'in the web app', 'team-cli': 'with the command', passkey: 'with a passkey' }
const howWords = (how: string): string => HOW[how] ?? plain(how, 40)

/** When somebody proved who they are. */
const signInTime = (authnAt: string): string =>
  Date.parse(authnAt) === UNDATED_SIGN_IN.getTime() ? '(the provider does not say when)' : localTime(authnAt)

/** The daemon verified the answer when it came (`ok`); here it is only read. */
function answerWords(jws: string, ok: boolean, why: string | undefined, subject: DecisionEntry['subject']): string {
  let answer: Answer
  try {
    answer = JSON.parse(fromUtf8(parseJws(jws).payload)) as Answer
  } catch {
    return 'An answer came that cannot be read.'
  }
  const who = answer.approvers.map(({ name, role, method, how, authnAt, self, demo }) => {
    const marks = [self ? 'their own request' : '', demo ? 'demo sign-in' : ''].filter(Boolean)
    return `${plain(name, 80)} (${plain(role, 40)}, ${howWords(how)}, signed in with ${methodWords(method)} ${signInTime(authnAt)}${marks.length > 0 ? `, ${marks.join(', ')}` : ''})`
  })
  const did = answer.decision === 'approve' ? `let it go on ${scopeWords(answer.scope, subject)}` : 'denied it'
  const limit = ceilingWords(answer.until)
  const text = `${who.join(' and ')} ${did}${limit ? ` while ${limit}` : ''}.`
  return ok ? text : `${text} The answer was not accepted here: ${answerRefusalWords(why ?? '')}.`
}

function stateWords(state: string, by: string, why: string | undefined): string {
  const words: Record<string, string> = {
    expired: 'Nobody answered in time: the request expired.',
    withdrawn: by === 'machine' ? `The request ended here${why ? `: ${why}` : ''}.` : 'The request was withdrawn.',
    revoked: by === 'machine' ? `The approval ended here${why ? `: ${why}` : ''}.` : 'The approval was revoked.',
    lapsed: 'The time of the approval is over.',
    used: 'The control plane knows that the answer was used.',
    denied: 'The organisation denied it.',
    approved: 'The organisation approved it.',
  }
  return words[state] ?? `Its state became ${plain(state)}.`
}

/** By which way a no was said: an agent may say it too. */
const denialWords = (how: DenialWay | undefined): string => (how === undefined ? '' : DENIALS[how])
const DENIALS: Record<DenialWay, string> = {
  cli: ' with the command',
  mcp: ' over MCP',
  api: ' over the local API',
  desktop: ' at a notice of the desktop',
}
