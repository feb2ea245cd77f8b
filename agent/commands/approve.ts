import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { askDaemon } from '#agent/daemon-client.ts'
import { readChain } from '#agent/guard/ancestry.ts'
import { checkPerson, confirmWord, uncheckedBecause } from '#agent/guard/person.ts'
import { type Home, writeJson } from '#agent/home.ts'
import { localTime, plain, type Terminal } from '#agent/terminal.ts'
import { ANSWER_MAX_MS } from '#core/limits.ts'
import { clientName } from './boundaries.ts'
import { guardRefusalWords, revokedFailure } from './code-words.ts'
import type { Command } from './command.ts'
import { actionWords, type DecisionRecord, entriesOf, figureWords, readHandle } from './decision.ts'
import { CommandFailure, EXIT } from './exit.ts'

/** How long the daemon may take to look at an answer and chain it. */
const CHAINED_MS = 5000

export const approve: Command = {
  name: 'approve',
  summary: 'let a held action go on (a person at a terminal only)',
  takes: '<id>',
  args: [1, 1],
  options: {
    session: {
      type: 'boolean',
      help: 'for the rest of the session (at most a day; a route: a day), not only the next step',
    },
    confirm: { type: 'boolean', help: 'show everything about what waits before asking' },
  },
  about:
    'Answers a question of your own rules. It wants a terminal, refuses below an agent, and asks for a typed word; who answered, at which terminal and under which programs is recorded. ' +
    'That deters an agent from approving itself; it does not make it impossible. What an organisation’s rule sent to a role cannot be answered here: it says who can.',
  examples: [
    ['holdpoint approve bnd-1a2b3c4d5e6f', 'the next step'],
    ['holdpoint approve bnd-1a2b3c4d5e6f --session', 'the rest of the session'],
    ['holdpoint approve bnd-1a2b3c4d5e6f --confirm', 'show what waits first'],
  ],
  async run({ args, flags, home, json, terminal }) {
    const handle = readHandle(args[0]!)
    const scope = flags.session === true ? 'session' : 'step'
    const record = await readDecision(home, handle)
    const target = openQuestion(record)
    const person = checkPerson(home.root)
    if (!json) printQuestion(terminal, record, flags.confirm === true)
    const unchecked = uncheckedBecause(readChain(process.pid))
    if (unchecked)
      terminal.note(`This system cannot be asked who started this command (${unchecked}); that is recorded.`)
    confirmWord(`Let it go on ${spanWords(scope, record)}?`, 'approve')
    const at = new Date().toISOString()
    const answer = {
      kind: 'local_answer',
      handle: target,
      scope,
      how: 'cli',
      pid: person.pid,
      tty: person.tty,
      chain: person.chain,
      at,
    }
    writeJson(home, join(home.spool, `answer-${randomBytes(8).toString('hex')}.json`), answer)
    await waitUntilChained(home, target, at)
    if (json) terminal.json({ handle: target, approved: true, scope, at })
    else
      terminal.line(
        scope === 'step'
          ? `Approved: the next ${record.decision?.subject ? 'one' : 'step'} goes through, within a day.`
          : `Approved ${record.decision?.subject ? 'for a day' : 'for the rest of the session'}, until ${localTime(Date.parse(at) + ANSWER_MAX_MS)} at most.`,
      )
    return EXIT.ok
  },
}

/** How long an answer would hold: a route or a destination has no session. */
function spanWords(scope: 'step' | 'session', { decision }: DecisionRecord): string {
  if (decision?.subject) return scope === 'step' ? 'once' : 'for a day'
  return scope === 'step' ? 'for the next step' : 'for the rest of the session, at most a day'
}

/** @throws CommandFailure `NOT_FOUND` (exit 4) when the journal knows nothing of it */
export async function readDecision(home: Home, handle: string): Promise<DecisionRecord> {
  try {
    return await askDaemon<DecisionRecord>(home, 'GET', `/api/decisions/${handle}`)
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.code !== 'NOT_FOUND') throw error
    throw new CommandFailure(
      'missing',
      'no_such_decision',
      `This machine’s journal holds no decision ${handle}.`,
      '`holdpoint waiting` lists those that wait.',
    )
  }
}

