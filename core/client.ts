/** The agent programs that are known by name. A fixed list: it stands in requests and reports. */
export const CLIENTS = ['claude-code', 'codex', 'opencode', 'gemini', 'copilot', 'cursor'] as const
export type Client = (typeof CLIENTS)[number]

/** How people write them. */
export const CLIENT_NAMES: Record<Client, string> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
  gemini: 'Gemini CLI',
  copilot: 'Copilot CLI',
  cursor: 'Cursor',
}

/** How far a client binds on a machine: told, never claimed. */
export const LEVELS = [
  'managed',
  'managed-hook-user-daemon',
  'user-hook',
  'advice-only',
  'idle',
  'figure-unread',
  'broken',
  'not-installed',
] as const
export type Level = (typeof LEVELS)[number]
