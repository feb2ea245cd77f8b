/** Files that a project brings along for a client. Whoever wrote the repository wrote them: they are read as a stranger's. */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { type ReadProblem, readRegular } from '#agent/regular-file.ts'

export type FileText = { file: string; text: string }
/** A file that is there and was not read, with the reason in words. */
export type FileUnread = { file: string; unread: string }

/** Long lists of permissions come to some tens of KiB. */
const PROJECT_FILE_MAX = 64 * 1024

const WHY: Record<Exclude<ReadProblem, 'absent'>, string> = {
  unreadable: 'cannot be opened',
  other: 'is not a file',
  too_large: 'is larger than 64 KiB',
}

/** A file of the project in `dir`; none where it is absent. A link is followed where it stays in the project, and nowhere else. */
export function readProjectFile(dir: string, file: string): (FileText | FileUnread)[] {
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
  const found = readRegular(real, { maxBytes: PROJECT_FILE_MAX })
  if ('why' in found) return found.why === 'absent' ? [] : [{ file, unread: WHY[found.why] }]
  try {
    return [{ file, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(found.bytes) }]
  } catch {
    return [{ file, unread: 'is not UTF-8' }]
  }
}
