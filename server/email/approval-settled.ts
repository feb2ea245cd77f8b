import { layOut, type Mail } from './layout.ts'

export type SettledData = {
  account: string
  org: string
  handle: string
  rules: readonly string[]
  client: string
  machine: string
  state: 'approved' | 'denied' | 'expired' | 'withdrawn' | 'revoked'
  scope?: 'step' | 'session'
  /** What was asked about; a session when absent. */
  about?: 'session' | 'route' | 'share'
  until: readonly string[]
  standsUntil?: string
  answeredBy: readonly { name: string; role: string; how: string }[]
  reason?: string
  url: string
}

const OUTCOME: Record<SettledData['state'], string> = {
  approved: 'was approved',
  denied: 'was denied',
  expired: 'expired without an answer',
  withdrawn: 'was withdrawn',
  revoked: 'was approved, and the approval was ended again',
}

const SUBJECT: Record<SettledData['state'], string> = {
  approved: 'Approved',
  denied: 'Denied',
  expired: 'Expired',
  withdrawn: 'Withdrawn',
  revoked: 'Ended',
}

const ABOUT = {
  session: {
    step: 'one step',
    session: 'the rest of the session',
    goesThrough: "The agent's next try goes through.",
    isRefused: 'The agent is refused for this; asking again files nothing while the denial stands.',
  },
  route: {
    step: 'one request',
    session: 'a day',
    goesThrough: 'The next request on this route is moved.',
    isRefused: 'Requests go on with the model that they ask for while the denial stands.',
  },
  share: {
    step: 'one sending',
    session: 'a day',
    goesThrough: 'What waits is sent next time.',
    isRefused: 'Nothing is sent there while the denial stands.',
  },
} as const

/** How it ended, to the requester alone. The mail's In-Reply-To and References keep it in the thread of the request. */
export function approvalSettledMail(data: SettledData): Mail {
  const { step, session, goesThrough, isRefused } = ABOUT[data.about ?? 'session']
  const scope = data.scope === 'session' ? session : step
  const rows: (readonly [string, string])[] = [
    ['Organisation', data.org],
    [data.rules.length > 1 ? 'Rules' : 'Rule', data.rules.join(', ')],
    ['Client', data.client],
    ['Machine', data.machine],
  ]
  if (data.state === 'approved') rows.push(['Covers', scope], ...data.until.map(limit => ['Until', limit] as const))
  if (data.standsUntil) rows.push(['Stands until', data.standsUntil])
  for (const who of data.answeredBy) rows.push(['Answered by', `${who.name}, ${who.role} (${who.how})`])
  if (data.reason) rows.push(['Reason', data.reason])
  const next =
    data.state === 'approved' ? goesThrough : data.state === 'denied' ? isRefused : 'The next try asks again.'
  return layOut(`${SUBJECT[data.state]}: ${data.rules.join(', ')} (${data.handle})`, [
    { kind: 'text', text: `Your request ${data.handle} ${OUTCOME[data.state]}. ${next}` },
    { kind: 'rows', rows },
    { kind: 'link', label: 'Open the request', url: data.url },
    { kind: 'small', text: `Sent to ${data.account}, who made the request.` },
  ])
}
