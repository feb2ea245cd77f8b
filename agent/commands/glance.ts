import { askDaemon } from '#agent/daemon-client.ts'
import type { Glance, GlancePlan } from '#agent/glance/glance.ts'
import { columns, count, plain, span } from '#agent/terminal.ts'
import { CLIENTS, isClient } from '#core/client.ts'
import { formatCost, parseMicros } from '#core/money.ts'
import { clientName } from './boundaries.ts'
import type { Command } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'
import type { Waiting } from './waiting.ts'

export const glance: Command = {
  name: 'glance',
  summary: 'one screen: what waits, what to stop for, budgets, plans, what sessions have cost',
  options: { client: { type: 'string', value: 'NAME', help: `judge by this client’s plans: ${CLIENTS.join(', ')}` } },
  about:
    'Shows on one screen what waits for an answer, the enforced rules on a plan or a budget that hold a call now and what an agent should do about each, budgets, what is left of plans, and what the live sessions have cost at list prices. Rules that need a session’s cost, its workflow or agent are left out: they are judged at the session’s own calls. Agents read the same over `holdpoint mcp`.',
  examples: [
    ['holdpoint glance', 'how do things stand?'],
    ['holdpoint glance --json', 'for a menu bar'],
  ],
  async run({ flags, home, json, terminal }) {
    const client = typeof flags.client === 'string' ? flags.client : undefined
    if (client !== undefined && !isClient(client))
      throw new CommandFailure('usage', 'usage', `\`${client}\` is no client.`, `Use one of ${CLIENTS.join(', ')}.`)
    const now = await askDaemon<Glance>(home, 'GET', client ? `/api/glance?client=${client}` : '/api/glance')
    if (json) {
      terminal.json(now)
      return EXIT.ok
    }
    const section = (heading: string, none: string, rows: readonly (readonly string[])[]) => {
      terminal.line(terminal.paint('bold', heading))
      for (const line of rows.length > 0 ? columns(rows, '  ') : [`  ${none}`]) terminal.line(line)
    }
    const waiting = now.waiting as Waiting[]
    section(
      `Waiting on you${now.organisation ? ` or on ${now.organisation}` : ''}`,
      'nothing',
      waiting.map(({ handle, rules, client: of, state }) => [handle, rules.join(', '), clientName(of), state]),
    )
    section(
      'Stop for',
      'no rule on a plan or a budget holds a call now',
      now.boundaries.map(({ text }) => [text]),
    )
    section(
      'Budgets',
      'none',
      now.budgets.map(({ name, scope, pct, used, amount, currency, exhausted }) => [
        plain(name, 60),
        plain(scope, 60),
        exhausted ? terminal.paint('red', `${pct} %`) : `${pct} %`,
        `${used} of ${amount} ${currency}`,
      ]),
    )
    section('Plans', 'nothing has told of a plan', now.plans.map(planRow))
    section(
      'Live sessions',
      'none',
      now.sessions.map(({ client: of, session, project, costUsd, lastSeen }) => [
        clientName(of),
        plain(project, 40),
        costUsd === undefined ? 'cost unread' : costWords(costUsd),
        `${span((Date.parse(now.at) - Date.parse(lastSeen)) / 1000)} ago`,
        session,
      ]),
    )
    if (now.moreSessions > 0) terminal.line(`  and ${count(now.moreSessions, 'more')}`)
    return EXIT.ok
  },
}

const costWords = (usd: string) => {
  const micros = parseMicros(usd)
  return micros === undefined ? usd : formatCost(micros)
}

const planRow = ({ plan, window, leftPct, resetsAt, ageS, fresh }: GlancePlan) => [
  plan,
  window,
  `${leftPct} % left`,
  fresh ? `told ${span(ageS)} ago` : `told ${span(ageS)} ago: too old, no rule reads it`,
  `resets in ${span((Date.parse(resetsAt) - Date.now()) / 1000)}`,
]
