import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { Entry } from '#agent/daemon/entry.ts'
import { type Daemon, type DaemonOptions, runDaemon } from '#agent/daemon/main.ts'
import { type Home, openHome, writeJson } from '#agent/home.ts'
import type { Organisation } from './organisation.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many forms
export type Reply = { status: number; body: string; json: any }
const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})
export const onCleanup = (clean: () => Promise<void> | void) => void cleanups.push(clean)

/** A machine: a home, a developer's folder with Claude Code's transcripts, and (once started) the daemon. */
export class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdpoint-daemon-'))
  readonly home: Home
  readonly cwd = join(this.folder, 'dev', 'project')
  daemon!: Daemon
  offset = 0
  now = () => Date.now() + this.offset

  constructor(disk?: Home['disk']) {
    this.home = disk ? openHome(join(this.folder, 'home'), disk) : openHome(join(this.folder, 'home'))
    mkdirSync(this.cwd, { recursive: true })
    mkdirSync(this.home.root, { recursive: true, mode: 0o700 })
    onCleanup(() => rmSync(this.folder, { recursive: true, force: true }))
  }

  config(yaml: string): void {
    writeFileSync(this.home.config, yaml)
  }

  /** What `holdpoint join` would have left. */
  join(org: Organisation, { pinned = true }: { pinned?: boolean } = {}): void {
    const { home } = this
    writeJson(home, home.team, {
      origin: org.origin,
      org: { id: org.id, slug: 'acme', name: 'Acme' },
      machine: org.machine,
      member: { id: org.member, name: 'Dev' },
      token: org.token,
      firstUse: !pinned,
      joinedAt: new Date(this.now()).toISOString(),
    })
    writeJson(home, home.machineKey, org.machineKey)
    writeJson(home, home.roots, org.roots)
    writeJson(home, home.pin, { version: 0, rootSeq: org.root.seq, rootDigest: org.rootDigest, clockHigh: this.now() })
  }

  async start(options: DaemonOptions = {}): Promise<Daemon> {
    this.daemon = await runDaemon({
      home: this.home,
      version: '1.0.0',
      now: () => this.now(),
      clientHome: { homeDir: join(this.folder, 'dev'), env: {} },
      follow: false,
      ...options,
    })
    onCleanup(() => this.daemon.stop())
    return this.daemon
  }

  /** What a crash leaves: the journal as it is, no goodbye. The lock is this process's, so it is taken away too. */
  async crash(): Promise<void> {
    const { journal } = this.daemon.runtime
    const before = readdirSync(this.home.journal).map(
      name => [name, readFileSync(join(this.home.journal, name))] as const,
    )
    const kept = new Map<string, Buffer>()
    for (const path of [this.home.counters, this.home.sync, this.home.journalHigh]) {
      try {
        kept.set(path, readFileSync(path))
      } catch {}
    }
    void journal
    await this.daemon.stop()
    for (const [name, bytes] of before) writeFileSync(join(this.home.journal, name), bytes)
    for (const [path, bytes] of kept) writeFileSync(path, bytes)
  }

  private get door(): { hookToken: string; apiToken: string } {
    return JSON.parse(readFileSync(this.home.tokens, 'utf8'))
  }

  /** One request to the loopback door; `headers` override, undefined removes. */
  ask(
    method: string,
    path: string,
    {
      body,
      headers = {},
      token,
    }: {
      body?: string | Buffer | undefined
      headers?: Record<string, string | undefined>
      token?: 'hook' | 'api' | undefined
    } = {},
  ): Promise<Reply> {
    const given: Record<string, string | undefined> = {
      ...(token ? { authorization: `Bearer ${token === 'hook' ? this.door.hookToken : this.door.apiToken}` } : {}),
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    }
    const sent = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port: this.daemon.port, method, path, headers: sent, agent: false },
        response => {
          const chunks: Buffer[] = []
          response.on('data', chunk => chunks.push(chunk as Buffer))
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8')
            let json: unknown
            try {
              json = JSON.parse(text)
            } catch {}
            resolve({ status: response.statusCode!, body: text, json })
          })
        },
      )
      asked.on('error', reject)
      asked.end(body)
    })
  }

  /** A hook of Claude Code, as recorded from the real client, with some fields changed. */
  hook(fields: Record<string, unknown> = {}, headers: Record<string, string> = {}): Promise<Reply> {
    return this.ask('POST', '/hook/claude-code', {
      token: 'hook',
      headers,
      body: JSON.stringify({ ...this.payload(), ...fields }),
    })
  }

  payload(): Record<string, unknown> {
    const recorded = JSON.parse(readFileSync(new URL('./payloads/PreToolUse.json', import.meta.url), 'utf8')) as Record<
      string,
      unknown
    >
    return {
      ...recorded,
      session_id: SESSION,
      cwd: this.cwd,
      transcript_path: this.transcript(),
      tool_use_id: 'toolu_1',
    }
  }

  transcript(session = SESSION): string {
    return join(this.folder, 'dev', '.claude', 'projects', this.cwd.replace(/[^A-Za-z0-9]/g, '-'), `${session}.jsonl`)
  }

  /** Lets the session cost so many dollars by one recorded-shape response of a model on the rate card ($25 a million output tokens). */
  spend(
    usd: number,
    {
      session = SESSION,
      id = `msg_${Math.random().toString(36).slice(2)}`,
      toolUses = [] as string[],
      at = this.now(),
    } = {},
  ): void {
    const line = {
      type: 'assistant',
      isSidechain: false,
      sessionId: session,
      requestId: `req_${id}`,
      timestamp: new Date(at).toISOString(),
      cwd: this.cwd,
      message: {
        id,
        type: 'message',
        role: 'assistant',
        model: 'claude-opus-4-6',
        content: toolUses.map(use => ({ type: 'tool_use', id: use, name: 'Bash', input: { command: 'echo' } })),
        usage: {
          input_tokens: 0,
          output_tokens: Math.round((usd / 25) * 1e6),
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
        },
      },
    }
    this.line(line, session)
  }

  /** What the client writes when a tool has run, or when its user said no. */
  result(toolUse: string, outcome: 'ran' | 'declined', session = SESSION): void {
    const block = {
      type: 'tool_result',
      tool_use_id: toolUse,
      content: outcome === 'ran' ? 'ok' : 'The user rejected it',
      ...(outcome === 'ran' ? {} : { is_error: true }),
    }
    this.line(
      {
        type: 'user',
        isSidechain: false,
        sessionId: session,
        timestamp: new Date(this.now()).toISOString(),
        message: { role: 'user', content: [block] },
        ...(outcome === 'declined' ? { toolUseResult: 'User rejected tool use' } : {}),
      },
      session,
    )
  }

  line(value: unknown, session = SESSION): void {
    const path = this.transcript(session)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, `${JSON.stringify(value)}\n`, { flag: 'a' })
    // by the machine's own clock, which may be hours ahead of ours: who looks for what has changed goes by it
    utimesSync(path, this.now() / 1000, this.now() / 1000)
  }

  journal(): Entry[] {
    return readdirSync(this.home.journal)
      .sort()
      .flatMap(name =>
        readFileSync(join(this.home.journal, name), 'utf8')
          .split('\n')
          .filter(Boolean)
          .map(line => JSON.parse(line) as Entry),
      )
  }

  entries<K extends Entry['kind']>(kind: K): Extract<Entry, { kind: K }>[] {
    return this.journal().filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind)
  }
}

export const SESSION = '00000000-0000-4000-8000-000000000001'

/** What the client was told: passes on silence, else its decision and the reason. */
export function told(reply: Reply): { decision: string; reason: string } {
  if (reply.status !== 200) return { decision: `status ${reply.status}`, reason: reply.body }
  if (reply.body === '') return { decision: 'pass', reason: '' }
  const output = reply.json?.hookSpecificOutput
  return { decision: output?.permissionDecision ?? 'pass', reason: output?.permissionDecisionReason ?? '' }
}

export const attended = { 'x-holdpoint-attended': '1' }

/** Waits until something holds. The limit guards against a hang: the machine may be slow. */
export async function until(what: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const end = Date.now() + ms
  while (!(await what())) {
    if (Date.now() > end) throw new Error('it did not happen in time')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
