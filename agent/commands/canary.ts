/** Whether a hook that was just installed reaches the daemon, asked the way the client would ask. */
import { spawn } from 'node:child_process'
import { CANARY_HEARD, CANARY_SESSION } from '#agent/clients/adapter.ts'
import type { HookForm, HookProbe } from '#agent/clients/hook-editor.ts'
import { findImpostor } from '#agent/hook/listener.ts'
import { askLoopback, LoopbackFailure } from '#agent/hook/loopback.ts'
import { folderTrouble, socketPlace } from '#agent/hook/socket-place.ts'

export type CanaryResult =
  | { ok: true; form: HookForm; tookMs: number }
  | {
      ok: false
      code: 'not_in_settings' | 'proxy_diverts_hook' | 'daemon_down' | 'impostor' | 'refused' | 'odd'
      why: string
    }

type Env = Readonly<Record<string, string | undefined>>
type HttpProbe = Extract<HookProbe, { form: 'http' }>
type Program = { run: { exe: string; args: string[] } | { shell: string }; timeoutMs: number }
type Ran = { exit: number | null; stdout: string; stderr: string }

/** What a module of ours may take to be loaded and heard. */
const PLUGIN_MS = 10_000

/**
 * Sends one event through a hook in its own form, as its client would call it: to the address with the token, by starting the
 * program, or by loading the module. It is an event of a name that no client has, so it is parsed and let through like one of a
 * newer version and counts for nothing; the daemon says that it has heard it.
 * `env` is what the client would be started with; what its configuration adds comes on top, as in the client.
 */
export async function sendCanary(probe: HookProbe | undefined, env: Env, home: string): Promise<CanaryResult> {
  if (!probe) return { ok: false, code: 'not_in_settings', why: 'the settings hold no hook of ours for tool calls' }
  const around = { ...env, ...probe.env }
  const startedMs = performance.now()
  try {
    const trouble = await troubleWith(probe, around, home)
    return trouble ?? { ok: true, form: probe.form, tookMs: Math.round(performance.now() - startedMs) }
  } catch (error) {
    if (error instanceof LoopbackFailure && error.code === 'down') {
      const where = probe.form === 'http' ? 'address' : 'socket'
      return { ok: false, code: 'daemon_down', why: `nothing listens at the hook’s ${where}` }
    }
    return { ok: false, code: 'odd', why: error instanceof Error ? error.message : 'unknown trouble' }
  }
}

async function troubleWith(probe: HookProbe, env: Env, home: string): Promise<Trouble | undefined> {
  if (probe.form === 'http') return askUrl(probe, env, home)
  if (probe.form === 'command') return runProgram(probe, env, home)
  const { run, timeoutMs = PLUGIN_MS } = probe
  if (!run) return { ok: false, code: 'odd', why: 'this version cannot try a module of its own outside its client' }
  return runProgram({ run, timeoutMs }, env, home)
}

/** In the spellings of all clients, which leave alone what they do not know. */
const eventFor = (home: string) =>
  JSON.stringify({
    hook_event_name: 'HoldpointCanary',
    session_id: CANARY_SESSION,
    sessionId: CANARY_SESSION,
    conversation_id: CANARY_SESSION,
    cwd: home,
    transcript_path: '',
  })

type Trouble = Extract<CanaryResult, { ok: false }>

/** @throws LoopbackFailure */
async function askUrl(hook: HttpProbe, env: Env, home: string): Promise<Trouble | undefined> {
  const url = new URL(hook.url)
  const proxy = proxyFor(url, env)
  if (proxy)
    return {
      ok: false,
      code: 'proxy_diverts_hook',
      why: `${proxy} would carry the hook to a proxy instead of to the daemon, and calls would run unseen`,
    }
  const port = Number(url.port)
  const impostor = await findImpostor(home, { port }, 1000)
  if (impostor) return { ok: false, code: 'impostor', why: impostor }
  const headers = { ...hook.headers }
  const body = eventFor(home)
  const answer = await askLoopback({ port, method: 'POST', path: url.pathname, headers, body, timeoutMs: 2000 })
  if (answer.status !== 200) return { ok: false, code: 'refused', why: `the daemon answered ${answer.status}` }
  return answer.body.includes(CANARY_HEARD) ? undefined : { ok: false, code: 'odd', why: NOT_HEARD }
}

