/** A decision in the form that Codex obeys most safely (measured; see README.md). Pure. */
import type { Decision, HookEvent, RenderedAnswer } from '#agent/clients/adapter.ts'

const silent = { exit: 0, stdout: '', stderr: '' }

/**
 * Pass is silence. A refusal is exit 2 with words on standard error: a JSON answer with a key too many, or with anything printed
 * around it, lets the call run. What would be asked is refused, since an `ask` lets the call run as well.
 */
export function renderCodex(decision: Decision, event?: HookEvent): RenderedAnswer {
  if (decision.outcome === 'pass' || event?.kind !== 'tool_call') {
    const { systemMessage } = decision
    const body = systemMessage ? JSON.stringify({ systemMessage }) : ''
    return { http: { status: 200, body }, command: { ...silent, stdout: body } }
  }
  // without words on standard error it lets the call run
  const permissionDecisionReason = decision.text.trim() || 'Held by a boundary. Stop here and tell the user.'
  const deny = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason }
  return {
    http: { status: 200, body: JSON.stringify({ hookSpecificOutput: deny }) },
    command: { exit: 2, stdout: '', stderr: `${permissionDecisionReason}\n` },
  }
}

/** A failed hook: the call runs; our program refuses it where it was installed with `block`. */
export function renderCodexBroken(why: string): RenderedAnswer {
  return {
    http: { status: 500, body: JSON.stringify({ error: why }) },
    command: { exit: 1, stdout: '', stderr: `${why}\n` },
  }
}
