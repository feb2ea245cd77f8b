import { mkdtempSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { BrowserContext } from '@playwright/test'
import { type Bench, type Finished, PATH, runProcess, sleep, startBench } from '../../test/clients/bench.ts'
import { removeFolder } from '../../test/support/remove-folder.ts'
import { change } from './api.ts'

/** A developer's machine: an empty home without the clone, a project, and the scripted model server that its agent talks to. */
export type Machine = {
  home: string
  bench: Bench
  /** Runs a shell line as the developer would paste it. */
  shell(line: string): Promise<Finished>
  /** Runs the installed command. */
  holdpoint(...args: string[]): Promise<Finished>
  /** Joins somebody by the line that the Machines page gives, and wires the agent. */
  join(caller: BrowserContext, org: string, memberId?: string): Promise<void>
  stop(): Promise<void>
}

export async function emptyMachine(): Promise<Machine> {
  const home = mkdtempSync(path.join(os.tmpdir(), 'holdpoint-home-'))
  const bench = await startBench({ home })
  const env = { PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb' }
  const run = (command: string, args: string[]) => runProcess(command, args, { env, cwd: home, timeoutMs: 120_000 })
  return {
    home,
    bench,
    shell: line => run('/bin/sh', ['-c', line]),
    holdpoint: (...args) => run(path.join(home, '.holdpoint/bin/holdpoint'), args),
    async join(caller, org, memberId) {
      const { line } = await change<{ line: string }>(caller, 'machine.joinLine', {
        org,
        ...(memberId ? { memberId } : {}),
      })
      for (const step of [line, '~/.holdpoint/bin/holdpoint hooks install']) {
        const ran = await run('/bin/sh', ['-c', step])
        if (ran.exit !== 0) throw new Error(`${step} ended with ${ran.exit}: ${ran.stdout}${ran.stderr}`)
      }
    },
    async stop() {
      const pid = daemonPid(home)
      if (pid) await ended(pid)
      await bench.stop()
      await removeFolder(home)
    },
  }
}

/** Ends the daemon and waits: what it still wrote would stand in the way of removing its folder. */
async function ended(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM')
    for (const until = Date.now() + 10_000; Date.now() < until; await sleep(25)) process.kill(pid, 0)
  } catch {
    // it has ended
  }
}

function daemonPid(home: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(path.join(home, '.holdpoint/daemon.json'), 'utf8')) as { pid: number }).pid
  } catch {
    return undefined
  }
}
