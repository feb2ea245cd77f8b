import { alarm, type Runtime, record } from './runtime.ts'
import type { Session } from './session.ts'
import type { Observation } from './sessions.ts'

/** What stands in a transcript's place and is none, or is not ours; that there is no transcript yet is no problem. */
const UNREADABLE = ['unreadable', 'not_a_file', 'not_ours']

/** What a look at the transcript brought: answers given at the client's prompt, and calls that nobody judged. */
export function takeResults(runtime: Runtime, session: Session, { results, unguarded }: Observation): void {
  if (!session.isToldUnreadable && UNREADABLE.includes(session.costProblem ?? '')) {
    session.isToldUnreadable = true
    alarm(runtime, 'transcript_unreadable', session.costProblem)
  }
  for (const { toolUseId, outcome } of results) {
    if (outcome === 'ran') promptAnswered(runtime, toolUseId)
    else if (outcome === 'declined') {
      const handle = runtime.state.prompts.get(toolUseId)
      if (handle) record(runtime, { kind: 'declined', handle, toolUse: toolUseId })
    }
  }
  if (unguarded.calls === 0) return
  const time = (ms: number) => new Date(ms).toISOString()
  const { calls, fromMs, toMs } = unguarded
  record(runtime, {
    kind: 'not_judged',
    client: session.client,
    session: session.id,
    sessionRef: session.ref,
    calls,
    from: time(fromMs),
    to: time(toMs),
  })
}

/** A call that was asked about has run: the person said yes, which holds for the rest of the session, at most a day. */
export function promptAnswered(runtime: Runtime, toolUse: string): void {
  const handle = runtime.state.prompts.get(toolUse)
  if (handle) record(runtime, { kind: 'local_answer', handle, scope: 'session', how: 'prompt', toolUse })
}
