/**
 * Finds, in an event stream that passes by in pieces, the few lines that tell of usage: the first that has data and those that
 * hold a marker. Looking for the marker is one search over the bytes; nothing else of the stream is read or kept.
 */

const NEWLINE = 0x0a
const MARKER = Buffer.from('"usage"')
/** `"usage":null`, which some providers write into every line, says nothing. */
const NOTHING = /^"usage"\s*:\s*null/
const DATA = Buffer.from('data:')
/** The last line of an answer may hold all of it once more; one that is longer is not read. */
const LINE_MAX = 16 * 1024 * 1024

export class EventLines {
  private rest: Buffer[] = []
  private restBytes = 0
  private hasFirst = false
  /** A line was longer than is read. */
  overlong = false

  constructor(private readonly onData: (json: string) => void) {}

  take(chunk: Buffer): void {
    const last = chunk.lastIndexOf(NEWLINE)
    if (last < 0) {
      this.keep(chunk)
      return
    }
    let from = 0
    if (this.restBytes > 0) {
      from = chunk.indexOf(NEWLINE) + 1
      this.keep(chunk.subarray(0, from))
      const line = Buffer.concat(this.rest)
      this.forget()
      this.look(line)
    }
    if (from <= last) this.look(chunk.subarray(from, last + 1))
    if (last + 1 < chunk.length) this.keep(chunk.subarray(last + 1))
  }

  /** What stands at the end without a line break is a line as well. */
  end(): void {
    const line = Buffer.concat(this.rest)
    this.forget()
    if (line.length > 0) this.look(line)
  }

  private keep(part: Buffer): void {
    if (this.restBytes + part.length > LINE_MAX) {
      this.overlong = true
      this.forget()
      return
    }
    this.rest.push(part)
    this.restBytes += part.length
  }

  private forget(): void {
    this.rest = []
    this.restBytes = 0
  }

  /** Whole lines. */
  private look(lines: Buffer): void {
    let from = 0
    if (!this.hasFirst) {
      const first = startOfData(lines)
      if (first >= 0) {
        this.hasFirst = true
        from = this.read(lines, first)
      }
    }
    for (let at = lines.indexOf(MARKER, from); at >= 0; at = lines.indexOf(MARKER, from)) {
      if (NOTHING.test(lines.toString('latin1', at, at + 24))) {
        from = at + MARKER.length
        continue
      }
      from = this.read(lines, lines.lastIndexOf(NEWLINE, at) + 1)
    }
  }

  /** Reads the line that starts there; returns where the next one does. */
  private read(lines: Buffer, start: number): number {
    const newline = lines.indexOf(NEWLINE, start)
    const end = newline < 0 ? lines.length : newline
    if (lines.subarray(start, start + DATA.length).equals(DATA))
      this.onData(lines.toString('utf8', start + DATA.length, end).trim())
    return end + 1
  }
}

/** Where the first line with data starts. */
function startOfData(lines: Buffer): number {
  for (let at = lines.indexOf(DATA); at >= 0; at = lines.indexOf(DATA, at + 1))
    if (at === 0 || lines[at - 1] === NEWLINE) return at
  return -1
}
