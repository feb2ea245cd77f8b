/** A decision in the form that Gemini CLI obeys most safely (measured; see README.md). Pure. */
import type { Decision, HookEvent, RenderedAnswer } from '#agent/clients/adapter.ts'

const silent = { exit: 0, stdout: '', stderr: '' }

/**
 * Pass is silence. A refusal is exit 2 with the words on standard error: a JSON answer that anything else is printed around lets the
 * call run, this does not. What would be asked is refused: an `ask` ends a run that nobody watches without a word.
 */
export function renderGemini(decision: Decision, event?: HookEvent): RenderedAnswer {
  if (decision.outcome === 'pass' || event?.kind !== 'tool_call') {
    const { systemMessage } = decision
    const body = systemMessage ? JSON.stringify({ systemMessage }) : ''
    return { http: { status: 200, body }, command: { ...silent, stdout: body } }
  }
  // without words on standard error it lets the call run
  const reason = decision.text.trim() || 'Held by a boundary. Stop here and tell the user.'
  return {
    http: { status: 200, body: JSON.stringify({ decision: 'deny', reason }) },
    command: { exit: 2, stdout: '', stderr: `${reason}\n` },
  }
}

/** A failed hook: the call runs and the person sees why; our program refuses it where it was installed with `block`. */
export function renderGeminiBroken(why: string): RenderedAnswer {
  return {
    http: { status: 500, body: JSON.stringify({ error: why }) },
    command: { exit: 1, stdout: '', stderr: `${why}\n` },
  }
}
