import type { Subject } from '#core/approval/request.ts'

/** What is held where no session is: a route, or figures that would leave the machine. */
export type HeldSubject = Exclude<Subject, { kind: 'session' }>

/**
 * The name under which questions, requests and answers about a subject are kept, where a session's stand under the session's id.
 * It has blanks in it, which no session's id has.
 */
export const subjectId = (subject: HeldSubject): string =>
  subject.kind === 'route' ? `route ${subject.provider} ${subject.from} ${subject.to}` : `share ${subject.destination}`

/** Under what a decision's question and its answer are kept: its subject, else its session. */
export const keptUnder = ({ subject, session }: { subject?: HeldSubject | undefined; session: string }): string =>
  subject === undefined ? session : subjectId(subject)
