import { setTimeout as sleep } from 'node:timers/promises'
import { otlpToken } from '#agent/crypto.ts'
import { type Desk, Notices } from '#agent/desk/notices.ts'
import { statusLineRoute } from '#agent/figures/status-line.ts'
import { type Home, openHome, remove, writeJson } from '#agent/home.ts'
import { otlpRoute } from '#agent/otlp/route.ts'
import { proxyRoutes } from '#agent/proxy/door.ts'
import { apiRoutes, deny } from './api.ts'
import { type DoorSecrets, makeDoor } from './door.ts'
import { hooksUseSocket } from './hook-levels.ts'
import { Failures, hookRoute } from './hook-route.ts'
import { HookSocket } from './hook-socket.ts'
import { HookWatch } from './hook-watch.ts'
import { DaemonRefused, takeLock } from './lock.ts'
import { openFreePort, openPort, proves } from './neighbour.ts'
import { openRuntime, type RuntimeOptions } from './open.ts'
import { refreshPlugins } from './refresh-plugins.ts'
import { keepAll, Routine } from './routine.ts'
import { alarm, type Runtime, record } from './runtime.ts'
import { takeSpool } from './spool.ts'
import { Walk } from './walk.ts'

export type DaemonOptions = Partial<RuntimeOptions> & {
  /** The folder of this machine's files, or an opened home. */
  home?: string | Home
  /** Port for the first start; later ones keep what the first had. 0 = any free one. */
  port?: number
  /** False: nothing is asked of the control plane by itself (`sync` still does). */
  follow?: boolean
  /** Where a person is told that something waits; nowhere when absent. */
  desk?: Desk
}

export type Daemon = {
  readonly port: number
  readonly home: Home
  readonly runtime: Runtime
  /** Fetches rules and answers, sends requests. */
  sync(): Promise<void>
  report(): Promise<void>
  /** What happens each minute. */
  tick(): Promise<void>
  stop(): Promise<void>
  readonly stopped: Promise<void>
}

/** A stop waits this long for an exchange with the control plane. */
const STOP_MS = 2000
const CLOSE_MS = 500

/**
 * Starts the daemon of a home: takes the lock, replays the journal, opens the loopback door, looks at what ran while it was
 * down, and follows the control plane. Resolves once the door is open.
 * @throws DaemonRefused when another daemon of this home runs, or the port belongs to somebody else
 */
export async function runDaemon(options: DaemonOptions = {}): Promise<Daemon> {
  const home = typeof options.home === 'object' ? options.home : openHome(options.home)
  const now = options.now ?? Date.now
  const version = options.version ?? '0.0.0'
  const unlock = takeLock(home)
  try {
    return await start(home, { ...options, now, version }, unlock)
  } catch (error) {
    unlock?.()
    throw error
  }
}

