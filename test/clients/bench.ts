/**
 * A place for one real client: its own home, project and temporary folder, a scripted model server on loopback, and an
 * environment of which nothing is inherited. No real key, no other address. `netns.sh` in this folder runs a whole
 * test process with loopback only.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeFolder } from '#test/support/remove-folder.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
export const REPOSITORY = dirname(dirname(HERE))
export const DUMMY_KEY = 'stub-key-not-a-secret'
export const PATH = '/usr/local/bin:/usr/bin:/bin'

/** Tokens of one scripted response; what is left out is 0, but input 12 and output 64 when none is given. */
export type StubUsage = {
  input?: number
  output?: number
  cache_read?: number
  cache_5m?: number
  cache_1h?: number
  /** A part of `output`; with Gemini's protocol beside it. */
  reasoning?: number
}
/** One call; `raw` instead of `input` for OpenAI's freeform tools, which may have a `namespace`. */
export type StubTool = { name: string; input?: Record<string, unknown>; raw?: string; namespace?: string }
/** One assistant turn of the script; see stub/stub-api.mjs. `$CWD` in strings is the project. */
export type StubStep = {
  text?: string
  tools?: StubTool[]
  /** Output of the server's own tools, as the Responses protocol has it. */
  items?: Record<string, unknown>[]
  usage?: StubUsage
  delayMs?: number
  status?: number
  error?: unknown
  headers?: Record<string, string>
}
export type StubRequest = {
  n: number
  method: string
  path: string
  headers: Record<string, string>
  body: { model?: string; messages?: { role: string; content: unknown }[]; input?: unknown; contents?: unknown } | null
  scenario: string | null
  step: number | null
  /** What a model request was answered with: the response's id and its tokens; `input` holds no cached ones. */
  served: { id: string; model: string; usage: Required<StubUsage> } | null
}
export type Stub = {
  url: string
  requests(): Promise<StubRequest[]>
  /** A prompt that holds `[stub:NAME]` follows these steps. */
  setScenario(name: string, steps: StubStep[]): Promise<void>
  stop(): Promise<void>
}

/** An environment as it is; the type wants names that a client must not see. */
export const exactly = (env: Record<string, string>) => env as unknown as NodeJS.ProcessEnv

export const sleep = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Waits until `check` returns something; fails with `what` after the time. */
export async function until<T>(
  what: string,
  check: () => T | undefined | false | null,
  timeoutMs = 20_000,
): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const value = check()
    if (value) return value
    if (Date.now() > end) throw new Error(`timed out waiting for ${what}`)
    await sleep(25)
  }
}

function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}

/** Starts the scripted model server. */
export async function startStub(dir: string, project: string): Promise<Stub> {
  const portFile = join(dir, 'stub.port')
  fs.rmSync(portFile, { force: true })
  const script = join(HERE, 'stub/stub-api.mjs')
  const scenarios = join(HERE, 'stub/scenarios.json')
  const args = [script, '--port-file', portFile, '--scenarios', scenarios, '--var', `CWD=${project}`]
  const child = spawn(process.execPath, [...args, '--max-ms', '900000'], { stdio: 'ignore', env: exactly({ PATH }) })
  const url = await until('the stub', () => {
    if (!fs.existsSync(portFile)) return undefined
    return `http://127.0.0.1:${fs.readFileSync(portFile, 'utf8')}`
  })
  return {
    url,
    requests: async () => (await (await fetch(`${url}/__stub/requests`)).json()) as StubRequest[],
    setScenario: async (name, steps) => {
      await fetch(`${url}/__stub/scenarios/${name}`, { method: 'PUT', body: JSON.stringify(steps) })
    },
    stop: () => stopChild(child),
  }
}

export type Bench = {
  dir: string
  home: string
  project: string
  tmp: string
  stub: Stub
  /** Words before a headless client's own, where it runs in another place of the system (private-etc.ts). */
  inside?: readonly string[]
  /** Removes the folders and stops the stub. */
  stop(): Promise<void>
}

/** A command as it is run on a bench. */
export const insideOf = (bench: Pick<Bench, 'inside'>, words: readonly string[]): string[] => [
  ...(bench.inside ?? []),
  ...words,
]

/** `home` may be an existing one (it is kept then); all else is made below a fresh temporary folder. */
export async function startBench(options: { home?: string; project?: string } = {}): Promise<Bench> {
  const dir = fs.mkdtempSync(join(tmpdir(), 'holdpoint-client-'))
  const home = options.home ?? join(dir, 'home')
  const project = options.project ?? join(dir, 'project')
  const tmp = join(dir, 'tmp')
  for (const folder of [home, project, tmp]) fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(join(project, 'hello.txt'), 'hello world\n')
  const stub = await startStub(dir, project)
  const stop = async () => {
    await stub.stop()
    await removeFolder(dir)
  }
  return { dir, home, project, tmp, stub, stop }
}

/** Writes a file below folders that are made; an object as JSON. */
export function put(file: string, value: unknown): string {
  fs.mkdirSync(dirname(file), { recursive: true })
  fs.writeFileSync(file, typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`)
  return file
}

export const readIfThere = (file: string) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined)

export type Finished = {
  exit: number | null
  signal: string | null
  timedOut: boolean
  stdout: string
  stderr: string
  ms: number
}

/** Runs one process with exactly this environment; over time its own process group is killed. */
export function runProcess(
  command: string,
  args: string[],
  options: { env: Record<string, string>; cwd: string; timeoutMs?: number },
): Promise<Finished> {
  return new Promise(resolve => {
    const started = performance.now()
    const { cwd } = options
    const env = exactly(options.env)
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let [stdout, stderr, timedOut] = ['', '', false]
    child.stdout.on('data', part => {
      stdout += part
    })
    child.stderr.on('data', part => {
      stderr += part
    })
    const timer = setTimeout(() => {
      timedOut = true
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // it has just ended
      }
    }, options.timeoutMs ?? 60_000)
    child.on('error', error => {
      stderr += String(error)
    })
    child.on('close', (exit, signal) => {
      clearTimeout(timer)
      resolve({ exit, signal, timedOut, stdout, stderr, ms: performance.now() - started })
    })
  })
}
