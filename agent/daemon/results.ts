import { type Runtime, record } from './runtime.ts'
import type { Observation, Session } from './sessions.ts'

/** What a look at the transcript brought: answers given at the client's prompt, and calls that nobody judged. */
export function takeResults(runtime: Runtime, session: Session, { results, unguarded }: Observation): void {
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