const NOT_HEARD = 'the event was answered, but not by the daemon'

/** @throws LoopbackFailure */
async function runProgram(hook: Program, env: Env, home: string): Promise<Trouble | undefined> {
  const place = socketPlace(home)
  if (!place) return { ok: false, code: 'odd', why: 'this system has no sockets that a folder’s mode protects' }
  const trouble = folderTrouble(place)
  if (trouble)
    return { ok: false, code: 'refused', why: `the socket cannot be used: ${trouble} (daemon.log may say more)` }
  const impostor = await findImpostor(home, { socket: place.path }, 1000)
  if (impostor) return { ok: false, code: 'impostor', why: impostor }
  const { exit, stdout, stderr } = await runHook(hook, env, eventFor(home))
  if (exit === 0 && stdout.includes(CANARY_HEARD)) return undefined
  if (exit === 0) return { ok: false, code: 'odd', why: NOT_HEARD }
  const said = stderr.trim().slice(0, 300) || `it ended with ${exit ?? 'a signal'}`
  return { ok: false, code: 'refused', why: `the hook’s program did not get through: ${said}` }
}

/** Starts the program as the client does. @throws what the system says when it cannot be started */
function runHook({ run, timeoutMs }: Program, around: Env, input: string): Promise<Ran> {
  const options = { env: around as NodeJS.ProcessEnv, timeout: timeoutMs, windowsHide: true }
  return new Promise((resolve, reject) => {
    const child = 'shell' in run ? spawn(run.shell, { ...options, shell: true }) : spawn(run.exe, run.args, options)
    const said = { stdout: '', stderr: '' }
    child.stdout.on('data', part => {
      said.stdout += part
    })
    child.stderr.on('data', part => {
      said.stderr += part
    })
    child.on('error', reject)
    child.on('close', exit => resolve({ exit, ...said }))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/**
 * The variable that would send a request through a proxy, as the clients' HTTP libraries read the environment (curl's
 * convention: lower case first, NO_PROXY names hosts, domains or `*`); undefined when it goes straight.
 */
export function proxyFor(url: URL, env: Env): string | undefined {
  const scheme = url.protocol.slice(0, -1)
  const names = [
    `${scheme}_proxy`,
    `${scheme.toUpperCase()}_PROXY`,
    'all_proxy',
    'ALL_PROXY',
    ...(scheme === 'http' ? ['https_proxy', 'HTTPS_PROXY'] : []),
  ]
  const name = names.find(one => env[one])
  if (!name) return undefined
  // where the two spellings differ a client may read either: both must let the host through
  const spared = ['no_proxy', 'NO_PROXY'].filter(one => env[one] !== undefined)
  return spared.length > 0 && spared.every(one => sparesHost(env[one]!, url))
    ? undefined
    : `${name}=${shortProxy(env[name]!)}`
}

/** The proxy's address without a password that may stand in it. */
function shortProxy(value: string): string {
  return URL.canParse(value) ? new URL(value).host || value : value
}

function sparesHost(noProxy: string, url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return noProxy.split(/[\s,]+/).some(entry => {
    const [name, port] = entry.startsWith('[')
      ? [entry.replace(/^\[|\].*$/g, ''), undefined]
      : entry.split(':').length === 2
        ? (entry.split(':') as [string, string])
        : [entry, undefined]
    if (port !== undefined && port !== url.port) return false
    return name === '*' || name === host || (name !== '' && host.endsWith(`.${name.replace(/^\*?\./, '')}`))
  })
}
