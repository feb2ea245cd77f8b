import { homedir } from 'node:os'
import { askDaemon } from '#agent/daemon-client.ts'
import { type Home, readKeptText } from '#agent/home.ts'
import { columns, localTime, plain, span } from '#agent/terminal.ts'
import { TrustStore } from '#agent/trust/store.ts'
import { readTeam } from '#agent/trust/team.ts'
import { Attributor, attributionOf, type Self, spendOf } from '#agent/usage/attribute.ts'
import { Budgets, type Caller, type ShownBudget } from '#agent/usage/budgets.ts'
import { workspaceOf } from '#agent/usage/cells.ts'
import { declaredHere } from '#agent/usage/declared.ts'
import { environmentPatterns } from '#agent/usage/environment.ts'
import { bringUpToDate } from '#agent/usage/import.ts'
import { KeptTags } from '#agent/usage/kept-tags.ts'
import { makeMeter } from '#agent/usage/meter.ts'
import { mayDrawOn } from '#core/budget/use.ts'
import { parseDecimal } from '#core/decimal.ts'
import type { TrustedRuleSet } from '#core/rule-set.ts'
import { parseLocalDocument } from '#core/rules/document.ts'
import { moneyText } from '#core/spend/round.ts'
import { heldIn } from '#core/usage/environment.ts'
import { parseRunTags, RUN_TAGS } from '#core/usage/tag-text.ts'
import type { Command } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'

/** Sections of config.yaml that are no business of this command. */
const OTHER_SECTIONS = ['attribution', 'team']
/** A fleet's figure that is older than this satisfies no rule. */
const UNREAD_S = 300

/** `elsewhere`: how many the organisation has that count no work of this folder. */
type Told = { budgets: ShownBudget[]; elsewhere?: number; problem?: { code: string; message: string; at: string } }

export const budget: Command = {
  name: 'budget',
  summary: 'how far budgets are used in their windows; exit 3 when one is used up',
  takes: '[FILE]',
  args: [0, 1],
  about:
    'Shows your own budgets (`budgets:` in config.yaml) as they stand for this folder, and the organisation’s as the control plane last counted them for the whole fleet, with what this machine has spent since. At list price, whatever plan covers it, where a budget does not say `basis: billed`. With FILE, the budgets of that file instead, and no others. Ends with exit code 3 when one that binds here is used up, so that a script can stop before its next run; the last line says what that run may spend at most.',
  examples: [
    ['holdpoint budget', 'what is left'],
    ['holdpoint budget || exit', 'at the head of a script that starts agents'],
    ['holdpoint budget ./ci-budgets.yaml --json', 'budgets of one job'],
  ],
  async run({ args, home, json, terminal }) {
    const { budgets, elsewhere = 0, problem } = await readBudgets(home, args[0], text => terminal.note(text))
    const exhausted = budgets.some(one => one.exhausted && !isUnread(one))
    // the cap is in dollars, the currency that prices are in; what is left of other budgets at today's rate
    const caps = budgets.filter(one => one.leftUsd !== undefined && !isUnread(one))
    const binding = caps.reduce<ShownBudget | undefined>(
      (least, one) => (least === undefined || pico(one.leftUsd!) < pico(least.leftUsd!) ? one : least),
      undefined,
    )
    if (json)
      terminal.json({
        budgets: budgets.map(one => ({ ...one, unread: isUnread(one) })),
        exhausted,
        nextRunCap: binding ? { amount: binding.leftUsd, currency: 'USD', budget: binding.name } : null,
        ...(problem ? { problem } : {}),
      })
    else {
      if (budgets.length === 0)
        terminal.line(
          elsewhere === 0
            ? 'There are no budgets here.'
            : `No budget counts what is used in this folder; of your organisation’s, ${elsewhere} ${elsewhere === 1 ? 'counts' : 'count'} other work.`,
        )
      for (const line of columns(budgets.map(row))) terminal.line(line)
      for (const one of budgets) for (const note of one.notes) terminal.line(`${plain(one.name, 80)}: ${plain(note)}.`)
      if (problem)
        terminal.note(
          `The organisation’s budgets could not be asked for (${localTime(problem.at)}): ${plain(problem.message, 200)}`,
        )
      if (binding)
        terminal.line(`The next run may spend at most ${money(binding.leftUsd!, 'USD')} (${plain(binding.name, 80)}).`)
    }
    return exhausted ? EXIT.exhausted : EXIT.ok
  },
}

