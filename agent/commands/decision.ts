/** What the daemon tells of one decision (`GET /api/decisions/HANDLE`), and how its parts are said. */
import type { DecisionEntry, Entry, ReadFigure } from '#agent/daemon/entry.ts'
import { plain } from '#agent/terminal.ts'
import type { Ceiling } from '#core/approval/answer.ts'
import type { ApprovalRequest, CrossedFigure } from '#core/approval/request.ts'
import { figureLabel } from '#core/boundary/describe.ts'
import { type FigureName, isFigureName } from '#core/figure.ts'
import { HANDLE } from '#core/id.ts'
import type { ApprovalState } from '#core/protocol.ts'
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
  history: Told<Entry>[]
}

/** Entries of one kind among the history, oldest first. */
export function entriesOf<K extends Entry['kind']>(record: DecisionRecord, kind: K): Extract<Entry, { kind: K }>[] {
  return record.history.filter(entry => entry.kind === kind) as Extract<Entry, { kind: K }>[]
}

/** `session cost $23.10 (the rule: >= $20)`. */
export function figureWords(figure: ReadFigure | CrossedFigure): string {
  const label = isFigureName(figure.name) ? figureLabel(figure.name as FigureName) : plain(figure.name, 40)
  const of = figure.qualifier ? ` of ${plain(figure.qualifier, 70)}` : ''
  const crossed = 'op' in figure ? ` (the rule: ${figure.op} ${valueWords(figure.threshold, figure.unit)})` : ''
  return `${label}${of} ${valueWords(figure.value, figure.unit)}${crossed}`
}

/** `$40` and `95 %`, from the decimals that stand in records. */
export function valueWords(value: string, unit: string): string {
  if (!/^-?\d+(\.\d+)?$/.test(value)) return plain(value, 120)
  if (unit === 'usd') {
    const [whole, part = ''] = value.split('.')
    const cents = part.replace(/0+$/, '')
    return `$${whole}${cents === '' ? '' : `.${cents.padEnd(2, '0')}`}`
  }
  return unit === 'pct' ? `${value} %` : value
}

/** `below $40 of session cost`; empty when an answer has no ceiling. */
export function ceilingWords(until: readonly Ceiling[]): string {
  return until
    .map(
      ({ figure, qualifier, value }) =>
        `${figureLabel(figure)}${qualifier ? ` of ${qualifier}` : ''} is below ${valueWords(value, figure === 'session_cost_usd' ? 'usd' : 'pct')}`,
    )
    .join(' and ')
}

export const scopeWords = (scope: 'step' | 'session'): string =>
  scope === 'step' ? 'for one step' : 'for the rest of the session'

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
