import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '#server/boot/environment.mjs'
import { exactly, PATH, runProcess } from '../clients/bench.ts'
import { type Later, temporaryFolder } from './undo.ts'

const PROGRAM = join(root, 'agent/dist/holdpoint.cjs')
const PAYLOAD = join(root, 'test/clients/payloads/claude/PreToolUse.json')

/** What a hook was answered: nothing is "go on". */
export type HookAnswer = { passed: boolean; reason: string }

/** The built connector installed on a developer's machine of this run only: its own home, nothing inherited. */
export class Connector {
  readonly home: string
  readonly cwd: string
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 })
  private calls = 0

  private constructor(
    private readonly later: Later,
    /** The developer's home; `.holdpoint` and `.claude` are below it. */
    readonly user: string,
  ) {
    this.home = join(user, '.holdpoint')
    this.cwd = join(user, 'project')
  }

  static async install(later: Later, ...args: string[]): Promise<Connector> {
    if (!existsSync(PROGRAM)) throw new Error('the connector is not built here: run `npm run build` first')
    const connector = new Connector(later, temporaryFolder(later))
    mkdirSync(connector.cwd)
    await connector.node(PROGRAM, 'install', ...args)
    return connector
  }

  get env(): Record<string, string> {
    return { PATH, HOME: this.user, LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: this.user, HOLDPOINT_HOME: this.home }
  }

  /** Runs the installed command. */
  run(...args: string[]): Promise<void> {
    return this.node(join(this.home, 'bin/holdpoint.cjs'), ...args)
  }

  private async node(...args: string[]): Promise<void> {
    const ran = await runProcess(process.execPath, args, { env: this.env, cwd: this.user, timeoutMs: 30_000 })
    if (ran.exit !== 0) throw new Error(`${args.slice(1).join(' ')} ended with ${ran.exit}: ${ran.stderr}${ran.stdout}`)
  }

  /** Starts the daemon as a process and waits until its door is open. */
  async startDaemon(): Promise<void> {
    const program = join(this.home, 'bin/holdpoint.cjs')
    // in a session of its own, as hooks and the command start it: Linux shares its processors out by session
    const options = { cwd: this.user, env: exactly(this.env), stdio: 'ignore', detached: true } as const
    const child = spawn(process.execPath, [program, 'daemon'], options)
    this.later(() => this.end(child))
    for (let tries = 0; !existsSync(join(this.home, 'daemon.json')); tries++) {
      if (tries > 400 || child.exitCode !== null) throw new Error('the daemon did not start')
      await sleep(25)
    }
  }

  private async end(child: ChildProcess): Promise<void> {
    this.agent.destroy()
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }

  /** How many calls of the client were judged here. */
  judged(): number {
    const folder = join(this.home, 'judged')
    return readdirSync(folder).reduce(
      (n, name) => n + readFileSync(join(folder, name), 'utf8').split('\n').length - 1,
      0,
    )
  }

  get door(): { port: number; hookToken: string } {
    return JSON.parse(readFileSync(join(this.home, 'daemon.json'), 'utf8'))
  }

  /** A recorded tool call of the real client, in a session of this machine; each call has an id of its own. */
  payload(session: string): Record<string, unknown> {
    const recorded = JSON.parse(readFileSync(PAYLOAD, 'utf8')) as Record<string, unknown>
    const tool_use_id = `toolu_${String(++this.calls).padStart(24, '0')}`
    return { ...recorded, session_id: session, cwd: this.cwd, transcript_path: this.transcript(session), tool_use_id }
  }

  transcript(session: string): string {
    return transcriptOf(this.user, this.cwd, session)
  }

  /** Asks the daemon about one tool call, as the client's http hook does. */
  hook(session: string): Promise<HookAnswer> {
    const { port, hookToken } = this.door
    const body = JSON.stringify(this.payload(session))
    const headers = {
      authorization: `Bearer ${hookToken}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method: 'POST', path: '/hook/claude-code', headers, agent: this.agent }
      const asked = request(options, response => {
        let text = ''
        response.setEncoding('utf8').on('data', part => {
          text += part
        })
        response.on('end', () => {
          if (response.statusCode !== 200)
            return reject(new Error(`the daemon answered ${response.statusCode}: ${text}`))
          const output = text === '' ? undefined : JSON.parse(text).hookSpecificOutput
          resolve({ passed: output === undefined, reason: String(output?.permissionDecisionReason ?? '') })
        })
      })
      asked.on('error', reject)
      asked.end(body)
    })
  }
}

/** Where Claude Code keeps a session of a project. */
export const transcriptOf = (user: string, cwd: string, session: string): string =>
  join(user, '.claude/projects', cwd.replace(/[^A-Za-z0-9]/g, '-'), `${session}.jsonl`)

/** Adds a recorded-shape response to a transcript that costs so many dollars ($25 a million output tokens). */
export function spend(transcript: string, session: string, usd: number, n: number): void {
  const message = {
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-6',
    content: [{ type: 'text', text: 'I will look at the next file.' }],
    usage: {
      input_tokens: 0,
      output_tokens: Math.round((usd / 25) * 1e6),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  }
  const timestamp = new Date().toISOString()
  const line = { type: 'assistant', isSidechain: false, sessionId: session, requestId: `req_${n}`, timestamp, message }
  mkdirSync(join(transcript, '..'), { recursive: true })
  writeFileSync(transcript, `${JSON.stringify(line)}\n`, { flag: 'a' })
}
