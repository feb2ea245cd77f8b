/**
 * Finds, in an event stream that passes by in pieces, the few lines that tell of usage: the first that has data and those that
 * hold a marker. Looking for the marker is one search over the bytes; nothing else of the stream is read or kept.
 */

const NEWLINE = 0x0a
/** `"usage":null`, which some providers write into every line, says nothing. */
const NOTHING = /^usage"\s*:\s*null/
/** A part that is not much of what came with it is copied: the rest of that need not stay for its sake. */
const SMALL = 4096
const DATA = Buffer.from('data:')
/** The last line of an answer may hold all of it once more; one that is longer is not read. */
const LINE_MAX = 16 * 1024 * 1024

export class EventLines {
  private rest: Buffer[] = []
  private restBytes = 0
  private hasFirst = false
  private readonly marker: Buffer

  /** @param marker what stands in every line that is wanted. It is found fast when its first letter is a rare one, which a quote is not */
  constructor(
    marker: string,
    private readonly onData: (json: string) => void,
  ) {
    this.marker = Buffer.from(marker)
  }

  take(chunk: Buffer): void {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end === 0) {
      this.keep(chunk)
      return
    }
    let from = 0
    if (this.restBytes > 0) {
      from = chunk.indexOf(NEWLINE) + 1
      this.keep(chunk.subarray(0, from))
      this.lookAtRest()
    }
    if (from < end) this.look(chunk, from, end)
    if (end < chunk.length) this.keep(chunk.subarray(end))
  }

  /** What stands at the end without a line break is a line as well. */
  end(): void {
    this.lookAtRest()
  }

  private keep(part: Buffer): void {
    if (this.restBytes + part.length > LINE_MAX) {
      this.rest = []
      this.restBytes = 0
      return
    }
    this.rest.push(part.length < SMALL ? Buffer.from(part) : part)
    this.restBytes += part.length
  }

  private lookAtRest(): void {
    if (this.restBytes === 0) return
    const line = this.rest.length === 1 ? this.rest[0]! : Buffer.concat(this.rest)
    this.rest = []
    this.restBytes = 0
    this.look(line, 0, line.length)
  }

  /** Whole lines, from one place to another. */
  private look(lines: Buffer, start: number, end: number): void {
    let from = start
    if (!this.hasFirst) {
      const first = startOfData(lines, start, end)
      if (first >= 0) {
        this.hasFirst = true
        from = this.read(lines, first, end)
      }
    }
    while (from < end) {
      const at = lines.indexOf(this.marker, from)
      if (at < 0 || at >= end) return
      from = NOTHING.test(lines.toString('latin1', at, at + 24))
        ? at + this.marker.length
        : this.read(lines, Math.max(start, lines.lastIndexOf(NEWLINE, at) + 1), end)
    }
  }

  /** Reads the line that starts there; returns where the next one does. */
  private read(lines: Buffer, start: number, most: number): number {
    const newline = lines.indexOf(NEWLINE, start)
    const end = newline < 0 || newline >= most ? most : newline
    if (DATA.compare(lines, start, Math.min(start + DATA.length, end)) === 0)
      this.onData(lines.toString('utf8', start + DATA.length, end).trim())
    return end + 1
  }
}

/** Where the first line with data starts. */
function startOfData(lines: Buffer, start: number, end: number): number {
  for (let at = lines.indexOf(DATA, start); at >= 0 && at < end; at = lines.indexOf(DATA, at + 1))
    if (at === start || lines[at - 1] === NEWLINE) return at
  return -1
}
