/** What the daemon tells of one decision (`GET /api/decisions/HANDLE`), and how its parts are said. */

import type { DecisionEntry, Entry, ReadFigure } from '#agent/daemon/entry.ts'
import { plain } from '#agent/terminal.ts'
import type { Ceiling } from '#core/approval/answer.ts'
import { figureText } from '#core/approval/describe.ts'
import type { ApprovalRequest, CrossedFigure } from '#core/approval/request.ts'
import type { ApprovalState } from '#core/approval/state.ts'
import { figureLabel } from '#core/boundary/describe.ts'
import { type FigureName, isFigureName } from '#core/figure.ts'
import { HANDLE } from '#core/id.ts'
import { formatUsd, parseMicros } from '#core/money.ts'
import { CommandFailure } from './exit.ts'

export type Grant = {
  id: string
  handle: string
  scope: 'step' | 'session'
  until: Ceiling[]
  notAfter?: string
  spentBy?: string
  ended?: 'revoked' | 'lapsed'
  answeredHere: boolean
}

/** A rule that a decision met, as it stands now: as it was, with another content, or no longer there. */
export type RuleNow = {
  key: string
  state: 'same' | 'changed' | 'gone'
  stage?: 'shadow' | 'enforce'
  require?: string
}

/** A line of the journal as it is told: without the hash of the line before. */
type Told<E> = E extends unknown ? Omit<E, 'prev'> : never

export type DecisionRecord = {
  handle: string
  decision?: DecisionEntry & { at: string; seq: number }
  request?: ApprovalRequest & {
    digest: string
    state: ApprovalState
    role: string
    filed?: { role: string; approvals: number; eligible: number; url: string }
    standsUntil?: string
  }
  question?: { handle: string; state: 'open' | 'answered' | 'denied'; standsUntil?: string }
  grants: Grant[]
  /** What the rules that it met are now. */
  now?: RuleNow[]
  history: Told<Entry>[]
}

/** Entries of one kind among the history, oldest first. */
export function entriesOf<K extends Entry['kind']>(record: DecisionRecord, kind: K): Extract<Entry, { kind: K }>[] {
  return record.history.filter(entry => entry.kind === kind) as Extract<Entry, { kind: K }>[]
}

/** `session cost $23.10 (the rule: >= $20.00)`. */
export function figureWords(figure: ReadFigure | CrossedFigure): string {
  const label = isFigureName(figure.name) ? figureLabel(figure.name as FigureName) : plain(figure.name, 40)
  const of = figure.qualifier ? ` of ${plain(figure.qualifier, 70)}` : ''
  const crossed = 'op' in figure ? ` (the rule: ${figure.op} ${limitWords(figure.threshold, figure.unit)})` : ''
  return `${label}${of} ${valueWords(figure.value, figure.unit)}${crossed}`
}

/** A measured value as pages and mails have it: `$22.01` (rounded up to the cent), `95%`, `could not be read`. */
export const valueWords = (value: string, unit: string): string =>
  plain(figureText({ value, unit: unit as CrossedFigure['unit'] }), 120)

/** What a value is compared with, exact: `$20.00`, `$0.000001`, `95%`. */
function limitWords(value: string, unit: string): string {
  const micros = unit === 'usd' ? parseMicros(value) : undefined
  return micros === undefined ? valueWords(value, unit) : formatUsd(micros)
}

/** `session cost is below $40.00`; empty when an answer has no ceiling. */
export function ceilingWords(until: readonly Ceiling[]): string {
  return until
    .map(
      ({ figure, qualifier, value }) =>
        `${figureLabel(figure)}${qualifier ? ` of ${qualifier}` : ''} is below ${limitWords(value, figure === 'session_cost_usd' ? 'usd' : 'pct')}`,
    )
    .join(' and ')
}

export function scopeWords(scope: 'step' | 'session', subject?: DecisionEntry['subject']): string {
  if (subject !== undefined) return scope === 'step' ? 'once' : 'for a day'
  return scope === 'step' ? 'for one step' : 'for the rest of the session'
}

/** What a decision is about that is not about its session: `claude-opus-4-1 → claude-opus-4-6`, `to team`. */
export function subjectWords(subject: DecisionEntry['subject']): string | undefined {
  if (subject === undefined) return undefined
  return subject.kind === 'route'
    ? plain(`${subject.from} → ${subject.to}`, 220)
    : `to ${plain(subject.destination, 40)}`
}

/** `continue`, or `model_route, claude-opus-4-1 → claude-opus-4-6`. */
export function actionWords({ action, subject }: Pick<DecisionEntry, 'action' | 'subject'>): string {
  const about = subjectWords(subject)
  return about === undefined ? action : `${action}, ${about}`
}

/** @throws CommandFailure */
export function readHandle(text: string): string {
  if (HANDLE.test(text)) return text
  throw new CommandFailure(
    'usage',
    'bad_handle',
    `\`${plain(text, 40)}\` is no decision’s id.`,
    'They look like bnd-1a2b3c4d5e6f; `holdpoint waiting` lists those that wait.',
  )
}
