import nodemailer, { type Transporter } from 'nodemailer'
import type { Mail } from './layout.ts'

/** A mail on its way to one person. `messageId` is the same at every try, so that a repeated one can be told. */
export type Letter = Mail & {
  to: string
  from: string
  messageId: string
  inReplyTo?: string | undefined
  files?: readonly MailFile[] | undefined
}

/** A text that comes with a mail as a file. */
export type MailFile = { name: string; type: string; text: string }

/** The receiving side refused for good (a 5xx reply): trying again would not help. */
export class Bounced extends Error {
  readonly responseCode: number
  constructor(responseCode: number, response: string) {
    super(`refused for good: ${response}`)
    this.name = 'Bounced'
    this.responseCode = responseCode
  }
}

const holder = globalThis as unknown as { holdpointMailers?: Map<string, Transporter> }

function transport(smtpUrl: string): Transporter {
  holder.holdpointMailers ??= new Map()
  const kept = holder.holdpointMailers.get(smtpUrl)
  if (kept) return kept
  const made = nodemailer.createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: 3,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as object)
  holder.holdpointMailers.set(smtpUrl, made)
  return made
}

/** What a mailbox program needs beside the words: threading, and that it was sent by a program (RFC 3834). */
export const headersOf = (letter: Letter) => ({
  'Message-ID': letter.messageId,
  ...(letter.inReplyTo ? { 'In-Reply-To': letter.inReplyTo, References: letter.inReplyTo } : {}),
  'Auto-Submitted': 'auto-generated',
  'X-Auto-Response-Suppress': 'All',
})

/** Sends over SMTP. The address goes in as an object, never as text that could be read as several. */
export async function sendMail(smtpUrl: string, letter: Letter): Promise<void> {
  const { 'Message-ID': _, ...headers } = headersOf(letter)
  try {
    await transport(smtpUrl).sendMail({
      from: letter.from,
      to: { name: '', address: letter.to },
      subject: letter.subject,
      text: letter.text,
      html: letter.html,
      messageId: letter.messageId,
      headers,
      attachments: (letter.files ?? []).map(({ name, type, text }) => ({
        filename: name,
        contentType: type,
        content: text,
      })),
    })
  } catch (error) {
    const { responseCode, response } = error as { responseCode?: number; response?: string }
    if (responseCode && responseCode >= 500 && responseCode < 600) throw new Bounced(responseCode, response ?? '')
    throw error
  }
}

/** Ends the connections that are kept open; at shutdown and in tests. */
export function closeMailers(): void {
  for (const kept of holder.holdpointMailers?.values() ?? []) kept.close()
  holder.holdpointMailers = undefined
}
