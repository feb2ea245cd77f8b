/** A decision in the form that Cursor's documents describe. Pure. */
import type { Decision, HookEvent, RenderedAnswer } from '#agent/clients/adapter.ts'

const answer = (body: object): RenderedAnswer => {
  const text = JSON.stringify(body)
  return { http: { status: 200, body: text }, command: { exit: 0, stdout: text, stderr: '' } }
}

/** What lets an event go on, in words of its own: output that is no JSON may block. */
function goOn(event: HookEvent | undefined): object {
  if (event?.kind === 'tool_call') return { permission: 'allow' }
  return event?.kind === 'prompt' ? { continue: true } : {}
}

/**
 * Every answer is JSON, the refusal too: its words are read from there. What would be asked is refused: `ask` is not enforced before
 * a tool, and is a refusal before a subagent.
 */
export function renderCursor(decision: Decision, event?: HookEvent): RenderedAnswer {
  if (decision.outcome === 'pass' || event?.kind !== 'tool_call') {
    const { systemMessage } = decision
    return answer({ ...goOn(event), ...(systemMessage ? { systemMessage } : {}) })
  }
  const reason = decision.text.trim() || 'Held by a boundary. Stop here and tell the user.'
  return answer({ permission: 'deny', user_message: reason, agent_message: reason })
}

/** A failed hook: the call runs, unless the hook was installed with `failClosed`. */
export function renderCursorBroken(why: string): RenderedAnswer {
  return {
    http: { status: 500, body: JSON.stringify({ error: why }) },
    command: { exit: 1, stdout: '', stderr: `${why}\n` },
  }
}
