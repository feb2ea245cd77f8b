import { homedir } from 'node:os'
import { coverageWords, lacksOf } from '#agent/clients/coverage.ts'
import { USAGE_SOURCES } from '#agent/clients/sources.ts'
import type { Home } from '#agent/home.ts'
import { columns, count, plain } from '#agent/terminal.ts'
import { TrustStore } from '#agent/trust/store.ts'
import { readTeam } from '#agent/trust/team.ts'
import { declaredHere } from '#agent/usage/declared.ts'
import { type History, type HistoryKey, LOCAL_KEYS, parseHistoryKey, readHistory } from '#agent/usage/history.ts'
import { bringUpToDate } from '#agent/usage/import.ts'
import { RETAIN_DAYS } from '#agent/usage/ledger.ts'
import { type Meter, makeMeter } from '#agent/usage/meter.ts'
import { startOfDay, wallDay } from '#core/budget/zone.ts'
import { csvText } from '#core/csv.ts'
import { DAY_MS, dayStart, isDay } from '#core/day.ts'
import { formatDecimal } from '#core/decimal.ts'
import { PRICE_AXES } from '#core/pricing.ts'
import { figureOf } from '#core/spend/group.ts'
import { columnText } from '#core/spend/round.ts'
import { COVERED, type UsageTotal } from '#core/usage/bucket.ts'
import type { Command, Flags } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'

const KEYS = ['tenant', 'project', 'model', 'day', 'month', 'client', 'provider', ...LOCAL_KEYS]
const NOBODY = 'unattributed'

export const history: Command = {
  name: 'history',
  summary: 'what this machine’s agents have used, by tenant, project, model, day, session or any tag',
  options: {
    by: {
      type: 'string',
      value: 'KEY',
      help: `what to group by: ${KEYS.join(', ')}, or any tag (model when left out)`,
    },
    since: {
      type: 'string',
      value: 'SPAN',
      help: 'how far back: `30d` (also when left out), or a first day `2026-11-01`',
    },
    import: { type: 'boolean', help: 'only read what the clients have recorded, and say how much there was' },
    csv: { type: 'boolean', help: 'print a CSV, amounts exact' },
  },
  about: `Reads what agents have recorded of their own model calls, each call once, and prices it at list price or your organisation’s own: what it would have cost without a plan. Models without a price stand beside, at most at the dearest price, and never inside the total. ${coverageWords(USAGE_SOURCES).map(sentence).join(' ')} Nothing leaves this machine by this.`,
  examples: [
    ['holdpoint history --by tenant --since 30d', 'whose the last thirty days were'],
    ['holdpoint history --by session --since 7d', 'the dearest sessions first'],
    ['holdpoint history --by day --csv > days.csv', 'for a spreadsheet'],
  ],
  async run({ flags, home, json, terminal }) {
    const by = keyOf(flags)
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
    const now = Date.now()
    const fromMs = sinceOf(flags, zone, now)
    if (json && flags.csv === true)
      throw new CommandFailure('usage', 'usage', '`--json` and `--csv` are two forms of one result: name one.')
    const progress = progressLine()
    const imported = await bringUpToDate(home, progress.tell)
    progress.end()
    if (imported.why !== undefined)
      terminal.note(`The newest calls are missing: ${plain(imported.why, 300)} What was read before is shown.`)
    const { reading } = imported
    if (reading && reading.problems > 0)
      terminal.note(
        `${count(reading.problems, 'session')} could not be read and ${reading.problems === 1 ? 'is' : 'are'} missing.`,
      )
    if (flags.import === true) {
      if (json) terminal.json({ by: imported.by, sessions: reading?.done ?? 0, problems: reading?.problems ?? 0 })
      else if (reading)
        terminal.line(`Read: ${count(reading.done, 'changed session')}. \`holdpoint history\` shows what they used.`)
      return imported.by === 'nobody' ? EXIT.failed : EXIT.ok
    }
    const prices = pricesOf(home)
    const found = await readHistory(home, by, { fromMs, zone }, prices)
    if (json) terminal.json(asJson(found, by, fromMs, prices))
    else if (flags.csv === true) terminal.bytes(asCsv(found, by))
    else for (const line of asTable(found, by, fromMs)) terminal.line(line)
    return EXIT.ok
  },
}

