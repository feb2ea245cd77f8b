import type { Actor, MemberActor } from './actor.ts'
import type { SessionMethod } from './approval/answer.ts'
import { AppError, type ErrorCode } from './error.ts'
import { FRESH_SIGN_IN_MS } from './limits.ts'
import { type Role, roleAtLeast, roleRank } from './role.ts'

/**
 * Who may do what: one table for every door. `from` is the least role of the ladder (an auditor only
 * reads), `methods` are the ways a session may have begun, `fresh` asks for a sign-in of the last minutes. Whose request an
 * answer is about is decided in approval/state.ts.
 */
const OWN_SIGN_IN: readonly SessionMethod[] = ['oidc', 'passkey', 'email_code', 'console']
const OWN_OR_CREDENTIAL: readonly SessionMethod[] = [...OWN_SIGN_IN, 'admin_credential']

const RIGHTS = {
  'boundary.publish': { from: 'admin', methods: OWN_OR_CREDENTIAL },
  'member.invite': { from: 'admin', methods: OWN_SIGN_IN },
  'member.change_role': { from: 'admin', methods: OWN_SIGN_IN },
  'member.remove': { from: 'admin', methods: OWN_SIGN_IN },
  'member.sign_out': { from: 'admin', methods: OWN_SIGN_IN },
  'laptop.lost': { from: 'admin', methods: OWN_SIGN_IN },
  /** A join line for a machine of one's own; for somebody else's it takes `machine.add_for_others`. */
  'machine.add': { from: 'member', methods: OWN_SIGN_IN },
  'machine.add_for_others': { from: 'admin', methods: OWN_SIGN_IN },
  'machine.revoke': { from: 'admin', methods: OWN_SIGN_IN },
  'settings.change': { from: 'admin', methods: OWN_SIGN_IN },
  /** What the organisation is billed in. */
  'currency.change': { from: 'owner', methods: OWN_SIGN_IN, fresh: true },
  'connection.change': { from: 'owner', methods: OWN_SIGN_IN, fresh: true },
  'keys.rotate': { from: 'owner', methods: OWN_SIGN_IN, fresh: true },
  'restore.confirm': { from: 'owner', methods: OWN_SIGN_IN, fresh: true },
  /** Makes an owner, or ends that somebody is one, by whatever act. */
  'owner.change': { from: 'owner', methods: OWN_SIGN_IN, fresh: true },
  /** A token for the organisation's programs. Ending one takes no fresh sign-in. */
  'token.make': { from: 'admin', methods: OWN_SIGN_IN, fresh: true },
  'token.end': { from: 'admin', methods: OWN_SIGN_IN },
  /** Imports and removes providers' invoices, and spreads their difference over tenants. */
  'invoice.change': { from: 'admin', methods: OWN_SIGN_IN },
  'credential.make': { from: 'admin', methods: OWN_SIGN_IN },
  'approval.answer': { from: 'member', methods: OWN_OR_CREDENTIAL },
  /** Opens individuals' figures to somebody, with a reason that they see. */
  'figures.grant': { from: 'owner', methods: OWN_SIGN_IN, fresh: true },
  'figures.end_grant': { from: 'owner', methods: OWN_SIGN_IN },
  /** Prices usage that was taken anew. */
  'usage.reprice': { from: 'admin', methods: OWN_SIGN_IN },
  /** Freezes a tenant's statement of a month and mails it. */
  'statement.close': { from: 'admin', methods: OWN_SIGN_IN, fresh: true },
  /** Lets usage without a price stand on a statement at the dearest price. */
  'statement.accept_bound': { from: 'owner', methods: OWN_SIGN_IN, fresh: true },
  /** Mails a closed statement again, and says how the next ones are drawn up. */
  'statement.arrange': { from: 'admin', methods: OWN_SIGN_IN },
  /** A tenant's name, and whom its statements are mailed to. */
  'tenant.change': { from: 'admin', methods: OWN_SIGN_IN },
  /** Ends a grant that was given. */
  'approval.revoke': { from: 'lead', methods: OWN_SIGN_IN },
} as const satisfies Record<string, { from: Role; methods: readonly SessionMethod[]; fresh?: true }>

export type Right = keyof typeof RIGHTS
/** Rights that a sign-in of the last minutes must stand behind: asked for by {@link demandFresh} and by nothing else. */
export type FreshRight = { [R in Right]: (typeof RIGHTS)[R] extends { fresh: true } ? R : never }[Right]

/** Whether a person may use a right at all. */
export function may(actor: MemberActor, right: Right): boolean {
  const { from, methods } = RIGHTS[right]
  return roleAtLeast(actor.role, from) && (methods as readonly SessionMethod[]).includes(actor.method)
}

/** All rights of a person: what a page shows as buttons. The doors ask again. */
export const rightsOf = (actor: MemberActor): Right[] =>
  (Object.keys(RIGHTS) as Right[]).filter(right => may(actor, right))

/** A refusal as a value, for what is recorded or shown beside the button rather than thrown. */
export type Refusal = { ok: false; code: ErrorCode; why: string; remedy?: string }

