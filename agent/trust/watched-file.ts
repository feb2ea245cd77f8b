import { lstatSync, statSync } from 'node:fs'
import { readRegular } from '#agent/regular-file.ts'

/**
 * A file that is read again whenever it has changed, and compared by its bytes then: an unchanged file costs one stat.
 * Reads regular files only, bounded, without blocking on a pipe. `links`: a person's own file, which may be a link.
 */
export class WatchedFile {
  private mark = ''
  private bytes: Buffer | undefined
  private looked = false

  constructor(
    readonly path: string,
    private readonly maxBytes: number,
    private readonly links = false,
  ) {}

  /** `changed` is true when the bytes differ from those of the last look. `bytes` is undefined when there is no readable file. */
  look(): { changed: boolean; bytes: Buffer | undefined; why?: 'absent' | 'unreadable' | 'too_large' } {
    const stat = (this.links ? statSync : lstatSync)(this.path, { bigint: true, throwIfNoEntry: false })
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
    const { maxBytes, links } = this
    const read = readRegular(this.path, { maxBytes, ...(links ? { links } : { own: true }) })
    if ('bytes' in read) return read
    return { bytes: undefined, why: read.why === 'too_large' ? 'too_large' : 'unreadable' }
  }
}

const same = (a: Buffer | undefined, b: Buffer | undefined) => (a && b ? a.equals(b) : a === b)
