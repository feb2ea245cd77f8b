import { layOut, type Mail } from './layout.ts'

export type DigestData = {
  account: string
  org: string
  waiting: readonly { handle: string; rules: readonly string[]; requester: string; machine: string; expires: string }[]
  url: string
}

const SHOWN = 25

/** Many requests within ten minutes come as one mail. */
export function approvalDigestMail(data: DigestData): Mail {
  const n = data.waiting.length
  const more = n > SHOWN ? [{ kind: 'text', text: `… and ${n - SHOWN} more.` } as const] : []
  return layOut(`[${data.org}] ${n} ${n === 1 ? 'request waits' : 'requests wait'} for an answer`, [
    {
      kind: 'text',
      text: `Many requests of ${data.org} came within ten minutes, so they are in one mail. These wait for somebody of your role:`,
    },
    {
      kind: 'rows',
      rows: data.waiting
        .slice(0, SHOWN)
        .map(
          row =>
            [row.handle, `${row.rules.join(', ')}; ${row.requester} on ${row.machine}; until ${row.expires}`] as const,
        ),
    },
    ...more,
    { kind: 'link', label: 'Open the inbox', url: data.url },
    { kind: 'small', text: `Opening the link decides nothing: you answer signed in as ${data.account}.` },
  ])
}
