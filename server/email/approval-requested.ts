import { figureText, figureTitle } from '#core/approval/describe.ts'
import type { CrossedFigure } from '#core/approval/request.ts'
import { layOut, type Mail } from './layout.ts'

/** What everybody who may answer is told. Numbers and names from fixed lists, and the organisation's own names. */
export type RequestedData = {
  account: string
  org: string
  handle: string
  question: string
  rules: readonly string[]
  note?: string
  action: string
  client: string
  machine: string
  requester: string
  role: string
  approvals: number
  /** `limit` is what the rule says of the figure: `$20.00 or more`. */
  figures: readonly (CrossedFigure & { limit?: string | undefined })[]
  expires: string
  url: string
  /** The recipient is the requester, who holds the role. */
  own: boolean
  /** What is asked about; a session when absent. */
  about?: 'session' | 'route' | 'share'
}

/** One subject per request for everybody. The mail that tells its end has one of its own. */
const requestSubject = (data: Pick<RequestedData, 'org' | 'handle' | 'rules' | 'about'>): string =>
  `[${data.org}] ${data.rules.join(', ')}: ${WAITS[data.about ?? 'session']} for an answer (${data.handle})`

const WAITS = { session: 'an agent waits', route: 'a route waits', share: 'figures wait' } as const

/** What was held, by whom, and what became of the work meanwhile. */
function heldWords({ about = 'session', own, requester, client, machine, org }: RequestedData): string {
  const where = `(${client} on ${machine})`
  if (about === 'route')
    return `${own ? 'A request of yours' : `A request of ${requester}`} ${where} would have been moved to another model. A rule of ${org} holds that; the request went on with its own model.`
  if (about === 'share')
    return `${own ? 'Your own machine' : `A machine of ${requester}`} (${machine}) would send figures. A rule of ${org} holds them there.`
  return own
    ? `Your own agent ${where} was held by a rule of ${org}.`
    : `An agent of ${requester} ${where} was held by a rule of ${org} and waits for an answer.`
}

const withLimit = (figure: RequestedData['figures'][number]): string =>
  figure.limit === undefined ? figureText(figure) : `${figureText(figure)} (rule: ${figure.limit})`

/** The question, to one person who may answer it. */
export function approvalRequestedMail(data: RequestedData): Mail {
  const opening = data.own
    ? `${heldWords(data)} You hold the role that the rule names, so this is your own request: if you answer it, the answer is marked as a self-approval. Anybody else of that role can answer too.`
    : heldWords(data)
  const approvals =
    data.approvals > 1 ? `${data.approvals} people of the role ${data.role} or above` : `${data.role} or above`
  return layOut(requestSubject(data), [
    { kind: 'text', text: data.question },
    { kind: 'text', text: opening },
    {
      kind: 'rows',
      rows: [
        ['Organisation', data.org],
        [data.rules.length > 1 ? 'Rules' : 'Rule', data.rules.join(', ')],
        ...(data.note ? [['Why there is this rule', data.note] as const] : []),
        ['Action', data.action],
        ['Client', data.client],
        ['Machine', data.machine],
        ...data.figures.map(figure => [figureTitle(figure), withLimit(figure)] as const),
        ['Needs', approvals],
        ['Waits until', data.expires],
      ],
    },
    { kind: 'link', label: 'Open the request', url: data.url },
    { kind: 'small', text: `Opening the link decides nothing: you answer on its page, signed in as ${data.account}.` },
    { kind: 'small', text: `Request ${data.handle}.` },
  ])
}
