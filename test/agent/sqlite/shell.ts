/** The real SQLite, as the program `sqlite3`, to make the databases that our reader reads. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'

/** Runs statements on a database and returns what they print, rows as JSON objects. */
export function sql(file: string, statements: string): Record<string, unknown>[] {
  const printed = execFileSync('sqlite3', ['-json', file], { input: statements, encoding: 'utf8' }).trim()
  return printed === '' ? [] : JSON.parse(printed)
}

/** A program that keeps a database open, so that its log stays. */
export class OpenDatabase {
  private readonly child: ChildProcessWithoutNullStreams
  private readonly gone: Promise<void>
  private printed = ''
  private calls = 0
  private look: () => void = () => {}

  constructor(file: string) {
    this.child = spawn('sqlite3', ['-batch', file], { stdio: 'pipe' })
    this.child.stdout.on('data', part => {
      this.printed += part
      this.look()
    })
    this.gone = new Promise(resolve => this.child.once('close', () => resolve()))
  }

  /** Runs statements; they are done when it is. */
  async run(statements: string): Promise<void> {
    const mark = `done ${++this.calls}\n`
    const done = new Promise<void>(resolve => {
      this.look = () => this.printed.includes(mark) && resolve()
    })
    this.child.stdin.write(`${statements}\n.print ${mark}`)
    await Promise.race([
      done,
      this.gone.then(() => {
        throw new Error('sqlite3 has ended')
      }),
    ])
    this.printed = ''
  }

  /** Ends it as a crash does: the log stays behind. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.gone
  }
}
