/** The module in opencode's folder: its text, how it is known again, and its edits. */
import { createHash } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { type ConfigEdit, installInto, readConfigText, uninstallFrom } from '#agent/clients/config-file.ts'
import { type HookChange, HookEditError, type HookInstall } from '#agent/clients/hook-editor.ts'
import type { Installed } from './plugin/installed.ts'

declare const __HOLDPOINT_VERSION__: string | undefined
declare const __OPENCODE_PLUGIN__: string | undefined

/** The module's text as it was built; undefined where the sources run without having been bundled. */
export const builtPlugin = (): string | undefined =>
  typeof __OPENCODE_PLUGIN__ === 'string' ? __OPENCODE_PLUGIN__ : undefined
const builtVersion = () => (typeof __HOLDPOINT_VERSION__ === 'string' ? __HOLDPOINT_VERSION__ : '0.0.0')

/**
 * opencode's folder of one's own settings. OPENCODE_CONFIG_DIR names another one, which it reads besides and not instead
 * (measured), so the module lies here whatever that says.
 */
export const configFolder = ({ homeDir, env }: ClientHome): string =>
  join(env.XDG_CONFIG_HOME || join(homeDir, '.config'), 'opencode')

export const pluginPath = (home: ClientHome): string => join(configFolder(home), 'plugins', 'holdpoint.js')

const MARK = '// Holdpoint'
/** Whoever edits a file of ours changes what it does; the digest is of all that follows the first line. */
const FIRST_LINE = /^\/\/ Holdpoint (\S+) for opencode, sha256 ([0-9a-f]{64})\. .*\n/
const SECOND_LINE = /^const HOLDPOINT = (\{.*\})\n/

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** The whole file. `plugin` is the built module, whose free name HOLDPOINT is given here. */
export function pluginText(plugin: string, installed: Installed): string {
  const rest = `const HOLDPOINT = ${JSON.stringify(installed)}\n${plugin}`
  return `${MARK} ${installed.version} for opencode, sha256 ${digestOf(rest)}. Written by \`holdpoint hooks install\`, which writes it anew.\n${rest}`
}

export type FoundPlugin = {
  /** What the install wrote into it; undefined where that cannot be read. */
  installed: Installed | undefined
  /** Whether it is not as an install left it. */
  isEdited: boolean
}

/** What a file of ours holds; undefined for one that is not. */
function readPlugin(text: string): FoundPlugin | undefined {
  if (!text.startsWith(`${MARK} `)) return undefined
  const [first = '', , digest] = FIRST_LINE.exec(text) ?? []
  const rest = text.slice(first.length)
  const installed = readInstalled(SECOND_LINE.exec(rest)?.[1])
  return { installed, isEdited: installed === undefined || digest !== digestOf(rest) }
}

function readInstalled(json: string | undefined): Installed | undefined {
  try {
    const read = JSON.parse(json ?? '') as Partial<Record<keyof Installed, unknown>>
    const { version, node, hook, home, whenBroken } = read
    const texts = [version, node, hook, home]
    return texts.every(text => typeof text === 'string') && (whenBroken === 'pass' || whenBroken === 'block')
      ? (read as Installed)
      : undefined
  } catch {
    return undefined
  }
}

/** What would be written for a request. A Node that an earlier install knew and that is still there is as good as another. */
export function installedOf({ hookCommand, whenBroken }: HookInstall, before?: Installed): Installed {
  const hook = hookCommand.args[0] ?? ''
  const isNode = before && basename(before.node) === basename(hookCommand.exe) && isFile(before.node)
  const node = isNode ? before.node : hookCommand.exe
  // the program lies in the home's `bin`
  return { version: builtVersion(), node, hook, home: dirname(dirname(hook)), whenBroken }
}

export const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

const remove: ConfigEdit['remove'] = before =>
  readPlugin(before) ? { text: '', changes: ['removed the plugin'] } : { text: before, changes: [] }

/** @throws HookEditError for a file of that name that is not ours */
const editOf = (text: string): ConfigEdit => ({
  remove,
  install(before) {
    if (before === undefined || before.trim() === '') return { text, changes: ['added the plugin'] }
    const found = readPlugin(before)
    if (!found)
      throw new HookEditError('unsafe_file', 'a plugin of this name is there that is not Holdpoint’s; move it away')
    if (before === text) return { text, changes: [] }
    return { text, changes: [found.isEdited ? 'replaced the plugin, which had been edited' : 'updated the plugin'] }
  },
})

/** @throws HookEditError */
export function installPlugin(home: ClientHome, request: HookInstall, options: { dryRun: boolean }): HookChange {
  if (process.getuid === undefined)
    throw new HookEditError(
      'unsafe_file',
      'the plugin asks over a socket that a folder’s mode protects, and this system has none',
    )
  const plugin = builtPlugin()
  if (plugin === undefined) throw new HookEditError('unreadable', 'only the built holdpoint.cjs carries the plugin')
  const before = foundPlugin(home)?.found?.installed
  return installInto(pluginPath(home), editOf(pluginText(plugin, installedOf(request, before))), options)
}

/** @throws HookEditError */
export function uninstallPlugin(home: ClientHome, options: { dryRun: boolean }): HookChange {
  const path = pluginPath(home)
  const change = uninstallFrom(path, { remove }, options)
  if (change.changes.length === 0 || change.after) return change
  // nothing of it is left: what was edited has no former text to go back to
  if (!options.dryRun) rmSync(path, { force: true })
  return { ...change, after: undefined }
}

/** The file of ours as it stands; undefined where there is none, or none that can be read. */
export function foundPlugin(home: ClientHome): { text: string; found: FoundPlugin | undefined } | undefined {
  try {
    const text = readConfigText(pluginPath(home))
    return text === undefined || text.trim() === '' ? undefined : { text, found: readPlugin(text) }
  } catch (error) {
    if (error instanceof HookEditError) return { text: '', found: undefined }
    throw error
  }
}
