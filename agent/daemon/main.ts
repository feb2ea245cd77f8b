import { homedir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientAdapter, ClientHome, UsageSource } from '#agent/clients/adapter.ts'
import { ADAPTERS, USAGE_SOURCES } from '#agent/clients/sources.ts'
import { otlpToken, random } from '#agent/crypto.ts'
import { type Home, openHome, remove, writeJson } from '#agent/home.ts'
import { otlpRoute } from '#agent/otlp/route.ts'
import { pricingFrom } from '#agent/pricing/rate-card.ts'
import { WatchedFile } from '#agent/trust/watched-file.ts'
import { Usage } from '#agent/usage/usage.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import { apiRoutes } from './api.ts'
import { Counters } from './counters.ts'
import { type DoorSecrets, makeDoor } from './door.ts'
import { Follower } from './follow.ts'
import { hooksUseSocket } from './hook-levels.ts'
import { Failures, hookRoute } from './hook-route.ts'
import { HookSocket } from './hook-socket.ts'
import { logTo, readSecret, readTokens, userName } from './identity.ts'
import { Journal } from './journal.ts'
import { Judged } from './judged.ts'
import { DaemonRefused, takeLock } from './lock.ts'
import { join, noteJoined, noteMembership } from './membership.ts'
import { openFreePort, openPort, proves } from './neighbour.ts'
import { Reporter } from './report.ts'
import { endWhatIsOver } from './requests.ts'
import { Rules } from './rules.ts'
import { alarm, type Runtime, record } from './runtime.ts'
import { Sessions } from './sessions.ts'
import { takeSpool } from './spool.ts'
import { State } from './state.ts'
import { Walk } from './walk.ts'

export type DaemonOptions = {
  /** The folder of this machine's files, or an opened home. */
  home?: string | Home
  version?: string
  clientHome?: ClientHome
  adapters?: readonly ClientAdapter[]
  sources?: readonly UsageSource[]
  /** Milliseconds since 1970. */
  now?: () => number
  /** Port for the first start; later ones keep what the first had. 0 = any free one. */
  port?: number
  /** False: nothing is asked of the control plane by itself (`sync` still does). */
  follow?: boolean
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

const MINUTE_MS = 60_000
const SPOOL_EVERY_MS = 500
/** A stop waits this long for an exchange with the control plane. */
const STOP_MS = 2000
/** New rules are reported after this: what came with them is in force by then, and several publishes are one report. */
const REPORT_SOON_MS = 300

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
    return await start(home, version, now, options, unlock)
  } catch (error) {
    unlock?.()
    throw error
  }
}

