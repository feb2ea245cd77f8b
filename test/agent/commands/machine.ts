import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { buildConnector } from '#agent/build.mjs'
import { crypto } from '#agent/crypto.ts'
import { type Home, openHome } from '#agent/home.ts'
import { base64url, fromUtf8, utf8 } from '#core/bytes.ts'
import { parseJws } from '#core/jws.ts'
import { JoinBody } from '#core/protocol.ts'
import { Organisation } from '../daemon/organisation.ts'
import { CLEAN_ENV, PseudoTerminal } from '../guard/pseudo-terminal.ts'

const built = mkdtempSync(join(tmpdir(), 'built-'))
const ready = buildConnector({ out: built })
afterAll(() => rmSync(built, { recursive: true, force: true }))

// biome-ignore lint/suspicious/noExplicitAny: each answer has a form of its own
type AnyJson = any
export type Ran = { code: number | null; stdout: string; stderr: string; json: AnyJson }

/** A developer's machine as it is after the download line: an empty home, the built program, nothing else. */
export class CommandMachine {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdpoint-cli-'))
  readonly home: Home = openHome(join(this.folder, '.holdpoint'))
  readonly terminal = new PseudoTerminal()
  readonly env: Record<string, string> = { ...CLEAN_ENV, HOME: this.folder }

  async install(): Promise<void> {
    await ready
    const ran = await this.spawn([join(built, 'holdpoint.cjs'), 'install'])
    if (ran.code !== 0) throw new Error(ran.stderr)
  }

  /** Runs the installed command without a terminal. */
  run(args: string[], options: { input?: string; env?: Record<string, string>; cwd?: string } = {}): Promise<Ran> {
    return this.spawn([join(this.home.bin, 'holdpoint.cjs'), ...args], options)
  }

  /** Runs the installed command below a login shell on a terminal, with something typed. */
  type(args: string[], typed = '', env: Record<string, string> = {}): Promise<{ code: number; screen: string }> {
    const quoted = args.map(arg => `'${arg}'`).join(' ')
    const line = this.terminal.loginShell(`${join(this.home.bin, 'holdpoint')} ${quoted}; exit $?`)
    return this.terminal.run(line, { env: { ...this.env, ...env }, typed })
  }

  private async spawn(
    args: string[],
    { input = '', env = {}, cwd }: { input?: string; env?: Record<string, string>; cwd?: string } = {},
  ): Promise<Ran> {
    await ready
    const child = spawn(process.execPath, args, {
      env: { ...this.env, ...env } as unknown as NodeJS.ProcessEnv,
      cwd: cwd ?? this.folder,
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.stdin.end(input)
    const code = await new Promise<number | null>(resolve => child.on('close', resolve))
    const stdout = Buffer.concat(out).toString('utf8')
    let json: unknown
    try {
      json = JSON.parse(stdout)
    } catch {
      json = undefined
    }
    return { code, stdout, stderr: Buffer.concat(err).toString('utf8'), json }
  }

  /** Ends the daemon that this machine started, by the number it wrote down, and removes everything. */
  async remove(): Promise<void> {
    await this.endDaemon()
    this.terminal.remove()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async endDaemon(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (!existsSync(this.home.daemon)) return
    const { pid } = JSON.parse(readFileSync(this.home.daemon, 'utf8')) as { pid: number }
    try {
      process.kill(pid, signal)
      for (let i = 0; i < 100; i++) {
        process.kill(pid, 0)
        await sleep(50)
      }
    } catch {
      // it has ended
    }
  }

  settings(): { text: string; json: AnyJson } {
    const text = readFileSync(join(this.folder, '.claude', 'settings.json'), 'utf8')
    return { text, json: JSON.parse(text) }
  }

  makeFolder(name: string): string {
    const path = join(this.folder, name)
    mkdirSync(path, { recursive: true })
    return path
  }
}

type Route = (request: IncomingMessage, body: AnyJson, response: ServerResponse) => unknown

/**
 * The organisation of the daemon's tests behind one more door: joining, leaving, sign-in links and the admin's calls. What it
 * has no route for goes on to the organisation.
 */
export class PlaneWithDoors {
  readonly org = new Organisation()
  readonly joinToken = `hpj_${'b'.repeat(52)}`
  readonly adminToken = `hpa_${'c'.repeat(52)}`
  readonly calls: { route: string; body: AnyJson; headers: IncomingMessage['headers'] }[] = []
  readonly routes: Record<string, Route> = {
    'POST join': (_, body) => this.join(body),
    'DELETE machine': () => {
      this.left = true
      return undefined
    },
  }
  left = false
  joined = false
  origin = ''
  private server: Server | undefined

  get line(): string {
    return `${this.origin}/o/acme#e=${this.joinToken}&r=${this.org.rootDigest}`
  }

  async listen(): Promise<void> {
    await this.org.listen()
    this.server = createServer((incoming, response) => {
      const chunks: Buffer[] = []
      incoming.on('data', chunk => chunks.push(chunk as Buffer))
      incoming.on('end', () => this.answer(incoming, Buffer.concat(chunks), response))
    })
    await new Promise<void>(resolve => this.server!.listen(0, '127.0.0.1', resolve))
    this.origin = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    await this.org.close()
    this.server?.closeAllConnections()
    await new Promise<void>(resolve => (this.server ? this.server.close(() => resolve()) : resolve()))
  }

  private answer(incoming: IncomingMessage, bytes: Buffer, response: ServerResponse): void {
    const route = `${incoming.method} ${incoming.url!.replace('/api/v1/', '')}`
    const own = this.routes[route]
    let body: unknown
    try {
      body = JSON.parse(bytes.toString('utf8'))
    } catch {
      body = undefined
    }
    if (own) {
      this.calls.push({ route, body, headers: incoming.headers })
      const value = own(incoming, body, response)
      if (!response.writableEnded)
        response
          .writeHead(value === undefined ? 204 : 200, { 'content-type': 'application/json' })
          .end(value === undefined ? undefined : JSON.stringify(value))
      return
    }
    const { host: _, ...onwardHeaders } = incoming.headers
    const onward = request(
      `${this.org.origin}${incoming.url}`,
      { method: incoming.method, headers: onwardHeaders },
      answer => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      },
    )
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    onward.end(bytes)
  }

  /** Joins once, and only a machine that proves to have the key it sends. */
  private join(body: unknown): unknown {
    const { token, key, proof } = JoinBody.parse(body)
    const jws = parseJws(proof)
    const said = JSON.parse(fromUtf8(jws.payload)) as { v: number; token: string }
    const fits =
      crypto.verify(key, jws.signingInput, jws.signature) && said.token === base64url(crypto.sha256(utf8(token)))
    if (token !== this.joinToken || this.joined || !fits) throw new Error('a join that must not work')
    this.joined = true
    Object.assign(this.org.machineKey, { x: key.x })
    return {
      machine: this.org.machine,
      token: this.org.token,
      member: { id: this.org.member, name: 'Dev' },
      org: { id: this.org.id, slug: 'acme', name: 'Acme' },
      roots: this.org.roots,
    }
  }
}

/** An answer of the control plane that refuses. */
export function refuse(response: ServerResponse, status: number, code: string, details?: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { code, message: `refused: ${code}`, ...(details ? { details } : {}) } }))
}
