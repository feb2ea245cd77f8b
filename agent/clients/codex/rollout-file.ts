/**
 * Finds and reads Codex's session files. A path is made from a file's name below the client's own roots; links are not
 * followed, only regular files of one's own are read, nothing blocks.
 */
import * as fs from 'node:fs'
import { basename, join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
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
import { type FoundUsage, raiseMark, sessionUsage, tallyFrom } from '#agent/clients/tally.ts'
import type { ChangedSession, SessionUsage, UsageReader } from '#agent/clients/usage-source.ts'
import { type CodexUsageState, emptyState, partsOf, readRollout, sessionIn } from './rollout.ts'
import type { FoundCalls } from './tool-items.ts'

/** Days of a person's years of work, files of one day, and threads of one session. */
const DAYS_MAX = 20_000
const FILES_MAX = 10_000
const THREADS_MAX = 2_000
/** The first line holds the client's own instructions: 22 KB in short. */
const FIRST_LINE_MAX = 4 * 1024 * 1024
const FIRST_READ = 64 * 1024

/** The client's folders, where the person may have put them. */
type Roots = { sessions: string | undefined; archived: string | undefined }
function rootsOf({ env, homeDir }: ClientHome): Roots {
  const codexDir = env.CODEX_HOME || join(homeDir, '.codex')
  const real = (name: string) => {
    try {
      return fs.realpathSync.native(join(codexDir, name))
    } catch {
      return undefined
    }
  }
  return { sessions: real('sessions'), archived: real('archived_sessions') }
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

function* folders({ sessions, archived }: Roots): Generator<string> {
  if (sessions !== undefined) yield* dayFolders(sessions)
  if (archived !== undefined) yield archived
}

/** Finds files by their names, each in its day's folder or put away; looks at each folder once. */
function finderIn({ sessions, archived }: Roots) {
  const dayFolder = new Map<string, string | undefined>()
  const folderOf = ([year, month, day]: [string, string, string]) => {
    const key = `${year}/${month}/${day}`
    if (!dayFolder.has(key)) {
      let folder = sessions
      for (const part of [year, month, day])
        if (folder !== undefined) folder = isFolder(join(folder, part)) ? join(folder, part) : undefined
      dayFolder.set(key, folder)
    }
    return dayFolder.get(key)
  }
  return (name: string): { name: string; path: string; size: number } | undefined => {
    const day = partsOf(name)?.day
    for (const folder of day === undefined ? [] : [folderOf(day), archived]) {
      const path = folder === undefined ? undefined : join(folder, name)
      const stat = path === undefined ? undefined : fs.lstatSync(path, { throwIfNoEntry: false })
      if (path !== undefined && stat !== undefined) return { name, path, size: stat.size }
    }
    return undefined
  }
}

/** The session of each file that was looked at, by its path, and the other way round: neither ever changes. */
const sessionOfFile = new Map<string, string>()
const namesOfSession = new Map<string, Set<string>>()
const KEPT_MOST = 50_000

function keep(path: string, session: string): void {
  if (sessionOfFile.size >= KEPT_MOST) {
    sessionOfFile.clear()
    namesOfSession.clear()
  }
  sessionOfFile.set(path, session)
  const names = namesOfSession.get(session)
  if (names) names.add(basename(path))
  else namesOfSession.set(session, new Set([basename(path)]))
}

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
  keep(path, session)
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

/** `UsageReader.changedSessions` for Codex: one batch a day, in which a session with several threads comes once. */
export const changedCodexSessions: UsageReader['changedSessions'] = function* (home, sinceMs) {
  for (const folder of folders(rootsOf(home))) yield changedIn(folder, sinceMs)
}

function changedIn(folder: string, sinceMs: number): ChangedSession[] {
  const changed = new Map<string, ChangedSession>()
  const names = namesIn(folder).filter(name => partsOf(name) !== undefined)
  for (const name of names.slice(0, FILES_MAX)) {
    const transcriptPath = join(folder, name)
    const changedMs = changedAt(transcriptPath)
    if (changedMs === undefined || changedMs < sinceMs) continue
    const sessionId = sessionIfReadable(transcriptPath)
    if (sessionId === undefined || changedMs < (changed.get(sessionId)?.changedMs ?? 0)) continue
    changed.set(sessionId, { sessionId, transcriptPath, changedMs })
  }
  return [...changed.values()]
}

function sessionIfReadable(path: string): string | undefined {
  try {
    return sessionOf(path)
  } catch {
    return undefined
  }
}

type Session = { sessionId: string; transcriptPath?: string | undefined }
type Context = {
  price: Parameters<UsageReader['readSession']>[3]['price']
  budget: ReadBudget
  found: FoundUsage & FoundCalls
}

/** How long the file of a thread that was started is looked for: it comes within moments, or never (`--ephemeral`). */
const LOOK_MS = 10 * 60_000
const DAY_MS = 24 * 3600_000

/** Names of the files of threads that a session has started, which lie in the folder of the day on which that was. */
function startedFiles({ sessions }: Roots, state: CodexUsageState): string[] {
  if (sessions === undefined) return []
  return Object.entries(state.started ?? {}).flatMap(([id, [atMs, lookedMs]]) => {
    const folders = [0, -DAY_MS, DAY_MS].map(offset => join(sessions, ...localDay(atMs + offset)))
    const name = folders.flatMap(namesIn).find(one => partsOf(one)?.threadId === id)
    if (name !== undefined || (lookedMs > 0 && Date.now() - lookedMs > LOOK_MS)) delete state.started![id]
    else state.started![id] = [atMs, lookedMs || Date.now()]
    return name ?? []
  })
}

function localDay(ms: number): string[] {
  const date = new Date(ms)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(part => String(part).padStart(2, '0'))
}

/** The session's files: those read before, seen by a walk, started, or hinted at; without any its own is looked for. */
function filesOf(home: ClientHome, { sessionId, transcriptPath }: Session, state: CodexUsageState) {
  const roots = rootsOf(home)
  const find = finderIn(roots)
  const others = new Set([...(namesOfSession.get(sessionId) ?? []), ...startedFiles(roots, state)])
  // a hint gives a name and nothing else, so that it cannot lead out of the roots
  if (transcriptPath !== undefined) others.add(basename(transcriptPath))
  const files = Object.keys(state.files).map(find)
  for (const name of others) {
    const file = name in state.files ? undefined : find(name)
    if (file !== undefined && sessionIfReadable(file.path) === sessionId) files.push(file)
  }
  if (files.length === 0)
    for (const folder of folders(roots))
      for (const name of namesIn(folder)) if (partsOf(name)?.threadId === sessionId) files.push(find(name))
  return files.filter(file => file !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function readAll(state: CodexUsageState, home: ClientHome, session: Session, context: Context) {
  const { budget, price } = context
  const { sessionId } = session
  let problem: SessionUsage['problem']
  let more = false
  const files = filesOf(home, session, state)
  if (files.length === 0) problem = 'no_transcript'
  if (files.length > THREADS_MAX) problem = 'too_many_files'
  const isRead = ({ name, size }: (typeof files)[0]) => size === state.files[name]?.offset
  const some = files.slice(0, THREADS_MAX)
  // those with more to read come first, so that a slice need not look at all the others again
  for (const { name, path } of [...some.filter(file => !isRead(file)), ...some.filter(isRead)]) {
    if (budget.left <= 0) {
      more = true
      break
    }
    try {
      const read = readOn(
        path,
        state.files[name],
        budget,
        bytes => readRollout(state, context.found, bytes, { name, sessionId, price, tools: BUFFER_TOOLS }),
        () => delete state.threads[name],
      )
      state.files[name] = read.mark
      if (read.more) more = true
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      problem ??= error.problem
    }
  }
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
  const state = tallyFrom(before, { ...fresh, files: unread(before?.files ?? {}) })
  const found: Context['found'] = { records: new Map(), addedPicoUsd: 0n, toolUses: [], toolResults: [] }
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
  const isWhole = Object.values(state.threads).every(({ asked }) => asked === undefined)
  return { ...sessionUsage(state, found, { problem, more }), isWhole }
}

/** The same files, to be read from their starts. */
const unread = (files: CodexUsageState['files']): CodexUsageState['files'] =>
  Object.fromEntries(Object.keys(files).map(name => [name, { id: '', offset: 0, tail: '' }]))
