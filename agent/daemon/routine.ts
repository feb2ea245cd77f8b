import { setTimeout as sleep } from 'node:timers/promises'
import { WatchedFile } from '#agent/trust/watched-file.ts'
import type { Usage } from '#agent/usage/usage.ts'
import { Follower } from './follow.ts'
import type { Failures } from './hook-route.ts'
import type { HookWatch } from './hook-watch.ts'
import { noteMembership } from './membership.ts'
import { Reporter } from './report.ts'
import { endWhatIsOver } from './requests.ts'
import { alarm, type Runtime } from './runtime.ts'
import { takeSpool } from './spool.ts'
import type { Walk } from './walk.ts'

const MINUTE_MS = 60_000
const SPOOL_EVERY_MS = 500
/** New rules are reported after this: what came with them is in force by then, and several publishes are one report. */
const REPORT_SOON_MS = 300
const TEAM_FILE_MAX = 64 * 1024

/** Hooks that somebody takes out are told of well within a minute. */
const HOOKS_EVERY_MS = 5000

type Parts = { usage: Usage; walk: Walk; failures: Failures; hooks: HookWatch }

/** What a daemon does by itself: each minute, each half second, and whenever the control plane has news. */
export class Routine {
  readonly follower: Follower
  private readonly reporter: Reporter
  private readonly teamFile: WatchedFile
  private underWay: Promise<void> = Promise.resolve()
  private reporting: Promise<void> = Promise.resolve()
  private timers: NodeJS.Timeout[] = []
  private reportTimer: NodeJS.Timeout | undefined
  private follows = false

  constructor(
    private readonly runtime: Runtime,
    private readonly parts: Parts,
  ) {
    this.follower = new Follower(
      runtime,
      () => runtime.random(1)[0]! / 256,
      () => {
        parts.usage.noteRules()
        if (this.follows) this.reportSoon()
      },
    )
    this.reporter = new Reporter(runtime)
    this.teamFile = new WatchedFile(runtime.home.team, TEAM_FILE_MAX)
    this.teamFile.look()
  }

  /** @param follow false: nothing is asked of the control plane by itself */
  start({ follow, look }: { follow: boolean; look: () => void }): void {
    this.follows = follow
    this.restartFollowing()
    let ticking = false
    const minute = setInterval(() => {
      if (ticking) return
      ticking = true
      void this.tick()
        .catch(error => this.runtime.log(`each minute: ${(error as Error).stack}`))
        .finally(() => {
          ticking = false
        })
    }, MINUTE_MS)
    const spool = setInterval(() => {
      try {
        takeSpool(this.runtime)
        this.lookAtMembership()
        look()
      } catch (error) {
        this.runtime.log(`the spool: ${(error as Error).stack}`)
      }
    }, SPOOL_EVERY_MS)
    const hooks = setInterval(() => {
      try {
        this.lookAtHooks()
      } catch (error) {
        this.runtime.log(`the hooks: ${(error as Error).stack}`)
      }
    }, HOOKS_EVERY_MS)
    this.timers = [minute, spool, hooks]
    // what ran while no daemon did, and who sat at its door, need not wait for the minute
    if (this.follows && this.runtime.membership) this.reportSoon()
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer)
    clearTimeout(this.reportTimer)
    this.follower.stop()
  }

  /** What changed is chained, and told at once rather than with the next report. */
  lookAtHooks(): void {
    if (this.parts.hooks.look() && this.follows && this.runtime.membership) this.reportSoon()
  }

  /** Resolves when nothing is under way any more, or after so many milliseconds. */
  async idle(mostMs: number): Promise<void> {
    const idle = Promise.allSettled([this.underWay, this.reporting, this.follower.idle()])
    await Promise.race([idle, sleep(mostMs, undefined, { ref: false })])
  }

  /** What happens each minute. */
  tick(): Promise<void> {
    this.underWay = this.oneTick()
    return this.underWay
  }

  private async oneTick(): Promise<void> {
    const { runtime, reporter } = this
    const { usage, walk, failures } = this.parts
    takeSpool(runtime)
    this.lookAtMembership()
    this.parts.hooks.look()
    await walk.run()
    endWhatIsOver(runtime)
    failures.flush()
    keepAll(runtime)
    usage.forget()
    if (runtime.membership) {
      await this.follower.exchange().catch(() => {})
      await reporter.send().catch(error => runtime.log(`the report: ${(error as Error).message}`))
    }
    runtime.state.forget(runtime.now(), runtime.membership ? reporter.journalTo : runtime.journal.head.seq)
    await usage.tick()
  }

  /** Fetches rules and answers and sends what waits, now. */
  sync(): Promise<void> {
    this.lookAtMembership()
    return this.follower.sync()
  }

  report(): Promise<void> {
    return this.reporter.send()
  }

  preview(): ReturnType<Reporter['preview']> | undefined {
    return this.runtime.membership ? this.reporter.preview() : undefined
  }

  /** The pages say on how many machines a version is in force: that is told at once. */
  private reportSoon(): void {
    this.reportTimer ??= setTimeout(() => {
      this.reportTimer = undefined
      this.reporting = this.reporter.send().catch(error => this.runtime.log(`the report: ${(error as Error).message}`))
    }, REPORT_SOON_MS)
  }

  private restartFollowing(): void {
    this.follower.stop()
    if (this.follows && this.runtime.membership) this.follower.start()
  }

  /** Joining and leaving take effect at once: the file is looked at with the spool. */
  private lookAtMembership(): void {
    if (!this.teamFile.look().changed || !noteMembership(this.runtime)) return
    this.restartFollowing()
    if (!this.follows || !this.runtime.membership) return
    this.parts.usage.noteRules()
    this.reportSoon()
  }
}

/** Writes what is kept in memory between times; a disk that takes none is told once and tried again. */
export function keepAll(runtime: Runtime): void {
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
