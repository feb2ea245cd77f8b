import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { proof } from '#agent/crypto.ts'
import { seenAgents } from '#agent/guard/seen-agents.ts'
import { clientPlaceFile, clientPlaceOf } from '#agent/hook/client-place.ts'
import { listenerUid } from '#agent/hook/listener.ts'
import { socketPlace } from '#agent/hook/socket-place.ts'
import { HOOK_BODY_MAX } from '#core/limits.ts'

const TOKEN = 'hook-token-of-a-test'
const SECRET = Buffer.alloc(32, 7)
const EVENT = {
  session_id: '00000000-0000-4000-8000-000000000001',
  hook_event_name: 'Stop',
  cwd: '/home/dev/project',
  transcript_path: '/home/dev/t.jsonl',
}

let code: string
beforeAll(async () => {
  const built = await build({
    entryPoints: [join(__dirname, '../../../agent/hook/main.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    write: false,
    logLevel: 'error',
  })
  code = built.outputFiles[0]!.text
})

type Asked = { method: string; url: string; headers: IncomingMessage['headers']; body: string }
let folder: string
let home: string
let asked: Asked[]
let server: Server | undefined
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hook-'))
  home = join(folder, '.holdpoint')
  mkdirSync(join(home, 'bin'), { recursive: true })
  writeFileSync(join(home, 'bin', 'hook.cjs'), code)
  writeFileSync(join(home, 'secret'), SECRET)
  // what stands for the daemon only writes down that it was started, and with what
  writeFileSync(
    join(home, 'bin', 'holdpoint.cjs'),
    `require('node:fs').writeFileSync('${home}/started', JSON.stringify({ argv: process.argv.slice(2), env: process.env }))`,
  )
  asked = []
  answer = (_, response) => say(response)
})
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise<void>(resolve => (server ? server.close(() => resolve()) : resolve()))
  server = undefined
  chmodSync(home, 0o700)
  rmSync(folder, { recursive: true, force: true })
})

/** The daemon's answer for a command: what to write and how to end. */
const say = (response: ServerResponse, told: { exit?: number; stdout?: string; stderr?: string } = {}, status = 200) =>
  response.writeHead(status).end(JSON.stringify({ exit: 0, stdout: '', stderr: '', ...told }))

/** What stands for the daemon, at its socket or (an older one) on its port. */
async function daemon({ secret = SECRET, on = 'socket' as 'socket' | 'port' } = {}): Promise<number> {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk as Buffer))
    request.on('end', () => {
      asked.push({
        method: request.method!,
        url: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      })
      const nonce = new URL(request.url!, 'http://x').searchParams.get('n')
      if (nonce) response.end(proof(secret, nonce))
      else answer(request, response)
    })
  })
  if (on === 'socket') {
    const { folder, path } = socketPlace(home)!
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    await new Promise<void>(resolve => server!.listen(path, resolve))
    return 0
  }
  await new Promise<void>(resolve => server!.listen(0, '127.0.0.1', resolve))
  const at = (server.address() as AddressInfo).port
  writeFileSync(join(home, 'daemon.json'), JSON.stringify({ port: at, hookToken: TOKEN }))
  return at
}

async function hook(
  event: string,
  input: string | undefined = JSON.stringify({ ...EVENT, hook_event_name: event }),
  env: Record<string, string> = {},
  client = 'claude-code',
) {
  const child = spawn(process.execPath, [join(home, 'bin', 'hook.cjs'), client, event], {
    env: { PATH: process.env.PATH!, HOME: folder, ...env } as unknown as NodeJS.ProcessEnv,
  })
  const out: string[] = []
  const err: string[] = []
  child.stdout.on('data', chunk => out.push(String(chunk)))
  child.stderr.on('data', chunk => err.push(String(chunk)))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const started = performance.now()
  const exit = await new Promise<number | null>(resolve => child.on('close', resolve))
  return { exit, stdout: out.join(''), stderr: err.join(''), ms: performance.now() - started }
}

