import { readFileSync } from 'node:fs'
import { plain, type Terminal } from '#agent/terminal.ts'
import type { Problem } from '#core/boundary/problem.ts'
import { BOUNDARIES_TEXT_MAX, NOTE_MAX } from '#core/limits.ts'
import { parseRuleDocument } from '#core/rules/document.ts'
import { type AdminSession, AT, keepSession, readSession, refuseAgents } from './admin-session.ts'
import type { Call, Command } from './command.ts'
import { askPlaneJson, PlaneRefusal } from './control-plane.ts'
import { lineDiff } from './diff.ts'
import { CommandFailure, EXIT } from './exit.ts'

type Published = { text: string; etag: string; version: number }

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
    ["holdpoint team admin boundaries --set org.yaml --note 'ask at $20'", 'publish'],
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
    const current = await askPlaneJson<Published>(session.origin, {
      method: 'GET',
      path: 'admin/boundaries',
      token: session.token,
    })
    if (flags.get === true) {
      if (session.expiresAt) keepSession(home, { ...session, lastRead: current })
      if (call.json) call.terminal.json(current)
      else call.terminal.bytes(current.text)
      return EXIT.ok
    }
    refuseAgents(home)
    return publish(call, session, current)
  },
}

/** What a person must have given, read and checked before anything is sent. @throws CommandFailure */
function readPublication({ flags }: Call): { text: string; note: string } {
  const note = typeof flags.note === 'string' ? flags.note.trim() : ''
  if (note === '' || note.length > NOTE_MAX) {
    throw new CommandFailure(
      'usage',
      'note',
      `Publishing needs --note with up to ${NOTE_MAX} characters: why this change.`,
    )
  }
  const text = readFileSync(flags.set === '-' ? 0 : String(flags.set), 'utf8')
  if (Buffer.byteLength(text) > BOUNDARIES_TEXT_MAX) {
    throw new CommandFailure(
      'failed',
      'too_large',
      `A document of boundaries has at most ${BOUNDARIES_TEXT_MAX} bytes.`,
    )
  }
  const { errors } = parseRuleDocument(text)
  if (errors.length > 0) throw problems(errors)
  return { text, note }
}

async function publish(call: Call, session: AdminSession, current: Published): Promise<0> {
  const { home, json, terminal } = call
  const { text, note } = readPublication(call)
  if (text === current.text) {
    if (json) terminal.json({ version: current.version, changed: false })
    else terminal.line(`Version ${current.version} says exactly this; nothing was published.`)
    return EXIT.ok
  }
  const base = session.lastRead ?? current
  if (!json) showDiff(terminal, base.text, text)
  try {
    const { version, behind } = await askPlaneJson<{ version: number; behind?: { label: string }[] }>(session.origin, {
      method: 'PUT',
      path: 'admin/boundaries',
      token: session.token,
      headers: { 'If-Match': base.etag },
      body: { text, note },
    })
    const { lastRead: _used, ...kept } = session
    if (session.expiresAt) keepSession(home, kept)
    if (json) terminal.json({ version, changed: true, ...(behind ? { behind } : {}) })
    else {
      terminal.line(`Published as version ${version}. Machines that are awake have it within seconds.`)
      if (behind && behind.length > 0)
        terminal.line(`Too old to read all of it: ${behind.map(machine => plain(machine.label, 80)).join(', ')}.`)
    }
    return EXIT.ok
  } catch (error) {
    throw error instanceof PlaneRefusal ? publishRefusal(call, error, base) : error
  }
}

function publishRefusal({ json, terminal }: Call, refused: PlaneRefusal, base: Published): CommandFailure {
  if (refused.code === 'STALE_EDIT') {
    const theirs = (refused.details.current ?? {}) as Partial<Published> & { publishedBy?: string | null }
    if (!json && typeof theirs.text === 'string') {
      terminal.line(
        `What was published since version ${base.version}${theirs.publishedBy ? ` by ${plain(theirs.publishedBy, 80)}` : ''}:`,
      )
      showDiff(terminal, base.text, theirs.text)
    }
    return new CommandFailure(
      'failed',
      'STALE_EDIT',
      `Version ${theirs.version ?? 'another'} was published since you read version ${base.version}. Nothing of yours was published.`,
      'Read theirs with --get, bring your change into it, and publish again.',
    )
  }
  const { errors } = refused.details
  return Array.isArray(errors) && errors.length > 0 ? problems(errors as Problem[]) : refused
}

function showDiff(terminal: Terminal, before: string, after: string): void {
  for (const line of lineDiff(before, after)) {
    const colour = line[0] === '+' ? 'green' : line[0] === '-' ? 'red' : 'dim'
    terminal.line(terminal.paint(colour, plain(line)))
  }
}

function problems(list: readonly Problem[]): CommandFailure {
  const lines = list
    .slice(0, 10)
    .map(({ line, column, rule, message }) => `line ${line}, column ${column}: ${rule ? `${rule}: ` : ''}${message}`)
  const more = list.length > 10 ? ` (and ${list.length - 10} more)` : ''
  return new CommandFailure('failed', 'mistakes', `Not published: ${lines.join('; ')}${more}.`, list[0]?.remedy)
}
