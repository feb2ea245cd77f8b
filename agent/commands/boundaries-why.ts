import type { ShownCondition, Why, WhyThere } from '#agent/daemon/why.ts'
import { askDaemon, type DaemonStatus } from '#agent/daemon-client.ts'
import { plain, span, type Terminal } from '#agent/terminal.ts'
import { figureLabel, roleWords, thresholdText } from '#core/boundary/describe.ts'
import { nearest } from '#core/boundary/problem.ts'
import { COMPARATORS, type Comparator } from '#core/boundary/shape.ts'
import { FIGURES, isFigureName } from '#core/figure.ts'
import { parseMicros } from '#core/money.ts'
import { isLadderRole } from '#core/role.ts'
import { clientName } from './boundaries.ts'
import { levelWords, offWords } from './code-words.ts'
import type { Command } from './command.ts'
import { valueWords } from './decision.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { SOURCES } from './figures.ts'

export const boundariesWhy: Command = {
  name: 'boundaries why',
  summary: 'why a rule fires now, or does not: each condition with what it reads',
  takes: '<rule>',
  args: [1, 1],
  options: { session: { type: 'string', value: 'ID', help: 'only this session, ended ones too' } },
  about:
    'For each live session: every condition of the rule with the figure that is read now, where it comes from, how old it is and how it compares; whether the rule is for that work at all; what holds it there, and what would let a call go on. Nothing is asked, held or recorded by it. An organisation’s rule is called org:<name>.',
  examples: [
    ['holdpoint boundaries why session-spend', 'why was the last call held, or not?'],
    ['holdpoint boundaries why org:session-spend --session 0f3c…', 'in one session'],
  ],
  async run({ args, flags, home, json, terminal }) {
    const rule = args[0]!
    const only = typeof flags.session === 'string' ? flags.session : undefined
    const status = await askDaemon<DaemonStatus>(home, 'GET', '/api/status')
    const known = status.rules.map(({ name }) => name)
    if (!known.includes(rule)) {
      const guess = known.includes(`org:${rule}`) ? `org:${rule}` : nearest(rule, known)
      throw new CommandFailure(
        'missing',
        'no_such_rule',
        `No rule in force is called \`${plain(rule, 80)}\`.`,
        guess ? `Did you mean \`${guess}\`?` : 'See `holdpoint boundaries status`.',
      )
    }
    const query = new URLSearchParams({ rule, ...(only === undefined ? {} : { session: only }) })
    const why = await askDaemon<Why>(home, 'GET', `/api/why?${query}`)
    if (only !== undefined && why.there.length === 0 && why.action !== 'share')
      throw new CommandFailure('missing', 'no_such_session', `No session ${plain(only, 80)} has been seen here.`)
    const levels = status.rules.find(({ name }) => name === rule)?.levels ?? []
    if (json) terminal.json({ ...why, levels })
    else print(terminal, why, levels)
    return EXIT.ok
  },
}

function print(terminal: Terminal, why: Why, levels: DaemonStatus['rules'][number]['levels']): void {
  const { rule, action, require, stage, unsupported, there } = why
  terminal.line(`${terminal.paint('bold', rule)}  ${action ?? 'every action'} → ${require}  [${stage}]`)
  if (unsupported) terminal.line(`  this connector cannot read the rule: ${unsupported}`)
  else if (there.length === 0) terminal.line('  No live session: there is no call that it could hold.')
  for (const one of there) {
    const where = one.destination
      ? `figures to ${one.destination}`
      : `${clientName(one.client ?? '')}, session ${one.session} in ${one.project}`
    terminal.line(`\n${where}: ${terminal.paint(one.state === 'fires' ? 'red' : 'green', stateWords(why, one))}`)
    for (const condition of one.conditions) terminal.line(`  ${conditionWords(condition)}`)
    if (why.for) terminal.line(`  ${forWords(why, one)}`)
    const level = levels.find(({ client }) => client === one.client)
    if (level) {
      const off = level.off?.length ? `; ${level.off.map(offWords).join(', ')}` : ''
      terminal.line(`  there: ${levelWords(level.level, stage === 'enforce' ? 'enforced' : 'in shadow')}${off}`)
    }
    for (const line of onward(why, one)) terminal.line(`  ${line}`)
  }
}

