/** Which sessions have transcripts that changed, whether or not any hook ever told of them. */
import { join } from 'node:path'
import { changedAt, isFolder, namesIn } from '#agent/clients/record-file.ts'
import type { ChangedSession, UsageReader } from '#agent/clients/usage-source.ts'
import { claudeDir } from './settings-file.ts'
import { FOLDERS_MAX, ID } from './transcript-file.ts'

/** Sessions of one project; a person's years of work. */
const FILES_MAX = 10_000

/** `UsageReader.changedSessions` for Claude Code: one batch a project's folder. */
export const changedClaudeSessions: UsageReader['changedSessions'] = function* (home, sinceMs) {
  const root = join(claudeDir(home), 'projects')
  for (const folder of namesIn(root).slice(0, FOLDERS_MAX))
    yield isFolder(join(root, folder)) ? changedIn(join(root, folder), sinceMs) : []
}

function changedIn(folder: string, sinceMs: number): ChangedSession[] {
  return namesIn(folder)
    .filter(name => name.endsWith('.jsonl') && ID.test(name.slice(0, -'.jsonl'.length)))
    .slice(0, FILES_MAX)
    .flatMap(name => {
      const transcriptPath = join(folder, name)
      const changedMs = changedAt(transcriptPath)
      if (changedMs === undefined || changedMs < sinceMs) return []
      return [{ sessionId: name.slice(0, -'.jsonl'.length), transcriptPath, changedMs }]
    })
}