const SILENT = { exit: 0, stdout: '', stderr: '' }
// biome-ignore lint/suspicious/noExplicitAny: entries of several kinds are looked into
type AnyEntry = Record<string, any>
const spooled = () => {
  const spool = join(home, 'spool')
  return existsSync(spool)
    ? readdirSync(spool).map(name => JSON.parse(readFileSync(join(spool, name), 'utf8')) as AnyEntry)
    : []
}
async function startedDaemon(): Promise<{ argv: string[]; env: Record<string, string> } | undefined> {
  for (let i = 0; i < 60; i++) {
    if (existsSync(join(home, 'started')) && readFileSync(join(home, 'started'), 'utf8'))
      return JSON.parse(readFileSync(join(home, 'started'), 'utf8'))
    await sleep(50)
  }
  return undefined
}

describe('the process that a client starts', () => {
  it('hands the event to the daemon, byte for byte, with who is at the keyboard', async () => {
    await daemon()
    const input = JSON.stringify({ ...EVENT, prompt: 'grüße' })
    expect(
      await hook('Stop', input, {
        CLAUDE_CODE_SESSION_ATTENDED: '1',
        CLAUDE_CODE_ENTRYPOINT: 'cli',
        CLAUDE_PID: '4711',
        ANTHROPIC_API_KEY: 'sk-secret',
      }),
    ).toMatchObject(SILENT)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ method: 'POST', url: '/hook/claude-code', body: input })
    expect(asked[0]!.headers).toMatchObject({
      host: 'holdpoint',
      'x-holdpoint-form': 'command',
      'content-type': 'application/json',
      'x-holdpoint-attended': '1',
      'x-holdpoint-entrypoint': 'cli',
      'x-holdpoint-client-pid': '4711',
    })
    expect(asked[0]!.headers).not.toHaveProperty('authorization')
    expect(Math.abs(Date.now() - Number(asked[0]!.headers['x-holdpoint-sent']))).toBeLessThan(60_000)
    expect(JSON.stringify(asked[0])).not.toContain('sk-secret')
    expect(spooled()).toEqual([])
  })

  it('tells the process of the client that it speaks for, and not of another that has started that one', async () => {
    await daemon()
    const both = { CLAUDE_PID: '4711', OPENCODE_PID: '4712' }
    for (const client of ['claude-code', 'opencode', 'codex']) await hook('Stop', undefined, both, client)
    expect(asked.map(({ url, headers }) => [url, headers['x-holdpoint-client-pid']])).toEqual([
      ['/hook/claude-code', '4711'],
      ['/hook/opencode', '4712'],
      ['/hook/codex', undefined],
    ])
  })

  it.each([
    ['a refusal', { exit: 2, stdout: '', stderr: 'Held: stop.\n' }],
    ['a question', { exit: 0, stdout: '{"hookSpecificOutput":{}}', stderr: '' }],
    ['that it goes on', { exit: 0, stdout: '', stderr: '' }],
  ])('gives the client %s as the daemon has put it, and nothing else', async (_, told) => {
    answer = (_, response) => say(response, told)
    await daemon()
    expect(await hook('PreToolUse')).toMatchObject(told)
    expect(spooled()).toEqual([])
  })

  it('to a daemon from before the socket, on its port, it hands what nobody waits for, with the token', async () => {
    const port = await daemon({ on: 'port' })
    expect(await hook('Stop')).toMatchObject(SILENT)
    expect(asked[0]!.url).toMatch(/^\/prove\?n=/)
    expect(asked[1]!.headers).toMatchObject({ host: `127.0.0.1:${port}`, authorization: `Bearer ${TOKEN}` })
  })

  it.each(['UserPromptSubmit', 'Stop', 'SessionStart'])(
    'gives %s to nobody else on that port, nor the token',
    async event => {
      await daemon({ on: 'port', secret: Buffer.alloc(32, 9) })
      expect(await hook(event)).toMatchObject(SILENT)
      expect(asked.map(({ method, headers }) => [method, headers.authorization])).toEqual([['GET', undefined]])
      expect(spooled()).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ kind: 'alarm', what: 'daemon_impostor' }),
          expect.objectContaining({ kind: 'hook_event', why: 'impostor' }),
        ]),
      )
    },
  )

  it('with no daemon it starts one, away from the session, and leaves the event without what people wrote', async () => {
    const input = JSON.stringify({
      ...EVENT,
      hook_event_name: 'UserPromptSubmit',
      prompt: 'my secret plan',
      tool_input: { command: 'rm' },
    })
    expect(
      await hook('UserPromptSubmit', input, {
        ANTHROPIC_API_KEY: 'sk-secret',
        NODE_OPTIONS: '--no-warnings',
        HTTP_PROXY: 'http://127.0.0.1:1',
      }),
    ).toMatchObject(SILENT)
    const [left, ...more] = spooled()
    expect(more).toEqual([])
    expect(left).toMatchObject({
      kind: 'hook_event',
      client: 'claude-code',
      event: 'UserPromptSubmit',
      body: { ...EVENT, hook_event_name: 'UserPromptSubmit' },
    })
    expect(JSON.stringify(left)).not.toMatch(/secret plan|rm/)
    const started = await startedDaemon()
    expect(started!.argv).toEqual(['daemon'])
    expect(started!.env).toMatchObject({ HOLDPOINT_HOME: home })
    for (const name of ['ANTHROPIC_API_KEY', 'NODE_OPTIONS', 'HTTP_PROXY'])
      expect(started!.env).not.toHaveProperty(name)
  })

  it('the daemon looks for sessions and trusts certificates as where the hooks were installed, whatever a project’s settings say', async () => {
    const planted = {
      HOME: '/tmp/planted',
      CLAUDE_CONFIG_DIR: '/tmp/planted/.claude',
      GEMINI_CLI_HOME: '/tmp/planted',
      NODE_EXTRA_CA_CERTS: '/tmp/planted/ca.pem',
    }
    writeFileSync(clientPlaceFile(home), JSON.stringify(clientPlaceOf({ HOME: folder, COPILOT_HOME: '/moved' })))
    await hook('Stop', undefined, planted)
    const started = await startedDaemon()
    expect(started!.env).toMatchObject({ HOME: folder, COPILOT_HOME: '/moved' })
    for (const name of ['CLAUDE_CONFIG_DIR', 'GEMINI_CLI_HOME', 'NODE_EXTRA_CA_CERTS'])
      expect(started!.env).not.toHaveProperty(name)
  })

  it.each(['', '[]', 'null', '{"HOME":7}'])(
    'what was kept of that may be damaged (%s): the daemon starts',
    async text => {
      writeFileSync(clientPlaceFile(home), text)
      await hook('Stop')
      expect(await startedDaemon()).toBeDefined()
    },
  )

  it('with a daemon that has died it does the same', async () => {
    await daemon({ on: 'port' })
    await new Promise<void>(resolve => server!.close(() => resolve()))
    server = undefined
    expect(await hook('Stop')).toMatchObject(SILENT)
    expect(spooled()).toMatchObject([{ kind: 'hook_event', why: 'down' }])
    expect(await startedDaemon()).toBeDefined()
  })

  it('two hooks at once start one daemon, and a start that failed is tried again later', async () => {
    await Promise.all([hook('Stop'), hook('Stop'), hook('Stop')])
    expect(spooled()).toHaveLength(3)
    await startedDaemon()
    rmSync(join(home, 'started'))
    // a start begins with this mark, and with nothing else
    const mark = () => statSync(join(home, 'daemon.starting')).mtimeMs
    const before = mark()
    await hook('Stop')
    expect(mark()).toBe(before)
    expect(existsSync(join(home, 'started'))).toBe(false)
    utimesSync(join(home, 'daemon.starting'), new Date(0), new Date(0))
    await hook('Stop')
    expect(await startedDaemon()).toBeDefined()
  })

  it('a daemon that does not answer does not hold the client for good', async () => {
    answer = () => {}
    await daemon()
    const ran = await hook('Stop')
    expect(ran).toMatchObject(SILENT)
    expect(ran.ms).toBeLessThan(10_000)
    expect(spooled()).toMatchObject([{ why: 'slow' }])
  })

  it.each([
    ['an error', (_: IncomingMessage, response: ServerResponse) => response.writeHead(500).end('{}')],
    ['no JSON', (_: IncomingMessage, response: ServerResponse) => response.end('<html>')],
    ['something that is not http', (_: IncomingMessage, response: ServerResponse) => response.socket!.end('hello')],
  ])('a daemon that answers %s is silence for the client and a line in the spool', async (_, odd) => {
    answer = odd
    await daemon()
    expect(await hook('Stop')).toMatchObject(SILENT)
    expect(spooled()).toHaveLength(1)
  })

  it('input larger than any client sends is not handed on', async () => {
    await daemon()
    expect(await hook('Stop', 'x'.repeat(HOOK_BODY_MAX + 1))).toMatchObject(SILENT)
    expect(asked).toEqual([])
    expect(spooled()).toMatchObject([{ kind: 'alarm', what: 'hook_broken' }])
  })

  it('a home that cannot be written is no reason to disturb the client', async () => {
    rmSync(join(home, 'spool'), { recursive: true, force: true })
    writeFileSync(join(home, 'spool'), 'a file where the folder should be')
    expect(await hook('Stop')).toMatchObject(SILENT)
  })

  it('a home planted in the environment does not send the hook elsewhere', async () => {
    await daemon()
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    await hook('Stop', undefined, { HOLDPOINT_HOME: elsewhere })
    expect(asked).toHaveLength(1)
  })

  it('does not let a header of the environment end the request and begin another', async () => {
    await daemon()
    await hook('Stop', undefined, { CLAUDE_CODE_ENTRYPOINT: 'cli\r\nX-Evil: 1' })
    expect(asked[0]!.headers).not.toHaveProperty('x-evil')
  })
})

