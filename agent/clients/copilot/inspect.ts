/** What is in force of our hooks in Copilot CLI. Never throws for what files hold. */
import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { judgeEntries, levelOf, readCommandHooks } from '#agent/clients/command-hooks.ts'
import type { HookFinding, HookInspection, HookInstall } from '#agent/clients/hook-editor.ts'
import { withoutComments } from '#agent/clients/json-comments.ts'
import { readProjectFile } from '#agent/clients/project-file.ts'
import { copilotHookPath, copilotHooks } from './hook-file.ts'

/** A repository's settings that the client reads in a folder that it trusts; Claude Code's among them. */
const REPOSITORY_SETTINGS = [
  '.github/copilot/settings.json',
  '.github/copilot/settings.local.json',
  '.claude/settings.json',
  '.claude/settings.local.json',
]
/** The version that was tried. */
const TRIED = [1, 0, 102]

/** `HookEditor.inspect` for Copilot CLI. */
export function inspectCopilot(
  home: ClientHome,
  { projectDirs, expected, version }: { projectDirs: string[]; expected?: HookInstall; version?: string },
): HookInspection {
  const file = copilotHookPath(home)
  const { content, entries, findings } = readCommandHooks(copilotHooks, file)
  const add = (severity: HookFinding['severity'], code: string, text: string, where: string = file) =>
    findings.push({ severity, code, text, file: where })
  if (findings.length > 0) return { level: 'broken', outdated: false, findings }
  if (entries.length === 0) return { level: 'not-installed', outdated: false, findings }
  const judged = judgeEntries(copilotHooks, entries, file, expected)
  findings.push(...judged.findings)

  if ((content as { disableAllHooks?: unknown }).disableAllHooks === true)
    add('off', 'hooks_disabled', `disableAllHooks in ${file} switches its hooks off.`)
  const settings = projectDirs.flatMap(dir =>
    REPOSITORY_SETTINGS.flatMap(name => readProjectFile(dir, join(dir, name))),
  )
  for (const source of settings) {
    const where = source.file
    if ('unread' in source) {
      add('risk', 'settings_unread', `${where} was not read (it ${source.unread}).`, where)
      continue
    }
    if (disablesHooks(source.text))
      add(
        'off',
        'hooks_disabled',
        `disableAllHooks in ${where} switches your hooks off, too, where the folder is trusted.`,
        where,
      )
  }
  if (version !== undefined && isBefore(version, TRIED))
    add('risk', 'client_untested', `Copilot CLI ${version} is older than any version these hooks were tried with.`)
  const { whenBroken, outdated } = judged
  return { level: levelOf(findings), form: 'command', whenBroken, outdated, findings }
}

function disablesHooks(text: string): boolean {
  try {
    return (JSON.parse(withoutComments(text)) as { disableAllHooks?: unknown } | null)?.disableAllHooks === true
  } catch {
    return false
  }
}

function isBefore(version: string, than: readonly number[]): boolean {
  const parts = version.split('.').map(Number)
  const at = than.findIndex((n, i) => (parts[i] ?? 0) !== n)
  return at !== -1 && (parts[at] ?? 0) < than[at]!
}
