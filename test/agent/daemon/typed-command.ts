import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLEAN_ENV } from '../guard/pseudo-terminal.ts'
import { type Machine, onCleanup, until } from './world.ts'

/** What a command says of itself when the word has been typed. */
export type Typed = { pid: number; tty: string }

/**
 * A process that looks as `holdpoint …` does while it waits for the daemon: Node with the installed program, at a terminal of
 * its own, below a login shell, away from whatever runs the tests. The program itself only waits.
 */
export async function typedCommand(
  machine: Machine,
  words: string[],
  { env = {}, program = join(machine.home.bin, 'holdpoint.cjs'), interpreter = process.execPath } = {},
): Promise<Typed> {
  const place = join(machine.folder, `typed-${Math.random().toString(36).slice(2)}`)
  mkdirSync(join(program, '..'), { recursive: true })
  writeFileSync(program, interpreter === process.execPath ? 'setTimeout(() => {}, 30_000)\n' : 'sleep 30\n')
  writeFileSync(
    `${place}.sh`,
    `at=$(tty)\necho $at > ${place}.tty\n${interpreter} ${program} ${words.join(' ')} < $at & echo $! > ${place}.pid; wait\n`,
  )
  // script(1) takes the system's own shell, which may know no `exec -a`
  writeFileSync(`${place}.login.sh`, `exec -a -bash bash --norc ${place}.sh`)
  const shell: ChildProcess = spawn('setsid', ['--fork', 'script', '-qec', `bash ${place}.login.sh`, '/dev/null'], {
    stdio: 'ignore',
    detached: true,
    env: { ...CLEAN_ENV, ...env } as unknown as NodeJS.ProcessEnv,
  })
  onCleanup(() => void shell.kill())
  const read = (file: string) => {
    try {
      return readFileSync(file, 'utf8').trim()
    } catch {
      return ''
    }
  }
  // the shell's child is ours only once it has become the program
  await until(() => read(`/proc/${read(`${place}.pid`)}/cmdline`).includes(program))
  const pid = Number(read(`${place}.pid`))
  onCleanup(() => {
    try {
      process.kill(pid)
    } catch {}
  })
  return { pid, tty: read(`${place}.tty`) }
}
