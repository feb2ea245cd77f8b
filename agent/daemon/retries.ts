import type { Decision } from '#agent/clients/adapter.ts'
import type { Session } from './session.ts'

/** Calls of one response are refused within milliseconds of one another; a new try has a model's answer before it. */
const TRY_GAP_MS = 1000
/** From this try on the words say that it is one. */
const TOLD_AT = 3
/** From this try on the client is asked to end the turn. */
const ENDED_AT = 6

type Tries = { keys: string; tries: number; at: number }

/** How often in a row a session has been refused by the same rules, with nothing let through and no word of a person between. */
const known = new WeakMap<Session, Tries>()

/** A person has spoken, or something went on: what comes next is no retry. */
export function forgetTries(session: Session): void {
  known.delete(session)
}

/**
 * The refusal of a run that only retries: once more and more plainly, and then with the end of its turn, where the client has a
 * way. Nothing is kept over a restart: the count then begins anew.
 */
export function insist(session: Session, rules: readonly string[], now: number, decision: Decision): Decision {
  if (decision.outcome !== 'refuse') {
    forgetTries(session)
    return decision
  }
  const keys = [...rules].sort().join()
  const before = known.get(session)
  const isSame = before?.keys === keys
  const isNew = !isSame || Math.abs(now - before.at) >= TRY_GAP_MS
  const tries = isSame ? before.tries + (isNew ? 1 : 0) : 1
  known.set(session, { keys, tries, at: isNew ? now : before.at })
  if (tries < TOLD_AT) return decision
  const text = `${decision.text} This is try ${tries} in a row, and every further one will be refused too: no other tool, command or subagent gets around it. End your turn now with one message to the user that says what stopped you.`
  return { ...decision, text, ...(tries >= ENDED_AT ? { endTurn: true } : {}) }
}
