/** A decision in the two forms that Claude Code obeys (measured; see README.md). Pure. */
import type { Decision, HookEvent, RenderedAnswer } from '#agent/clients/adapter.ts'

const PASS: RenderedAnswer = { http: { status: 200, body: '' }, command: { exit: 0, stdout: '', stderr: '' } }

/**
 * Pass is an empty 200 or a silent exit 0: no opinion, the client's own rules go on. Ask needs JSON in both forms.
 * Refuse is JSON over http; a command refuses by exit 2 and stderr, because unparsable output would let the call run.
 * Only a tool call can be held: for any other event the answer is always pass.
 */
export function renderClaude(decision: Decision, event?: HookEvent): RenderedAnswer {
  if (decision.outcome === 'pass' || event?.kind !== 'tool_call') {
    if (!decision.systemMessage) return PASS
    const body = JSON.stringify({ systemMessage: decision.systemMessage })
    return { http: { status: 200, body }, command: { exit: 0, stdout: body, stderr: '' } }
  }
  // an empty reason reads as an error in the client
  const reason = decision.text.trim() || 'Held by a boundary. Stop here and tell the user.'
  const body = JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: decision.outcome === 'ask' ? 'ask' : 'deny',
      permissionDecisionReason: reason,
    },
    // beside the refusal: alone it would let the call run
    ...(decision.outcome === 'refuse' && decision.endTurn ? { continue: false, stopReason: reason } : {}),
    ...(decision.systemMessage ? { systemMessage: decision.systemMessage } : {}),
  })
  const command =
    decision.outcome === 'ask' ? { exit: 0, stdout: body, stderr: '' } : { exit: 2, stdout: '', stderr: `${reason}\n` }
  return { http: { status: 200, body }, command }
}

/** A failed hook: the call runs, unless the hook was installed with `onFailure: "block"`. */
export function renderClaudeBroken(why: string): RenderedAnswer {
  return {
    http: { status: 500, body: JSON.stringify({ error: why }) },
    command: { exit: 1, stdout: '', stderr: `${why}\n` },
  }
}
