/** Codex as a source of usage. Its oddities, measured, are in README.md beside this file. */
import type { UsageSource } from '#agent/clients/adapter.ts'
import { type CodexUsageState, marksOf } from './rollout.ts'
import { changedCodexSessions, readCodexSession } from './rollout-file.ts'

export const codex: UsageSource<CodexUsageState> = {
  client: 'codex',
  title: 'Codex',
  lacks:
    'Codex records no attempts that failed, nothing of `--ephemeral` runs, and not the small request by which the terminal names a session',
  usage: { readSession: readCodexSession, changedSessions: changedCodexSessions, marksOf },
}
