import type { ReadFigure } from '#agent/daemon/entry.ts'
import { askDaemon } from '#agent/daemon-client.ts'
import { localTime, span } from '#agent/terminal.ts'
import type { CrossedFigure } from '#core/approval/request.ts'
import { figureLabel, roleWords } from '#core/boundary/describe.ts'
import { isFigureName } from '#core/figure.ts'
import type { LadderRole } from '#core/role.ts'
import { clientName } from './boundaries.ts'
import { answerRefusalWords, readingWords, revokedLine } from './code-words.ts'
import type { Command } from './command.ts'
import { statusOrNothing } from './daemon.ts'
import { figureWords, valueWords } from './decision.ts'
import { EXIT } from './exit.ts'

type Waiting = {
  handle: string
  rules: string[]
  action: string
  client: string
  session: string
  figures: (ReadFigure | CrossedFigure)[]
  state: string
  since: string
  expiresAt?: string
  /** Who can answer at the organisation. */
  role?: LadderRole
  url?: string
  sent?: boolean
  eligible?: number
  /** Why an answer that came is not accepted here. */
  refused?: string
}

export const waiting: Command = {
  name: 'waiting',
  summary: 'what is held and waits for an answer, here or at the organisation',
  about:
    'Lists held actions that somebody can still answer: you, here, with `holdpoint approve`, or the role that an organisation’s rule names.',
  examples: [['holdpoint waiting --json', 'for a status bar']],
  async run({ home, json, terminal }) {
    const list = await askDaemon<Waiting[]>(home, 'GET', '/api/waiting')
    if (json) {
      terminal.json(list)
      return EXIT.ok
    }
    const revoked = revokedLine(await statusOrNothing(home))
    if (revoked) terminal.line(terminal.paint('red', revoked))
    if (list.length === 0) terminal.line('Nothing waits.')
    list.forEach((one, i) => {
      if (i > 0) terminal.line()
      terminal.line(
        `${terminal.paint('bold', one.handle)}  ${one.rules.join(', ')}: ${clientName(one.client)}, ${one.action}`,
      )
      for (const figure of one.figures) terminal.line(`  ${figureWords(figure)}`)
      terminal.line(
        `  ${one.role ? `waiting for ${roleWords(one.role)}` : one.state}, since ${localTime(one.since)}${one.expiresAt ? `, until ${localTime(one.expiresAt)}` : ''}`,
      )
      if (one.state === 'waiting here') terminal.line(`  \`holdpoint approve ${one.handle}\` lets the next step go on`)
      else if (one.refused)
        terminal.line(`  an answer came and is not accepted here: ${answerRefusalWords(one.refused)}`)
      else if (one.sent === false) terminal.line('  not sent yet: the control plane could not be reached')
      else if (one.eligible === 0) terminal.line('  nobody holds that role now: ask an admin')
      if (one.url) terminal.line(`  ${one.url}`)
    })
    return EXIT.ok
  },
}

type Reading = {
  client: string
  session: string
  name: string
  qualifier?: string
  value: string
  unit: string
  ageS?: number
  problem?: string
  pricedAtBound?: string[]
}

export const figures: Command = {
  name: 'figures',
  summary: 'what the rules read now, per session, and how old it is',
  about:
    'Prints the figures that conditions compare, as this machine has them. A figure that cannot be read satisfies no condition (unless the rule says on_unknown: hold). Costs are list prices for what was used, not a bill.',
  examples: [['holdpoint figures', 'why did a rule not fire?']],
  async run({ home, json, terminal }) {
    const readings = await askDaemon<Reading[]>(home, 'GET', '/api/figures')
    if (json) {
      terminal.json(readings)
      return EXIT.ok
    }
    if (readings.length === 0) terminal.line('No agent session has been seen yet, so there is nothing to read.')
    let session = ''
    for (const one of readings) {
      if (one.session !== session) {
        session = one.session
        terminal.line(terminal.paint('bold', `${clientName(one.client)}, session ${session}`))
      }
      const label = isFigureName(one.name) ? figureLabel(one.name) : one.name
      const age = one.ageS === undefined ? '' : `, read ${span(one.ageS)} ago`
      const why = one.problem ? ` (${readingWords(one.problem)})` : ''
      const bound = one.pricedAtBound
        ? `; rate=fallback, priced at the bound for unknown models: ${one.pricedAtBound.join(', ')}`
        : ''
      const of = one.qualifier === undefined ? '' : ` (${one.qualifier})`
      terminal.line(`  ${label}${of}: ${valueWords(one.value, one.unit)}${age}${why}${bound}`)
    }
    return EXIT.ok
  },
}
