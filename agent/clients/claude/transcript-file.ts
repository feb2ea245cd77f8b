/**
 * Finds and reads a session's transcript files. The path comes from the session's id below the client's own roots;
 * links are not followed, only regular files of one's own are read, nothing blocks.
 */
import { hash } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ClientHome, SessionUsage, UsageReader } from '#agent/clients/adapter.ts'
import { claudeDir } from './settings-file.ts'
import {
  type ByteTools,
  type ClaudeUsageState,
  emptyState,
  type FileMark,
  type Found,
  nothingFound,
  readLines,
} from './transcript.ts'

const CHUNK = 1024 * 1024
/** A transcript grows by a few lines between two calls: memory of their own would cost more than reading them. */
const SMALL = Buffer.allocUnsafeSlow(64 * 1024)
/** A longer line is dropped unread: no response is that long, and memory stays flat. */
const LINE_MAX = 32 * 1024 * 1024
/** One call reads at most so much, so that a daemon stays responsive; the caller asks again. */
const READ_MAX = 64 * 1024 * 1024
export const FOLDERS_MAX = 20_000
const SUBAGENTS_MAX = 2_000
/** Enough to hold the ids and times of the last line, which differ in any other content. */
const TAIL = 1024
export const ID = /^[A-Za-z0-9_-]{1,128}$/
const OPEN_FLAGS = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK

type Problem = NonNullable<SessionUsage['problem']>
class Unreadable extends Error {
  constructor(readonly problem: Problem) {
    super(problem)
  }
}

