import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

/**
 * A file that is read again whenever it has changed, and compared by its bytes then: an unchanged file costs one stat.
 * Reads regular files only, bounded, without blocking on a pipe.
 */
export class WatchedFile {
  private mark = ''
  private bytes: Buffer | undefined
  private looked = false

  constructor(
    readonly path: string,
    private readonly maxBytes: number,
  ) {}

  /** `changed` is true when the bytes differ from those of the last look. `bytes` is undefined when there is no readable file. */
  look(): { changed: boolean; bytes: Buffer | undefined; why?: 'absent' | 'unreadable' | 'too_large' } {
    const stat = statSync(this.path, { bigint: true, throwIfNoEntry: false })
    const mark = stat ? `${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}` : 'absent'
    if (this.looked && mark === this.mark) return { changed: false, bytes: this.bytes }
    this.mark = mark
    const read = stat ? this.read() : { bytes: undefined, why: 'absent' as const }
    const changed = !this.looked || !same(read.bytes, this.bytes)
    this.looked = true
    this.bytes = read.bytes
    return { changed, ...read }
  }

  private read(): { bytes: Buffer | undefined; why?: 'unreadable' | 'too_large' } {
    let fd: number | undefined
    try {
      fd = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK)
      const { size } = fstatSync(fd)
      if (!fstatSync(fd).isFile()) return { bytes: undefined, why: 'unreadable' }
      if (size > this.maxBytes) return { bytes: undefined, why: 'too_large' }
      const bytes = Buffer.alloc(size)
      let at = 0
      while (at < size) {
        const n = readSync(fd, bytes, at, size - at, at)
        if (n === 0) break
        at += n
      }
      return { bytes: bytes.subarray(0, at) }
    } catch {
      return { bytes: undefined, why: 'unreadable' }
    } finally {
      if (fd !== undefined) closeSync(fd)
    }
  }
}

const same = (a: Buffer | undefined, b: Buffer | undefined) => (a && b ? a.equals(b) : a === b)