describe('at the pause point', () => {
  const UNJUDGED = { exit: 1, stdout: '', stderr: expect.stringMatching(/^Holdpoint did not judge this call: .*\.\n$/) }

  it('with no daemon the call goes on with a word of why, is left in the spool, and a daemon is started', async () => {
    expect(await hook('PreToolUse')).toMatchObject(UNJUDGED)
    expect(spooled()).toMatchObject([{ kind: 'hook_event', event: 'PreToolUse' }])
    expect(await startedDaemon()).toBeDefined()
  })

  it('calls do not fill the spool, which a session’s start needs', async () => {
    mkdirSync(join(home, 'spool'))
    for (let n = 0; n < 500; n++) writeFileSync(join(home, 'spool', `event-${n}.json`), '{}')
    await hook('PreToolUse')
    expect(spooled()).toHaveLength(500)
    await hook('SessionStart')
    expect(spooled()).toHaveLength(501)
  })

  it('so it does where a killed daemon left its socket', async () => {
    await daemon()
    const { path } = socketPlace(home)!
    // a server that closes takes its socket with it: under another name it stays, as after kill -9
    renameSync(path, `${path}.left`)
    await new Promise<void>(resolve => server!.close(() => resolve()))
    server = undefined
    renameSync(`${path}.left`, path)
    expect(await hook('PreToolUse')).toMatchObject(UNJUDGED)
    expect(spooled()).toMatchObject([{ why: 'down' }])
    expect(await startedDaemon()).toBeDefined()
  })

  it('a daemon that does not answer is waited for two seconds, and the call goes on', async () => {
    answer = () => {}
    await daemon()
    const ran = await hook('PreToolUse')
    expect(ran).toMatchObject(UNJUDGED)
    expect(ran.ms).toBeGreaterThan(1900)
    expect(ran.ms).toBeLessThan(4900)
    expect(spooled()).toMatchObject([{ why: 'slow' }])
  })

  it('what the daemon says of its own failure is passed on; it has chained that itself', async () => {
    answer = (_, response) => say(response, { exit: 1, stderr: 'the decision took too long\n' }, 500)
    await daemon()
    const { stderr, ...ended } = await hook('PreToolUse')
    expect(ended).toMatchObject({ exit: 1, stdout: '' })
    expect(stderr).toBe('Holdpoint did not judge this call: the decision took too long.\n')
    expect(spooled()).toEqual([])
  })

  it.each([
    ['no JSON', '<html>'],
    ['nothing', ''],
    ['another exit code', '{"exit":3,"stdout":"","stderr":""}'],
    ['an http hook’s answer', '{"hookSpecificOutput":{}}'],
  ])('a daemon that answers %s says nothing to the client', async (_, body) => {
    answer = (_, response) => response.end(body)
    await daemon()
    expect(await hook('PreToolUse')).toMatchObject(UNJUDGED)
    expect(spooled()).toMatchObject([{ kind: 'alarm', what: 'hook_broken' }])
  })

  it('never goes to the port, which may be another user’s', async () => {
    await daemon({ on: 'port' })
    expect(await hook('PreToolUse')).toMatchObject(UNJUDGED)
    expect(asked).toEqual([])
  })

  it('does not use a socket whose folder is open to others, and says so', async () => {
    await daemon()
    chmodSync(socketPlace(home)!.folder, 0o755)
    const ran = await hook('PreToolUse')
    expect(ran).toMatchObject(UNJUDGED)
    expect(ran.stderr).toContain('has the mode 755 and must have 700')
    expect(asked).toEqual([])
  })
})

