import { columns, localTime, plain } from '#agent/terminal.ts'
import { REASON_MAX } from '#core/limits.ts'
import { AT, readSession, refuseAgents } from './admin-session.ts'
import { clientName } from './boundaries.ts'
import type { Command, Flags } from './command.ts'
import { askPlaneJson } from './control-plane.ts'
import { readHandle } from './decision.ts'
import { CommandFailure, EXIT } from './exit.ts'

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
              `${clientName(one.client)}, ${plain(one.action)}`,
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