function stateWords({ stage, onUnknown }: Why, { state, conditions, liftedBy }: WhyThere): string {
  switch (state) {
    case 'fires': {
      const unread = conditions.some(({ holds }) => holds === undefined) ? ' (what is unread holds: on_unknown)' : ''
      return `${stage === 'enforce' ? 'it holds the next call' : 'it would fire, and holds nothing in shadow'}${unread}`
    }
    case 'does_not_fire':
      return 'it does not fire: a condition does not hold'
    case 'undecided':
      return `it does not fire: a figure is unread, and the rule says on_unknown: ${onUnknown}`
    case 'for_others':
      return 'it does not fire: it is for other work'
    case 'lifted':
      return `it would hold the call, but the answer ${(liftedBy ?? []).join(', ')} lets it go on`
  }
}

const UNREAD: Readonly<Record<string, string>> = {
  missing: 'nothing tells it here now',
  stale: 'what was told is too old',
  unknown: 'what was told cannot be compared',
}

/** `holds: session cost is $20.14, the rule wants $20.00 or more (from the session itself, read 3 s ago)`. */
function conditionWords(condition: ShownCondition): string {
  const { figure, qualifier, value, unit, source, ageS, holds, why } = condition
  const label = isFigureName(figure) ? figureLabel(figure, qualifier) : plain(figure, 40)
  const wants = `the rule wants ${wantedWords(condition)}`
  if (holds === undefined) {
    const routed = figure === 'model_tier' || figure === 'destination'
    return `unread: ${label}, ${wants} (${routed && why === 'missing' ? 'told with each call of that kind' : (UNREAD[why ?? ''] ?? 'unread')})`
  }
  const from = [
    ...(source ? [SOURCES[source] ?? source] : []),
    ...(ageS === undefined || unit === 'tier' || unit === 'name' ? [] : [`read ${span(ageS)} ago`]),
  ]
  return `${holds ? 'holds' : 'does not hold'}: ${label} is ${valueWords(value, unit ?? '')}, ${wants} (${from.join(', ')})`
}

function wantedWords({ figure, op, threshold }: ShownCondition): string {
  const isKnown = isFigureName(figure) && (COMPARATORS as readonly string[]).includes(op)
  if (!isKnown) return `${op} ${plain(threshold, 80)}`
  const { unit } = FIGURES[figure]
  const value = unit === 'usd' || unit === 'pct' ? (parseMicros(threshold) ?? threshold) : threshold
  return thresholdText(figure, op as Comparator, value)
}

function forWords({ for: to }: Why, { attribution, state }: WhyThere): string {
  const kinds = Object.entries(to ?? {}).map(([kind, names]) => `${kind} ${(names as string[]).join(', ')}`)
  const said = Object.entries(attribution ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([kind, value]) => `${kind} ${value}`)
  const whose = said.length > 0 ? said.join(', ') : 'nobody known, which keeps no rule from applying'
  return `${state === 'for_others' ? 'not for this work' : 'for this work'}: the rule is for ${kinds.join('; ')}; the session belongs to ${whose}`
}

/** What would let a held call go on. */
function onward({ require, scope, stage, rule, action }: Why, { state, waiting }: WhyThere): string[] {
  if (state !== 'fires') return []
  if (stage !== 'enforce') return scope === 'local' ? [`\`holdpoint boundaries promote ${rule}\` makes it bind`] : []
  const changed = 'it passes once a condition no longer holds, or the rule has changed'
  if (require === 'allow') return ['it lets the call through and records it']
  if (require === 'deny') return [`nobody can approve it: ${changed}`]
  const role = require.startsWith('approver:') && scope === 'organisation' ? require.slice(9) : undefined
  if (role !== undefined) {
    const who = isLadderRole(role) ? roleWords(role) : plain(role, 40)
    const open = waiting?.length ? ` (${waiting.join(', ')} waits)` : ''
    return [`${who} of the organisation can let it go on, not this machine${open}; ${changed}`]
  }
  if (waiting?.length) return waiting.map(handle => `\`holdpoint approve ${handle}\` lets it go on`)
  return [
    action === 'model_route' || action === 'share'
      ? `it is asked about when it is held; then \`holdpoint waiting\` has it; ${changed}`
      : `with somebody at the keyboard the client asks; else \`holdpoint waiting\` has it once a call was held; ${changed}`,
  ]
}