function keyOf({ by = 'model' }: Flags): HistoryKey {
  const key = parseHistoryKey(String(by))
  if (key !== undefined) return key
  throw new CommandFailure(
    'usage',
    'usage',
    `\`${plain(by, 60)}\` is nothing to group by.`,
    `Use one of ${KEYS.join(', ')}, or a tag’s key.`,
  )
}

/** The first millisecond that counts: `30d` are today and the 29 days before it, in this machine's zone. */
function sinceOf({ since = '30d' }: Flags, zone: string, now: number): number {
  const text = String(since)
  const days = /^(\d{1,3})d$/.exec(text)
  if (days && Number(days[1]) >= 1 && Number(days[1]) <= RETAIN_DAYS)
    return startOfDay(zone, wallDay(zone, now) - Number(days[1]) + 1)
  if (isDay(text)) return startOfDay(zone, dayStart(text) / DAY_MS)
  throw new CommandFailure(
    'usage',
    'usage',
    `\`--since ${plain(text, 40)}\` is no span of time.`,
    `Write a number of days up to ${RETAIN_DAYS}, such as \`30d\`, or a first day, such as \`2026-11-01\`.`,
  )
}

/** The rules in force: for prices of the organisation's own, and whose calls are. */
function pricesOf(home: Home): Meter {
  const team = readTeam(home)
  const set = team ? new TrustStore(home, team, Date.now, () => {}).rules() : undefined
  return makeMeter(set, { homeDir: homedir(), team, declared: declaredHere(home) })
}

const label = (value: string | undefined) => (value === undefined ? NOBODY : plain(value, 200))
const tokensOf = ({ tokens }: UsageTotal) =>
  PRICE_AXES.reduce((sum, axis) => (axis === 'webSearches' ? sum : sum + tokens[axis]), 0)
const figure = (total: UsageTotal) => figureOf(total, 'equivalent')

function asTable({ grouping, unpriced, zone, clients }: History, by: HistoryKey, fromMs: number): string[] {
  const { groups, total } = grouping
  const since = new Date(fromMs).toLocaleDateString('sv-SE', { timeZone: zone })
  const head = `Cost at list price, whatever plan covers it, since ${since} (${zone}), as the agents recorded it here.`
  if (total.calls === 0) return [head, 'No call is on record in that time.']
  const costs = columnText(groups.map(group => figure(group.total).amount))
  const hasBound = figure(total).atMost > 0n
  const bounds = columnText(groups.map(group => figure(group.total).atMost))
  const row = (name: string, sum: UsageTotal, cost: string, bound: string) => [
    name,
    sum.calls.toLocaleString('en-US'),
    tokensOf(sum).toLocaleString('en-US'),
    ...(hasBound ? [cost, bound] : [cost]),
  ]
  const rows = [
    [by.word, 'calls', 'tokens', 'cost', ...(hasBound ? ['unpriced, at most'] : [])],
    ...groups.map((group, i) => row(label(group.value), group.total, costs.cells[i]!, bounds.cells[i]!)),
    row('total', total, costs.total, bounds.total),
  ]
  const { partial } = total
  return [
    head,
    ...columns(alignRight(rows)),
    `${coverWords(total)}.`,
    ...(partial > 0
      ? [`${count(partial, 'call')} broke off or failed: what ${partial === 1 ? 'it' : 'they'} had used is counted.`]
      : []),
    ...(hasBound
      ? [
          `Without a price of their own (rate=fallback), and not in the cost: ${unpriced
            .slice(0, 5)
            .map(model => plain(model, 100))
            .join(
              ', ',
            )}${unpriced.length > 5 ? ` and ${unpriced.length - 5} more` : ''}. At most what the dearest known model would have cost.`,
        ]
      : unpriced.length > 0
        ? [
            `Priced as your organisation has chosen for models without a price: ${unpriced
              .slice(0, 5)
              .map(model => plain(model, 100))
              .join(', ')}.`,
          ]
        : []),
    ...lacksOf(USAGE_SOURCES, clients).map(sentence),
  ]
}

