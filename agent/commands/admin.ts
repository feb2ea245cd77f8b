import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { columns, localTime, plain } from '#agent/terminal.ts'
import { type Problem, parseBoundaries } from '#core/boundary/parse.ts'
import { HANDLE } from '#core/id.ts'
import { BOUNDARIES_TEXT_MAX, NOTE_MAX, REASON_MAX } from '#core/limits.ts'
import {
  type AdminSession,
  AT,
  forgetSession,
  keepSession,
  planeOf,
  readSession,
  refuseAgents,
  TOKEN_VARIABLE,
} from './admin-session.ts'
import type { Call, Command, Flags } from './command.ts'
import { askPlane, askPlaneJson, PlaneRefusal } from './control-plane.ts'
import { lineDiff } from './diff.ts'
import { CommandFailure, EXIT } from './exit.ts'

export const adminLogin: Command = {
  name: 'team admin login',
  summary: 'sign in as an owner or admin for twelve hours, confirmed in the browser',
  options: AT,
  about:
    'Prints an address and a short code. Open the address in a browser where you are signed in with your own account, compare the code, and allow it there. The credential may publish boundaries and answer other people’s requests, never your own, and nothing else.',
  examples: [
    ['holdpoint team admin login', 'at the organisation of this machine'],
    ['holdpoint team admin login --at https://holdpoint.example.com --org acme', 'anywhere'],
  ],
  async run({ flags, home, json, terminal }) {
    refuseAgents(home)
    const { origin, slug } = planeOf(home, flags)
    const label =
      hostname()
        .replace(/[^A-Za-z0-9._-]+/g, '-')
        .slice(0, 63) || 'machine'
    const started = await askPlaneJson<{
      deviceCode: string
      userCode: string
      url: string
      interval: number
      expiresAt: string
    }>(origin, { method: 'POST', path: 'admin/login', body: { label, org: slug } })
    terminal.note(`Open ${plain(started.url)}`)
    terminal.note(
      `and allow the code ${plain(started.userCode)} there, before ${localTime(started.expiresAt)}. Waiting…`,
    )
    const session = await waitForToken(origin, slug, started)
    keepSession(home, session)
    if (json) terminal.json({ org: session.org, member: session.member, expiresAt: session.expiresAt })
    else
      terminal.line(`Signed in as ${plain(session.member?.name ?? 'an admin')} until ${localTime(session.expiresAt)}.`)
    return EXIT.ok
  },
}

type TokenAnswer = {
  pending?: true
  token?: string
  expiresAt?: string
  member?: { id: string; name: string }
  org?: { slug: string; name: string }
}

async function waitForToken(
  origin: string,
  slug: string,
  { deviceCode, interval, expiresAt }: { deviceCode: string; interval: number; expiresAt: string },
): Promise<AdminSession> {
  const pauseMs = Math.min(30, Math.max(0.2, Number(interval) || 5)) * 1000
  for (const until = Date.parse(expiresAt); Date.now() < until; ) {
    await sleep(pauseMs)
    let answer: TokenAnswer
    try {
      answer = await askPlaneJson<TokenAnswer>(origin, { method: 'POST', path: 'admin/token', body: { deviceCode } })
    } catch (error) {
      if (error instanceof PlaneRefusal && error.status === 428) continue
      throw error
    }
    if (answer.pending) continue
    if (!answer.token) throw new CommandFailure('failed', 'odd_answer', 'The control plane gave no credential.')
    return {
      origin,
      org: answer.org ?? { slug },
      token: answer.token,
      ...(answer.member ? { member: answer.member } : {}),
      ...(answer.expiresAt ? { expiresAt: answer.expiresAt } : {}),
    }
  }
  throw new CommandFailure(
    'failed',
    'login_expired',
    'Nobody allowed the sign-in in time.',
    'Run `holdpoint team admin login` again.',
  )
}

export const adminLogout: Command = {
  name: 'team admin logout',
  summary: 'end the admin sign-in on this machine',
  about: 'Withdraws the credential at the control plane and deletes it here.',
  examples: [['holdpoint team admin logout', 'when done']],
  async run({ flags, home, json, terminal }) {
    const session = readSession(home, flags)
    let told = true
    await askPlane(session.origin, { method: 'DELETE', path: 'admin/token', token: session.token }).catch(() => {
      told = false
    })
    const here = forgetSession(home)
    if (json) terminal.json({ signedOut: here, told })
    else
      terminal.line(
        told
          ? 'Signed out.'
          : 'Deleted here; the control plane could not be told. The credential ends by itself within twelve hours; Settings can end it at once.',
      )
    if (process.env[TOKEN_VARIABLE] && !json) terminal.line(`${TOKEN_VARIABLE} is still set in this shell.`)
    return EXIT.ok
  },
}

