/**
 * Finds and reads Codex's session files. A path is made from a file's name below the client's own roots; links are not
 * followed, only regular files of one's own are read, nothing blocks.
 */
import * as fs from 'node:fs'
import { basename, join } from 'node:path'
import type { ChangedSession, ClientHome, SessionUsage, UsageReader } from '#agent/clients/adapter.ts'
import { BUFFER_TOOLS } from '#agent/clients/json-lines.ts'
import {
  changedAt,
  isFolder,
  namesIn,
  openOwn,
  problemOf,
  type ReadBudget,
  readBudget,
  readOn,
  Unreadable,
} from '#agent/clients/record-file.ts'
import { type FoundUsage, raiseMark } from '#agent/clients/tally.ts'
import { type CodexUsageState, emptyState, partsOf, readRollout, sessionIn } from './rollout.ts'

/** Days of a person's years of work, files of one day, and threads of one session. */
const DAYS_MAX = 20_000
const FILES_MAX = 10_000
const THREADS_MAX = 2_000
/** The first line holds the client's own instructions: 22 KB in short. */
const FIRST_LINE_MAX = 4 * 1024 * 1024
const FIRST_READ = 64 * 1024
const SESSIONS = 'sessions'
const ARCHIVED = 'archived_sessions'

const codexDir = ({ env, homeDir }: ClientHome) => env.CODEX_HOME || join(homeDir, '.codex')

/** A folder of the client's, where the person may have put it; undefined when there is none. */
function rootOf(home: ClientHome, name: string): string | undefined {
  try {
    return fs.realpathSync.native(join(codexDir(home), name))
  } catch {
    return undefined
  }
}

/** Folders of days, the oldest first. */
function* dayFolders(root: string): Generator<string> {
  const below = (folder: string, form: RegExp) =>
    namesIn(folder)
      .filter(name => form.test(name) && isFolder(join(folder, name)))
      .sort()
      .map(name => join(folder, name))
  let days = 0
  for (const year of below(root, /^\d{4}$/))
    for (const month of below(year, /^\d\d$/))
      for (const day of below(month, /^\d\d$/)) if (days++ < DAYS_MAX) yield day
}

function* folders(home: ClientHome): Generator<string> {
  const sessions = rootOf(home, SESSIONS)
  if (sessions !== undefined) yield* dayFolders(sessions)
  const archived = rootOf(home, ARCHIVED)
  if (archived !== undefined) yield archived
}

/** Where a file of this name lies: in its day's folder, or put away. Undefined when in neither. */
function placeOf(home: ClientHome, name: string): string | undefined {
  const day = partsOf(name)?.day
  if (day === undefined) return undefined
  const isThere = (path: string) => fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined
  let folder = rootOf(home, SESSIONS)
  for (const part of folder === undefined ? [] : day) {
    folder = folder === undefined ? undefined : join(folder, part)
    if (folder !== undefined && !isFolder(folder)) folder = undefined
  }
  if (folder !== undefined && isThere(join(folder, name))) return join(folder, name)
  const archived = rootOf(home, ARCHIVED)
  return archived !== undefined && isThere(join(archived, name)) ? join(archived, name) : undefined
}

/** The session of each file, by its path: that never changes. */
const sessionOfFile = new Map<string, string>()
const KEPT_MOST = 50_000

/** The session that a file's first line names; undefined while there is none. @throws Unreadable */
function sessionOf(path: string): string | undefined {
  const known = sessionOfFile.get(path)
  if (known !== undefined) return known
  const line = firstLine(path)
  if (line === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    value = undefined
  }
  const session = sessionIn(value) ?? partsOf(basename(path))?.threadId
  if (session === undefined) return undefined
  if (sessionOfFile.size >= KEPT_MOST) sessionOfFile.clear()
  sessionOfFile.set(path, session)
  return session
}

function firstLine(path: string): string | undefined {
  const { fd } = openOwn(path)
  try {
    for (let size = FIRST_READ; ; size *= 8) {
      const bytes = Buffer.allocUnsafe(Math.min(size, FIRST_LINE_MAX))
      const got = fs.readSync(fd, bytes, 0, bytes.length, 0)
      const end = bytes.subarray(0, got).indexOf(10)
      if (end !== -1) return bytes.toString('utf8', 0, end)
      // a line still being written, or one that is no line of the client's
      if (got < bytes.length) return undefined
      if (bytes.length === FIRST_LINE_MAX) return ''
    }
  } finally {
    fs.closeSync(fd)
  }
}

