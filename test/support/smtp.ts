import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'

export type CaughtMail = ParsedMail & { rcpt: string }

/** A real SMTP server on a loopback port that keeps what it takes. `refuse` answers a recipient with an SMTP code. */
export async function catchMail(port = 0): Promise<{
  url: string
  port: number
  mails: CaughtMail[]
  refuse(code: number | undefined): void
  next(to: string, after?: number): Promise<CaughtMail>
  close(): Promise<void>
}> {
  const mails: CaughtMail[] = []
  let code: number | undefined
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    closeTimeout: 100,
    onRcptTo(_address, _session, done) {
      done(code === undefined ? null : Object.assign(new Error('no such mailbox'), { responseCode: code }))
    },
    onData(stream, session, done) {
      simpleParser(stream).then(mail => {
        for (const rcpt of session.envelope.rcptTo) mails.push(Object.assign(mail, { rcpt: rcpt.address }))
        done()
      }, done)
    },
  })
  server.on('error', () => {})
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const bound = (server.server.address() as { port: number }).port
  return {
    url: `smtp://127.0.0.1:${bound}`,
    port: bound,
    mails,
    refuse: value => {
      code = value
    },
    next: async (to, after = 0) => {
      for (
        const until = Date.now() + 10_000;
        Date.now() < until;
        await new Promise(resolve => setTimeout(resolve, 20))
      ) {
        const found = mails.filter(mail => mail.rcpt === to)[after]
        if (found) return found
      }
      throw new Error(
        `no mail ${after + 1} to ${to}; caught: ${mails.map(mail => `${mail.rcpt}: ${mail.subject}`).join('; ')}`,
      )
    },
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}

/** The six digits of a sign-in mail. */
export const codeOf = (mail: ParsedMail): string => /\b(\d{6})\b/.exec(mail.text ?? '')![1]!
/** The first link of a mail. */
export const linkOf = (mail: ParsedMail): URL =>
  new URL(/https?:\/\/\S+/.exec((mail.text ?? '').replace(/^.*? at https?:\/\/\S+ /s, ''))![0])
