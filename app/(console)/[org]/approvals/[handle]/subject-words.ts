import type { Subject } from '#core/approval/request.ts'

type Words = {
  /** On the two buttons that let it go on. */
  step: string
  session: string
  /** What a denial does; `client`: the agent program. */
  denied(client: string): string
  /** What the answers mean, below them. */
  meaning: string
  /** What an answer lets through. */
  lets: Record<'step' | 'session', string>
  approvedFor: Record<'step' | 'session', string>
  /** What is held again when a grant ends. */
  heldAgain: string
}

/** A session goes on or is stopped; a route and figures are held, and whoever asked goes on without them. */
export const SUBJECT_WORDS: Readonly<Record<Subject['kind'], Words>> = {
  session: {
    step: 'Let this step through',
    session: 'Let the session go on',
    denied: client =>
      `${client} is told to stop, and this session is refused for the same rule until the day is over. A denial is not taken back.`,
    meaning:
      '“This step” lets exactly one held call through. “The session” lets it go on for at most a day. A denial stands for a day, and the agent is told to stop.',
    lets: { step: 'exactly one held call of this session', session: 'the rest of this session' },
    approvedFor: { step: 'one step', session: 'the session' },
    heldAgain:
      'the session is held again at its next tool call. A call that was let through already is not taken back.',
  },
  route: {
    step: 'Let one request',
    session: 'Let it for a day',
    denied: () =>
      'Requests go on with the model that they ask for, and this route is held until the day is over. A denial is not taken back.',
    meaning:
      'While this waits, nobody is stopped: requests go on with the model that they ask for. “One request” lets exactly one be moved, “for a day” all of this machine’s on this route.',
    lets: { step: 'exactly one request on this route', session: 'every request of this machine on this route' },
    approvedFor: { step: 'one request', session: 'a day' },
    heldAgain: 'requests go on with the model that they ask for again. One that was moved already is not taken back.',
  },
  share: {
    step: 'Let it once',
    session: 'Let it for a day',
    denied: () =>
      'Nothing is sent there until the day is over, and nobody is stopped in their work. A denial is not taken back.',
    meaning:
      'While this waits, nothing is sent there and nobody is stopped in their work. “Once” lets one sending through, “for a day” all of this machine’s.',
    lets: { step: 'exactly one sending', session: 'everything that this machine sends there' },
    approvedFor: { step: 'once', session: 'a day' },
    heldAgain: 'figures stay on the machine again. What was sent already is not taken back.',
  },
}
