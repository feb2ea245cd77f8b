/** What GitHub Copilot CLI records of its calls. Its oddities, measured, are in README.md beside this file. */
import type { UsageSource } from '#agent/clients/adapter.ts'
import { changedCopilotSessions, readCopilotSession } from './event-file.ts'
import { type CopilotUsageState, marksOf } from './events.ts'

export const copilot: UsageSource<CopilotUsageState> = {
  client: 'copilot',
  title: 'GitHub Copilot CLI',
  lacks:
    'GitHub Copilot CLI records no attempts that failed, and up to version 1.0.92 sums at the end of a run only: nothing of a run that was cut off',
  usage: { readSession: readCopilotSession, changedSessions: changedCopilotSessions, marksOf },
}
