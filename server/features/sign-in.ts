import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { base64url } from '#core/bytes.ts'
import { normaliseEmail } from '#core/email.ts'
import { AppError } from '#core/error.ts'
import { SIGN_IN_CODE_MS, SIGN_IN_TRIES, SIGN_INS_PER_HOUR } from '#core/limits.ts'
import type { Member, SignInAttempt } from '#generated/prisma/client.ts'
import type { Tx } from '../db.ts'
import { subkey } from '../env.ts'
import { enqueue, signInKey } from '../jobs/queue.ts'
import { hashToken } from '../keys/token-hash.ts'
import { log } from '../log.ts'
import type { Visit } from './context.ts'
import { recordEvidence } from './evidence.ts'
import { acceptInvitation } from './invitation.ts'
import { type BegunSession, beginSession } from './session.ts'

/** Why a sign-in did not work: stands in the address of the page that says it in words. */
export type SignInRefusal =
  | 'too_many'
  | 'code'
  | 'dead'
  | 'expired'
  | 'used'
  | 'wrong_browser'
  | 'no_member'
  | 'invitation'

const refuse = (why: SignInRefusal, message: string, remedy: string) =>
  new AppError(
    why === 'too_many' ? 'RATE_LIMITED' : why === 'expired' || why === 'used' ? 'EXPIRED' : 'FORBIDDEN',
    message,
    { remedy, details: { why } },
  )

const codeHmac = (attempt: string, code: string): string =>
  createHmac('sha256', subkey('sign-in-code')).update(`${attempt}\n${code}`).digest('base64url')

/**
 * Begins a sign-in by e-mail. It is the same work and the same answer whether anybody has that address: who may
 * sign in is looked up by the job that writes the mail. The code and the link work only in the browser that holds the nonce.
 */
