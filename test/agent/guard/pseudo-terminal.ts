import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const CLEAN_ENV = { PATH: process.env.PATH ?? '/usr/bin:/bin', TERM: 'dumb', LANG: 'C.UTF-8', TZ: 'UTC' }

/**
 * Lines of shell on a real pseudo-terminal (script(1)), cut off by `setsid -f` from whoever runs the tests: their ancestors
 * would otherwise be the ones that the guard looks at.
 */
export class PseudoTerminal {
  readonly dir = mkdtempSync(join(tmpdir(), 'terminal-'))
  private files = 0

  /** A login shell that runs a line: bash whose first argument starts with a dash. */
  loginShell(line: string): string {
    return `exec -a -bash bash --norc ${this.keep(line)}`
  }

  /** A program below the present one; `true` keeps it from taking the present one's place. */
  nested(program: string, line: string): string {
    return `${program} ${this.keep(line)}; true`
  }

  keep(line: string): string {
    const file = join(this.dir, `line-${++this.files}.sh`)
    writeFileSync(file, line)
    return file
  }

  /** Runs a line until it ends; what is typed waits in the terminal, as from a quick keyboard. */
  async run(
    line: string,
    {
      env = {},
      typed = '',
      timeoutMs = 15_000,
    }: { env?: Record<string, string>; typed?: string; timeoutMs?: number } = {},
  ): Promise<{ code: number; screen: string }> {
    const n = ++this.files
    const [screen, done] = [join(this.dir, `screen-${n}`), join(this.dir, `done-${n}`)]
    const script = this.keep(line)
    const keyboard = `{ printf '%s' "$TYPED"; for i in $(seq ${timeoutMs / 50}); do [ -e ${done} ] && break; sleep 0.05; done; }`
    const command = `bash ${script}; echo $? > ${done}.code; : > ${done}`
    spawn(
      'setsid',
      ['-f', 'bash', '-c', `${keyboard} | script -qec '${command}' ${screen} > /dev/null; : > ${done}.ended`],
      {
        env: { ...CLEAN_ENV, ...env, TYPED: typed } as unknown as NodeJS.ProcessEnv,
        stdio: 'ignore',
      },
    )
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(25)) {
      if (!existsSync(`${done}.ended`)) continue
      return {
        code: Number(readFileSync(`${done}.code`, 'utf8')),
        screen: readFileSync(screen, 'utf8').replaceAll('\r', ''),
      }
    }
    throw new Error(`the line did not end: ${existsSync(screen) ? readFileSync(screen, 'utf8') : 'it never began'}`)
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}
