import { normaliseEmail } from '#core/email.ts'
import { AppError } from '#core/error.ts'
import { isDemoMode } from '../auth/demo-mode.ts'
import type { Db } from '../db.ts'
import { headerText } from '../email/layout.ts'
import { headersOf, sendMail } from '../email/mailer.ts'
import { env } from '../env.ts'
import { hashToken } from '../keys/token-hash.ts'
import type { Jobs } from './queue.ts'

/**
 * Sends one mail, or keeps it for the demo mailbox where there is one. Throws when it could not: the queue tries again with
 * growing pauses. A control plane with a public address and without SMTP_URL keeps its mail waiting, visibly.
 */
export async function deliver(db: Db, job: Jobs['mail.send'], now: Date): Promise<void> {
  const { smtpUrl, mailFrom } = env()
  const mail = { ...job, to: normaliseEmail(job.to), subject: headerText(job.subject), from: mailFrom }
  if (smtpUrl) return sendMail(smtpUrl, mail)
  if (!isDemoMode()) {
    throw new AppError('UNAVAILABLE', 'No mail server is set.', {
      note: 'SMTP_URL is not set and the public address is not on loopback: mail waits',
    })
  }
  const { to, subject, text, html } = mail
  // A repeated try keeps one copy.
  const id = hashToken(job.messageId).slice(0, 22)
  await db.demoMail.upsert({
    where: { id },
    create: { id, to, subject, text, html, headers: headersOf(mail), files: [...(job.files ?? [])], at: now },
    update: {},
  })
}
