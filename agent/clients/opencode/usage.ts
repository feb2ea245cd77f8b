/** Finds and reads what opencode records of its calls: in its databases, and in the files that it wrote before it had one. */
import * as fs from 'node:fs'
import { changedAt, openIfThere, problemOf, type ReadProblem, readBudget } from '#agent/clients/record-file.ts'
import {
  countUsage,
  emptyTally,
  type FoundUsage,
  raiseMark,
  sessionUsage,
  settle,
  tallyFrom,
  type UsageTally,
} from '#agent/clients/tally.ts'
import type {
  ChangedSession,
  PriceRecord,
  SeenToolResult,
  SeenToolUse,
  UsageReader,
  UsageRecord,
  UsageState,
} from '#agent/clients/usage-source.ts'
import type { Database } from '#agent/sqlite/database.ts'
import { DatabaseFile } from '#agent/sqlite/database-file.ts'
import { SqliteFailure } from '#agent/sqlite/failure.ts'
import { recordsOf } from './message.ts'
import { databasesOf, nameOf, storageFolder } from './places.ts'
import { type Generation, generationsOf, StoredDatabase, type StoredSession, sessionsSince } from './stored-database.ts'
import { changedFiles, StoredFiles } from './stored-files.ts'
import { toolsOf } from './tool-part.ts'
import { type Store, type WalkMark, walk } from './walk.ts'

const ID = /^[A-Za-z0-9_-]{1,128}$/
/** Sessions in one batch. */
const BATCH = 500
/** An answer bears the moment in which it was begun, and may be written to this long after. */
const ANSWER_MS = 12 * 3600_000
const KEPT_MAX = 16
/** How often a database is looked through once more that was written to meanwhile. */
const TRIES = 20
/** Above all ids. */
const LAST = '~'
/** No session's id: those begin with `ses_`. */
const UNREAD = 'unread'

export type OpencodeUsageState = UsageState &
  UsageTally & {
    client: 'opencode'
    rateCard: string
    model?: string
    /** When the answer that `model` is of was begun. */
    modelAtMs: number
    /** By the name of a database and the kind of its tables, or `files`. */
    marks: Record<string, WalkMark>
  }

const emptyState = (rateCard: string): OpencodeUsageState => ({
  ...emptyTally(),
  v: 1,
  client: 'opencode',
  rateCard,
  modelAtMs: 0,
  marks: {},
})

/** A state without what was counted. */
export const marksOf = ({ rateCard, model, modelAtMs, marks }: OpencodeUsageState): OpencodeUsageState => ({
  ...emptyState(rateCard),
  ...(model === undefined ? {} : { model }),
  modelAtMs,
  marks,
})

/** Pages and the index of the log are kept between two reads; nothing of a message is. */
const kept = new Map<string, DatabaseFile>()
function databaseAt(path: string): DatabaseFile {
  const known = kept.get(path)
  if (known) return known
  if (kept.size >= KEPT_MAX) kept.clear()
  const file = new DatabaseFile(path, openIfThere)
  kept.set(path, file)
  return file
}

function problemIn(error: unknown): ReadProblem {
  if (error instanceof SqliteFailure) return 'unreadable'
  return problemOf(error)
}

type Heard = { record: UsageRecord; session: string }
type Seen = { toolUses: SeenToolUse[]; toolResults: SeenToolResult[] }
type Part = Seen & { name: string; mark: WalkMark; more: boolean; found: boolean; isCut: boolean; heard: Heard[] }

/** Reads on in one place, and changes nothing: a database may have to be read again. */
function readStore(name: string, store: Store, root: string, state: OpencodeUsageState, budget: number): Part {
  const heard: Heard[] = []
  const seen: Seen = { toolUses: [], toolResults: [] }
  const before = state.marks[name] ?? { from: 0 }
  const read = walk(store, root, before, budget, (stored, session) => {
    for (const record of recordsOf(stored)) heard.push({ record, session })
    const { uses, results } = toolsOf(stored)
    const inAgent = session === root ? {} : { agentId: session }
    for (const use of uses) seen.toolUses.push({ ...use, ...inAgent })
    seen.toolResults.push(...results)
  })
  return { name, heard, isCut: store.isCut, ...seen, ...read }
}

