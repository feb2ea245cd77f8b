import { join } from 'node:path'
import { type FileText, type FileUnread, readProjectFile } from '#agent/clients/project-file.ts'

/** `.claude/settings.json` and `.claude/settings.local.json` of a project, as far as they are there. */
export function projectSettings(dir: string): (FileText | FileUnread)[] {
  return ['settings.json', 'settings.local.json'].flatMap(name => readProjectFile(dir, join(dir, '.claude', name)))
}