async function start(home: Home, options: DaemonOptions & RuntimeOptions, unlock: (() => void) | undefined) {
  const { now, version } = options
  const startedAt = new Date(now()).toISOString()
  const { runtime, usage, tokens, downFrom } = openRuntime(home, options)
  const { secret, log } = runtime
  const failures = new Failures(runtime)
  const walk = new Walk(runtime)
  const hooks = new HookWatch(runtime)
  const routine = new Routine(runtime, { usage, walk, failures, hooks })
  const { port, hookToken, apiToken } = tokens
  const secrets: DoorSecrets = { port, hookToken, apiToken, otlpToken: otlpToken(secret) }
  let finish = () => {}
  const stopped = new Promise<void>(resolve => {
    finish = resolve
  })

  const exchangeSoon = () => void setImmediate(() => void routine.follower.exchange().catch(() => {}))
  const routes = [
    hookRoute(runtime, failures, exchangeSoon),
    statusLineRoute(runtime),
    otlpRoute({ telemetry: usage.telemetry, now, log }),
    ...proxyRoutes(runtime, exchangeSoon),
    ...apiRoutes(runtime, {
      startedAt,
      sync: () => routine.sync(),
      report: async () => {
        await walk.run()
        await routine.report()
      },
      usage,
      stop: () => void setImmediate(() => void stop()),
      takeSpool: () => void takeSpool(runtime),
      preview: () => routine.preview(),
    }),
  ]
  const doorFailed = (error: unknown) =>
    log(`the door: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  const door = makeDoor(() => secrets, routes, doorFailed)
  const hookSocket = new HookSocket(home, () => makeDoor(() => secrets, routes, doorFailed, 'socket'), log)
  secrets.port = await listen(door, tokens.port || (options.port ?? 0), secret, runtime)
  tokens.port = secrets.port
  await hookSocket.open()
  try {
    writeJson(home, home.tokens, tokens)
    writeJson(home, home.daemon, { port: secrets.port, hookToken, apiToken, pid: process.pid, startedAt, version })
  } catch {
    alarm(runtime, 'disk_full')
  }

  record(runtime, { kind: 'started', connector: version, ...(downFrom === undefined ? {} : { downFrom }) })
  refreshPlugins(runtime)
  takeSpool(runtime)
  const unjudged = runtime.state.unjudged
  await walk.run()
  if (runtime.state.unjudged > unjudged) alarm(runtime, 'daemon_was_down')
  keepAll(runtime)
  // years of history are read behind everything else
  void usage.collect()
  // behind the socket, without which hooks would look broken
  hooks.look()
  const notices =
    options.desk &&
    new Notices(runtime, options.desk, handle => void deny(runtime, handle, 'desktop', { sync: () => routine.sync() }))
  notices?.start()
  routine.start({ follow: options.follow !== false, look: () => hookSocket.look() })

  let ending: Promise<void> | undefined
  const stop = (): Promise<void> => {
    ending ??= (async () => {
      notices?.stop()
      routine.stop()
      await Promise.all([
        // an upload that hangs is sent again by the next daemon
        Promise.race([usage.stop(), sleep(STOP_MS, undefined, { ref: false })]),
        hookSocket.close(),
        closeDoor(door),
      ])
      // what is under way may still chain something; what comes later than this is not written any more
      await routine.idle(STOP_MS)
      failures.flush()
      keepAll(runtime)
      record(runtime, { kind: 'stopped' })
      runtime.journal.close()
      runtime.judged.close()
      remove(home.daemon)
      unlock?.()
      finish()
    })()
    return ending
  }
  return {
    port: secrets.port,
    home,
    runtime,
    sync: () => routine.sync(),
    report: () => routine.report(),
    tick: () => routine.tick(),
    stop,
    stopped,
  }
}

/** Lets no one in any more; who is being answered has half a second. */
const closeDoor = (door: ReturnType<typeof makeDoor>): Promise<void> =>
  new Promise(resolve => {
    door.close(() => resolve())
    door.closeIdleConnections()
    setTimeout(() => door.closeAllConnections(), CLOSE_MS).unref()
  })

/**
 * Opens the door on loopback. A port that somebody else holds is not swapped for another where an installed hook may point at
 * it. Where all of them come in by the socket it is: or another user of the machine could keep the daemon from starting.
 */
async function listen(
  door: ReturnType<typeof makeDoor>,
  port: number,
  secret: Uint8Array,
  runtime: Runtime,
): Promise<number> {
  if (port === 0) return openFreePort(door, () => runtime.random(2))
  try {
    return await openPort(door, port)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    if (await proves(port, secret))
      throw new DaemonRefused(
        'already_running',
        `The daemon of ${runtime.home.root} is already running on port ${port}.`,
      )
    alarm(runtime, 'daemon_impostor')
    if (hooksUseSocket(runtime)) return openFreePort(door, () => runtime.random(2))
    runtime.journal.close()
    throw new DaemonRefused(
      'port_taken',
      `Port ${port}, where the hooks of this machine go, belongs to another program. End it, or delete ${runtime.home.tokens} and install the hooks again.`,
    )
  }
}
