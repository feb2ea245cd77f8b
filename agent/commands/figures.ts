import { askDaemon } from '#agent/daemon-client.ts'
import type { ShownFigure } from '#agent/figures/shown.ts'
import { plain, span } from '#agent/terminal.ts'
import { figureLabel } from '#core/boundary/describe.ts'
import { isFigureName } from '#core/figure.ts'
import { clientName } from './boundaries.ts'
import { readingWords } from './code-words.ts'
import type { Command } from './command.ts'
import { valueWords } from './decision.ts'
import { EXIT } from './exit.ts'

export const SOURCES: Readonly<Record<string, string>> = {
  event: 'from the session itself',
  status_line: 'from the status line',
  daemon: 'from this machine’s records',
  fleet: 'from the control plane',
}

export const figures: Command = {
  name: 'figures',
  summary: 'what the rules read now, per session, where it comes from and how old it is',
  about:
    'Prints every figure that conditions compare, as this machine has it. A figure that cannot be read, or is too old, satisfies no condition (unless the rule says on_unknown: hold). Costs are list prices for what was used, not a bill.',
  examples: [['holdpoint figures', 'why did a rule not fire?']],
  async run({ home, json, terminal }) {
    const readings = await askDaemon<ShownFigure[]>(home, 'GET', '/api/figures')
    if (json) {
      terminal.json(readings)
      return EXIT.ok
    }
    if (!readings.some(({ session }) => session !== undefined)) terminal.line('No agent session has been seen yet.')
    let before: string | undefined
    for (const one of readings) {
      const head =
        one.session === undefined ? 'This machine' : `${clientName(one.client ?? '')}, session ${one.session}`
      if (head !== before) terminal.line(terminal.paint('bold', plain(head, 200)))
      before = head
      terminal.line(`  ${lineOf(one)}`)
    }
    return EXIT.ok
  },
}

function lineOf({ name, qualifier, plan, value, unit, source, ageS, problem, pricedAtBound }: ShownFigure): string {
  const label = isFigureName(name) ? figureLabel(name) : plain(name, 40)
  const which = [plan, qualifier].filter(part => part !== undefined).join(', ')
  const from = source === undefined ? [] : [SOURCES[source] ?? source]
  const about = [
    ...from,
    ...(ageS === undefined ? [] : [`read ${span(ageS)} ago`]),
    ...(problem ? [readingWords(problem)] : []),
  ]
  const bound = pricedAtBound
    ? `; rate=fallback, priced at the bound for unknown models: ${pricedAtBound.map(model => plain(model, 100)).join(', ')}`
    : ''
  const shown = name === 'destination' ? `one of ${value}, told with each share` : valueWords(value, unit)
  return `${label}${which ? ` (${plain(which, 80)})` : ''}: ${shown}${about.length > 0 ? ` (${about.join(', ')})` : ''}${bound}`
}
