import { setTimeout as sleep } from 'node:timers/promises'
import { ControlPlaneError } from '#agent/control-plane.ts'
import { DocumentRefused } from '#agent/trust/document-refused.ts'
import type { TrustStore } from '#agent/trust/store.ts'
import { RULES_POLL_JITTER_MS, RULES_POLL_MS } from '#core/limits.ts'
import { fetchAnswers } from './answers.ts'
import { noteRules } from './membership.ts'
import { endAllOf, endWhatIsOver, sendRequests } from './requests.ts'
import { alarm, type Runtime, record } from './runtime.ts'

/** Waits between tries while the control plane does not answer: doubling, spread, never more than a minute. */
const BACKOFF_MS = { least: 1000, most: 60_000 }
/** A machine whose token is no longer one asks seldom. */
const REVOKED_MS = 5 * 60_000
/** How often the newest root is compared with the control plane's, to see two with one number. */
const ROOT_CHECK_MS = 3600_000
const LOOK_AGAIN_MS = 5 * 60_000

/** Follows the control plane: rules every five minutes and when woken, answers and requests at once. */
export class Follower {
  private stopping = new AbortController()
  private readonly busy = new Map<string, Promise<void>>()
  private rootCheckedAt = 0
  private lastRefusal = ''
  private lookedAgainAt = 0

  constructor(
    private readonly runtime: Runtime,
    /** Between 0 and 1; spreads a fleet's polls. */
    private readonly spread: () => number,
    /** Rules newer than any before have come into force. */
    private readonly onRules: () => void = () => {},
  ) {}

  /** Begins to follow what this machine belongs to now; what was followed before is let go. */
  start(): void {
    this.stopping.abort()
    this.stopping = new AbortController()
    const { signal } = this.stopping
    this.rootCheckedAt = 0
    this.lastRefusal = ''
    this.lookedAgainAt = 0
    void this.loop(() => this.rulesLoop(signal))
    void this.loop(() => this.waitLoop(signal))
  }

