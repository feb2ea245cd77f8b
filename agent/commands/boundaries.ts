import { chmodSync, existsSync, realpathSync, statSync } from 'node:fs'
import { askDaemon, type DaemonStatus, type StatusClient, type StatusRule } from '#agent/daemon-client.ts'
import { checkPerson, confirmWord } from '#agent/guard/person.ts'
import { type Home, readKeptText, writeAtomic } from '#agent/home.ts'
import { columns, count, localTime, plain, type Terminal } from '#agent/terminal.ts'
import { RULE_NAME } from '#core/approval/request.ts'
import { setStage } from '#core/boundary/edit.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { nearest } from '#core/boundary/problem.ts'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { LEVEL_NAMES } from '#core/level-words.ts'
import { levelWords, offWords, revokedLine } from './code-words.ts'
import type { Call, Command } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { unguardedWords } from './unguarded.ts'

export const boundariesStatus: Command = {
  name: 'boundaries status',
  summary: 'each rule: how often it fired, and how far each agent program is held by it',
  about:
    'Per rule: what it demands, whether it binds (enforce) or only watches (shadow), how often it fired, and for each agent program whether it is held there, what would switch that off, and what to do. Organisation rules stand as org:<name>.',
  examples: [['holdpoint boundaries status', 'after a day in shadow']],
  async run({ home, json, terminal }) {
    const status = await askDaemon<DaemonStatus>(home, 'GET', '/api/status')
    if (json) {
      terminal.json({ rules: status.rules, clients: status.clients, local: status.local, unguarded: status.unguarded })
      return EXIT.ok
    }
    printLocalTrouble(terminal, home, status)
    const revoked = revokedLine(status)
    if (revoked) terminal.line(`${terminal.paint('red', revoked)}\n`)
    if (status.rules.length === 0) {
      terminal.line('No boundary is in force here.')
      terminal.line(`Write one in ${home.config}, for example:`)
      for (const line of EXAMPLE) terminal.line(`  ${line}`)
    }
    status.rules.forEach((rule, i) => {
      if (i > 0) terminal.line()
      printRule(terminal, rule)
    })
    printClients(terminal, status.clients ?? [])
    const unguarded = unguardedWords(status)
    if (unguarded) terminal.line(`\n${terminal.paint('red', unguarded)}`)
    return EXIT.ok
  },
}

const EXAMPLE = [
  'boundaries:',
  '  - name: session-spend',
  '    action: continue',
  '    when: { session_cost_usd: ">= 20" }',
  '    require: ask',
]

function printLocalTrouble(terminal: Terminal, home: Home, { local }: DaemonStatus): void {
  const { errors } = local
  if (errors.length === 0) return
  terminal.line(
    terminal.paint(
      'red',
      `${home.config} has mistakes, so ${local.source === 'last-good' ? 'its last good text stays in force' : 'none of its rules is in force'}:`,
    ),
  )
  for (const { line, column, rule, message, remedy } of errors) {
    terminal.line(`  ${line}:${column}  ${rule ? `${rule}: ` : ''}${message} ${remedy}`)
  }
  terminal.line()
}

/** What an enforced rule does to a call that crosses it. */
function enforcedWords({ require, scope }: StatusRule): string {
  if (require === 'allow') return 'lets the call through'
  if (require === 'deny') return 'refuses'
  if (require !== 'ask' && scope === 'organisation') return 'refuses, and asks the role'
  return 'asks at the keyboard, refuses when nobody is there'
}

function firedWords({ fired, sessions, last, stage }: StatusRule): string {
  if (fired === 0) return 'has not fired yet'
  const when = last ? `, last ${localTime(last)}` : ''
  return `${stage === 'enforce' ? 'fired' : 'would have fired'} ${count(fired, 'time')} in ${count(sessions, 'session')}${when}`
}

function printRule(terminal: Terminal, rule: StatusRule): void {
  const enforced = rule.stage === 'enforce'
  const stage = terminal.paint(enforced ? 'green' : 'dim', `[${rule.stage}]`)
  terminal.line(`${terminal.paint('bold', rule.name)}  ${rule.action} → ${rule.require}  ${stage}`)
  terminal.line(`  ${firedWords(rule)}`)
  const binds = enforced ? `enforced: ${enforcedWords(rule)}` : 'shadow: records what it would have done'
  const told = rule.levels.map(({ client, level, off = [], remedy }) => {
    const causes = off.length > 0 ? off.map(offWords).join(', ') : undefined
    const what = remedy?.startsWith('holdpoint ') ? `run \`${remedy}\`` : remedy
    return { client, words: [levelWords(level, binds), causes, what].filter(Boolean).join('; ') }
  })
  // clients of which the same is true are one line; the single ones stand in columns
  const names = (words: string) => told.filter(one => one.words === words).map(one => clientName(one.client))
  const different = [...new Set(told.map(one => one.words))]
  const rows = different.flatMap(words => (names(words).length === 1 ? [[names(words)[0]!, words]] : []))
  for (const line of columns(rows, '  ')) terminal.line(line)
  for (const words of different) if (names(words).length > 1) terminal.line(`  ${names(words).join(', ')}: ${words}`)
  for (const note of rule.notes) {
    const how =
      !enforced && rule.scope === 'local' && note.startsWith('in shadow')
        ? `; \`holdpoint boundaries promote ${rule.name}\` makes it bind`
        : ''
    terminal.line(`  note: ${note}${how}`)
  }
}