/** `UsageReader.changedSessions` for Codex: one entry a thread, one batch a day. */
export const changedCodexSessions: UsageReader['changedSessions'] = function* (home, sinceMs) {
  for (const folder of folders(home)) yield changedIn(folder, sinceMs)
}

function changedIn(folder: string, sinceMs: number): ChangedSession[] {
  return namesIn(folder)
    .filter(name => partsOf(name) !== undefined)
    .slice(0, FILES_MAX)
    .flatMap(name => {
      const transcriptPath = join(folder, name)
      const changedMs = changedAt(transcriptPath)
      if (changedMs === undefined || changedMs < sinceMs) return []
      try {
        const sessionId = sessionOf(transcriptPath)
        return sessionId === undefined ? [] : [{ sessionId, transcriptPath, changedMs }]
      } catch {
        return []
      }
    })
}

type Session = { sessionId: string; transcriptPath?: string | undefined }
type Context = { price: Parameters<UsageReader['readSession']>[3]['price']; budget: ReadBudget; found: FoundUsage }

/** Names of the session's files: those known and the one hinted at, else its own is looked for. */
function namesOf(home: ClientHome, { sessionId, transcriptPath }: Session, state: CodexUsageState): string[] {
  const names = new Set(Object.keys(state.files))
  // a hint gives a name and nothing else, so that it cannot lead out of the roots
  const hint = transcriptPath === undefined ? undefined : basename(transcriptPath)
  if (hint !== undefined && !names.has(hint)) {
    const path = placeOf(home, hint)
    if (path !== undefined && sessionOf(path) === sessionId) names.add(hint)
  }
  if (names.size === 0)
    for (const folder of folders(home))
      for (const name of namesIn(folder)) if (partsOf(name)?.threadId === sessionId) names.add(name)
  return [...names].sort()
}

function readAll(state: CodexUsageState, home: ClientHome, session: Session, context: Context) {
  const { budget, found, price } = context
  const { sessionId } = session
  let problem: SessionUsage['problem']
  let more = false
  let there = 0
  const names = namesOf(home, session, state)
  if (names.length > THREADS_MAX) problem = 'too_many_files'
  for (const name of names.slice(0, THREADS_MAX)) {
    if (budget.left <= 0) {
      more = true
      break
    }
    const path = placeOf(home, name)
    if (path === undefined) continue
    there++
    try {
      const read = readOn(
        path,
        state.files[name],
        budget,
        bytes => readRollout(state, found, bytes, { name, sessionId, price, tools: BUFFER_TOOLS }),
        () => delete state.threads[name],
      )
      state.files[name] = read.mark
      if (read.more) more = true
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      problem ??= error.problem
    }
  }
  if (there === 0 && !more) problem ??= 'no_transcript'
  return { problem, more }
}

const ID = /^[A-Za-z0-9_-]{1,128}$/

/** `UsageReader.readSession` for Codex. */
export const readCodexSession: UsageReader<CodexUsageState>['readSession'] = (
  home,
  session,
  before,
  pricing,
  limits,
) => {
  const fresh = emptyState(pricing.rateCard)
  // other prices: from the start, but never below what was shown
  const state =
    before === undefined
      ? fresh
      : before.rateCard === pricing.rateCard
        ? before
        : { ...fresh, files: unread(before.files), ...(before.mark === undefined ? {} : { mark: before.mark }) }
  const found: FoundUsage = { records: new Map(), addedPicoUsd: 0n }
  const context: Context = { price: pricing.price, budget: readBudget(limits?.bytes), found }
  let problem: SessionUsage['problem']
  let more = false
  if (!ID.test(session.sessionId)) problem = 'no_transcript'
  else
    try {
      ;({ problem, more } = readAll(state, home, session, context))
    } catch (error) {
      problem = problemOf(error)
    }
  if (Object.keys(state.threads).length > 0) raiseMark(state)
  return {
    state,
    costPicoUsd: state.mark === undefined ? undefined : BigInt(state.mark),
    fallback: state.unpriced.length > 0,
    unpricedModels: [...state.unpriced],
    ...(state.model === undefined ? {} : { model: state.model }),
    records: [...found.records.values()],
    toolUses: [],
    toolResults: [],
    fresh: problem === undefined,
    ...(problem === undefined ? {} : { problem }),
    more,
  }
}

/** The same files, to be read from their starts. */
const unread = (files: CodexUsageState['files']): CodexUsageState['files'] =>
  Object.fromEntries(Object.keys(files).map(name => [name, { id: '', offset: 0, tail: '' }]))
