import { expect, test } from 'vitest'
import { whoAsks } from '#agent/proxy/who.ts'

/** Headers as the real clients sent them, of the versions that the tests pin. */
test.each([
  [
    { 'user-agent': 'claude-cli/2.1.332 (external, sdk-cli)', 'x-claude-code-session-id': 's1', 'x-app': 'cli' },
    { client: 'claude-code', session: 's1', subagent: false },
  ],
  [
    {
      'user-agent': 'claude-cli/2.1.332 (external, cli)',
      'x-claude-code-session-id': 's1',
      'x-claude-code-agent-id': 'a1',
    },
    { client: 'claude-code', session: 's1', agent: 'a1', subagent: true },
  ],
  [
    { 'user-agent': 'codex_exec/0.171.0 (Debian 12.0.0; x86_64)', 'session-id': 's1', 'thread-id': 's1' },
    { client: 'codex', session: 's1', subagent: false },
  ],
  [
    { 'user-agent': 'codex_cli_rs/0.171.0', 'session-id': 's1', 'thread-id': 't2' },
    { client: 'codex', session: 's1', agent: 't2', subagent: true },
  ],
  [
    { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14', 'x-session-id': 'ses_1' },
    { client: 'opencode', session: 'ses_1', subagent: false },
  ],
  [
    { 'user-agent': 'OpenAI/JS 5.20.1', 'x-initiator': 'user', 'x-interaction-type': 'conversation-user' },
    { client: 'copilot', subagent: false },
  ],
  [
    { 'user-agent': 'OpenAI/JS 5.20.1', 'x-session-id': 'not-ours' },
    { client: 'other', subagent: false },
  ],
  [
    { 'x-holdpoint-session': 'run-7', 'x-holdpoint-agent': 'a' },
    { client: 'other', session: 'run-7', agent: 'a', subagent: true },
  ],
  [
    { 'user-agent': 'claude-cli/3', 'x-claude-code-session-id': '../x y' },
    { client: 'claude-code', subagent: false },
  ],
])('%o is known for whose it is', (headers, who) => {
  expect(whoAsks(headers)).toEqual(who)
})