/** Of each client that has hooks: how far they hold, how they are undone, and what cannot be held there. */
function printClients(terminal: Terminal, clients: readonly StatusClient[]): void {
  const wired = clients.filter(({ level }) => level !== 'not-installed')
  if (wired.length === 0) return
  terminal.line(`\n${terminal.paint('bold', 'Agent programs')}`)
  for (const { client, version, level, undoneBy = [], limits = [] } of wired) {
    terminal.line(
      `  ${clientName(client)}${version ? ` ${plain(version, 40)}` : ''}: ${LEVEL_NAMES[level] ?? plain(level, 40)}`,
    )
    if (undoneBy.length > 0) {
      const [last, ...others] = [...undoneBy].reverse()
      const ways = others.length > 0 ? `${others.reverse().join(', ')}, or ${last}` : last!
      terminal.line(`    It stops holding when someone ${plain(ways)}.`)
    }
    for (const limit of limits) terminal.line(`    ${plain(limit)}`)
  }
}

export const promote: Command = {
  name: 'boundaries promote',
  summary: 'make one of your own rules bind',
  takes: '<rule>',
  args: [1, 1],
  about:
    'Writes `stage: enforce` beside the rule in ~/.holdpoint/config.yaml; comments and order stay. An organisation’s rule is refused: its stage is set in the web app.',
  examples: [['holdpoint boundaries promote session-spend', 'from the next call on']],
  run: async call => setRuleStage(call, 'enforce'),
}

export const demote: Command = {
  name: 'boundaries demote',
  summary: 'let one of your own rules only watch again (a person at a terminal only)',
  takes: '<rule>',
  args: [1, 1],
  about:
    'Writes `stage: shadow` beside the rule in ~/.holdpoint/config.yaml; comments and order stay. Because this loosens, it asks a person at a terminal.',
  examples: [['holdpoint boundaries demote session-spend', 'asks for the word “demote”']],
  run: async call => setRuleStage(call, 'shadow'),
}

function setRuleStage({ args, home, json, terminal }: Call, stage: 'enforce' | 'shadow'): 0 {
  const name = args[0]!
  const text = readKeptText(home.config)
  if (text === undefined && !name.startsWith('org:')) throw noConfig(home, name, stage)
  const edited = setStage(text ?? '', name, stage)
  if (!edited.ok) {
    const known = parseBoundaries(text ?? '', { scope: 'local' }).rules.map(rule => rule.name)
    const guess = edited.reason === 'no_such_rule' ? nearest(name, known) : undefined
    throw new CommandFailure(
      edited.reason === 'no_such_rule' ? 'missing' : 'failed',
      edited.reason,
      sentence(edited.message, name),
      guess && `Did you mean \`${guess}\`?`,
    )
  }
  const changed = edited.text !== text
  if (changed) {
    if (stage === 'shadow') {
      checkPerson(home.root)
      confirmWord(`${name} will no longer hold anything back.`, 'demote')
    }
    writeConfig(home, edited.text)
  }
  // what else is wrong in the file keeps the whole of it out of force
  const broken = parseBoundaries(edited.text, { scope: 'local' }).errors[0]
  if (json) terminal.json({ rule: name, stage, changed, ...(broken ? { problem: broken } : {}) })
  else {
    const does = stage === 'enforce' ? 'binds from the next call on' : 'only watches from the next call on'
    terminal.line(
      changed
        ? `${name} ${does} (stage: ${stage} in ${home.config}).`
        : `${name} has stage ${stage} already; nothing was changed.`,
    )
    if (broken)
      terminal.line(
        `But the file has a mistake, so its last good text stays in force: line ${broken.line}, column ${broken.column}: ${broken.message}`,
      )
  }
  return EXIT.ok
}

/** Where own rules stand, and one to begin with in a form that can be pasted. */
function noConfig(home: Home, name: string, stage: 'enforce' | 'shadow'): CommandFailure {
  if (existsSync(home.config))
    return new CommandFailure(
      'failed',
      'config_unreadable',
      `${home.config}, where your own rules stand, cannot be read.`,
      'It must be a text file that you may read.',
    )
  const rule = RULE_NAME.test(name) ? name : 'session-spend'
  return new CommandFailure(
    'missing',
    'no_config',
    `There is no rule of your own to ${stage === 'enforce' ? 'promote' : 'demote'}: they stand in ${home.config}, and that file is not there.`,
    stage === 'enforce'
      ? `Make it with a rule in it, for example: boundaries: [{ name: ${rule}, action: continue, when: { session_cost_usd: ">= 20" }, require: ask }]`
      : 'Nothing of your own binds here; the organisation’s rules stand in `holdpoint boundaries status`.',
  )
}

/** The developer's own file: a link to it stays a link, and its mode stays what it is. */
function writeConfig(home: Home, text: string): void {
  const file = realpathSync(home.config)
  const mode = statSync(file).mode & 0o777
  writeAtomic(home, file, text, mode)
  chmodSync(file, mode)
}

/** A rule's name keeps its letters, wherever it stands. */
const sentence = (text: string, name: string) =>
  text.startsWith(name) ? `\`${name}\`${text.slice(name.length)}.` : `${text[0]?.toUpperCase()}${text.slice(1)}.`

/** A client's name as people write it. */
export const clientName = (client: string): string => CLIENT_NAMES[client as Client] ?? plain(client, 40)