/** The handle of the question that a person here may answer. @throws CommandFailure saying why there is none */
function openQuestion(record: DecisionRecord): string {
  const { decision, request, question } = record
  if (request && request.state === 'pending') {
    const { filed, role } = request
    const who = filed
      ? `${filed.approvals > 1 ? `${filed.approvals} people` : 'Somebody'} with the role ${role} or above${filed.eligible === 0 ? ' (nobody has it now)' : ''}`
      : `Somebody with the role ${role} or above (the request has not reached the control plane yet)`
    throw new CommandFailure(
      'failed',
      'organisation_answers',
      `Your organisation’s rule sent this to a role; it cannot be approved on this machine. ${who} can answer it.`,
      filed ? `It waits at ${plain(filed.url)}` : 'Look again with `holdpoint waiting`.',
    )
  }
  if (entriesOf(record, 'state').some(entry => entry.why === 'revoked')) throw revokedFailure()
  if (request)
    throw new CommandFailure(
      'failed',
      'not_pending',
      `The request to your organisation is ${request.state} already.`,
      `See \`holdpoint explain ${record.handle}\`.`,
    )
  if (question?.state === 'open') return question.handle
  if (question)
    throw new CommandFailure(
      'failed',
      'not_pending',
      `It was ${question.state} already.`,
      `See \`holdpoint explain ${record.handle}\`.`,
    )
  if (decision?.stage === 'shadow')
    throw new CommandFailure('failed', 'nothing_held', 'Its rule is in shadow: nothing was held.')
  if (decision?.outcome === 'deny')
    throw new CommandFailure(
      'failed',
      'denied_by_rule',
      'The rule denies it: no answer lifts that, only a change of the rule.',
    )
  if (decision?.answeredBy === 'organisation')
    throw new CommandFailure(
      'failed',
      'organisation_answers',
      'Your organisation’s rule decides this; it cannot be approved on this machine.',
      `See \`holdpoint explain ${record.handle}\`.`,
    )
  throw new CommandFailure(
    'failed',
    'nothing_waits',
    'Nothing waits under this id.',
    `See \`holdpoint explain ${record.handle}\`.`,
  )
}

function printQuestion(terminal: Terminal, { decision, handle }: DecisionRecord, whole: boolean): void {
  if (!decision) return
  const rules = decision.rules.map(rule => rule.key).join(', ')
  terminal.line(
    `${terminal.paint('bold', handle)}  ${rules}: ${clientName(decision.client)}, ${actionWords(decision)} in ${decision.project}`,
  )
  for (const figure of decision.figures) terminal.line(`  ${figureWords(figure)}`)
  if (!whole) return
  terminal.line(
    `  held ${localTime(decision.at)}, session ${decision.session}${decision.agent ? `, agent ${decision.agent}` : ''}`,
  )
  for (const { key, require, note } of decision.rules) terminal.line(`  ${key} → ${require}${note ? `: ${note}` : ''}`)
}

/** Until the daemon has looked at this process and chained the answer. @throws CommandFailure when it refused, or is silent */
async function waitUntilChained(home: Home, handle: string, since: string): Promise<void> {
  for (const until = Date.now() + CHAINED_MS; Date.now() < until; await sleep(100)) {
    const record = await readDecision(home, handle)
    const isNew = (entry: { at: string }) => Date.parse(entry.at) >= Date.parse(since) - 1000
    if (entriesOf(record, 'local_answer').some(isNew)) return
    const refused = entriesOf(record, 'guard_refused').findLast(isNew)
    if (refused)
      throw new CommandFailure(
        'failed',
        'guard_refused',
        `The daemon looked at this process itself and refused the answer: ${guardRefusalWords(refused.why)}. That is recorded.`,
      )
  }
  throw new CommandFailure(
    'failed',
    'not_chained',
    'The daemon has not taken the answer in, so it does not count yet.',
    'Look at `holdpoint daemon status`.',
  )
}

export const deny: Command = {
  name: 'deny',
  summary: 'say no to a held action',
  takes: '<id>',
  args: [1, 1],
  about:
    'Denies a question of your own rules; the no stands for up to a day. A request to your organisation is withdrawn instead: no record says that a person of it denied. Anybody may deny, agents too.',
  examples: [['holdpoint deny bnd-1a2b3c4d5e6f', 'no']],
  async run({ args, home, json, terminal }) {
    const handle = readHandle(args[0]!)
    await readDecision(home, handle)
    const done = await askDaemon<{ handle: string; state: 'denied' | 'withdrawn' }>(
      home,
      'POST',
      `/api/decisions/${handle}/deny`,
      { how: 'cli' },
    )
    if (json) terminal.json(done)
    else
      terminal.line(
        done.state === 'withdrawn'
          ? `Withdrawn: the request ${done.handle} no longer waits at your organisation.`
          : `Denied: ${done.handle} stays refused for up to a day.`,
      )
    return EXIT.ok
  },
}
