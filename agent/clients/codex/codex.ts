/** The Codex adapter. Its oddities, measured, are in README.md beside this file. */

import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import { CLIENT_LIMITS } from '#core/client-limits.ts'
import { trustHooks } from './app-server.ts'
import { parseCodexHook } from './hook-event.ts'
import { codexHooksPath, installCodex, probeCodex, uninstallCodex } from './hooks-file.ts'
import { inspectCodex, isTrusted, ourLines } from './inspect.ts'
import { renderCodex, renderCodexBroken } from './render.ts'
import { type CodexUsageState, marksOf } from './rollout.ts'
import { changedCodexSessions, readCodexSession } from './rollout-file.ts'

export const codex: ClientAdapter<CodexUsageState> = {
  client: 'codex',
  title: CLIENT_NAMES.codex,
  program: 'codex',
  forms: ['command'],
  asks: false,
  holds: ['continue', 'spend', 'subagent_model'],
  limits: CLIENT_LIMITS.codex,
  undoneBy: () => [
    'starts Codex with hooks switched off (--disable hooks)',
    'edits the hook, which Codex then does not trust any more',
  ],
  failsClosed: { command: 'program' },
  lacks:
    'Codex records no attempts that failed, nothing of `--ephemeral` runs, and not the small request by which the terminal names a session',
  hookPath: '/hook/codex',
  originFromEnv: () => ({}),
  originFromHeaders: () => ({}),
  parse: parseCodexHook,
  render: renderCodex,
  renderBroken: renderCodexBroken,
  hooks: {
    settingsPath: codexHooksPath,
    install: installCodex,
    uninstall: uninstallCodex,
    probe: probeCodex,
    inspect: inspectCodex,
    trust: {
      question:
        'Codex runs a hook only once it was told to trust it. Tell it now to trust these hooks, as they stand and no others (written by Codex itself into its config.toml)?',
      byHand: 'Start `codex` and agree when it says that hooks need review.',
      isTrusted,
      grant: (home, { exe, cwd }) => trustHooks(home, { exe, cwd, file: codexHooksPath(home), lines: ourLines(home) }),
    },
  },
  usage: { readSession: readCodexSession, changedSessions: changedCodexSessions, marksOf },
}