describe('at a session’s start', () => {
  it('asks the listener to prove itself, and remembers which process is the agent', async () => {
    await daemon()
    expect(await hook('SessionStart', undefined, { CLAUDE_PID: String(process.pid) })).toMatchObject(SILENT)
    expect(asked.map(one => one.url.replace(/n=.*/, 'n='))).toEqual(['/prove?n=', '/hook/claude-code'])
    expect(seenAgents(home).has(process.pid)).toBe(true)
  })

  it.each(['socket', 'port'] as const)(
    'a listener on the %s that cannot prove itself gets neither token nor event, and is reported',
    async on => {
      await daemon({ secret: Buffer.alloc(32, 8), on })
      expect(await hook('SessionStart')).toMatchObject(SILENT)
      expect(asked).toHaveLength(1)
      expect(JSON.stringify(asked)).not.toContain(TOKEN)
      expect(spooled().find(one => one.kind === 'alarm')).toMatchObject({ what: 'daemon_impostor' })
      expect(spooled().find(one => one.kind === 'hook_event')).toMatchObject({ why: 'impostor' })
    },
  )

  it.skipIf(process.platform !== 'linux')('knows whose a listening port is', async () => {
    const port = await daemon({ on: 'port' })
    expect(listenerUid(port)).toBe(process.getuid!())
    expect(listenerUid(1)).toBeUndefined()
  })

  it('a number that another process has got meanwhile is no agent’s', async () => {
    mkdirSync(join(home, 'agents'))
    writeFileSync(join(home, 'agents', String(process.pid)), '')
    utimesSync(join(home, 'agents', String(process.pid)), new Date(1000), new Date(1000))
    expect(seenAgents(home).size).toBe(process.platform === 'linux' ? 0 : 1)
    writeFileSync(join(home, 'agents', '4194300'), '')
    expect(seenAgents(home).has(4_194_300)).toBe(false)
  })
})
