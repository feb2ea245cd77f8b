import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ensureDir, type Home, readJson, remove } from '#agent/home.ts'

type Holder = { pid: number; startedAt: string }

/** Another daemon of this home runs, or its place cannot be taken. */
export class DaemonRefused extends Error {
  constructor(
    readonly code: 'already_running' | 'port_taken' | 'no_home',
    message: string,
  ) {
    super(message)
    this.name = 'DaemonRefused'
  }
}

/**
 * Takes the home for this process: one daemon writes the journal. A lock whose process is gone (kill -9, power cut) is taken
 * over. Returns how to give it back; `undefined` when the home cannot be written, where the port alone keeps a second away.
 * @throws DaemonRefused
 */
export function takeLock(home: Home): (() => void) | undefined {
  const mine: Holder = { pid: process.pid, startedAt: statOf(process.pid).start }
  const temp = `${home.lock}.${process.pid}`
  try {
    ensureDir(dirname(home.lock))
    writeFileSync(temp, JSON.stringify(mine), { mode: 0o600 })
  } catch {
    remove(temp)
    return undefined
  }
  try {
    for (let i = 0; i < 10; i++) {
      try {
        linkSync(temp, home.lock)
        return () => release(home, mine)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined
      }
      const holder = readJson<Holder>(home.lock)
      if (holder && isRunning(holder))
        throw new DaemonRefused(
          'already_running',
          `The daemon of ${home.root} is already running (process ${holder.pid}).`,
        )
      // gone: move it away, so that of two that find it only one does; what was moved is looked at again
      const moved = `${home.lock}.stale-${process.pid}`
      try {
        renameSync(home.lock, moved)
      } catch {
        continue
      }
      const was = readJson<Holder>(moved)
      if (was && isRunning(was)) {
        // somebody took it in between: give it back
        linkSync(moved, home.lock)
      }
      unlinkSync(moved)
    }
  } finally {
    unlinkSync(temp)
  }
  throw new DaemonRefused('already_running', `The lock of ${home.root} is changing hands; try again.`)
}

function release(home: Home, mine: Holder): void {
  if (readJson<Holder>(home.lock)?.pid !== mine.pid) return
  try {
    unlinkSync(home.lock)
  } catch {
    // a stale one is taken over by the next
  }
}

/** A process number is used again: the holder is that process only when it also began when it says. */
function isRunning({ pid, startedAt }: Holder): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const { state, start } = statOf(pid)
  // killed, and not yet reaped by its parent: in a container whose first process reaps nobody it stays so for good
  if (state === 'Z' || state === 'X') return false
  return start === '' || startedAt === '' || start === startedAt
}

/** Linux: a process's state and its start in clock ticks (proc(5), stat fields 3 and 22); elsewhere unknown. */
function statOf(pid: number): { state: string; start: string } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', start: fields[19] ?? '' }
  } catch {
    return { state: '', start: '' }
  }
}