const BUFFER_TOOLS: ByteTools = {
  find: (bytes, wanted, from) => (bytes as Buffer).indexOf(wanted, from),
  decode: (bytes, start, end) => (bytes as Buffer).toString('utf8', start, end),
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

/** Opens a regular file of our own. @throws Unreadable */
function openOwn(file: string): { fd: number; stat: fs.Stats } {
  let fd: number
  try {
    fd = fs.openSync(file, OPEN_FLAGS)
  } catch (error) {
    const code = codeOf(error)
    throw new Unreadable(code === 'ENOENT' ? 'no_transcript' : code === 'ELOOP' ? 'not_a_file' : 'unreadable')
  }
  const stat = fs.fstatSync(fd)
  const problem: Problem | undefined = !stat.isFile()
    ? 'not_a_file'
    : process.getuid && stat.uid !== process.getuid()
      ? 'not_ours'
      : undefined
  if (problem === undefined) return { fd, stat }
  fs.closeSync(fd)
  throw new Unreadable(problem)
}

const digestOf = (tail: Uint8Array) => hash('sha256', tail, 'base64').slice(0, 22)
const tailLength = (offset: number) => Math.min(TAIL, offset)

/** Bytes of a file from `start` on, in memory that the next read takes. */
type Piece = { start: number; bytes: Buffer; memory: Buffer; isFull: boolean }

function readPiece(fd: number, start: number, size: number, used?: Buffer): Piece {
  const memory = used && used.length >= size ? used : size <= SMALL.length ? SMALL : Buffer.allocUnsafe(size)
  const got = fs.readSync(fd, memory, 0, size, start)
  return { start, bytes: memory.subarray(0, got), memory, isFull: got === size }
}

/** A mark's tail and what follows it, in one read. */
function readFrom(fd: number, { offset }: FileMark, fileSize: number, chunk: number): Piece {
  const start = offset - tailLength(offset)
  return readPiece(fd, start, fileSize - start < SMALL.length ? SMALL.length : chunk)
}

/** The digest of the bytes before `offset`, from the piece where it holds them. */
function tailBefore(fd: number, offset: number, held: Piece): string {
  const length = tailLength(offset)
  const { start, bytes } = held
  const isHeld = offset - length >= start && offset <= start + bytes.length
  const from = isHeld ? offset - length - start : 0
  return digestOf((isHeld ? bytes : readPiece(fd, offset - length, length).bytes).subarray(from, from + length))
}

const NO_MARK: FileMark = { id: '', offset: 0, tail: '' }

type Context = {
  price: Parameters<UsageReader['readSession']>[3]['price']
  budget: number
  chunk: number
  found: Found
}

/** Reads one file on from its mark. Returns true when more is left than the budget allowed. @throws Unreadable */
function readFile(state: ClaudeUsageState, root: string, name: string, agentId: string | undefined, context: Context) {
  const { fd, stat } = openOwn(join(root, name))
  try {
    const id = `${stat.dev}:${stat.ino}`
    const known: FileMark | undefined = state.files[name]
    const isSame = known?.id === id && stat.size >= known.offset
    let piece = readFrom(fd, isSame ? known : NO_MARK, stat.size, context.chunk)
    let mark = isSame ? known : NO_MARK
    // replaced, cut short or rewritten: from the start again; what was counted is not counted twice
    if (isSame && tailBefore(fd, known.offset, piece) !== known.tail) {
      mark = NO_MARK
      piece = readFrom(fd, mark, stat.size, context.chunk)
    }
    if (stat.size === mark.offset && known === mark) return false
    let { offset } = mark
    let skipping = mark.skipping ?? false
    let size = context.chunk
    let more = false
    for (;;) {
      const chunk = piece.bytes.subarray(offset - piece.start)
      if (chunk.length === 0) break
      if (skipping) {
        const newline = chunk.indexOf(10)
        offset += newline === -1 ? chunk.length : newline + 1
        skipping = newline === -1
        context.budget -= chunk.length
      } else {
        const read = readLines(state, context.found, chunk, { price: context.price, tools: BUFFER_TOOLS, agentId })
        offset += read
        context.budget -= read
        if (read === 0) {
          if (!piece.isFull) break
          if (chunk.length >= LINE_MAX) skipping = true
          else if (chunk.length >= size) size *= 2
        }
      }
      if (context.budget <= 0) {
        more = skipping || offset < stat.size
        break
      }
      // the file ends in this piece
      if (!piece.isFull && !skipping) break
      piece = readPiece(fd, offset, size, piece.memory)
    }
    state.files[name] = { id, offset, tail: tailBefore(fd, offset, piece), ...(skipping ? { skipping } : {}) }
    return more
  } catch (error) {
    if (error instanceof Unreadable || codeOf(error) === undefined) throw error
    throw new Unreadable('unreadable')
  } finally {
    fs.closeSync(fd)
  }
}

export const isFolder = (path: string) => fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
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
  let problem: Problem | undefined
  let more = false
  const root = fs.realpathSync.native(join(claudeDir(home), 'projects'))
  state.folders = findFolders(root, session, state.folders)
  if (state.folders.length === 0) throw new Unreadable('no_transcript')
  const attempt = (name: string, agentId?: string) => {
    if (context.budget <= 0) {
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

const larger = (a: bigint, b: string | undefined) => (b !== undefined && BigInt(b) > a ? BigInt(b) : a)

/** `UsageReader.readSession` for Claude Code. */
export const readClaudeSession: UsageReader<ClaudeUsageState>['readSession'] = (
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
        : { ...fresh, folders: before.folders, ...(before.mark === undefined ? {} : { mark: before.mark }) }
  const context: Context = {
    price: pricing.price,
    budget: limits?.bytes ?? READ_MAX,
    chunk: Math.min(CHUNK, limits?.bytes ?? CHUNK),
    found: nothingFound(),
  }
  let problem: Problem | undefined
  let more = false
  if (!ID.test(session.sessionId)) problem = 'no_transcript'
  else
    try {
      ;({ problem, more } = readAll(state, home, session, context))
    } catch (error) {
      if (!(error instanceof Unreadable) && codeOf(error) === undefined) throw error
      problem =
        error instanceof Unreadable ? error.problem : codeOf(error) === 'ENOENT' ? 'no_transcript' : 'unreadable'
    }
  if (Object.keys(state.files).length > 0) state.mark = larger(BigInt(state.cost), state.mark).toString()
  return {
    state,
    costPicoUsd: state.mark === undefined ? undefined : BigInt(state.mark),
    fallback: state.unpriced.length > 0,
    unpricedModels: [...state.unpriced],
    ...(state.model === undefined ? {} : { model: state.model }),
    records: [...context.found.records.values()],
    toolUses: context.found.toolUses,
    toolResults: context.found.toolResults,
    fresh: problem === undefined,
    ...(problem === undefined ? {} : { problem }),
    more,
  }
}