export const adminBoundaries: Command = {
  name: 'team admin boundaries',
  summary: 'read or publish the organisation’s boundaries',
  options: {
    get: { type: 'boolean', help: 'print the text in force, byte for byte' },
    set: { type: 'string', value: 'FILE', help: 'publish this file (- for standard input)' },
    note: { type: 'string', value: 'TEXT', help: 'with --set: why, kept with the version' },
    ...AT,
  },
  about:
    'Publishing shows the difference, needs a note, and makes a new signed version. If somebody published since your last --get, it is refused and their change is shown, so that nobody’s edit is lost. ' +
    'The same checks as in the web app apply: mistakes with line and column, cases in both directions for every enforced rule, a role that somebody holds.',
  examples: [
    ['holdpoint team admin boundaries --get > org.yaml', 'read'],
    ['holdpoint team admin boundaries --set org.yaml --note "ask at $20"', 'publish'],
  ],
  async run(call) {
    const { flags, home } = call
    if ((flags.get === true) === (flags.set !== undefined))
      throw new CommandFailure(
        'usage',
        'usage',
        'Give either --get or --set FILE.',
        'See `holdpoint team admin boundaries --help`.',
      )
    const session = readSession(home, flags)
    const current = await askPlaneJson<{ text: string; etag: string; version: number }>(session.origin, {
      method: 'GET',
      path: 'admin/boundaries',
      token: session.token,
    })
    if (flags.get === true) {
      if (session.expiresAt)
        keepSession(home, { ...session, lastRead: { etag: current.etag, version: current.version } })
      if (call.json) call.terminal.json(current)
      else call.terminal.bytes(current.text)
      return EXIT.ok
    }
    refuseAgents(home)
    return publish(call, session, current)
  },
}

async function publish(
  { flags, home, json, terminal }: Call,
  session: AdminSession,
  current: { text: string; etag: string; version: number },
): Promise<0> {
  const note = typeof flags.note === 'string' ? flags.note.trim() : ''
  if (note === '' || note.length > NOTE_MAX)
    throw new CommandFailure(
      'usage',
      'note',
      `Publishing needs --note with up to ${NOTE_MAX} characters: why this change.`,
    )
  const text = readFileSync(flags.set === '-' ? 0 : String(flags.set), 'utf8')
  if (text.length > BOUNDARIES_TEXT_MAX)
    throw new CommandFailure(
      'failed',
      'too_large',
      `A document of boundaries has at most ${BOUNDARIES_TEXT_MAX} bytes.`,
    )
  const { errors } = parseBoundaries(text, { scope: 'organisation' })
  if (errors.length > 0) throw problems(errors)
  if (text === current.text) {
    if (json) terminal.json({ version: current.version, changed: false })
    else terminal.line(`Version ${current.version} says exactly this; nothing was published.`)
    return EXIT.ok
  }
  const base = session.lastRead ?? current
  if (!json)
    for (const line of lineDiff(current.text, text))
      terminal.line(terminal.paint(line[0] === '+' ? 'green' : line[0] === '-' ? 'red' : 'dim', plain(line)))
  try {
    const { version } = await askPlaneJson<{ version: number }>(session.origin, {
      method: 'PUT',
      path: 'admin/boundaries',
      token: session.token,
      headers: { 'If-Match': base.etag },
      body: { text, note },
    })
    const { lastRead: _used, ...kept } = session
    if (session.expiresAt) keepSession(home, kept)
    if (json) terminal.json({ version, changed: true })
    else terminal.line(`Published as version ${version}. Machines that are awake have it within seconds.`)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof PlaneRefusal)) throw error
    if (error.code === 'STALE_EDIT' || error.status === 412) {
      throw new CommandFailure(
        'failed',
        'STALE_EDIT',
        `Somebody published version ${current.version} since you read version ${base.version === current.version ? 'yours' : base.version}. Nothing was published.`,
        'Read theirs with --get, bring your change into it, and publish again.',
      )
    }
    const listed = error.details.errors ?? error.details.problems
    if (Array.isArray(listed) && listed.length > 0) throw problems(listed as Problem[])
    throw error
  }
}

function problems(list: readonly Problem[]): CommandFailure {
  const lines = list
    .slice(0, 10)
    .map(({ line, column, rule, message }) => `line ${line}, column ${column}: ${rule ? `${rule}: ` : ''}${message}`)
  const more = list.length > 10 ? ` (and ${list.length - 10} more)` : ''
  return new CommandFailure('failed', 'mistakes', `Not published: ${lines.join('; ')}${more}.`, list[0]?.remedy)
}

type Waiting = {
  handle: string
  state: string
  client: string
  action: string
  rules: string[]
  role: string
  machine?: { label: string }
  member?: { name: string }
  createdAt: string
  expiresAt: string
  figures?: { name: string; qualifier?: string; value: string; unit: string }[]
}

