/** What is in force of our hooks in Cursor, as far as its documents tell. Never throws for what files hold. */
import { join } from 'node:path'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { judgeEntries, levelOf, readCommandHooks } from '#agent/clients/command-hooks.ts'
import type { HookFinding, HookInspection, HookInstall } from '#agent/clients/hook-editor.ts'
import { readProjectFile } from '#agent/clients/project-file.ts'
import { cursorHookPath, cursorHooks } from './hook-file.ts'

/** `HookEditor.inspect` for Cursor. */
export function inspectCursor(
  home: ClientHome,
  { projectDirs, expected }: { projectDirs: string[]; expected?: HookInstall },
): HookInspection {
  const file = cursorHookPath(home)
  const { entries, findings } = readCommandHooks(cursorHooks, file)
  const add = (severity: HookFinding['severity'], code: string, text: string, where: string = file) =>
    findings.push({ severity, code, text, file: where })
  if (findings.length > 0) return { level: 'broken', outdated: false, findings }
  if (entries.length === 0) return { level: 'not-installed', outdated: false, findings }
  const judged = judgeEntries(cursorHooks, entries, file, expected)
  findings.push(...judged.findings)
  const subagents = entries.find(({ event }) => event === 'subagentStart')
  if (subagents?.matcher !== undefined)
    add('off', 'hook_edited', 'The subagentStart hook was narrowed to some subagents.')
  const failsClosed = entries.find(({ event }) => event === 'preToolUse')?.entry.failClosed === true
  if (judged.whenBroken === 'block' && !failsClosed)
    add(
      'risk',
      'hook_edited',
      'The preToolUse hook has lost its failClosed: a call runs when our program is gone or too slow.',
    )
  for (const source of projectDirs.flatMap(dir => readProjectFile(dir, join(dir, '.cursor/hooks.json'))))
    if ('unread' in source)
      add('risk', 'settings_unread', `${source.file} was not read (it ${source.unread}).`, source.file)
    else if (/"(?:preToolUse|subagentStart)"/.test(source.text))
      add(
        'risk',
        'plugins',
        `${source.file} has hooks of the project’s, whose answers stand above a user’s.`,
        source.file,
      )
  const { whenBroken, outdated } = judged
  return { level: levelOf(findings), form: 'command', whenBroken, outdated, findings }
}