export async function startSignIn(
  visit: Visit,
  input: { email: string; nonce: string; demo: boolean; next?: string | undefined; invitationId?: string },
): Promise<{ attempt: string }> {
  const email = normaliseEmail(input.email)
  const emailHash = hashToken(email)
  const id = base64url(visit.random(16))
  const link = base64url(visit.random(32))
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  await visit.db.$transaction(async tx => {
    await tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${`sign-in ${emailHash}`}, 0))::text`
    const since = new Date(visit.now.getTime() - 3600_000)
    if ((await tx.signInAttempt.count({ where: { emailHash, createdAt: { gt: since } } })) >= SIGN_INS_PER_HOUR) {
      throw refuse(
        'too_many',
        'This address has asked for a code five times within the hour.',
        'Use the newest code, or try again later.',
      )
    }
    await tx.signInAttempt.create({
      data: {
        id,
        email,
        emailHash,
        browserNonceHash: hashToken(input.nonce),
        codeHmac: codeHmac(id, code),
        linkHash: hashToken(link),
        invitationId: input.invitationId ?? null,
        expiresAt: new Date(visit.now.getTime() + SIGN_IN_CODE_MS),
        createdAt: visit.now,
        demo: input.demo,
      },
    })
    const job = { attempt: id, code, link, ...(input.next ? { next: input.next } : {}) }
    await enqueue(tx, 'sign_in.mail', job, { key: signInKey(id) })
  })
  return { attempt: id }
}

/** What a redeemed attempt gives: a session, and how many organisations the address could choose from. */
export type SignedIn = BegunSession & { choices: number }

/**
 * Redeems a code. A try is spent before the code is compared, so that parallel guesses cannot have more than five; another
 * browser finds no attempt and spends nothing.
 */
export async function redeemCode(
  visit: Visit,
  input: {
    nonce: string | undefined
    attempt?: string | undefined
    code: string
    wanted?: string | undefined
    replaces?: string | undefined
  },
): Promise<SignedIn> {
  const held = await findHeld(visit, input)
  const [spent] = await visit.db.$queryRaw<{ tries: number }[]>`
    update "SignInAttempt" set tries = tries + 1
    where id = ${held.id} and tries < ${SIGN_IN_TRIES} and "usedAt" is null and "expiresAt" > ${visit.now} returning tries`
  if (!spent) throw await whyNot(visit, held.id)
  const right = Buffer.from(codeHmac(held.id, input.code.replace(/\s/g, '')))
  if (!timingSafeEqual(right, Buffer.from(held.codeHmac))) {
    if (spent.tries < SIGN_IN_TRIES)
      throw refuse('code', 'That is not the code.', 'Type the newest code from the mail.')
    await recordDeath(visit, held)
    throw refuse('dead', 'That was the fifth wrong code; this sign-in is over.', 'Ask for a new code.')
  }
  return spendAttempt(visit, held, input)
}

/** Redeems a mailed link, in the browser that asked for it. */
export async function redeemLink(
  visit: Visit,
  input: { nonce: string | undefined; link: string; wanted?: string | undefined; replaces?: string | undefined },
): Promise<SignedIn> {
  const held = await visit.db.signInAttempt.findUnique({ where: { linkHash: hashToken(input.link) } })
  if (!held) throw refuse('expired', 'This link is not valid any more.', 'Ask for a new one.')
  if (!input.nonce || hashToken(input.nonce) !== held.browserNonceHash) {
    throw refuse(
      'wrong_browser',
      'This link works only in the browser that asked for it.',
      'Open it there, or type the code there.',
    )
  }
  if (held.usedAt || held.tries >= SIGN_IN_TRIES || held.expiresAt <= visit.now) throw await whyNot(visit, held.id)
  return spendAttempt(visit, held, input)
}

async function findHeld(
  visit: Visit,
  { nonce, attempt }: { nonce: string | undefined; attempt?: string | undefined },
): Promise<SignInAttempt> {
  const held =
    nonce &&
    (await visit.db.signInAttempt.findFirst({
      where: { browserNonceHash: hashToken(nonce), ...(attempt ? { id: attempt } : {}) },
      orderBy: { createdAt: 'desc' },
    }))
  if (!held)
    throw refuse(
      'wrong_browser',
      'No code was asked for in this browser.',
      'Type the code where you asked for it, or ask for a new one here.',
    )
  return held
}

async function whyNot(visit: Visit, id: string): Promise<AppError> {
  const held = await visit.db.signInAttempt.findUnique({ where: { id } })
  if (held?.usedAt) return refuse('used', 'This code was used already.', 'Ask for a new one.')
  if (held && held.tries >= SIGN_IN_TRIES)
    return refuse('dead', 'Five wrong codes were typed; this sign-in is over.', 'Ask for a new code.')
  return refuse('expired', 'This code is older than ten minutes.', 'Ask for a new one.')
}

/** Exactly one caller uses an attempt; session, invitation and evidence are in its transaction. */
async function spendAttempt(
  visit: Visit,
  held: SignInAttempt,
  input: { wanted?: string | undefined; replaces?: string | undefined },
): Promise<SignedIn> {
  return visit.db.$transaction(async tx => {
    const { count } = await tx.signInAttempt.updateMany({
      where: { id: held.id, usedAt: null },
      data: { usedAt: visit.now },
    })
    if (count === 0) throw refuse('used', 'This code was used already.', 'Ask for a new one.')
    const invited = held.invitationId
      ? await acceptInvitation(tx, visit, { id: held.invitationId, email: held.email })
      : undefined
    const members = await membersOf(tx, held.email)
    const member = invited ?? members.find(m => m.org?.slug === input.wanted) ?? members[0]
    if (!member)
      throw refuse(
        'no_member',
        'This address belongs to no organisation here any more.',
        'Ask an owner or admin for an invitation.',
      )
    const begun = await beginSession(tx, visit, member, {
      method: 'email_code',
      authnAt: visit.now,
      demo: held.demo,
      replaces: input.replaces,
    })
    return { ...begun, choices: invited || member.org?.slug === input.wanted ? 1 : members.length }
  })
}

const membersOf = (tx: Tx, email: string) =>
  tx.member.findMany({
    where: { email, removedAt: null },
    include: { org: { select: { slug: true } } },
    orderBy: [{ org: { name: 'asc' } }],
  }) as Promise<(Member & { org?: { slug: string } })[]>

/** Five wrong codes are worth knowing to every organisation whose member was aimed at. */
async function recordDeath(visit: Visit, held: SignInAttempt): Promise<void> {
  log.warn('sign_in.dead', { attempt: held.id })
  await visit.db.$transaction(async tx => {
    for (const member of await membersOf(tx, held.email)) {
      const system = { ...visit, actor: { kind: 'system', orgId: member.orgId } as const }
      await recordEvidence(tx, system, {
        kind: 'member.sign_in_refused',
        subject: { kind: 'member', id: member.id },
        data: { why: 'five_wrong_codes' },
      })
    }
  })
}
