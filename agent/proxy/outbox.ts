/** Calls that the proxy has seen, on their way into the ledger: files that it leaves and the daemon takes in, running or not. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensureDir, type Home, readText, remove, writeAll } from '#agent/home.ts'
import { ObservedCall } from '#agent/otlp/observed.ts'
import type { Telemetry } from '#agent/otlp/telemetry.ts'

/** What is seen within this time is one file; what a kill takes with it, the client's own records still have. */
const GATHER_MS = 250
/** Calls that are held while the disk takes none; beyond it the oldest go. */
const WAITING_MAX = 10_000
const FILE_MAX = 16 * 1024 * 1024
const NAME = /^[0-9a-z]{1,20}-\d{1,10}-\d{1,10}\.jsonl$/

const folderOf = (home: Home) => join(home.usage, 'proxy')

export class Outbox {
  private waiting: ObservedCall[] = []
  private timer: NodeJS.Timeout | undefined
  private files = 0
  /** Calls that went with no disk to take them. */
  lost = 0

  constructor(
    private readonly home: Home,
    private readonly log: (line: string) => void,
  ) {}

  add(call: ObservedCall): void {
    this.waiting.push(call)
    this.timer ??= setTimeout(() => this.flush(), GATHER_MS)
  }

  /** Writes what waits. */
  flush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.waiting.length === 0) return
    const name = `${Date.now().toString(36)}-${process.pid}-${this.files++}.jsonl`
    const text = this.waiting.map(call => `${JSON.stringify(call)}\n`).join('')
    try {
      this.write(name, text)
      this.waiting = []
    } catch (error) {
      this.log(`usage could not be written, and is tried again: ${(error as Error).message}`)
      const over = Math.max(0, this.waiting.length - WAITING_MAX)
      this.lost += over
      this.waiting = this.waiting.slice(over)
      this.timer = setTimeout(() => this.flush(), 20 * GATHER_MS)
      this.timer.unref()
    }
  }

  /** Whole or not at all under its name. Plain writes: it survives a kill, and power loss takes what the client's records have. */
  private write(name: string, text: string): void {
    const { disk } = this.home
    const folder = folderOf(this.home)
    ensureDir(folder)
    const path = join(folder, name)
    const fd = disk.open(`${path}.new`, 'w', 0o600)
    try {
      writeAll(disk, fd, Buffer.from(text))
    } finally {
      disk.close(fd)
    }
    disk.rename(`${path}.new`, path)
  }
}

/**
 * Takes in what proxies have left, oldest first. A crash between taking and deleting meets its own keys. What cannot be read is
 * left there, and the answer says so.
 */
export function takeOutbox(home: Home, telemetry: Telemetry): string | undefined {
  let problem: string | undefined
  let names: string[]
  try {
    names = readdirSync(folderOf(home)).filter(name => NAME.test(name))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : `what the proxy has left cannot be read: ${message}`
  }
  for (const name of names.sort()) {
    const path = join(folderOf(home), name)
    const text = readText(path, FILE_MAX)
    if (text === undefined) {
      problem = `what the proxy has left cannot be read: ${path}`
      continue
    }
    const lines = text.split('\n').filter(line => line !== '')
    const calls = lines.flatMap(line => {
      const read = ObservedCall.safeParse(parsed(line))
      return read.success ? [read.data] : []
    })
    telemetry.take(calls, { rejected: lines.length - calls.length })
    remove(path)
  }
  return problem
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
