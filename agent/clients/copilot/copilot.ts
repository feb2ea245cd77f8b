/** The GitHub Copilot CLI adapter. Its oddities, measured, are in README.md beside this file. */

import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { probeCommandHooks } from '#agent/clients/command-hooks.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import { CLIENT_LIMITS } from '#core/client-limits.ts'
import { changedCopilotSessions, readCopilotSession } from './event-file.ts'
import { type CopilotUsageState, marksOf } from './events.ts'
import { parseCopilotHook } from './hook-event.ts'
import { copilotHookPath, copilotHooks, installCopilot, uninstallCopilot } from './hook-file.ts'
import { inspectCopilot } from './inspect.ts'
import { renderCopilot, renderCopilotBroken } from './render.ts'

export const copilot: ClientAdapter<CopilotUsageState> = {
  client: 'copilot',
  title: CLIENT_NAMES.copilot,
  program: 'copilot',
  forms: ['command'],
  asks: false,
  holds: ['continue', 'spend', 'subagent_model'],
  limits: CLIENT_LIMITS.copilot,
  failsClosed: { command: 'program' },
  lacks:
    'Copilot CLI records no attempts that failed, and up to version 1.0.92 sums at the end of a run only: nothing of a run that was cut off',
  hookPath: '/hook/copilot',
  originFromEnv: () => ({}),
  originFromHeaders: headers => {
    const event = headers['x-holdpoint-event']
    return typeof event === 'string' && event !== '' ? { event } : {}
  },
  parse: parseCopilotHook,
  render: renderCopilot,
  renderBroken: renderCopilotBroken,
  hooks: {
    settingsPath: copilotHookPath,
    install: installCopilot,
    uninstall: uninstallCopilot,
    probe: home => probeCommandHooks(copilotHooks, copilotHookPath(home)),
    inspect: inspectCopilot,
  },
  undoneBy: () => [
    'trusts a repository whose settings say disableAllHooks',
    'starts it with another home (COPILOT_HOME)',
  ],
  usage: { readSession: readCopilotSession, changedSessions: changedCopilotSessions, marksOf },
}