/** Why an actor lacks a right, in words for the person: the missing role, or how the session would have to begin. */
export function whyNot(actor: Actor, right: Right): Refusal | undefined {
  const no = (why: string): Refusal => ({ ok: false, code: 'FORBIDDEN', why })
  if (actor.kind !== 'member') return no('Only a signed-in person can do this.')
  const { from } = RIGHTS[right]
  if (!roleAtLeast(actor.role, from)) return no(`This takes the role ${from} or above; yours is ${actor.role}.`)
  if (may(actor, right)) return undefined
  return {
    ...no(`A session that began with ${methodName(actor.method)} cannot do this.`),
    remedy: 'Sign in with your own account.',
  }
}

/** Throws {@link whyNot}. @throws AppError FORBIDDEN */
export function demand(actor: Actor, right: Exclude<Right, FreshRight>): asserts actor is MemberActor {
  demandRight(actor, right)
}

function demandRight(actor: Actor, right: Right): asserts actor is MemberActor {
  const refusal = whyNot(actor, right)
  if (refusal) throw refusalError(refusal)
}

/** {@link demand} for an act of the highest power. @throws AppError FORBIDDEN, with `why: sign_in_again` where only the age is wrong */
export function demandFresh(actor: Actor, right: FreshRight, now: Date): asserts actor is MemberActor {
  demandRight(actor, right)
  demandFreshSignIn(actor, now)
}

/**
 * The time of signing in of a session whose sign-in nobody dates: a provider that does not say when it last asked the
 * person. It may have been at any time, so it is taken as the longest ago.
 */
export const UNDATED_SIGN_IN = new Date(0)

/** Whether the person has proved who they are within the last {@link FRESH_SIGN_IN_MS}. */
export const isFreshSignIn = ({ authnAt }: Pick<MemberActor, 'authnAt'>, now: Date): boolean =>
  now.getTime() - authnAt.getTime() <= FRESH_SIGN_IN_MS

/** Why a sign-in is not fresh enough for an act of the highest power, and what to do about it; undefined when it is. */
export function whyNotFresh(actor: Pick<MemberActor, 'authnAt'>, now: Date): Refusal | undefined {
  if (isFreshSignIn(actor, now)) return undefined
  return actor.authnAt.getTime() === UNDATED_SIGN_IN.getTime()
    ? {
        ok: false,
        code: 'FORBIDDEN',
        why: 'Your sign-in provider does not say when it last asked who you are; this takes a sign-in of the last ten minutes.',
        remedy: 'Sign in again; if this is said once more, with a code by e-mail.',
      }
    : {
        ok: false,
        code: 'FORBIDDEN',
        why: 'Your sign-in is older than ten minutes.',
        remedy: 'Sign in again, then do it once more.',
      }
}

/** Throws {@link whyNotFresh}. @throws AppError FORBIDDEN, `why: sign_in_again` */
export function demandFreshSignIn(actor: Pick<MemberActor, 'authnAt'>, now: Date): void {
  const refusal = whyNotFresh(actor, now)
  if (refusal) throw refusalError(refusal, { why: 'sign_in_again' })
}

/** A refusal as the error that a door answers with. */
export const refusalError = ({ code, why, remedy }: Refusal, details?: Record<string, unknown>): AppError =>
  new AppError(code, why, { ...(remedy ? { remedy } : {}), ...(details ? { details } : {}) })

/** Whether an actor sees who did what: admins, owners and auditors do, everybody else sees themselves and "a member". */
export const seesEverybody = (actor: Actor): boolean =>
  actor.kind === 'system' || (actor.kind === 'member' && (actor.role === 'auditor' || roleAtLeast(actor.role, 'admin')))

/** That a member may see individuals' figures: one person's, or with `subjectId` null everybody's. */
export type FiguresGrantTerms = { holderId: string; subjectId: string | null; expiresAt: Date; endedAt: Date | null }

/**
 * Whose own figures an actor sees: their own, and those of people that a standing grant names. No role is enough by itself,
 * auditors' and owners' included. What a tenant, project or any other tag comes to is withheld from nobody.
 */
export function figuresSeenBy(
  actor: Actor,
  grants: readonly FiguresGrantTerms[],
  now: Date,
): 'everybody' | ReadonlySet<string> {
  if (actor.kind === 'system') return 'everybody'
  const seen = new Set([actor.memberId])
  for (const { holderId, subjectId, expiresAt, endedAt } of grants) {
    if (actor.kind !== 'member' || holderId !== actor.memberId || endedAt !== null || expiresAt <= now) continue
    if (subjectId === null) return 'everybody'
    seen.add(subjectId)
  }
  return seen
}

/** How a session began, in words. */
export function methodName(method: SessionMethod): string {
  switch (method) {
    case 'oidc':
      return 'single sign-on'
    case 'passkey':
      return 'a passkey'
    case 'email_code':
      return 'an e-mail code'
    case 'console':
      return 'a one-time address that the server printed'
    case 'device_link':
      return "a machine's link"
    case 'admin_credential':
      return "the command's credential"
  }
}

/** Nobody invites, promotes or removes above their own role; only an owner makes an owner. */
export function maySetRole(actor: MemberActor, from: Role, to: Role): boolean {
  if (to === 'owner' || from === 'owner') return actor.role === 'owner'
  return roleRank(from) <= roleRank(actor.role) && roleRank(to) <= roleRank(actor.role)
}