const ANSWERED = { approve: 'Approved', deny: 'Denied' } as const

function answerCommand(decision: 'approve' | 'deny'): Command {
  const approve = decision === 'approve'
  return {
    name: `team admin ${decision}`,
    summary: approve ? 'approve another member’s request, or list what waits' : 'deny another member’s request',
    takes: approve ? '[<id>]' : '<id>',
    args: [approve ? 0 : 1, 1],
    options: {
      ...(approve
        ? {
            session: {
              type: 'boolean',
              help: 'for the rest of the session (at most a day), not only the next step',
            } as const,
            until: {
              type: 'string',
              value: 'FIGURE<VALUE',
              help: 'only below a ceiling: session_cost_usd<40, budget_used_pct:monthly<95',
            } as const,
          }
        : {}),
      reason: { type: 'string', value: 'TEXT', help: 'why; shown to people, never to the agent' },
      ...AT,
    },
    about: `${approve ? 'Without <id> it lists what waits. ' : ''}The control plane refuses your own requests: those are answered by another member, or by you in the web app, signed in with your account.`,
    examples: approve
      ? [
          ['holdpoint team admin approve', 'what waits'],
          ['holdpoint team admin approve bnd-1a2b3c4d5e6f --session --until "session_cost_usd<40"', 'with a ceiling'],
        ]
      : [['holdpoint team admin deny bnd-1a2b3c4d5e6f --reason "use the small model"', 'stands for up to a day']],
    async run({ args, flags, home, json, terminal }) {
      const session = readSession(home, flags)
      if (args[0] === undefined) {
        const list = await askPlaneJson<Waiting[] | { items: Waiting[] }>(session.origin, {
          method: 'GET',
          path: 'admin/approvals',
          token: session.token,
        })
        const items = Array.isArray(list) ? list : list.items
        if (json) terminal.json(items)
        else if (items.length === 0) terminal.line('Nothing waits.')
        else
          for (const line of columns(
            items.map(one => [
              one.handle,
              plain(one.rules.join(', ')),
              `${plain(one.client)} ${plain(one.action)}`,
              plain(one.member?.name ?? ''),
              `until ${localTime(one.expiresAt)}`,
            ]),
          ))
            terminal.line(line)
        return EXIT.ok
      }
      const handle = readHandle(args[0])
      refuseAgents(home)
      const reason = typeof flags.reason === 'string' ? flags.reason : ''
      if (reason.length > REASON_MAX)
        throw new CommandFailure('usage', 'reason', `A reason has at most ${REASON_MAX} characters.`)
      const scope = flags.session === true ? 'session' : 'step'
      const body = { decision, scope, until: readCeiling(flags), reason }
      const row = await askPlaneJson<{ state?: string; votes?: number; approvals?: number }>(session.origin, {
        method: 'POST',
        path: `admin/approvals/${handle}/answer`,
        token: session.token,
        body,
      })
      if (json) terminal.json(row)
      else if (approve && row?.state === 'pending')
        terminal.line(`Your approval counts; ${row.votes ?? '?'} of ${row.approvals ?? '?'} are there.`)
      else
        terminal.line(
          `${ANSWERED[decision]} ${handle}${approve ? ` for ${scope === 'step' ? 'the next step' : 'the rest of the session'}` : ''}.`,
        )
      return EXIT.ok
    },
  }
}

export const adminApprove = answerCommand('approve')
export const adminDeny = answerCommand('deny')

/** @throws CommandFailure */
export function readHandle(text: string): string {
  if (HANDLE.test(text)) return text
  throw new CommandFailure(
    'usage',
    'bad_handle',
    `\`${plain(text, 40)}\` is no decision’s id.`,
    'They look like bnd-1a2b3c4d5e6f; `holdpoint waiting` lists those that wait.',
  )
}

/** `session_cost_usd<40` or `budget_used_pct:monthly<95`. @throws CommandFailure */
function readCeiling(flags: Flags): { figure: string; qualifier?: string; op: '<'; value: string }[] {
  if (typeof flags.until !== 'string') return []
  const match =
    /^(session_cost_usd|budget_used_pct)(?::([a-z0-9][a-z0-9_-]{0,63}))?\s*<\s*(\d{1,12}(?:\.\d{1,6})?)$/.exec(
      flags.until.trim(),
    )
  if (!match)
    throw new CommandFailure(
      'usage',
      'until',
      '`--until` is a figure, < and a value.',
      'For example --until "session_cost_usd<40".',
    )
  return [{ figure: match[1]!, ...(match[2] ? { qualifier: match[2] } : {}), op: '<', value: match[3]! }]
}
