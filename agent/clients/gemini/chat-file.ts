/** Finds and reads a session's chat files, its subagents' among them, below the client's own folder. No link is followed. */
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import {
  isFolder,
  namesIn,
  problemOf,
  type ReadBudget,
  readBudget,
  readChanged,
  readHead,
  readOn,
  Unreadable,
} from '#agent/clients/record-file.ts'
import { raiseMark, sessionUsage, tallyFrom } from '#agent/clients/tally.ts'
import type { SessionUsage, UsageReader } from '#agent/clients/usage-source.ts'
import { emptyState, type FoundChat, type GeminiUsageState, readDocument, readLines } from './chat.ts'
import { projectFolder } from './project.ts'
import { geminiFolder } from './settings.ts'

export const ID = /^[A-Za-z0-9_-]{1,128}$/
export const FOLDERS_MAX = 20_000
/** A session's chats: its own name ends with the beginning of its id. */
const CHAT = /^session-[A-Za-z0-9_-]{1,200}\.jsonl?$/
const SUBAGENT = /^([A-Za-z0-9_-]{1,128})\.jsonl$/
const SUBAGENTS_MAX = 2_000
/** The first line, which names the session and its project; a document begins with the same. */
const HEAD_MAX = 64 * 1024
/** A conversation that is one document is parsed at once; a longer one is told as too large. */
const DOCUMENT_MAX = 64 * 1024 * 1024

/** Where the client keeps its conversations; its own variable moves the folder. */
export const chatsRoot = (home: ClientHome): string => join(geminiFolder(home), 'tmp')

const HEAD = /^\s*\{[^{}[\]]*?"sessionId"\s*:\s*"([A-Za-z0-9_-]{1,128})"/
const PROJECT = /^\s*\{[^{}[\]]*?"projectHash"\s*:\s*"([0-9a-f]{64})"/

/** The session that a chat file names in its head; undefined for what is none, or not yet. */
export function sessionOf(file: string): { sessionId: string; projectHash: string | undefined } | undefined {
  try {
    const head = readHead(file, HEAD_MAX)
    const sessionId = HEAD.exec(head)?.[1]
    return sessionId === undefined ? undefined : { sessionId, projectHash: PROJECT.exec(head)?.[1] }
  } catch {
    return undefined
  }
}

export const chatNames = (chats: string): string[] => namesIn(chats).filter(name => CHAT.test(name))
export const subagentNames = (folder: string): string[] =>
  isFolder(folder) ? namesIn(folder).filter(name => SUBAGENT.test(name)) : []

type Session = { sessionId: string; transcriptPath?: string | undefined }
type Chat = { name: string; agentId?: string }

/** The files of a session in one project's folder, its own first. */
function chatsIn(root: string, folder: string, { sessionId }: Session, known: Record<string, unknown>) {
  const chats = join(root, folder, 'chats')
  if (!isFolder(join(root, folder)) || !isFolder(chats)) return { own: [], subagents: [] }
  const own = chatNames(chats)
    .filter(name => name.includes(sessionId.slice(0, 8)))
    .map(name => join(folder, 'chats', name))
    .filter(name => name in known || sessionOf(join(root, name))?.sessionId === sessionId)
  const subagents = subagentNames(join(chats, sessionId)).map(name => join(folder, 'chats', sessionId, name))
  return { own, subagents: subagents.sort() }
}

function findFolders(root: string, session: Session, known: Record<string, unknown>, folders: string[]): string[] {
  const holds = (folder: string) => {
    const { own, subagents } = chatsIn(root, folder, session, known)
    return own.length + subagents.length > 0
  }
  const { transcriptPath } = session
  // a hint gives the name of a folder and nothing else, so that it cannot lead out of the root
  const hint = transcriptPath === undefined ? [] : [folderIn(transcriptPath)]
  const found = [...new Set([...folders, ...hint])].filter(f => f !== '' && f !== '.' && f !== '..' && holds(f))
  return found.length > 0 ? found : namesIn(root).slice(0, FOLDERS_MAX).filter(holds)
}

/** `…/<folder>/chats/<file>`, or `…/<folder>/chats/<session>/<file>`. */
function folderIn(path: string): string {
  const above = dirname(path)
  return basename(dirname(basename(above) === 'chats' ? above : dirname(above)))
}

type Context = {
  state: GeminiUsageState
  found: FoundChat
  price: Parameters<UsageReader['readSession']>[3]['price']
  budget: ReadBudget
}

/** Reads one file on. Returns true when more is left than the budget allowed. @throws Unreadable */
function readChat(
  { state, found, price, budget }: Context,
  root: string,
  chat: Chat,
  about: { sessionId: string; cwd: string | undefined },
) {
  const { name, agentId } = chat
  const context = { state, found, price, agentId, ...about }
  const file = join(root, name)
  if (name.endsWith('.jsonl')) {
    const { mark, more } = readOn(file, state.files[name], budget, bytes => readLines(context, bytes))
    state.files[name] = mark
    return more
  }
  const read = readChanged(file, state.whole[name], DOCUMENT_MAX)
  if (read === undefined) return false
  budget.left -= read.bytes.length
  readDocument(context, read.bytes)
  // one that is half-written is read again when it has changed
  state.whole[name] = read.mark
  return false
}

function readAll(home: ClientHome, session: Session, context: Context) {
  const { state, budget } = context
  let problem: SessionUsage['problem']
  let more = false
  const root = fs.realpathSync.native(chatsRoot(home))
  const known = { ...state.files, ...state.whole }
  state.folders = findFolders(root, session, known, state.folders)
  if (state.folders.length === 0) throw new Unreadable('no_transcript')
  for (const folder of state.folders) {
    const { own, subagents } = chatsIn(root, folder, session, known)
    if (subagents.length > SUBAGENTS_MAX) problem ??= 'too_many_files'
    const first = own[0] ?? subagents[0]
    const projectHash = first === undefined ? undefined : sessionOf(join(root, first))?.projectHash
    const about = {
      sessionId: session.sessionId,
      cwd: projectFolder(dirname(chatsRoot(home)), root, folder, projectHash),
    }
    const chats: Chat[] = [
      ...own.map(name => ({ name })),
      ...subagents.slice(0, SUBAGENTS_MAX).map(name => ({ name, agentId: basename(name, '.jsonl') })),
    ]
    for (const chat of chats) {
      if (budget.left <= 0) {
        more = true
        break
      }
      try {
        if (readChat(context, root, chat, about)) more = true
      } catch (error) {
        problem ??= problemOf(error)
      }
    }
  }
  return { problem, more }
}

/** `UsageReader.readSession` for Gemini CLI. */
export const readGeminiSession: UsageReader<GeminiUsageState>['readSession'] = (
  home,
  session,
  before,
  { rateCard, price },
  limits,
) => {
  const state = tallyFrom(before, { ...emptyState(rateCard), folders: before?.folders ?? [] })
  const context: Context = {
    state,
    found: { records: new Map(), addedPicoUsd: 0n, toolUses: [], toolResults: [] },
    price,
    budget: readBudget(limits?.bytes),
  }
  let outcome: ReturnType<typeof readAll> = { problem: 'no_transcript', more: false }
  if (ID.test(session.sessionId))
    try {
      outcome = readAll(home, session, context)
    } catch (error) {
      outcome = { problem: problemOf(error), more: false }
    }
  if (Object.keys(state.files).length + Object.keys(state.whole).length > 0) raiseMark(state)
  return sessionUsage(state, context.found, outcome)
}
