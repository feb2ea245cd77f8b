import type { LadderRole } from '#core/role.ts'
import { crossedBy, describeCrossing, roleWords } from './describe.ts'
import type { Match } from './evaluate.ts'
import { isUnsupported } from './shape.ts'

/** Where a held call stands, for the agent that is told so. */
export type RefusalState =
  /** A rule denies: nobody is asked. */
  | { kind: 'rule_denies' }
  /** The person at this machine may answer, with this command. */
  | { kind: 'waiting_here'; command: string }
  /** The organisation's approvers have been asked. `url`: the request's page. */
  | { kind: 'waiting'; role: LadderRole; url?: string; approvals?: number }
  /** Somebody of the organisation said no. Times are ISO 8601. */
  | { kind: 'denied'; until?: string; url?: string }
  /** Somebody said no on this machine: a person, or an agent, which may deny. */
  | { kind: 'denied_here'; until?: string }
  /** Nobody answered in time. */
  | { kind: 'expired' }
  /** Taken back on the machine; no person denied it. */
  | { kind: 'withdrawn' }
  /** The request could not be sent yet. */
  | { kind: 'unreachable'; role: LadderRole; url?: string }
  /** The control plane knows this machine no more: nobody can be asked, and nothing is released. */
  | { kind: 'revoked' }
  /** The rules in force are too old to release anything. */
  | { kind: 'stale' }

/**
 * What an agent reads when a boundary stops it: what was crossed and by how much, that trying again will not help, and
 * who can let it go on and where. One short paragraph of plain text.
 */
export function refusalText(input: { matches: readonly Match[]; state: RefusalState; handle?: string }): string {
  const { matches, state, handle } = input
  const decision = handle === undefined ? '' : ` (decision ${handle})`
  const names = matches.map(match => match.key)
  const head = `Stopped by ${names.length === 1 ? 'the boundary' : 'the boundaries'} ${names.join(', ')}${decision}: ${crossedText(matches)}.`
  const notes = matches.flatMap(({ rule }) => (isUnsupported(rule) || rule.note === undefined ? [] : [rule.note]))
  const why = notes.length === 0 ? '' : ` Why: ${notes.map(endSentence).join(' ')}`
  return `${head}${why} ${adviceText(state)}`
}

/** What was crossed by some matches, each figure once: `session cost is $20.14 ($0.14 over), the rule holds at …`. */
export function crossedText(matches: readonly Match[]): string {
  const said = new Set<string>()
  for (const match of matches) {
    if (isUnsupported(match.rule)) said.add(`${match.key} is newer than this connector can read, and holds then`)
    for (const crossing of match.crossed) {
      const by = crossedBy(crossing)
      const text = describeCrossing(crossing)
      said.add(by === undefined ? text : text.replace(', ', ` (${by}), `))
    }
  }
  return [...said].join('; ')
}

/** What the agent should do, and who can let it go on. */
export function adviceText(state: RefusalState): string {
  const stop = 'Do not retry: the same call will be refused again. Stop here and tell the user.'
  switch (state.kind) {
    case 'rule_denies':
      return `${stop} The rule denies this, so nobody can approve it; it passes once the figure or the rule has changed.`
    case 'waiting_here':
      return `${stop} Only the person at this machine can let it go on, in a terminal of their own: ${state.command}`
    case 'waiting': {
      const who =
        state.approvals !== undefined && state.approvals > 1
          ? `${state.approvals} people, each ${roleWords(state.role)}`
          : roleWords(state.role)
      const where = state.url === undefined ? 'in the web app under Approvals' : `at ${state.url}`
      return `${stop} A request is waiting for ${who}, who can let it go on ${where}; it cannot be approved from this machine.`
    }
    case 'denied':
      return `${stop} It was denied by a person of the organisation${standsUntil(state.until)}; trying again asks nobody.${state.url === undefined ? '' : ` Who and why: ${state.url}`}`
    case 'denied_here':
      return `${stop} It was denied on this machine${standsUntil(state.until)}; trying again asks nobody.`
    case 'expired':
      return `Stop here and tell the user: the request expired because nobody answered it in time. Do not retry unless the user says so; a new try asks again.`
    case 'withdrawn':
      return `Stop here and tell the user: the request was withdrawn on this machine, and no person decided it. Do not retry unless the user says so.`
    case 'unreachable':
      return `${stop} It needs the approval of ${roleWords(state.role)}, but the control plane cannot be reached; the request is kept and sent as soon as it can be${state.url === undefined ? '' : `, and can then be answered at ${state.url}`}.`
    case 'revoked':
      return `${stop} It needs the organisation's approval, and this machine was revoked there, so nobody can be asked; the user can ask an admin for a new line.`
    case 'stale':
      return `${stop} This machine has not heard from the control plane for too long, so no approval can be honoured; the user can look with: holdpoint team status`
  }
}

const standsUntil = (until: string | undefined) =>
  until === undefined ? '' : `, and the denial stands until ${utcTime(until)}`

/** A moment as people read it, the zone named: `2026-12-01 12:00 UTC`. A full minute is never rounded up to. */
function utcTime(iso: string): string {
  const text = new Date(iso).toISOString()
  return `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
