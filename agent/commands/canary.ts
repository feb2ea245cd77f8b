/** Whether a hook that was just installed reaches the daemon, asked the way the client would ask. */
import { CANARY_SESSION } from '#agent/clients/adapter.ts'
import { findImpostor } from '#agent/hook/listener.ts'
import { askLoopback, LoopbackFailure } from '#agent/hook/loopback.ts'

export type CanaryResult =
  | { ok: true; tookMs: number }
  | {
      ok: false
      code: 'not_in_settings' | 'proxy_diverts_hook' | 'daemon_down' | 'impostor' | 'refused' | 'odd'
      why: string
    }

type Env = Readonly<Record<string, string | undefined>>
type HttpHook = { url: string; headers: Record<string, string> }

/**
 * Sends one event through the address and token that stand in the settings' text. It is an event of a name that no client
 * has, so it is parsed and let through like one of a newer version and counts for nothing.
 * `env` is what the client would be started with; the settings' own `env` comes on top, as in the client.
 */
export async function sendCanary(settings: string, hookPath: string, env: Env, home: string): Promise<CanaryResult> {
  const read = readSettings(settings)
  const hook = read && findHttpHook(read, hookPath)
  if (!read || !hook) return { ok: false, code: 'not_in_settings', why: 'the settings hold no http hook of ours' }
  const proxy = proxyFor(new URL(hook.url), { ...env, ...read.env })
  if (proxy)
    return {
      ok: false,
      code: 'proxy_diverts_hook',
      why: `${proxy} would carry the hook to a proxy instead of to the daemon, and calls would run unseen`,
    }
  const port = Number(new URL(hook.url).port)
  const startedMs = performance.now()
  const body = JSON.stringify({
    hook_event_name: 'HoldpointCanary',
    session_id: CANARY_SESSION,
    cwd: home,
    transcript_path: '',
  })
  try {
    const impostor = await findImpostor(home, port, 1000)
    if (impostor) return { ok: false, code: 'impostor', why: impostor }
    const answer = await askLoopback({
      port,
      method: 'POST',
      path: new URL(hook.url).pathname,
      headers: hook.headers,
      body,
      timeoutMs: 2000,
    })
    if (answer.status !== 200) return { ok: false, code: 'refused', why: `the daemon answered ${answer.status}` }
    return { ok: true, tookMs: Math.round(performance.now() - startedMs) }
  } catch (error) {
    if (error instanceof LoopbackFailure && error.code === 'down')
      return { ok: false, code: 'daemon_down', why: 'nothing listens at the hook’s address' }
    return { ok: false, code: 'odd', why: error instanceof Error ? error.message : 'unknown trouble' }
  }
}

type Settings = { hooks?: Record<string, unknown>; env: Record<string, string> }

function readSettings(text: string): Settings | undefined {
  try {
    const { hooks, env } = JSON.parse(text) as { hooks?: Record<string, unknown>; env?: Record<string, unknown> }
    const texts = Object.entries(env ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    return { ...(hooks ? { hooks } : {}), env: Object.fromEntries(texts) }
  } catch {
    return undefined
  }
}

/** The first http hook at our path, whatever event it stands under; a header's `$NAME` is a variable of the client's and stays out. */
function findHttpHook(settings: Settings, hookPath: string): HttpHook | undefined {
  for (const groups of Object.values(settings.hooks ?? {})) {
    for (const group of Array.isArray(groups) ? groups : []) {
      for (const hook of (group as { hooks?: unknown[] } | null)?.hooks ?? []) {
        const { type, url, headers } = (hook ?? {}) as {
          type?: unknown
          url?: unknown
          headers?: Record<string, string>
        }
        if (type !== 'http' || typeof url !== 'string' || !URL.canParse(url) || new URL(url).pathname !== hookPath)
          continue
        return {
          url,
          headers: Object.fromEntries(
            Object.entries(headers ?? {}).filter(([, value]) => !String(value).includes('$')),
          ),
        }
      }
    }
  }
  return undefined
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
