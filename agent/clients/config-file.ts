/**
 * A client's own configuration file on disk, edited on someone's behalf: follows a link to its target, never widens the mode,
 * replaces the file in one step, and keeps the way back to the bytes that stood there before us.
 */
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type HookChange, HookEditError } from './hook-editor.ts'

const CONFIG_MAX = 4 * 1024 * 1024

/** What an edit makes of a text, and what it did, in a person's words; no changes where there is nothing to do. */
export type ConfigPlan = { text: string; changes: string[] }

/** `file` is what has to be replaced: the target where the path is a link. */
export type Loaded = { file: string; text: string | undefined; mode: number; own: boolean }

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

/** @throws HookEditError */
export function load(path: string): Loaded {
  let file = path
  try {
    file = fs.realpathSync(path)
  } catch (error) {
    if (!isMissing(error)) throw new HookEditError('unreadable', `cannot read ${path}`, { file: path })
    const link = fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
    if (link) throw new HookEditError('unsafe_file', `${path} is a link to nothing`, { file: path })
    return { file, text: undefined, mode: 0o600, own: true }
  }
  try {
    const stat = fs.statSync(file)
    if (!stat.isFile()) throw new HookEditError('unsafe_file', `${path} is not a file`, { file: path })
    if (stat.size > CONFIG_MAX) throw new HookEditError('unsafe_file', `${path} is too large`, { file: path })
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(file))
    return { file, text, mode: stat.mode & 0o777, own: stat.uid === process.getuid?.() }
  } catch (error) {
    if (error instanceof HookEditError) throw error
    if (error instanceof TypeError) throw new HookEditError('unparsable', `${path} is not UTF-8`, { file: path })
    throw new HookEditError('unreadable', `cannot read ${path}`, { file: path })
  }
}

/** The text for reading only; undefined when there is no file. @throws HookEditError */
export const readConfigText = (path: string) => load(path).text

function writeAtomically(file: string, text: string, mode: number): void {
  const temp = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const fd = fs.openSync(temp, 'wx', mode)
    try {
      fs.fchmodSync(fd, mode)
      fs.writeFileSync(fd, text)
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(temp, file)
  } catch (error) {
    fs.rmSync(temp, { force: true })
    throw error
  }
}

// The former text is kept under the digest of the text we left, so that uninstall knows whether it is untouched since.
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
const keptPath = (file: string, after: string, { kept }: KeptAs, ending: string) =>
  `${file}.holdpoint-${kept === undefined ? '' : `${kept}-`}${digest(after)}.${ending}`
const backupPath = (file: string, after: string, edit: KeptAs) => keptPath(file, after, edit, 'bak')
const absentPath = (file: string, after: string, edit: KeptAs) => keptPath(file, after, edit, 'none')

/** Two edits of one file each have their own way back: `kept` names an edit's. */
type KeptAs = { kept?: string }

/** What stood there before us, when the text is exactly as we left it: `found: false` = it was touched, or never ours. */
function formerText(file: string, text: string, edit: KeptAs): { found: boolean; text: string | undefined } {
  if (fs.existsSync(absentPath(file, text, edit))) return { found: true, text: undefined }
  const backup = backupPath(file, text, edit)
  return fs.existsSync(backup)
    ? { found: true, text: fs.readFileSync(backup, 'utf8') }
    : { found: false, text: undefined }
}

function withFile<T>(path: string, edit: () => T): T {
  try {
    return edit()
  } catch (error) {
    if (!(error instanceof HookEditError) || error.file) throw error
    throw new HookEditError(error.code, `${path}: ${error.message}`, {
      file: path,
      line: error.line,
      column: error.column,
    })
  }
}

function replace(loaded: Loaded, path: string, after: string | undefined): void {
  if (load(path).text !== loaded.text)
    throw new HookEditError('changed_meanwhile', `${path} was changed by another program; run the command again`, {
      file: path,
    })
  if (after === undefined) fs.rmSync(loaded.file)
  else writeAtomically(loaded.file, after, loaded.mode)
}

const isBlank = (text: string | undefined): text is undefined => text === undefined || text.trim() === ''

/** How one client's file is edited. Both are pure, and throw HookEditError without a file's name. */
export type ConfigEdit = KeptAs & {
  /** The file with our entries, `before` being undefined where there is none. */
  install(before: string | undefined): ConfigPlan
  /** The file without our entries; no changes where it has none. */
  remove(before: string): ConfigPlan
  /** The mode that the file must have once our entries stand in it, and why, where that is another. */
  modeFor?(loaded: Loaded): { mode: number; why: string } | undefined
}

/** @throws HookEditError; nothing is written then */
export function installInto(path: string, edit: ConfigEdit, options: { dryRun: boolean }): HookChange {
  const loaded = load(path)
  const before = loaded.text
  const plan = withFile(path, () => edit.install(before))
  const tighter = edit.modeFor?.(loaded)
  const mode = tighter?.mode ?? loaded.mode
  const tightened = tighter
    ? [`changed the file’s mode from ${loaded.mode.toString(8)} to ${mode.toString(8)}: ${tighter.why}`]
    : []
  const changes = [...plan.changes, ...tightened]
  const change: HookChange = { file: path, changes, before, after: plan.text, dryRun: options.dryRun }
  if (options.dryRun || changes.length === 0) return change
  if (plan.changes.length === 0) {
    fs.chmodSync(loaded.file, mode)
    return change
  }
  fs.mkdirSync(dirname(loaded.file), { recursive: true, mode: 0o700 })
  // an update of our own entries keeps the way back to the text before us
  const was = before === undefined ? undefined : formerText(loaded.file, before, edit)
  const former = was?.found ? was.text : withoutOurs(before, edit)
  const backup =
    former === undefined ? absentPath(loaded.file, plan.text, edit) : backupPath(loaded.file, plan.text, edit)
  writeAtomically(backup, former ?? '', 0o600)
  replace({ ...loaded, mode }, path, plan.text)
  if (before !== undefined && was?.found && plan.text !== before) dropBackups(loaded.file, before, edit)
  return { ...change, backup: former === undefined ? undefined : backup }
}

function withoutOurs(before: string | undefined, edit: ConfigEdit): string | undefined {
  if (isBlank(before)) return before
  const removed = edit.remove(before)
  return removed.changes.length > 0 ? removed.text : before
}

function dropBackups(file: string, text: string, edit: KeptAs): void {
  fs.rmSync(backupPath(file, text, edit), { force: true })
  fs.rmSync(absentPath(file, text, edit), { force: true })
}

/** Untouched since the install: the former bytes. Else our entries go and the rest stays. @throws HookEditError */
export function uninstallFrom(
  path: string,
  edit: Pick<ConfigEdit, 'remove' | 'kept'>,
  options: { dryRun: boolean },
): HookChange {
  const loaded = load(path)
  const before = loaded.text
  const unchanged: HookChange = { file: path, changes: [], before, after: before, dryRun: options.dryRun }
  if (isBlank(before)) return unchanged
  const plan = withFile(path, () => edit.remove(before))
  if (plan.changes.length === 0) return unchanged
  const former = formerText(loaded.file, before, edit)
  const after = former.found ? former.text : plan.text
  const change = { ...unchanged, changes: plan.changes, after }
  if (options.dryRun) return change
  replace(loaded, path, after)
  dropBackups(loaded.file, before, edit)
  return change
}