async function start(
  home: Home,
  version: string,
  now: () => number,
  options: DaemonOptions,
  unlock: (() => void) | undefined,
): Promise<Daemon> {
  const startedAt = new Date(now()).toISOString()
  const log = logTo(home, now)
  const secret = readSecret(home)
  const tokens = readTokens(home, now)
  const journal = new Journal(home, now, version)
  const state = new State()
  for (const entry of journal.entries) state.apply(entry)
  journal.entries = []
  const downFrom = state.lastEntryAt
  const wasKilled = downFrom !== undefined && !state.lastStopped
  for (const entry of journal.opened) state.apply(entry)
  for (const trouble of journal.troubles) log(`the journal: ${trouble}`)

  const adapters = new Map((options.adapters ?? ADAPTERS).map(adapter => [adapter.client, adapter]))
  const clientHome = options.clientHome ?? { homeDir: homedir(), env: process.env }
  const judged = new Judged(home, now)
  const sessions = new Sessions(
    home,
    clientHome,
    adapters,
    pricingFrom(builtInRates()),
    judged,
    secret,
    now,
    // what was before is nobody's business
    () => Math.max(Date.parse(tokens.since), Date.parse(runtime.membership?.team.joinedAt ?? '') || 0),
    session => state.costHigh.get(session),
  )
  const counters = new Counters(home)
  const runtime: Runtime = {
    home,
    version,
    user: userName(),
    clientHome,
    adapters,
    sources: options.sources ?? USAGE_SOURCES,
    secret,
    journal,
    state,
    rules: new Rules(
      home,
      () => runtime.membership?.trust,
      local => {
        record(runtime, {
          kind: 'local_rules',
          ok: local.errors.length === 0,
          rules: local.rules.length,
          problems: local.errors.length,
        })
        if (local.errors.length > 0) alarm(runtime, 'local_rules_broken')
      },
    ),
    sessions,
    judged,
    counters,
    membership: undefined,
    attributionOf: session => usage.boundaryAttribution(session),
    budgetReadings: session => usage.budgetReadings(session),
    isBudgetRead: qualifier => usage.isBudgetRead(qualifier),
    tagsOf: session => usage.attributedTo(session).tags,
    environmentHeld: said => usage.environment.heldBy(said),
    now,
    random,
    log,
  }
  const usage = new Usage(runtime)
  runtime.membership = join(runtime)
  if (journal.troubles.includes('disk_full')) alarm(runtime, 'disk_full')
  for (const [answerId, { handle, toolUse }] of [...state.doubled])
    record(runtime, { kind: 'second_use', handle, answerId, toolUse })
  runtime.rules.inForce()
  noteJoined(runtime)

  const follower = new Follower(runtime, () => random(1)[0]! / 256)
  const reporter = new Reporter(runtime)
  const failures = new Failures(runtime)
  const walk = new Walk(runtime)
  const exchangeSoon = () => void setImmediate(() => void follower.exchange().catch(() => {}))
  const { port, hookToken, apiToken } = tokens
  const secrets: DoorSecrets = { port, hookToken, apiToken, otlpToken: otlpToken(secret) }
  let finish = () => {}
  const stopped = new Promise<void>(resolve => {
    finish = resolve
  })

  const routes = [
    hookRoute(runtime, failures, exchangeSoon),
    otlpRoute({ telemetry: usage.telemetry, now, log }),
    ...apiRoutes(runtime, {
      startedAt,
      sync: () => {
        lookAtMembership()
        return follower.sync()
      },
      report: async () => {
        await walk.run()
        await reporter.send()
      },
      usage,
      stop: () => void setImmediate(() => void stop()),
      takeSpool: () => void takeSpool(runtime),
      preview: () => (runtime.membership ? reporter.preview() : undefined),
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

  record(runtime, { kind: 'started', connector: version, ...(wasKilled ? { downFrom } : {}) })
  takeSpool(runtime)
  const unjudged = state.unjudged
  await walk.run()
  if (state.unjudged > unjudged) alarm(runtime, 'daemon_was_down')
  keepAll(runtime)
  // years of history are read behind everything else
  void usage.collect()

  const oneTick = async () => {
    takeSpool(runtime)
    lookAtMembership()
    await walk.run()
    endWhatIsOver(runtime)
    failures.flush()
    keepAll(runtime)
    usage.forget()
    if (!runtime.membership) {
      state.forget(now(), journal.head.seq)
      await usage.tick()
      return
    }
    await follower.exchange().catch(() => {})
    await reporter.send().catch(error => log(`the report: ${(error as Error).message}`))
    state.forget(now(), reporter.journalTo)
    await usage.tick()
  }
  let underWay: Promise<void> = Promise.resolve()
  const tick = (): Promise<void> => {
    underWay = oneTick()
    return underWay
  }
  // the pages say on how many machines a version is in force: that is told at once
  let reportTimer: NodeJS.Timeout | undefined
  let reporting: Promise<void> = Promise.resolve()
  const reportSoon = () => {
    usage.noteRules()
    reportTimer ??= setTimeout(() => {
      reportTimer = undefined
      reporting = reporter.send().catch(error => log(`the report: ${(error as Error).message}`))
    }, REPORT_SOON_MS)
  }
  let following: Follower | undefined
  const restartFollowing = () => {
    following?.stop()
    following = undefined
    if (options.follow === false || !runtime.membership) return
    following = new Follower(runtime, () => random(1)[0]! / 256, reportSoon)
    following.start()
  }
  // joining and leaving take effect at once: the file is looked at with the spool
  const teamFile = new WatchedFile(home.team, 64 * 1024)
  teamFile.look()
  function lookAtMembership(): void {
    if (!teamFile.look().changed || !noteMembership(runtime)) return
    restartFollowing()
    if (following) reportSoon()
  }
  restartFollowing()
  let ticking = false
  const minute = setInterval(() => {
    if (ticking) return
    ticking = true
    void tick()
      .catch(error => log(`each minute: ${(error as Error).stack}`))
      .finally(() => {
        ticking = false
      })
  }, MINUTE_MS)
  const spool = setInterval(() => {
    try {
      takeSpool(runtime)
      lookAtMembership()
      hookSocket.look()
    } catch (error) {
      log(`the spool: ${(error as Error).stack}`)
    }
  }, SPOOL_EVERY_MS)

  let ending: Promise<void> | undefined
  const stop = (): Promise<void> => {
    ending ??= (async () => {
      clearInterval(minute)
      clearInterval(spool)
      clearTimeout(reportTimer)
      following?.stop()
      follower.stop()
      await Promise.all([
        // an upload that hangs is sent again by the next daemon
        Promise.race([usage.stop(), sleep(STOP_MS, undefined, { ref: false })]),
        hookSocket.close(),
        new Promise<void>(resolve => {
          door.close(() => resolve())
          door.closeIdleConnections()
          setTimeout(() => door.closeAllConnections(), 500).unref()
        }),
      ])
      // what is under way may still chain something; what comes later than this is not written any more
      const idle = Promise.allSettled([underWay, reporting, follower.idle(), following?.idle()])
      await Promise.race([idle, sleep(STOP_MS, undefined, { ref: false })])
      failures.flush()
      keepAll(runtime)
      record(runtime, { kind: 'stopped' })
      journal.close()
      judged.close()
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
    sync: () => follower.sync(),
    report: () => reporter.send(),
    tick,
    stop,
    stopped,
  }
}

/** Writes what is kept in memory between times; a disk that takes none is told once and tried again. */
function keepAll(runtime: Runtime): void {
  const { trust } = runtime.membership ?? {}
  const back = trust?.noteClock() ?? 0
  if (back > MINUTE_MS) alarm(runtime, 'clock_moved_back')
  try {
    runtime.journal.flush()
    runtime.journal.keepHigh()
    runtime.counters.save()
    runtime.sessions.save()
  } catch (error) {
    runtime.log(`the disk: ${(error as Error).message}`)
    alarm(runtime, 'disk_full')
  }
  if (!runtime.journal.writable) alarm(runtime, 'disk_full')
}

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