  stop(): void {
    this.stopping.abort()
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.busy.values()])
  }

  /** Fetches rules and answers and sends what waits, now. */
  async sync(): Promise<void> {
    // a refusal of the rules keeps no answer from being fetched: a no must get through
    const polled = this.pollRules()
    await Promise.all([polled, polled.catch(() => {}).then(() => this.exchange())])
  }

  /** Sends requests that wait and fetches answers; what fails is tried again by the next turn. */
  exchange(): Promise<void> {
    return this.once('exchange', async () => {
      const { membership } = this.runtime
      if (!membership) return
      endWhatIsOver(this.runtime)
      await this.told(async () => {
        await sendRequests(this.runtime)
        const { needsRoot } = await fetchAnswers(this.runtime, { again: this.isTimeToLookAgain() })
        if (!needsRoot) return
        await this.followRoots(membership.trust)
        await fetchAnswers(this.runtime)
      })
    })
  }

  /** While something waits, everything is looked at again now and then: see {@link fetchAnswers}. */
  private isTimeToLookAgain(): boolean {
    const now = this.runtime.now()
    const waits = [...this.runtime.state.requests.values()].some(asked => asked.state === 'pending' && asked.filed)
    if (!waits || now - this.lookedAgainAt < LOOK_AGAIN_MS) return false
    this.lookedAgainAt = now
    return true
  }

  /** One poll for rules: verified, put in force or refused with its reason. */
  pollRules(): Promise<void> {
    return this.once('rules', async () => {
      const { membership } = this.runtime
      if (!membership) return
      const { trust, controlPlane } = membership
      const before = { root: trust.root?.digest }
      await this.told(async () => {
        const { rules, fresh } = await controlPlane.rules(trust.etag)
        const brought = { ...(rules === undefined ? {} : { rules }), ...(fresh === undefined ? {} : { fresh }) }
        try {
          trust.take(brought)
        } catch (error) {
          if (!(error instanceof DocumentRefused) || error.code !== 'unknown_key') throw error
          await this.followRoots(trust)
        }
        const due = this.runtime.now() - this.rootCheckedAt > ROOT_CHECK_MS
        const newest = Math.max(trust.fresh?.rootSeq ?? 0, trust.rules()?.set.rootSeq ?? 0)
        if (due || newest > (trust.root?.root.seq ?? 0)) await this.followRoots(trust)
      })
      this.noteChanges(trust, before)
    })
  }

  /** Walks to the newest root; it takes force together with a rule set that verifies under it, or not at all. */
  private async followRoots(trust: TrustStore): Promise<void> {
    const { controlPlane } = this.runtime.membership!
    // the one in force is asked for too: another one with its number must not go unseen
    const { roots } = await controlPlane.roots(Math.max(0, (trust.root?.root.seq ?? 1) - 1))
    const { rules, fresh } = await controlPlane.rules(undefined)
    trust.take({ roots, ...(rules === undefined ? {} : { rules }), ...(fresh === undefined ? {} : { fresh }) })
    this.rootCheckedAt = this.runtime.now()
  }

  /** Runs an exchange and keeps what went wrong where status and report show it. */
  private async told(exchange: () => Promise<void>): Promise<void> {
    const trust = this.runtime.membership!.trust
    try {
      await exchange()
      trust.noteHeard()
    } catch (error) {
      const isRevoked = error instanceof ControlPlaneError && error.revoked
      const isUnreachable = error instanceof ControlPlaneError && error.code === 'unreachable'
      if (isRevoked) this.noteRevoked(trust, error)
      else if (isUnreachable) trust.fail('unreachable', error.message)
      const refusal = error instanceof DocumentRefused ? error.code : undefined
      if (refusal === 'expired' || refusal === 'from_the_future') alarm(this.runtime, 'clock_off')
      if (!refusal && !isRevoked && !isUnreachable) this.runtime.log(`the control plane: ${(error as Error).message}`)
      throw error
    } finally {
      const refusal = trust.lastError?.code ?? ''
      if (refusal !== this.lastRefusal && refusal !== '') record(this.runtime, { kind: 'refused', code: refusal })
      this.lastRefusal = refusal
    }
  }

  /** Nobody will answer what was asked for, and nothing that was answered holds any more. */
  private noteRevoked(trust: TrustStore, error: ControlPlaneError): void {
    trust.noteRevoked(error.message)
    // a machine that joined anew meanwhile is another one: only the one that was spoken for has ended
    const { membership } = this.runtime
    if (membership?.trust === trust) endAllOf(this.runtime, membership.team.machine, 'revoked')
  }

  private noteChanges(trust: TrustStore, before: { root: string | undefined }): void {
    if (trust.root && trust.root.digest !== before.root)
      record(this.runtime, { kind: 'root', rootSeq: trust.root.root.seq, digest: trust.root.digest })
    if (noteRules(this.runtime, trust)) this.onRules()
  }

  private async rulesLoop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.pollRules().catch(() => {})
      const wait = RULES_POLL_MS + (this.spread() * 2 - 1) * RULES_POLL_JITTER_MS
      // while it does not answer, the long poll's own tries bring the rules as soon as it does
      await sleep(wait, undefined, { signal }).catch(() => {})
    }
  }

  private async waitLoop(signal: AbortSignal): Promise<void> {
    let backoff = BACKOFF_MS.least
    // what was missed while the daemon was not there is fetched before anything is waited for
    let failed = true
    while (!signal.aborted) {
      const { membership } = this.runtime
      if (!membership) return
      const began = performance.now()
      try {
        const { trust, controlPlane } = membership
        if (failed) await this.sync()
        const news = await controlPlane.wait(trust.heldTag, this.runtime.state.answerSeq, signal)
        if (news.answers) await this.exchange()
        if (news.rules) await this.pollRules()
        failed = false
        backoff = BACKOFF_MS.least
        // an answer that is always "there is news" must not become a busy loop
        if ((news.answers || news.rules) && performance.now() - began < 200) await sleep(200, undefined, { signal })
      } catch (error) {
        if (signal.aborted) return
        failed = true
        if (error instanceof ControlPlaneError && error.revoked) this.noteRevoked(membership.trust, error)
        const wait = error instanceof ControlPlaneError && error.revoked ? REVOKED_MS : backoff * (0.5 + this.spread())
        backoff = Math.min(backoff * 2, BACKOFF_MS.most)
        await sleep(wait, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** One of a kind at a time: a second caller waits for the one that runs and is then served by a run of its own. */
  private async once(kind: string, work: () => Promise<void>): Promise<void> {
    while (this.busy.has(kind)) await this.busy.get(kind)!.catch(() => {})
    const running = work()
    this.busy.set(kind, running)
    try {
      await running
    } finally {
      this.busy.delete(kind)
    }
  }

  private async loop(run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.runtime.log(`following the control plane ended: ${(error as Error).message}`)
    }
  }
}
