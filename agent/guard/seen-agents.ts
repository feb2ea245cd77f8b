/** Which processes run an agent's session, as the hooks that they started told us. Written by the hook process: keep it small. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = (home: string) => join(home, 'agents')

/** Remembers that a process is an agent. `pid` comes from the agent's own environment, so only a live one counts. */
export function rememberAgent(home: string, pid: number): void {
  if (!Number.isSafeInteger(pid) || pid < 2) return
  mkdirSync(folder(home), { recursive: true, mode: 0o700 })
  writeFileSync(join(folder(home), String(pid)), '', { mode: 0o600 })
}

/**
 * The agents that still run. A process that started after its number was written down is another one that got the number
 * (checked on Linux; elsewhere a live process of that number counts, which refuses too much rather than too little).
 */
export function seenAgents(home: string, isAlive: (pid: number) => boolean = alive): Set<number> {
  const seen = new Set<number>()
  let names: string[]
  try {
    names = readdirSync(folder(home))
  } catch {
    return seen
  }
  for (const name of names) {
    const pid = Number(name)
    if (!Number.isSafeInteger(pid)) continue
    const file = join(folder(home), name)
    try {
      if (isAlive(pid) && startedAtMs(pid) <= statSync(file).mtimeMs + 2000) seen.add(pid)
      else rmSync(file, { force: true })
    } catch {
      // written or removed by another process meanwhile
    }
  }
  return seen
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process began, milliseconds since the epoch (proc(5): field 22 in ticks since boot, 100 a second); 0 = cannot say. */
export function startedAtMs(pid: number): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  const boot = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))
  return boot ? Number(boot[1]) * 1000 + ticks * 10 : 0
}
