/** Whose a request is, from the headers that clients send by themselves. */
import type { IncomingHttpHeaders } from 'node:http'
import { SESSION } from '#agent/otlp/observed.ts'
import type { UsageClient } from '#core/usage/bucket.ts'

export type Who = { client: UsageClient; session?: string; agent?: string; subagent: boolean }

/** Clients by their user agent. */
const AGENTS: readonly [RegExp, UsageClient][] = [
  [/^claude-cli\//, 'claude-code'],
  [/^codex/i, 'codex'],
  [/^opencode\//, 'opencode'],
  [/^(GitHub)?Copilot/i, 'copilot'],
  [/^Gemini/i, 'gemini'],
  [/^Cursor/i, 'cursor'],
]

const idIn = (headers: IncomingHttpHeaders, ...names: string[]): string | undefined => {
  const said = names.map(name => headers[name]).find(value => typeof value === 'string')
  return typeof said === 'string' && SESSION.test(said) ? said : undefined
}

/** Own headers of ours, for programs that send no session of theirs; they go no further. */
export const OWN_HEADERS = 'x-holdpoint-'

export function whoAsks(headers: IncomingHttpHeaders): Who {
  const agent = headers['user-agent'] ?? ''
  const named = AGENTS.find(([form]) => form.test(agent))?.[1]
  // with a key of one's own Copilot CLI goes by the name of the library that it asks with
  const isCopilot = headers['x-interaction-type'] !== undefined && headers['x-initiator'] !== undefined
  const client = named ?? (isCopilot ? 'copilot' : 'other')
  const own = idIn(headers, 'x-holdpoint-session')
  if (client === 'claude-code') {
    const session = own ?? idIn(headers, 'x-claude-code-session-id')
    const subagent = idIn(headers, 'x-claude-code-agent-id')
    return made(client, session, subagent)
  }
  if (client === 'codex') {
    const session = own ?? idIn(headers, 'session-id', 'session_id')
    const thread = idIn(headers, 'thread-id')
    return made(client, session, thread === session ? undefined : thread)
  }
  const session = own ?? (client === 'opencode' ? idIn(headers, 'x-session-id') : undefined)
  return made(client, session, idIn(headers, 'x-holdpoint-agent'))
}

const made = (client: UsageClient, session: string | undefined, agent: string | undefined): Who => ({
  client,
  subagent: agent !== undefined,
  ...(session === undefined ? {} : { session }),
  ...(agent === undefined ? {} : { agent }),
})