function sentence(words: string): string {
  return `${words[0]!.toUpperCase()}${words.slice(1)}.`
}

/** What covers the cost, in one line; only what is metered is ever billed. */
function coverWords({ priced, bound }: UsageTotal): string {
  const amounts = COVERED.map(one => priced[one] + bound[one])
  const shown = columnText(amounts).cells
  const words = {
    plan: 'covered by a plan',
    metered: 'paid by the call',
    unknown: 'by a plan or by the call, which is not known here',
  }
  const parts = COVERED.flatMap((one, i) => (amounts[i]! > 0n ? [`${shown[i]} ${words[one]}`] : []))
  return parts.length === 0 ? 'Nothing of it has a cost' : parts.join(', ')
}

/** Figures stand under each other by their last digit. */
function alignRight(rows: string[][]): string[][] {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map(row => row[i]!.length)))
  return rows.map(row => row.map((cell, i) => (i === 0 ? cell : cell.padStart(widths[i]!))))
}

function amounts(total: UsageTotal) {
  const { amount, atMost } = figure(total)
  return { cost: formatDecimal(amount), unpricedAtMost: formatDecimal(atMost) }
}

function asJson(
  { grouping, unpriced, zone, clients }: History,
  by: HistoryKey,
  fromMs: number,
  { rates }: Meter,
): object {
  const figures = (total: UsageTotal) => ({
    calls: total.calls,
    partial: total.partial,
    tokens: total.tokens,
    ...amounts(total),
    covered: Object.fromEntries(COVERED.map(one => [one, formatDecimal(total.priced[one])])),
  })
  return {
    by: by.word,
    since: new Date(fromMs).toISOString(),
    zone,
    basis: 'equivalent',
    currency: 'USD',
    rateCard: rates.name,
    rows: grouping.groups.map(({ value, total }) => ({ value: value ?? null, ...figures(total) })),
    total: figures(grouping.total),
    unpriced,
    missing: lacksOf(USAGE_SOURCES, clients),
  }
}

function asCsv({ grouping }: History, by: HistoryKey): string {
  const rows = grouping.groups.map(({ value, total }) => {
    const { cost, unpricedAtMost } = amounts(total)
    return [
      value ?? NOBODY,
      total.calls,
      ...PRICE_AXES.map(axis => total.tokens[axis]),
      { decimal: cost },
      { decimal: unpricedAtMost },
      total.partial,
      ...COVERED.map(one => ({ decimal: formatDecimal(total.priced[one]) })),
    ]
  })
  return csvText(
    [
      by.word,
      'calls',
      ...PRICE_AXES,
      'cost_usd',
      'unpriced_at_most_usd',
      'broke_off',
      ...COVERED.map(one => `${one}_usd`),
    ],
    rows,
  )
}

/** How far reading has come, on one line that is wiped at the end; only where a person looks. */
function progressLine() {
  const isShown = Boolean(process.stderr.isTTY)
  let hasShown = false
  return {
    tell({ running, done, of }: { running: boolean; done: number; of: number }): void {
      if (!isShown || !running || of === 0) return
      hasShown = true
      const parts = 20
      const full = Math.floor((done / of) * parts)
      process.stderr.write(
        `\r\x1b[2KReading records ${'█'.repeat(full)}${'░'.repeat(parts - full)} ${done} of ${of} sessions`,
      )
    },
    end(): void {
      if (hasShown) process.stderr.write('\r\x1b[2K')
    },
  }
}
