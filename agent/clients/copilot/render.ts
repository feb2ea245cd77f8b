/** A decision in the form that Copilot CLI obeys most safely (measured; see README.md). Pure. */
import type { Decision, HookEvent, RenderedAnswer } from '#agent/clients/adapter.ts'

/**
 * Pass is silence. A refusal is exit 2, which refuses whatever is printed, with an answer in JSON beside it, which brings the words
 * to the model; at exit 0 anything printed around the JSON would let the call run. What would be asked is refused.
 */
export function renderCopilot(decision: Decision, event?: HookEvent): RenderedAnswer {
  if (decision.outcome === 'pass' || event?.kind !== 'tool_call') {
    const { systemMessage } = decision
    const body = systemMessage ? JSON.stringify({ systemMessage }) : ''
    return { http: { status: 200, body }, command: { exit: 0, stdout: body, stderr: '' } }
  }
  const reason = decision.text.trim() || 'Held by a boundary. Stop here and tell the user.'
  const body = JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: reason })
  return { http: { status: 200, body }, command: { exit: 2, stdout: body, stderr: `${reason}\n` } }
}

/** A failed hook. The client would refuse at any exit code but 0: our program, and its shell's line, end as was chosen. */
export function renderCopilotBroken(why: string): RenderedAnswer {
  return {
    http: { status: 500, body: JSON.stringify({ error: why }) },
    command: { exit: 1, stdout: '', stderr: `${why}\n` },
  }
}
