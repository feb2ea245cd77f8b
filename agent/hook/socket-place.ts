/** Where the daemon's socket for hooks lies, and whether it may be used. For the hook's process too: built-in modules only. */
import { lstatSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

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

/**
 * `<home>/run/hook.sock`; where that is longer than a socket's address may be, a folder for this home below /tmp, which any
 * user could have made before us: {@link folderTrouble} tells. Undefined where the system knows no users by number (Windows).
 */
export function socketPlace(home: string, uid = process.getuid?.()): SocketPlace | undefined {
  if (uid === undefined) return undefined
  const root = realPath(home)
  const inHome = join(root, 'run')
  const fits = Buffer.byteLength(join(inHome, SOCKET)) <= PATH_MAX
  const folder = fits ? inHome : `/tmp/holdpoint-${uid}-${shortMark(root)}`
  return { folder, path: join(folder, SOCKET) }
}

/** A program and the daemon may know one home by two ways, one of them through a link. */
function realPath(home: string): string {
  try {
    return realpathSync.native(home)
  } catch {
    return home
  }
}

/** FNV-1a, twice 32 bits: to tell homes of one user apart, not to keep anybody out. The real hashes cost a module's loading. */
function shortMark(text: string): string {
  const bytes = Buffer.from(text)
  const mark = (start: number) => {
    let hash = start
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
    return (hash >>> 0).toString(16).padStart(8, '0')
  }
  return mark(0x811c9dc5) + mark(0x1b873593)
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
