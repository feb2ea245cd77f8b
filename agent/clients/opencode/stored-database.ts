/**
 * opencode's database: sessions, messages, and the parts of messages, of which only the ends of steps are looked at. There are
 * two kinds of tables beside each other, those of version 1 and those that version 2 writes.
 */
import { isObject, type Json } from '#agent/clients/json-lines.ts'
import { type Database, indexFor, placeOf, type Table } from '#agent/sqlite/database.ts'
import { unsupported } from '#agent/sqlite/failure.ts'
import { fromLater, type StoredTool } from './message.ts'
import { toolFromHead, toolFromPart } from './tool-part.ts'
import type { Entry, Store } from './walk.ts'

/** The end of a step holds counts and no text. */
const STEP_MAX = 16 * 1024
const STEP = '"step-finish"'
/** A tool call begins so: what it gave stands behind. */
const TOOL = /^\{"type":"tool"/
/** Why a call failed stands behind what it was given. */
const FAILED_MAX = 1024 * 1024
/** A longer message is no answer of a model; what it holds are listings of changes. */
const MESSAGE_MAX = 32 * 1024 * 1024
/** What a person wrote begins so; what stands behind it may be listings of whole files. */
const OF_PERSON = /^\{"role":"user"/
/** Sessions of one session, its subagents' and theirs. */
const SESSIONS_MAX = 20_000

/** The tables of one version. */
export type Generation = {
  name: 'first' | 'later'
  sessions: Table
  messages: Table
  parts?: Table
}

/** The versions whose tables are there. */
export function generationsOf(database: Database): Generation[] {
  const [session, message, part] = ['session', 'message', 'part'].map(name => database.table(name))
  const laterSessions = database.table('session_v2') ?? session
  const laterMessages = database.table('session_message')
  return [
    ...(session && message && part
      ? [{ name: 'first' as const, sessions: session, messages: message, parts: part }]
      : []),
    ...(laterSessions && laterMessages
      ? [{ name: 'later' as const, sessions: laterSessions, messages: laterMessages }]
      : []),
  ]
}

/** What a session's messages cannot be found by, reading all of them each time would not do. */
function needIndex(table: Table, column: string): void {
  if (!indexFor(table, [column])) throw unsupported(`no index of ${table.name} by ${column}`)
}

function parse(text: string | undefined): Json | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A database as a store. A session that has no row has no messages any more: they go with it. */
export class StoredDatabase implements Store {
  private readonly before: number
  /** Whether a session has more sessions than are looked at. */
  isCut = false

  constructor(
    private readonly database: Database,
    private readonly generation: Generation,
  ) {
    this.before = database.pages.bytesRead
    needIndex(generation.messages, 'session_id')
    if (generation.parts) needIndex(generation.parts, 'message_id')
  }

  spent(): number {
    return this.database.pages.bytesRead - this.before
  }

  /** The session, and those that it has started, where it is here. */
  sessions(root: string): string[] {
    const { sessions } = this.generation
    const id = placeOf(sessions, 'id')
    if ([...this.database.rowsWhere(sessions, { id: root })].length === 0) return []
    const found = new Set([root])
    for (const parent of found)
      for (const { record } of this.database.rowsWhere(sessions, { parent_id: parent })) {
        const child = record.text(id)
        this.isCut ||= found.size >= SESSIONS_MAX
        if (child !== undefined && !this.isCut) found.add(child)
      }
    return [...found]
  }

  *messages(session: string, from: number): Generator<Entry> {
    const { messages } = this.generation
    const created = placeOf(messages, 'time_created')
    const rows = this.database.rowsWhere(messages, { session_id: session }, { column: 'time_created', from })
    for (const { record } of rows) {
      const at = record.number(created) ?? 0
      yield {
        at,
        read: () => {
          const id = record.text(placeOf(messages, 'id'))
          const place = placeOf(messages, 'data')
          const isWanted = record.size <= MESSAGE_MAX && !OF_PERSON.test(record.textHead(place) ?? '')
          const data = isWanted ? parse(record.text(place)) : undefined
          if (id === undefined || data === undefined) return undefined
          if (this.generation.name === 'later') {
            const type = record.text(placeOf(messages, 'type'))
            return { id, message: fromLater(type, data, at), steps: [], tools: [] }
          }
          return { id, message: data, ...(data.role === 'assistant' ? this.parts(id) : { steps: [], tools: [] }) }
        },
      }
    }
  }

  private parts(message: string): { steps: Json[]; tools: StoredTool[] } {
    const { parts } = this.generation
    const [steps, tools]: [Json[], StoredTool[]] = [[], []]
    if (!parts) return { steps, tools }
    const [idPlace, place] = [placeOf(parts, 'id'), placeOf(parts, 'data')]
    for (const { record } of this.database.rowsWhere(parts, { message_id: message })) {
      const head = record.textHead(place) ?? ''
      if (TOOL.test(head)) {
        const id = record.text(idPlace) ?? ''
        const brief = toolFromHead(id, head)
        // what tools gave stands in rows that are long: their pages are not looked at
        const isWanted = record.size <= STEP_MAX || (brief?.status === 'error' && record.size <= FAILED_MAX)
        const tool = isWanted ? toolFromPart(id, parse(record.text(place))) : brief
        if (tool) tools.push(tool)
        continue
      }
      const text = record.size > STEP_MAX ? undefined : record.text(place)
      const part = text?.includes(STEP) ? parse(text) : undefined
      if (part?.type === 'step-finish') steps.push(part)
    }
    return { steps, tools }
  }
}

export type StoredSession = { id: string; root: string; newestMs: number }

/**
 * Sessions with a message of a moment or later, those after a session's id in the order of ids, at most so many looked at.
 * `next`: the last one looked at, where there are more.
 */
export function sessionsSince(
  database: Database,
  generation: Generation,
  { sinceMs, after, most }: { sinceMs: number; after: string; most: number },
): { found: StoredSession[]; next: string | undefined } {
  const { sessions, messages } = generation
  const ids = indexFor(sessions, ['id'])
  if (!ids) throw unsupported('no index of sessions')
  const found: StoredSession[] = []
  let looked = 0
  for (const entry of database.entries(ids, [after])) {
    const id = entry.text(0)
    if (id === undefined || id === after) continue
    const newestMs = newestOf(database, messages, id, sinceMs)
    if (newestMs !== undefined) found.push({ id, root: rootOf(database, sessions, id), newestMs })
    if (++looked >= most) return { found, next: id }
  }
  return { found, next: undefined }
}

/** The moment of a session's newest message, where that is not before another moment. */
function newestOf(database: Database, messages: Table, id: string, sinceMs: number): number | undefined {
  const index = indexFor(messages, ['session_id', 'time_created']) ?? indexFor(messages, ['session_id'])
  if (!index) throw unsupported('no index of messages')
  const isByTime = index.columns[1] === 'time_created'
  let newest: number | undefined
  for (const entry of database.entries(index, isByTime ? [id, sinceMs] : [id])) {
    if (entry.text(0) !== id) break
    const created = isByTime
      ? entry.number(1)
      : database.row(messages, database.rowidOf(index, entry))?.record.number(placeOf(messages, 'time_created'))
    if (created !== undefined && created >= sinceMs) newest = Math.max(newest ?? 0, created)
  }
  return newest
}

/** The session that a session was started by, up to the one that a person began. */
function rootOf(database: Database, sessions: Table, id: string): string {
  const parentId = placeOf(sessions, 'parent_id')
  let root = id
  for (let depth = 0; depth < SESSIONS_MAX; depth++) {
    const [row] = database.rowsWhere(sessions, { id: root })
    const parent = row?.record.text(parentId)
    if (parent === undefined || parent === '' || parent === root) return root
    // a parent that is gone leaves its child a session of its own
    if ([...database.rowsWhere(sessions, { id: parent })].length === 0) return root
    root = parent
  }
  return id
}
