import type { AddressInfo } from 'node:net'
import { random } from '#agent/crypto.ts'
import type { Home } from '#agent/home.ts'
import { base64url } from '#core/bytes.ts'
import { ASK_MS, askVerdict, PlanTeller } from './ask.ts'
import type { ProxyEnv } from './company-proxy.ts'
import { RoutingConfig } from './config.ts'
import { Outbox } from './outbox.ts'
import { forgetProxy, noteProxy, PROXY_PORT } from './place.ts'
import { ranksNow } from './ranks.ts'
import { makeAgents } from './relay.ts'
import { Router } from './router.ts'
import { makeProxy, type ProxyCounts } from './server.ts'
import { Windows } from './windows.ts'

export type ProxyOptions = {
  home: Home
  version: string
  /** 0 = any free one. */
  port?: number
  now?: () => number
  log?(line: string): void
  /** The daemon hears of plans at most so often. */
  planEveryMs?: number
  /** How long a request waits for the daemon's word. */
  askMs?: number
  /** Where a company's proxy is named; the process's own. */
  env?: ProxyEnv
  /** Authorities that are trusted in place of the system's. */
  tls?: { ca: string }
}

export type LocalProxy = {
  readonly port: number
  readonly config: RoutingConfig
  counts(): ProxyCounts
  /** Lets nobody in any more, and waits so many milliseconds for the answers that are under way. */
  stop(mostMs?: number): Promise<void>
}

/** Starts the proxy of a home on loopback. @throws the system's EADDRINUSE where somebody listens there */
export async function runProxy(options: ProxyOptions): Promise<LocalProxy> {
  const { home, version, log = () => {}, now = Date.now } = options
  const startedAt = new Date(now()).toISOString()
  let note = () => {}
  const config = new RoutingConfig(home, () => note())
  const token = base64url(random(32))
  const windows = new Windows()
  const outbox = new Outbox(home, log)
  const agents = makeAgents(options.env ?? process.env, options.tls)
  const routing = () => config.now()
  const plans = new PlanTeller(home, options.planEveryMs)
  const router = new Router({
    routing,
    ranks: ranksNow(now),
    windows,
    ask: question => askVerdict(home, question),
    askMs: options.askMs ?? ASK_MS,
    now,
  })
  const { server, counts } = makeProxy({
    routing,
    router,
    windows,
    agents,
    meter: call => outbox.add(call),
    noteWindows: readings => plans.note(readings),
    now,
    log,
    token,
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: options.port ?? PROXY_PORT, host: '127.0.0.1', exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  note = () => {
    try {
      noteProxy(home, { port, pid: process.pid, startedAt, version, mode: config.now().mode, token })
    } catch (error) {
      log(`the proxy could not be noted: ${(error as Error).message}`)
    }
  }
  config.now()
  note()
  // the daemon tells of the mode that is in force, also while nobody asks for anything
  const looking = setInterval(() => config.now(), 1000)
  looking.unref()
  const stop = async (mostMs = 5000): Promise<void> => {
    clearInterval(looking)
    await new Promise<void>(resolve => {
      const late = setTimeout(() => server.closeAllConnections(), mostMs)
      server.close(() => {
        clearTimeout(late)
        resolve()
      })
      server.closeIdleConnections()
    })
    agents.http.destroy()
    agents.https.destroy()
    outbox.flush()
    forgetProxy(home)
  }
  return { port, config, counts, stop }
}