/** `UsageReader.readSession` for opencode. */
export const readOpencodeSession: UsageReader<OpencodeUsageState>['readSession'] = (
  home,
  { sessionId },
  before,
  { rateCard, price },
  limits,
) => {
  const state = tallyFrom(before, emptyState(rateCard))
  const found: FoundUsage & Seen = { records: new Map(), addedPicoUsd: 0n, toolUses: [], toolResults: [] }
  const budget = readBudget(limits?.bytes)
  let problem: ReadProblem | undefined
  let more = false
  let isKept = false
  const take = ({ name, heard, mark, toolUses, toolResults, ...read }: Part, spent: number) => {
    budget.left -= spent
    more ||= read.more
    isKept ||= read.found
    if (!read.found) return
    for (const { record, session } of heard)
      countCall(state, found, price, session === sessionId ? record : { ...record, agentId: session })
    found.toolUses.push(...toolUses)
    found.toolResults.push(...toolResults)
    if (read.isCut) problem ??= 'too_many_files'
    state.marks[name] = mark
  }
  const attempt = (read: () => void) => {
    if (budget.left <= 0) {
      more = true
      return
    }
    try {
      read()
    } catch (error) {
      problem ??= problemIn(error)
    }
  }
  if (ID.test(sessionId)) {
    for (const path of databasesOf(home))
      attempt(() => {
        const parts = databaseAt(path).read(database =>
          generationsOf(database).map(generation => {
            const store = new StoredDatabase(database, generation)
            const part = readStore(`${nameOf(path)}#${generation.name}`, store, sessionId, state, budget.left)
            return { part, spent: store.spent() }
          }),
        )
        for (const { part, spent } of parts ?? []) take(part, spent)
      })
    // a database took the files over; they stay where they are
    if (!isKept)
      attempt(() => {
        const store = new StoredFiles(storageFolder(home))
        const part = readStore('files', store, sessionId, state, budget.left)
        take(part, store.spent())
      })
  }
  // what could not be read elsewhere is another session's matter
  if (isKept) problem = problem === 'too_many_files' ? problem : undefined
  else if (!more) problem ??= 'no_transcript'
  settle(state, found)
  if (Object.keys(state.marks).length > 0) raiseMark(state)
  return sessionUsage(state, found, { problem, more })
}

function countCall(state: OpencodeUsageState, found: FoundUsage, price: PriceRecord, record: UsageRecord): void {
  if (record.agentId === undefined && record.atMs >= state.modelAtMs) {
    state.model = record.model
    state.modelAtMs = record.atMs
  }
  countUsage(state, found, price, record)
}

/** `UsageReader.changedSessions` for opencode. */
export const changedOpencodeSessions: UsageReader['changedSessions'] = function* (home, sinceMs) {
  for (const path of databasesOf(home)) yield* changedIn(path, sinceMs)
  yield* changedFiles(storageFolder(home), sinceMs)
}

/** Databases that could not be read: what changed in them meanwhile is looked for from the start. */
const unreadable = new Set<string>()

function* changedIn(path: string, sinceMs: number): Generator<ChangedSession[]> {
  const changedMs = changedAt(path)
  // told as a session that cannot be read, so that whoever reads it hears why
  const unread = [{ sessionId: UNREAD, transcriptPath: path, changedMs: changedMs ?? sinceMs }]
  if (changedMs === undefined) {
    if (fs.lstatSync(path, { throwIfNoEntry: false })) yield unread
    return
  }
  const isAllNew = unreadable.has(path) || isNewer(path, sinceMs)
  if (!isAllNew && Math.max(changedMs, changedAt(`${path}-wal`) ?? 0) < sinceMs) return
  const since = isAllNew ? 0 : Math.max(0, sinceMs - ANSWER_MS)
  const after: Partial<Record<Generation['name'], string>> = {}
  let isMore = true
  for (let tries = TRIES; isMore; ) {
    let batch: StoredSession[] = []
    try {
      const read = databaseAt(path).read(database => nextSessions(database, since, after)) ?? []
      for (const { name, next } of read) after[name] = next
      batch = read.flatMap(({ found }) => found)
      isMore = read.some(({ hasMore }) => hasMore)
    } catch (error) {
      const isPassing = error instanceof SqliteFailure && error.problem === 'moved'
      if (!isPassing || tries-- === 0) {
        unreadable.add(path)
        yield unread
        return
      }
    }
    yield rootsOf(batch, path)
  }
  unreadable.delete(path)
}

/** The next sessions of each kind of tables, after those that were looked at. */
function nextSessions(database: Database, sinceMs: number, after: Partial<Record<Generation['name'], string>>) {
  return generationsOf(database).map(generation => {
    const { name } = generation
    const { found, next } = sessionsSince(database, generation, { sinceMs, after: after[name] ?? '', most: BATCH })
    return { name, found, hasMore: next !== undefined, next: next ?? LAST }
  })
}

/** Where a file system does not tell when a file came, it tells the moment of its last change instead. */
function isNewer(path: string, sinceMs: number): boolean {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  return stat !== undefined && stat.birthtimeMs >= sinceMs && stat.birthtimeMs !== stat.ctimeMs
}

/** Each session that a person began once, with the newest moment of its tree. */
function rootsOf(batch: StoredSession[], transcriptPath: string): ChangedSession[] {
  const newest = new Map<string, number>()
  for (const { root, newestMs } of batch) if (ID.test(root)) newest.set(root, Math.max(newest.get(root) ?? 0, newestMs))
  return [...newest].map(([sessionId, changedMs]) => ({ sessionId, transcriptPath, changedMs }))
}
