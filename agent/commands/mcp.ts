import { askDaemon } from '#agent/daemon-client.ts'
import { McpSession } from '#agent/mcp/session.ts'
import { serveLines } from '#agent/mcp/stdio.ts'
import type { Command } from './command.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { VERSION } from './version.ts'

export const mcp: Command = {
  name: 'mcp',
  summary: 'serve agents over MCP on standard input and output: they can look and say no, never approve',
  about:
    'A server of the Model Context Protocol for agent programs to start: the tools holdpoint_glance and holdpoint_waiting read how things stand, holdpoint_deny says no to a held action or withdraws its request. No tool approves. It needs the daemon, and asks it anew at each call.',
  examples: [
    ['claude mcp add holdpoint -- holdpoint mcp', 'for Claude Code'],
    ['codex mcp add holdpoint -- holdpoint mcp', 'for Codex'],
  ],
  async run({ home, json }) {
    if (json) throw new CommandFailure('usage', 'usage', 'What it writes is JSON already: `--json` means nothing here.')
    const session = new McpSession(async (method, path, body) => {
      try {
        return await askDaemon(home, method, path, body)
      } catch (error) {
        if (!(error instanceof CommandFailure)) throw error
        throw new Error([error.message, error.remedy].filter(Boolean).join(' '))
      }
    }, VERSION)
    await serveLines(session, process.stdin, process.stdout)
    return EXIT.ok
  },
}
