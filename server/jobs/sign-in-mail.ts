import { SIGN_IN_CODE_MS } from '#core/limits.ts'
import type { Db } from '../db.ts'
import { invitationMail } from '../email/invitation.ts'
import { signInMail } from '../email/sign-in.ts'
import { env } from '../env.ts'
import { letter, mailTime, messageId } from './mail-letter.ts'
import type { Jobs } from './queue.ts'
import { deliver } from './send-mail.ts'

/**
 * Mails the code and link of a sign-in, if the address belongs to a member or accepts an open invitation. Here and not where
 * it was asked for, so that asking takes the same time for every address. Sent to the address as it is stored.
 */
export async function mailSignIn(db: Db, job: Jobs['sign_in.mail'], now: Date): Promise<void> {
  const attempt = await db.signInAttempt.findUnique({ where: { id: job.attempt } })
  if (!attempt || attempt.usedAt || attempt.expiresAt <= now) return
  const known = attempt.invitationId
    ? await db.invitation.count({
        where: {
          id: attempt.invitationId,
          email: attempt.email,
          acceptedAt: null,
          revokedAt: null,
          expiresAt: { gt: now },
        },
      })
    : await db.member.count({ where: { email: attempt.email, removedAt: null } })
  if (known === 0) return
  const origin = env().publicUrl
  const next = job.next ? `&next=${encodeURIComponent(job.next)}` : ''
  const mail = signInMail({
    email: attempt.email,
    code: job.code,
    url: `${origin}/link?a=${job.link}${next}`,
    origin,
    minutes: SIGN_IN_CODE_MS / 60_000,
  })
  await deliver(db, letter(mail, attempt.email, messageId('sign-in', attempt.id)), now)
}

/** Mails an invitation that is still open. */
export async function mailInvitation(db: Db, job: Jobs['invitation.mail'], now: Date): Promise<void> {
  const row = await db.invitation.findFirst({
    where: { id: job.invitation, acceptedAt: null, revokedAt: null, expiresAt: { gt: now } },
    include: { org: { select: { name: true } } },
  })
  if (!row) return
  const inviter = await db.member.findUnique({ where: { id: row.invitedById }, select: { name: true } })
  const mail = invitationMail({
    email: row.email,
    name: row.name,
    org: row.org.name,
    role: row.role,
    invitedBy: inviter?.name ?? 'Somebody',
    url: `${env().publicUrl}/invitation?t=${job.token}`,
    expires: mailTime(row.expiresAt),
  })
  await deliver(db, letter(mail, row.email, messageId('invitation', row.id)), now)
}
