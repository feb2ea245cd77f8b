/** Finds and reads a session's events: one file a session, below the client's own folder. No link is followed. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { changedAt, isFolder, namesIn, problemOf, readBudget, readOn } from '#agent/clients/record-file.ts'
import { raiseMark, sessionUsage, tallyFrom } from '#agent/clients/tally.ts'
import type { ChangedSession, SessionUsage, UsageReader } from '#agent/clients/usage-source.ts'
import { type CopilotUsageState, emptyState, type FoundEvents, readEvents, startOver } from './events.ts'
import { copilotFolder } from './hook-file.ts'

const ID = /^[A-Za-z0-9_-]{1,128}$/
/** A person's years of work. */
const SESSIONS_MAX = 100_000
const BATCH = 200

const sessionsFolder = (home: ClientHome): string => join(copilotFolder(home), 'session-state')

/** `UsageReader.readSession` for Copilot. */
export const readCopilotSession: UsageReader<CopilotUsageState>['readSession'] = (
  home,
  { sessionId },
  before,
  { rateCard, price },
  limits,
) => {
  const state = tallyFrom(before, emptyState(rateCard))
  const found: FoundEvents = { records: new Map(), addedPicoUsd: 0n, toolUses: [], toolResults: [] }
  let problem: SessionUsage['problem']
  let more = false
  try {
    const file = join(fs.realpathSync.native(sessionsFolder(home)), sessionId, 'events.jsonl')
    if (!ID.test(sessionId) || !isFolder(join(file, '..'))) problem = 'no_transcript'
    else {
      const context = { state, found, price, sessionId }
      const read = readOn(
        file,
        state.file,
        readBudget(limits?.bytes),
        bytes => readEvents(context, bytes),
        () => startOver(state),
      )
      state.file = read.mark
      more = read.more
    }
  } catch (error) {
    problem = problemOf(error)
  }
  if (state.file !== undefined) raiseMark(state)
  return sessionUsage(state, found, { problem, more })
}

/** `UsageReader.changedSessions` for Copilot. */
export const changedCopilotSessions: UsageReader['changedSessions'] = function* (home, sinceMs) {
  const root = sessionsFolder(home)
  const names = namesIn(root)
    .filter(name => ID.test(name))
    .slice(0, SESSIONS_MAX)
  for (let at = 0; at < names.length; at += BATCH)
    yield names.slice(at, at + BATCH).flatMap(name => changedIn(root, name, sinceMs))
}

function changedIn(root: string, sessionId: string, sinceMs: number): ChangedSession[] {
  const folder = join(root, sessionId)
  const transcriptPath = join(folder, 'events.jsonl')
  const changedMs = isFolder(folder) ? changedAt(transcriptPath) : undefined
  return changedMs === undefined || changedMs < sinceMs ? [] : [{ sessionId, transcriptPath, changedMs }]
}
