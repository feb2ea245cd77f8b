/** The settings that a project brings along. Whoever wrote the repository wrote them: they are read as a stranger's. */
import { realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { type ReadProblem, readRegular } from '#agent/regular-file.ts'
import type { SettingsText, SettingsUnread } from './inspect.ts'

/** Long lists of permissions come to some tens of KiB. */
const PROJECT_SETTINGS_MAX = 64 * 1024

const WHY: Record<Exclude<ReadProblem, 'absent'>, string> = {
  unreadable: 'cannot be opened',
  other: 'is not a file',
  too_large: 'is larger than 64 KiB',
}

/** `.claude/settings.json` and `.claude/settings.local.json` of a project, as far as they are there. */
export function projectSettings(dir: string): (SettingsText | SettingsUnread)[] {
  return ['settings.json', 'settings.local.json'].flatMap(name => read(dir, join(dir, '.claude', name)))
}

/** A link is followed where it stays in the project, and nowhere else. */
function read(dir: string, file: string): (SettingsText | SettingsUnread)[] {
  let real: string
  try {
    real = realpathSync(file)
    const inside = realpathSync(dir)
    if (!real.startsWith(inside.endsWith(sep) ? inside : inside + sep))
      return [{ file, unread: 'is a link out of the project' }]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : [{ file, unread: WHY.unreadable }]
  }
  const found = readRegular(real, { maxBytes: PROJECT_SETTINGS_MAX })
  if ('why' in found) return found.why === 'absent' ? [] : [{ file, unread: WHY[found.why] }]
  try {
    return [{ file, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(found.bytes) }]
  } catch {
    return [{ file, unread: 'is not UTF-8' }]
  }
}
