import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { ensureDir, type Home, readText, writeAll, writeAtomic } from '#agent/home.ts'
import { Observed } from './observed.ts'

/** Far more than waits in the minutes before it is counted; beyond that exporters are asked to wait. */
const INBOX_MAX = 32 * 1024 * 1024
const Line = z.object({ at: z.number(), seen: Observed })

/** One observation, and when it came: milliseconds since 1970. */
export type Waiting = { at: number; seen: Observed }

/** What telemetry told and what is not counted yet: on disk before the exporter is told that it was taken. */
export class Inbox {
  constructor(private readonly home: Home) {}

  private get path(): string {
    return join(this.home.usage, 'telemetry.jsonl')
  }

  private get size(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0
  }

  /** Adds a batch. @throws Error when there is no room, or what the disk says; the batch is then to be sent again */
  add(seen: readonly Observed[], at: number): void {
    if (seen.length === 0) return
    // a line break first: what a crash left half-written ends there
    const lines = Buffer.from(`\n${seen.map(one => JSON.stringify({ at, seen: one })).join('\n')}\n`)
    if (this.size + lines.length > INBOX_MAX) throw new Error('too much waits to be counted')
    ensureDir(this.home.usage)
    const { disk } = this.home
    const fd = disk.open(this.path, 'a', 0o600)
    try {
      writeAll(disk, fd, lines)
      disk.fsync(fd)
    } finally {
      disk.close(fd)
    }
  }

  /** Everything that waits, the oldest first. */
  read(): Waiting[] {
    return (readText(this.path, INBOX_MAX * 2) ?? '').split('\n').flatMap(line => {
      const read = line === '' ? undefined : Line.safeParse(parse(line))
      return read?.success ? [read.data] : []
    })
  }

  /** Leaves only these. Whoever adds runs in this process, and not between a `read` and this. */
  keep(waiting: readonly Waiting[]): void {
    const text = waiting.map(one => `${JSON.stringify(one)}\n`).join('')
    if (text !== '' || this.size > 0) writeAtomic(this.home, this.path, text)
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
