/** Where the daemon's socket for hooks lies, and whether it may be used. For the hook's process too: built-in modules only. */
import { lstatSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { readRegular } from '#agent/regular-file.ts'

export type SocketPlace = {
  /** A folder of this user's own that nobody else can open (0700): it is what keeps the others of a machine out. */
  folder: string
  path: string
}

/** The socket is bound under this name and then put in the other's place, so that hooks meet the old one or the new one. */
export const NEW_SOCKET = 'new.sock'
const SOCKET = 'hook.sock'

/** A socket's address holds 104 bytes on macOS and 108 on Linux, the end's NUL included; some systems cut off what is longer. */
const PATH_MAX = 103

/** Where a folder elsewhere is named, in the home itself. */
export const folderFile = (home: string): string => join(realPath(home), 'socket-folder')
/** Folders elsewhere begin so; six letters of chance follow, so that no other user can have made it before us. */
export const ELSEWHERE = '/tmp/holdpoint-'

/** Whether the home's name is too long for a socket's address below it. */
export const isElsewhere = (home: string): boolean => Buffer.byteLength(join(realPath(home), 'run', SOCKET)) > PATH_MAX

/**
 * `<home>/run/hook.sock`; where that is longer than a socket's address may be, in the folder below /tmp that the daemon has made
 * and named in the home. Undefined where the system knows no users by number (Windows).
 */
export function socketPlace(home: string, uid = process.getuid?.()): SocketPlace | undefined {
  if (uid === undefined) return undefined
  const folder = (isElsewhere(home) && namedFolder(home)) || join(realPath(home), 'run')
  return { folder, path: join(folder, SOCKET) }
}

/** The folder elsewhere that the home names; undefined before there was one, or when no such name can be read. */
function namedFolder(home: string): string | undefined {
  const read = readRegular(folderFile(home), { maxBytes: 100, own: true })
  const name = 'bytes' in read ? read.bytes.toString('latin1') : ''
  return name.startsWith(ELSEWHERE) && /^[A-Za-z0-9]{6}$/.test(name.slice(ELSEWHERE.length)) ? name : undefined
}

/** A program and the daemon may know one home by two ways, one of them through a link. */
function realPath(home: string): string {
  try {
    return realpathSync.native(home)
  } catch {
    return home
  }
}

/** Why a folder for the socket is not to be trusted, in words; undefined when it is this user's alone. */
export function folderTrouble({ folder }: Pick<SocketPlace, 'folder'>, uid = process.getuid?.()): string | undefined {
  try {
    const stat = lstatSync(folder, { throwIfNoEntry: false })
    if (!stat) return `${folder} is not there`
    if (!stat.isDirectory()) return `${folder} is not a folder`
    if (stat.uid !== uid) return `${folder} belongs to another user`
    const mode = stat.mode & 0o777
    return mode === 0o700 ? undefined : `${folder} has the mode ${mode.toString(8)} and must have 700`
  } catch (error) {
    return `${folder} cannot be looked at (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`
  }
}
