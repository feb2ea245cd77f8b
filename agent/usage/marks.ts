import { join } from 'node:path'
import * as z from 'zod/mini'
import type { UsageState } from '#agent/clients/usage-source.ts'
import { ensureDir, type Home, readText, writeAll, writeAtomic } from '#agent/home.ts'

/** Marks of all sessions that were ever read, a line each. */
const FILE_MAX = 64 * 1024 * 1024
/** A file of many old marks is written anew, above this and three times what the newest of them take. */
const REWRITE_BYTES = 4 * 1024 * 1024
const Line = z.object({ k: z.string(), m: z.object({ v: z.literal(1), client: z.string() }) })
const Walked = z.object({ walkedTo: z.number() })

/**
 * How far the clients' own records were read into the ledger: a line is added for each session that moved on, after its calls
 * were. A line too few means that something is read again, which changes nothing.
 */
export class Marks {
  private readonly bySession = new Map<string, UsageState>()
  private readonly clients = new Set<string>()
  private lines = 0
  /** Bytes of the file, and how many of them the newest marks took when it was last written anew. */
  private bytes = 0
  private newestBytes = 0
  /** Everything that changed before this moment was looked at; milliseconds since 1970. */
  walkedTo = 0

  constructor(private readonly home: Home) {
    const text = readText(this.path, FILE_MAX) ?? ''
    this.bytes = text.length
    for (const line of text.split('\n')) if (line !== '') this.take(line)
    if (this.lines > 2 * this.bySession.size + 1000) this.rewrite()
  }

  private get path(): string {
    return join(this.home.usage, 'marks.jsonl')
  }

  private take(line: string): void {
    this.lines++
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return
    }
    const read = Line.safeParse(value)
    if (read.success) this.note(read.data.k, (value as { m: UsageState }).m)
    const walked = Walked.safeParse(value)
    if (walked.success) this.walkedTo = walked.data.walkedTo
  }

  private note(key: string, mark: UsageState): void {
    this.bySession.set(key, mark)
    this.clients.add(key.slice(0, key.indexOf('\n')))
  }

  get(client: string, session: string): UsageState | undefined {
    return this.bySession.get(`${client}\n${session}`)
  }

  /** Whether any session of a client was ever read. */
  hasClient(client: string): boolean {
    return this.clients.has(client)
  }

  get sessions(): number {
    return this.bySession.size
  }

  set(client: string, session: string, mark: UsageState): void {
    const k = `${client}\n${session}`
    this.note(k, mark)
    this.append({ k, m: mark })
  }

  noteWalked(walkedTo: number): void {
    this.walkedTo = walkedTo
    this.append({ walkedTo })
  }

  private append(line: object): void {
    ensureDir(this.home.usage)
    const { disk } = this.home
    const fd = disk.open(this.path, 'a', 0o600)
    // a line of its own even after a half-written one
    const bytes = Buffer.from(`\n${JSON.stringify(line)}\n`)
    try {
      writeAll(disk, fd, bytes)
    } finally {
      disk.close(fd)
    }
    this.lines++
    this.bytes += bytes.length
    // a session of hundreds of subagents has a long mark, and a new one with each of their calls
    if (this.bytes > Math.max(REWRITE_BYTES, 3 * this.newestBytes)) this.rewrite()
  }

  private rewrite(): void {
    const lines = [...this.bySession].map(([k, m]) => JSON.stringify({ k, m }))
    const text = `${[...lines, JSON.stringify({ walkedTo: this.walkedTo })].join('\n')}\n`
    try {
      writeAtomic(this.home, this.path, text)
      this.lines = lines.length + 1
      this.bytes = text.length
      this.newestBytes = text.length
    } catch {
      // it only stays longer than it need be
    }
  }
}