const pico = (text: string): bigint => parseDecimal(text) ?? 0n
const money = (amount: string, currency: string) => moneyText(pico(amount), { currency })
const ageS = ({ countedAt }: ShownBudget) => Math.max(0, (Date.now() - Date.parse(countedAt)) / 1000)
const isUnread = (one: ShownBudget) => one.name.startsWith('org:') && ageS(one) > UNREAD_S

function row(one: ShownBudget): string[] {
  const { name, scope, pct, used, left, amount, currency, resets, exhausted } = one
  const state = isUnread(one)
    ? `counted ${span(ageS(one))} ago: too old, no rule reads it`
    : exhausted
      ? 'used up'
      : `${money(left, currency)} left`
  const age = name.startsWith('org:') && !isUnread(one) ? `, fleet counted ${span(ageS(one))} ago` : ''
  return [
    plain(name, 80),
    plain(scope, 120),
    `${pct} %`,
    `${money(used, currency)} of ${money(amount, currency)}`,
    `${state}${age}${resets === undefined ? '' : `; ${plain(resets, 80)}`}`,
  ]
}

/** The daemon's, as far as they concern this folder; without one, a developer's own from the ledger. */
async function readBudgets(home: Home, file: string | undefined, note: (text: string) => void): Promise<Told> {
  const imported = await bringUpToDate(home, () => {})
  if (imported.why !== undefined) note(`The newest calls are missing: ${plain(imported.why, 300)}`)
  const own = await ownBudgets(home, file)
  if (file !== undefined) return { budgets: own }
  if (imported.by !== 'daemon') {
    if (readTeam(home))
      note(
        'The daemon is not running, so the organisation’s budgets are not known. Start it with `holdpoint daemon start`.',
      )
    return { budgets: own }
  }
  const { budgets, problem } = await askDaemon<Told>(home, 'GET', '/api/budgets')
  const here = callerHere(home)
  const ofOrganisation = budgets.filter(({ name }) => name.startsWith('org:'))
  const countedHere = ofOrganisation.filter(({ of }) => mayDrawOn(of, here))
  return {
    budgets: [...countedHere, ...own],
    elsewhere: ofOrganisation.length - countedHere.length,
    ...(problem ? { problem } : {}),
  }
}

/** Shares of this folder, of each value of a tag, and of the machine. */
async function ownBudgets(home: Home, file: string | undefined): Promise<ShownBudget[]> {
  const text = readKeptText(file ?? home.config)
  if (text === undefined) {
    if (file === undefined) return []
    throw new CommandFailure('failed', 'unreadable', `${plain(file, 200)} cannot be read.`)
  }
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const read = parseLocalDocument(text, { zone, other: OTHER_SECTIONS })
  const [error] = read.errors
  if (error !== undefined)
    throw new CommandFailure(
      'failed',
      'bad_document',
      `${plain(file ?? home.config, 200)}:${error.line}:${error.column}: ${plain(error.message)}.`,
      plain(error.remedy),
    )
  const { set, self } = rulesHere(home)
  const budgets = new Budgets({
    home,
    now: Date.now,
    membership: () => undefined,
    meter: () => makeMeter(set, self),
    localBudgets: () => read.budgets,
  })
  await budgets.count()
  return budgets.shownFor(callerHere(home))
}

function rulesHere(home: Home): { set: TrustedRuleSet | undefined; self: Self } {
  const team = readTeam(home)
  const set = team ? new TrustStore(home, team, Date.now, () => {}).rules() : undefined
  return { set, self: { homeDir: homedir(), team, declared: declaredHere(home) } }
}

/** Whose a run that was started here and now would be. */
function callerHere(home: Home): Caller {
  const { set, self } = rulesHere(home)
  const runTags = parseRunTags(process.env[RUN_TAGS] ?? '').tags
  const environment = heldIn(environmentPatterns(set), process.env)
  const place = new Attributor(new KeptTags(home)).placeOf('', '', { cwd: process.cwd(), runTags, environment })
  const { team } = self
  return {
    tags: attributionOf(place, spendOf(set), self).tags,
    workspace: workspaceOf(place),
    pico: 0n,
    metered: 0n,
    ...(team ? { machine: [team.machine, ...(team.label ? [team.label] : [])], member: [team.member.id] } : {}),
  }
}
