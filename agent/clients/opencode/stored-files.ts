/**
 * The files that opencode wrote before it had a database: one for each session, message and part. They are rewritten in place,
 * and ids do not tell the order of messages for ever, so the position of a message is the moment its file changed.
 */
import { join } from 'node:path'
import { idOf, isObject, type Json } from '#agent/clients/json-lines.ts'
import { changedAt, folderChangedAt, isFolder, namesIn, readChanged, Unreadable } from '#agent/clients/record-file.ts'
import type { ChangedSession } from '#agent/clients/usage-source.ts'
import type { StoredMessage } from './message.ts'
import type { Entry, Store } from './walk.ts'

const FILE = /^([A-Za-z0-9_-]{1,128})\.json$/
/** Answers and ends of steps are short; what tools gave is not, and is not looked at. */
const MESSAGE_MAX = 4 * 1024 * 1024
const STEP_MAX = 16 * 1024
const SESSIONS_MAX = 100_000
const BATCH = 200

type Session = { id: string; parent: string | undefined; changedMs: number }
/** Sessions' files as they were read, by path: most do not change any more. */
const known = new Map<string, Session>()
/** Which session was started by which, by the folder that holds them, as it was when it was last gone through. */
const families = new Map<string, Map<string, string[]>>()

const idsIn = (folder: string): string[] => namesIn(folder).flatMap(name => FILE.exec(name)?.[1] ?? [])

/** @throws Unreadable */
function readJson(file: string, most: number): { json: Json | undefined; bytes: number } {
  const { bytes } = readChanged(file, undefined, most) ?? { bytes: Buffer.alloc(0) }
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return { json: isObject(value) ? value : undefined, bytes: bytes.length }
  } catch {
    // still being written
    return { json: undefined, bytes: bytes.length }
  }
}

function sessionAt(file: string, id: string): Session | undefined {
  const changedMs = changedAt(file)
  if (changedMs === undefined) return undefined
  const before = known.get(file)
  if (before?.changedMs === changedMs) return before
  let parent: string | undefined
  try {
    parent = idOf(readJson(file, MESSAGE_MAX).json?.parentID)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
  }
  const session = { id, parent, changedMs }
  if (known.size >= SESSIONS_MAX) known.clear()
  known.set(file, session)
  return session
}

function sessionsIn(root: string): Session[] {
  const folder = join(root, 'session')
  const found = (isFolder(root) && isFolder(folder) ? namesIn(folder) : [])
    .filter(project => isFolder(join(folder, project)))
    .flatMap(project =>
      idsIn(join(folder, project)).flatMap(id => sessionAt(join(folder, project, `${id}.json`), id) ?? []),
    )
  const children = new Map<string, string[]>()
  for (const { id, parent } of found)
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), id])
  families.set(root, children)
  return found
}

export class StoredFiles implements Store {
  private bytes = 0
  readonly isCut = false

  constructor(private readonly root: string) {}

  spent(): number {
    return this.bytes
  }

  sessions(root: string): string[] {
    if (!isFolder(this.root)) return []
    if (!families.has(this.root)) sessionsIn(this.root)
    const children = families.get(this.root)
    const found = new Set([root])
    for (const parent of found) for (const child of children?.get(parent) ?? []) found.add(child)
    const isThere = [...found].some(session => isFolder(join(this.root, 'message', session)))
    return isThere ? [...found] : []
  }

  *messages(session: string, from: number): Generator<Entry> {
    const folder = join(this.root, 'message', session)
    if (!isFolder(folder)) return
    const changed = idsIn(folder).flatMap(id => {
      const at = changedAt(join(folder, `${id}.json`))
      return at !== undefined && at >= from ? { id, at } : []
    })
    for (const { id, at } of changed.sort((a, b) => a.at - b.at))
      yield { at, read: () => this.read(join(folder, `${id}.json`), id) }
  }

  private read(file: string, id: string): StoredMessage | undefined {
    const { json: message, bytes } = readJson(file, MESSAGE_MAX)
    this.bytes += bytes
    if (message === undefined) return undefined
    return { id, message, steps: message.role === 'assistant' ? this.steps(id) : [], tools: [] }
  }

  private steps(message: string): Json[] {
    const folder = join(this.root, 'part', message)
    if (!isFolder(join(this.root, 'part')) || !isFolder(folder)) return []
    const found: Json[] = []
    for (const id of idsIn(folder).sort()) {
      try {
        const { json, bytes } = readJson(join(folder, `${id}.json`), STEP_MAX)
        this.bytes += bytes
        if (json?.type === 'step-finish') found.push(json)
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
      }
    }
    return found
  }
}

/** Sessions whose files changed, in batches; a session that another started is told as that other. */
export function* changedFiles(root: string, sinceMs: number): Generator<ChangedSession[]> {
  const sessions = sessionsIn(root).slice(0, SESSIONS_MAX)
  const byId = new Map(sessions.map(session => [session.id, session]))
  const rootOf = ({ id, parent }: Session): string => {
    let top = id
    const seen = new Set([id])
    for (
      let up = parent && byId.get(parent);
      up && !seen.has(up.id);
      up = up.parent ? byId.get(up.parent) : undefined
    ) {
      seen.add(up.id)
      top = up.id
    }
    return top
  }
  for (let at = 0; at < sessions.length; at += BATCH) {
    const newest = new Map<string, number>()
    for (const session of sessions.slice(at, at + BATCH)) {
      const folder = join(root, 'message', session.id)
      const changedMs = Math.max(session.changedMs, folderChangedAt(folder) ?? 0)
      const top = rootOf(session)
      if (changedMs >= sinceMs) newest.set(top, Math.max(newest.get(top) ?? 0, changedMs))
    }
    yield [...newest].map(([sessionId, changedMs]) => ({
      sessionId,
      transcriptPath: join(root, 'message', sessionId),
      changedMs,
    }))
  }
}
