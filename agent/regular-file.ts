/** Reading files that somebody else may have put there: never a pipe, never a link unless it is asked for, never without a bound. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** `other`: a pipe, a folder, a device, a link where none is followed, or another user's file where it must be ours. */
export type ReadProblem = 'absent' | 'unreadable' | 'other' | 'too_large'
export type ReadOptions = {
  maxBytes: number
  /** Follow a link in the last place of the path; without it a link is `other`. */
  links?: boolean
  /** Only a file of this process's own user (where the system knows users by number). */
  own?: boolean
}

// absent on Windows, where neither links of this kind nor such pipes lie in the way
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants

/** Reads a regular file whole, as it was when it was opened. Does not block and does not throw. */
export function readRegular(
  path: string,
  { maxBytes, links, own }: ReadOptions,
): { bytes: Buffer } | { why: ReadProblem } {
  let fd: number | undefined
  try {
    fd = openSync(path, O_RDONLY | O_NONBLOCK | (links ? 0 : O_NOFOLLOW))
    const stat = fstatSync(fd)
    if (!stat.isFile() || (own && process.getuid && stat.uid !== process.getuid())) return { why: 'other' }
    if (stat.size > maxBytes) return { why: 'too_large' }
    const bytes = Buffer.alloc(stat.size)
    let at = 0
    while (at < bytes.length) {
      const n = readSync(fd, bytes, at, bytes.length - at, at)
      if (n === 0) break
      at += n
    }
    return { bytes: bytes.subarray(0, at) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { why: code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : code === 'ELOOP' ? 'other' : 'unreadable' }
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/**
 * Opens a regular file to write at its end, making it (0600) when it is not there. A pipe does not block it, and neither a link
 * nor a device is written to. @throws what the system says, or EINVAL for what is no file
 */
export function openToAppend(path: string, mode = 0o600): number {
  const { O_WRONLY, O_APPEND, O_CREAT } = constants
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW, mode)
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  throw Object.assign(new Error(`${path} is not a file`), { code: 'EINVAL' })
}
