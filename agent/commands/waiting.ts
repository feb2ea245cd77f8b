import type { DecisionEntry, ReadFigure } from '#agent/daemon/entry.ts'
import { askDaemon } from '#agent/daemon-client.ts'
import { localTime } from '#agent/terminal.ts'
import type { CrossedFigure } from '#core/approval/request.ts'
import { roleWords } from '#core/boundary/describe.ts'
import type { LadderRole } from '#core/role.ts'
import { clientName } from './boundaries.ts'
import { answerRefusalWords, revokedLine } from './code-words.ts'
import type { Command } from './command.ts'
import { statusOrNothing } from './daemon.ts'
import { actionWords, figureWords } from './decision.ts'
import { EXIT } from './exit.ts'

export type Waiting = {
  handle: string
  rules: string[]
  action: DecisionEntry['action']
  subject?: DecisionEntry['subject']
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
        `${terminal.paint('bold', one.handle)}  ${one.rules.join(', ')}: ${clientName(one.client)}, ${actionWords(one)}`,
      )
      for (const figure of one.figures) terminal.line(`  ${figureWords(figure)}`)
      terminal.line(
        `  ${one.role ? `waiting for ${roleWords(one.role)}` : one.state}, since ${localTime(one.since)}${one.expiresAt ? `, until ${localTime(one.expiresAt)}` : ''}`,
      )
      if (one.state === 'waiting here')
        terminal.line(`  \`holdpoint approve ${one.handle}\` lets the next ${one.subject ? 'one' : 'step'} go on`)
      else if (one.refused)
        terminal.line(`  an answer came and is not accepted here: ${answerRefusalWords(one.refused)}`)
      else if (one.sent === false) terminal.line('  not sent yet: the control plane could not be reached')
      else if (one.eligible === 0) terminal.line('  nobody holds that role now: ask an admin')
      if (one.url) terminal.line(`  ${one.url}`)
    })
    return EXIT.ok
  },
}
