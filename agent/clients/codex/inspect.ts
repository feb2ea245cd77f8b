/** What Codex's configuration does to our hooks. Never throws for what it holds. */
import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { judgeEntries, levelOf, readCommandHooks } from '#agent/clients/command-hooks.ts'
import type { HookFinding, HookInspection, HookInstall } from '#agent/clients/hook-editor.ts'
import type { FoundEntry } from '#agent/clients/hook-lists.ts'
import { isObject } from '#agent/clients/json-lines.ts'
import { readProjectFile } from '#agent/clients/project-file.ts'
import { readRegular } from '#agent/regular-file.ts'
import { type CodexConfig, REQUIREMENTS, readCodexConfig } from './config.ts'
import { codexFolder, codexHooks, codexHooksPath, PAUSE } from './hooks-file.ts'
import { trustOf } from './trust.ts'

const CONFIG_MAX = 4 * 1024 * 1024
/** Kinds of hooks that the client knows; another one makes it leave the whole file unread (measured). */
const KINDS: readonly unknown[] = ['command', 'mcp_tool', 'prompt', 'agent']
/** The version that was tried. */
const TRIED = [0, 171]

type Add = (severity: HookFinding['severity'], code: string, text: string, file?: string) => void

/** `HookEditor.inspect` for Codex. */
export function inspectCodex(
  home: ClientHome,
  { projectDirs, expected, version }: { projectDirs: string[]; expected?: HookInstall; version?: string },
): HookInspection {
  const file = codexHooksPath(home)
  const { content, entries, findings } = readCommandHooks(codexHooks, file)
  if (findings.length > 0) return { level: 'broken', outdated: false, findings }
  if (entries.length === 0) return { level: 'not-installed', outdated: false, findings }
  const add: Add = (severity, code, text, where = file) => findings.push({ severity, code, text, file: where })
  const judged = judgeEntries(codexHooks, entries, file, expected)
  findings.push(...judged.findings)
  if (!isKnownFile(content))
    add(
      'off',
      'foreign_entry_invalid',
      `${file} holds something that Codex does not know there; it then reads none of it.`,
    )

  const configFile = join(codexFolder(home), 'config.toml')
  const config = configIn(configFile, add)
  if (config) inspectConfig(config, configFile, entries, add)
  const project = projectDirs.flatMap(dir => readProjectFile(dir, join(dir, '.codex/config.toml')))
  for (const source of project) {
    if ('unread' in source) {
      add('risk', 'settings_unread', `${source.file} was not read (it ${source.unread}).`, source.file)
      continue
    }
    const own = tomlIn(source.text)
    if (own?.hooks === false)
      add('off', 'hooks_disabled', `features.hooks in ${source.file} switches hooks off.`, source.file)
  }
  const required = process.platform === 'win32' ? undefined : configIn(REQUIREMENTS, add)
  if (required?.managedOnly)
    add(
      'off',
      'managed_hooks_only',
      `${REQUIREMENTS} allows managed hooks only: \`holdpoint hooks install --managed\` sets ours there.`,
      REQUIREMENTS,
    )
  if (version !== undefined && isBefore(version, TRIED))
    add('risk', 'client_untested', `Codex ${version} is older than any version these hooks were tried with.`)
  const { whenBroken, outdated } = judged
  return { level: levelOf(findings), form: 'command', whenBroken, outdated, findings }
}

function inspectConfig(config: CodexConfig, configFile: string, entries: readonly FoundEntry[], add: Add): void {
  if (config.hooks === false)
    add('off', 'hooks_disabled', `features.hooks in ${configFile} switches every hook off.`, configFile)
  if (config.events.length > 0)
    add(
      'risk',
      'hooks_twice',
      `${configFile} has hooks as well: Codex runs both, and says so at each start.`,
      configFile,
    )
  for (const entry of entries) {
    const severity = entry.event === PAUSE ? 'off' : 'risk'
    const trust = trustOf(config, codexHooksFileOf(configFile), entry)
    const how = 'start `codex` and agree when it asks, or `holdpoint hooks install --client codex --trust`'
    if (trust === 'switched_off')
      add(
        severity,
        'hook_switched_off',
        `The ${entry.event} hook was switched off in Codex (${configFile}).`,
        configFile,
      )
    if (trust === 'untrusted')
      add(
        severity,
        'hook_not_trusted',
        `Codex was not told to trust the ${entry.event} hook and does not run it: ${how}.`,
        configFile,
      )
    if (trust === 'changed')
      add(
        severity,
        'hook_not_trusted',
        `The ${entry.event} hook is not the one that Codex was told to trust, and it does not run it: ${how}.`,
        configFile,
      )
  }
}

const codexHooksFileOf = (configFile: string) => configFile.replace(/config\.toml$/, 'hooks.json')

/** A configuration that is there and can be read; one that is not there says nothing. */
function configIn(file: string, add: Add): CodexConfig | undefined {
  const found = readRegular(file, { maxBytes: CONFIG_MAX, links: true })
  const config = 'bytes' in found ? tomlIn(found.bytes.toString('utf8')) : undefined
  if ('why' in found && found.why === 'absent') return tomlIn('')
  if (!config) add('risk', 'settings_unread', `${file} could not be read as Codex’s configuration.`, file)
  return config
}

function tomlIn(text: string): CodexConfig | undefined {
  try {
    return readCodexConfig(text)
  } catch {
    return undefined
  }
}

/** Whether the client reads the file: it knows no member but `hooks`, and lets no hook of an unknown kind pass. */
function isKnownFile(content: unknown): boolean {
  if (!isObject(content) || Object.keys(content).some(name => name !== 'hooks' && name !== 'description')) return false
  const groups = isObject(content.hooks) ? Object.values(content.hooks).flat() : []
  return groups.every(
    group =>
      isObject(group) &&
      (group.hooks === undefined ||
        (Array.isArray(group.hooks) && group.hooks.every(hook => isObject(hook) && KINDS.includes(hook.type)))),
  )
}

/** Whether every hook of ours is trusted as it stands; undefined where nothing can be read. */
export function isTrusted(home: ClientHome): boolean | undefined {
  const { entries } = readCommandHooks(codexHooks, codexHooksPath(home))
  const config = configIn(join(codexFolder(home), 'config.toml'), () => {})
  if (entries.length === 0 || !config) return undefined
  return entries.every(entry => trustOf(config, codexHooksPath(home), entry) === 'trusted')
}

/** The lines of our hooks as they stand in the file. */
export const ourLines = (home: ClientHome): string[] =>
  readCommandHooks(codexHooks, codexHooksPath(home)).entries.map(({ entry }) => String(entry.command))

function isBefore(version: string, [major, minor]: readonly number[]): boolean {
  const [a = 0, b = 0] = version.split('.').map(Number)
  return a < major! || (a === major && b < minor!)
}
