import type { Mail } from '../email/layout.ts'
import { env } from '../env.ts'
import type { Jobs } from './queue.ts'

const host = (): string => new URL(env().publicUrl).hostname

/** The Message-ID of a mail about something, the same at every try. Names only what is in the address already. */
export const messageId = (...parts: readonly string[]): string =>
  `<${parts.join('.').replace(/[^A-Za-z0-9._-]/g, '-')}@${host()}>`

/** What all mails to one person about one request hang on: the mail that asked. */
export const requestThread = (handle: string, memberId: string): string => messageId('request', handle, memberId)

/** A mail addressed, as the queue takes it. */
export const letter = (mail: Mail, to: string, id: string, inReplyTo?: string): Jobs['mail.send'] => ({
  to,
  ...mail,
  messageId: id,
  ...(inReplyTo ? { inReplyTo } : {}),
})

/** A time in a mail: its reader's zone is not known, so UTC, said so. */
export const mailTime = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
