import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Bench, type Finished, PATH, runProcess, startBench } from '../../test/clients/bench.ts'

/** A developer's machine: an empty home without the clone, a project, and the scripted model server that its agent talks to. */
export type Machine = {
  home: string
  bench: Bench
  /** Runs a shell line as the developer would paste it. */
  shell(line: string): Promise<Finished>
  /** Runs the installed command. */
  holdpoint(...args: string[]): Promise<Finished>
  stop(): Promise<void>
}

export async function emptyMachine(): Promise<Machine> {
  const home = mkdtempSync(path.join(os.tmpdir(), 'holdpoint-home-'))
  const bench = await startBench({ home })
  const env = { PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb' }
  const run = (command: string, args: string[]) => runProcess(command, args, { env, cwd: home, timeoutMs: 30_000 })
  return {
    home,
    bench,
    shell: line => run('/bin/sh', ['-c', line]),
    holdpoint: (...args) => run(path.join(home, '.holdpoint/bin/holdpoint'), args),
    async stop() {
      const pid = daemonPid(home)
      if (pid) process.kill(pid, 'SIGTERM')
      await bench.stop()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function daemonPid(home: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(path.join(home, '.holdpoint/daemon.json'), 'utf8')) as { pid: number }).pid
  } catch {
    return undefined
  }
}
