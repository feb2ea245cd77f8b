/**
 * Finds and reads a session's transcript files. The path comes from the session's id below the client's own roots;
 * links are not followed, only regular files of one's own are read, nothing blocks.
 */
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { BUFFER_TOOLS } from '#agent/clients/json-lines.ts'
import { isFolder, problemOf, type ReadBudget, readBudget, readOn, Unreadable } from '#agent/clients/record-file.ts'
import { raiseMark, sessionUsage, tallyFrom } from '#agent/clients/tally.ts'
import type { SessionUsage, UsageReader } from '#agent/clients/usage-source.ts'
import { claudeDir } from './settings-file.ts'
import { type ClaudeUsageState, emptyState, type Found, nothingFound, readLines } from './transcript.ts'

export const FOLDERS_MAX = 20_000
const SUBAGENTS_MAX = 2_000
export const ID = /^[A-Za-z0-9_-]{1,128}$/
type Context = {
  price: Parameters<UsageReader['readSession']>[3]['price']
  budget: ReadBudget
  found: Found
}

/** Reads one file on from its mark. Returns true when more is left than the budget allowed. @throws Unreadable */
function readFile(state: ClaudeUsageState, root: string, name: string, agentId: string | undefined, context: Context) {
  const { found, price, budget } = context
  const { mark, more } = readOn(join(root, name), state.files[name], budget, bytes =>
    readLines(state, found, bytes, { price, tools: BUFFER_TOOLS, agentId }),
  )
  state.files[name] = mark
  return more
}

/** The client's name for a working folder. */
const folderOf = (cwd: string) => cwd.replace(/[^A-Za-z0-9]/g, '-')

type Session = { sessionId: string; cwd?: string | undefined; transcriptPath?: string | undefined }

/** Folders below `projects` that hold the session: those known, those hinted at, else all are looked through. */
function findFolders(root: string, session: Session, known: string[]): string[] {
  const file = `${session.sessionId}.jsonl`
  const hints = [...known]
  const { transcriptPath, cwd } = session
  // a hint gives the name of a folder and nothing else, so that it cannot lead out of the root
  if (transcriptPath !== undefined && basename(transcriptPath) === file) hints.push(basename(dirname(transcriptPath)))
  if (cwd !== undefined) hints.push(folderOf(cwd))
  const holds = (name: string) =>
    name !== '..' &&
    name !== '.' &&
    isFolder(join(root, name)) &&
    fs.lstatSync(join(root, name, file), { throwIfNoEntry: false }) !== undefined
  const found = [...new Set(hints)].filter(name => known.includes(name) || holds(name))
  if (found.length > 0) return found
  return fs.readdirSync(root).slice(0, FOLDERS_MAX).filter(holds)
}

function subagentFiles(root: string, folder: string, sessionId: string): { names: string[]; tooMany: boolean } {
  const at = join(folder, sessionId, 'subagents')
  if (!isFolder(join(root, folder, sessionId)) || !isFolder(join(root, at))) return { names: [], tooMany: false }
  const names = fs.readdirSync(join(root, at)).filter(n => /^agent-[A-Za-z0-9_-]{1,128}\.jsonl$/.test(n))
  return {
    names: names
      .sort()
      .slice(0, SUBAGENTS_MAX)
      .map(n => join(at, n)),
    tooMany: names.length > SUBAGENTS_MAX,
  }
}

function readAll(state: ClaudeUsageState, home: ClientHome, session: Session, context: Context) {
  let problem: SessionUsage['problem']
  let more = false
  const root = fs.realpathSync.native(join(claudeDir(home), 'projects'))
  state.folders = findFolders(root, session, state.folders)
  if (state.folders.length === 0) throw new Unreadable('no_transcript')
  const attempt = (name: string, agentId?: string) => {
    if (context.budget.left <= 0) {
      more = true
      return
    }
    try {
      if (readFile(state, root, name, agentId, context)) more = true
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      problem ??= error.problem
    }
  }
  for (const folder of state.folders) {
    attempt(join(folder, `${session.sessionId}.jsonl`))
    const subagents = subagentFiles(root, folder, session.sessionId)
    if (subagents.tooMany) problem ??= 'too_many_files'
    for (const name of subagents.names) attempt(name, /agent-(.+)\.jsonl$/.exec(name)?.[1])
  }
  return { problem, more }
}

/** `UsageReader.readSession` for Claude Code. */
export const readClaudeSession: UsageReader<ClaudeUsageState>['readSession'] = (
  home,
  session,
  before,
  pricing,
  limits,
) => {
  const fresh = emptyState(pricing.rateCard)
  const state = tallyFrom(before, { ...fresh, folders: before?.folders ?? [] })
  const context: Context = {
    price: pricing.price,
    budget: readBudget(limits?.bytes),
    found: nothingFound(),
  }
  let problem: SessionUsage['problem']
  let more = false
  if (!ID.test(session.sessionId)) problem = 'no_transcript'
  else
    try {
      ;({ problem, more } = readAll(state, home, session, context))
    } catch (error) {
      problem = problemOf(error)
    }
  if (Object.keys(state.files).length > 0) raiseMark(state)
  return sessionUsage(state, context.found, { problem, more })
}
