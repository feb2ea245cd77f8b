/** A decision as our module in opencode reads it: exit 2 with words is an error that it throws, which refuses the call. Pure. */
import type { Decision, HookEvent, RenderedAnswer } from '#agent/clients/adapter.ts'

const answer = (status: number, exit: number, stdout: string, stderr: string): RenderedAnswer => ({
  http: { status, body: stdout },
  command: { exit, stdout, stderr },
})

/** opencode can ask nobody for us: what would be asked is refused. Only a tool call can be held. */
export function renderOpencode(decision: Decision, event?: HookEvent): RenderedAnswer {
  if (decision.outcome === 'pass' || event?.kind !== 'tool_call') {
    const { systemMessage } = decision
    return answer(200, 0, systemMessage ? JSON.stringify({ systemMessage }) : '', '')
  }
  return answer(200, 2, '', `${decision.text.trim() || 'Held by a boundary. Stop here and tell the user.'}\n`)
}

/** The call runs, unless the module was installed to block. */
export const renderOpencodeBroken = (why: string): RenderedAnswer => answer(500, 1, '', `${why}\n`)
