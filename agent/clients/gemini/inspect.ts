/** What the settings that are in force do to our hooks in Gemini CLI. Never throws for what they hold. */
import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { judgeEntries, levelOf, readCommandHooks } from '#agent/clients/command-hooks.ts'
import type { HookFinding, HookInspection, HookInstall } from '#agent/clients/hook-editor.ts'
import { type FileText, type FileUnread, readProjectFile } from '#agent/clients/project-file.ts'
import { readRegular } from '#agent/regular-file.ts'
import { geminiFolder, geminiHooks, geminiSettingsPath, HOOK_NAME } from './settings.ts'

const SYSTEM_FOLDER =
  process.platform === 'darwin'
    ? '/Library/Application Support/GeminiCli'
    : process.platform === 'win32'
      ? 'C:\\ProgramData\\gemini-cli'
      : '/etc/gemini-cli'
const SYSTEM_MAX = 1024 * 1024
/** The version that was tried. */
const TRIED = [0, 61]
/** Sandboxes that are containers: into those the client takes no hooks. `sandbox-exec` runs on this system. */
const CONTAINERS: readonly unknown[] = [
  'docker',
  'podman',
  'runsc',
  'lxc',
  ...(process.platform === 'darwin' ? [] : [true, 'true', '1']),
]
const LOADERS =
  /^\s*(?:export\s+)?(NODE_OPTIONS|LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_INSERT_LIBRARIES|OPENSSL_CONF)\s*=/m

type Settings = {
  hooksConfig?: { enabled?: unknown; disabled?: unknown }
  tools?: { sandbox?: unknown }
}

/** Settings of the whole machine, which stand above a person's own. */
function systemSettings({ env }: ClientHome): FileText[] {
  const file = env.GEMINI_CLI_SYSTEM_SETTINGS_PATH || join(SYSTEM_FOLDER, 'settings.json')
  const found = readRegular(file, { maxBytes: SYSTEM_MAX, links: true })
  return 'bytes' in found ? [{ file, text: found.bytes.toString('utf8') }] : []
}

function settingsIn(
  source: FileText | FileUnread,
  add: (severity: HookFinding['severity'], code: string, text: string, file: string) => void,
): Settings {
  const { file } = source
  const unread = (why: string) => add('risk', 'settings_unread', `${file} was not read (${why}).`, file)
  if ('unread' in source) unread(`it ${source.unread}`)
  else
    try {
      const settings = geminiHooks.read(source.text)
      if (typeof settings === 'object' && settings !== null) return settings
    } catch {
      unread('it is not valid JSON: Gemini CLI does not start with it')
    }
  return {}
}

/** `HookEditor.inspect` for Gemini CLI. */
export function inspectGemini(
  home: ClientHome,
  { projectDirs, expected, version }: { projectDirs: string[]; expected?: HookInstall; version?: string },
): HookInspection {
  const file = geminiSettingsPath(home)
  const { content, entries, findings } = readCommandHooks(geminiHooks, file)
  const add = (severity: HookFinding['severity'], code: string, text: string, where: string = file) =>
    findings.push({ severity, code, text, file: where })
  if (findings.length > 0) return { level: 'broken', outdated: false, findings }
  if (entries.length === 0) return { level: 'not-installed', outdated: false, findings }
  const judged = judgeEntries(geminiHooks, entries, file, expected)
  findings.push(...judged.findings)

  const projects = projectDirs.flatMap(dir => readProjectFile(dir, join(dir, '.gemini/settings.json')))
  const sources: [string, Settings][] = [
    [file, (content ?? {}) as Settings],
    ...[...systemSettings(home), ...projects].map((source): [string, Settings] => [
      source.file,
      settingsIn(source, add),
    ]),
  ]
  const commands = entries.map(({ entry }) => entry.command)
  for (const [where, { hooksConfig, tools }] of sources) {
    if (hooksConfig?.enabled === false)
      add('off', 'hooks_disabled', `hooksConfig.enabled in ${where} switches every hook off.`, where)
    const { disabled } = hooksConfig ?? {}
    if (Array.isArray(disabled) && disabled.some(one => one === HOOK_NAME || commands.includes(one)))
      add('off', 'hooks_disabled', `hooksConfig.disabled in ${where} names our hook.`, where)
    if (CONTAINERS.includes(tools?.sandbox))
      add(
        'off',
        'hooks_disabled',
        `tools.sandbox in ${where} runs Gemini CLI in a container, into which it takes no hooks.`,
        where,
      )
  }
  if (CONTAINERS.includes(home.env.GEMINI_SANDBOX))
    add('off', 'hooks_disabled', 'GEMINI_SANDBOX runs Gemini CLI in a container, into which it takes no hooks.')
  for (const where of untrustedIn(home, projectDirs))
    add('risk', 'folder_untrusted', `Gemini CLI was told not to trust ${where}: it runs no hooks there.`, where)
  const env = projectDirs.flatMap(dir =>
    ['.env', '.gemini/.env'].flatMap(name => readProjectFile(dir, join(dir, name))),
  )
  for (const source of env) {
    const name = 'text' in source && LOADERS.exec(source.text)?.[1]
    if (name)
      add(
        'risk',
        'code_planted',
        `${name} in ${source.file} changes what the hook’s program runs, so that calls may run unseen.`,
        source.file,
      )
  }
  if (version !== undefined && isBefore(version, TRIED))
    add('risk', 'client_untested', `Gemini CLI ${version} is older than any version these hooks were tried with.`)
  const { whenBroken, outdated } = judged
  return { level: levelOf(findings), form: 'command', whenBroken, outdated, findings }
}

/** Folders of these that the client was told not to trust, as its own list has them. */
function untrustedIn(home: ClientHome, folders: string[]): string[] {
  const file = home.env.GEMINI_CLI_TRUSTED_FOLDERS_PATH || join(geminiFolder(home), 'trustedFolders.json')
  const found = readRegular(file, { maxBytes: SYSTEM_MAX, links: true })
  try {
    const listed = geminiHooks.read('bytes' in found ? found.bytes.toString('utf8') : '{}') as Record<string, unknown>
    return folders.filter(folder => listed[folder] === 'DO_NOT_TRUST')
  } catch {
    return []
  }
}

function isBefore(version: string, [major, minor]: readonly number[]): boolean {
  const [a = 0, b = 0] = version.split('.').map(Number)
  return a < major! || (a === major && b < minor!)
}
