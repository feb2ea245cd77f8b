/** Which sessions have chats that changed, whether or not any hook ever told of them. */
import { join } from 'node:path'
import { changedAt, isFolder, namesIn } from '#agent/clients/record-file.ts'
import type { ChangedSession, UsageReader } from '#agent/clients/usage-source.ts'
import { chatNames, chatsRoot, FOLDERS_MAX, ID, sessionOf, subagentNames } from './chat-file.ts'

/** Sessions of one project; a person's years of work. */
const FILES_MAX = 10_000

/** `UsageReader.changedSessions` for Gemini CLI: one batch a project's folder. */
export const changedGeminiSessions: UsageReader['changedSessions'] = function* (home, sinceMs) {
  const root = chatsRoot(home)
  for (const folder of namesIn(root).slice(0, FOLDERS_MAX)) {
    const chats = join(root, folder, 'chats')
    yield isFolder(join(root, folder)) && isFolder(chats) ? changedIn(chats, sinceMs) : []
  }
}

/** A session changed when its own chat did, or one of its subagents', whose folder has its name. */
function changedIn(chats: string, sinceMs: number): ChangedSession[] {
  const found = new Map<string, ChangedSession>()
  const note = (sessionId: string, transcriptPath: string, changedMs: number) => {
    const before = found.get(sessionId)
    if (before === undefined || before.changedMs < changedMs)
      found.set(sessionId, { sessionId, transcriptPath: before?.transcriptPath ?? transcriptPath, changedMs })
  }
  for (const name of chatNames(chats).slice(0, FILES_MAX)) {
    const path = join(chats, name)
    const changedMs = changedAt(path)
    const sessionId = changedMs === undefined || changedMs < sinceMs ? undefined : sessionOf(path)?.sessionId
    if (sessionId !== undefined) note(sessionId, path, changedMs!)
  }
  for (const sessionId of namesIn(chats)
    .filter(name => ID.test(name))
    .slice(0, FILES_MAX))
    for (const name of subagentNames(join(chats, sessionId))) {
      const path = join(chats, sessionId, name)
      const changedMs = changedAt(path)
      if (changedMs !== undefined && changedMs >= sinceMs) note(sessionId, path, changedMs)
    }
  return [...found.values()]
}
