/** The agent programs that are known by name. A fixed list: it stands in requests and reports. */
export const CLIENTS = ['claude-code', 'codex', 'opencode', 'gemini', 'copilot', 'cursor'] as const
export type Client = (typeof CLIENTS)[number]

/** True for the name of a client. */
export const isClient = (value: unknown): value is Client => (CLIENTS as readonly unknown[]).includes(value)

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

/** What binds at a level: 2 where a developer's own flags do not undo it, 1 where they do, 0 where calls pass. */
export const strengthOf = (level: string): 0 | 1 | 2 =>
  level === 'managed' || level === 'managed-hook-user-daemon' ? 2 : level === 'user-hook' ? 1 : 0
