import { claudeManaged } from './claude/managed.ts'
import { codexManaged } from './codex/managed.ts'
import { copilotManaged } from './copilot/managed.ts'
import type { ManagedEditor } from './managed.ts'

/** By the client's name; the others have nothing that their users cannot undo. */
export const MANAGED: ReadonlyMap<string, ManagedEditor> = new Map([
  ['claude-code', claudeManaged],
  ['codex', codexManaged],
  ['copilot', copilotManaged],
])

/** Why a client has none, one sentence. */
export const UNMANAGED: Readonly<Record<string, string>> = {
  opencode: 'opencode has no hook that its user cannot leave out: `--pure` drops a managed plugin, too.',
  gemini: 'Gemini CLI has no hook that its user cannot switch off, as far as is known.',
  cursor: 'Cursor’s managed hooks were not tried, so none are installed.',
}
