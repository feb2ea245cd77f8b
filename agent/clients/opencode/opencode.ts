/** What opencode records of its calls. Its oddities, measured, are in README.md beside this file. */
import type { UsageSource } from '#agent/clients/adapter.ts'
import { changedOpencodeSessions, marksOf, type OpencodeUsageState, readOpencodeSession } from './usage.ts'

export const opencode: UsageSource<OpencodeUsageState> = {
  client: 'opencode',
  title: 'opencode',
  usage: { readSession: readOpencodeSession, changedSessions: changedOpencodeSessions, marksOf },
}
