import { crypto } from '#agent/crypto.ts'
import { type Home, readJson, readText, remove, writeAtomic, writeJson } from '#agent/home.ts'
import { AppError } from '#core/error.ts'
import { type Fresh, openFresh } from '#core/fresh.ts'
import { CLOCK_SKEW_MS, RULE_SET_MAX } from '#core/limits.ts'
import { type RootEnvelope, type TrustedRoot, walkRoots } from '#core/root.ts'
import { acceptRuleSet, openRuleSet, type TrustedRuleSet } from '#core/rule-set.ts'
import { DocumentRefused, messageOf, reasonOf } from './document-refused.ts'
import { followRoots } from './follow-roots.ts'
import { type Pin, type RulesSeen, readPin, withSeen, writePin } from './pin.ts'
import type { Team } from './team.ts'
import { WatchedFile } from './watched-file.ts'

/** What went wrong last, in the closed words of the report. */
export type TrustError = { code: string; message: string; at: string }

/** Signed documents are small; a root chain grows by one with each rotation. */
const ROOTS_MAX = 4 * 1024 * 1024

/**
 * The organisation's signed documents on this machine. What is in force lives in memory as
 * verified values and on disk as the bytes they came as; the disk copy is verified again whenever it has changed. Nothing
 * that arrives or lies on disk ever loosens what is in force: it is refused, with its reason, and the last good stays.
 */
export class TrustStore {
  private chain: TrustedRoot[] = []
  private inForce: TrustedRuleSet | undefined
  private newestFresh: Fresh | undefined
  private pin: Pin | undefined
  private readonly rulesFile: WatchedFile
  private readonly rootsFile: WatchedFile
  lastError: TrustError | undefined
  private revokedAt: string | undefined
  /** True once the control plane has shown two root documents with one number. */
  equivocation: boolean
  /** False while the disk copy differs from what is in force: the next poll asks for the whole set. */
  diskGood = true

  constructor(
    private readonly home: Home,
    private readonly team: Team,
    private readonly now: () => number,
    private readonly onDiskTrouble: (error: unknown) => void,
    private readonly seen?: RulesSeen,
  ) {
    this.rulesFile = new WatchedFile(home.ruleset, RULE_SET_MAX)
    this.rootsFile = new WatchedFile(home.roots, ROOTS_MAX)
    this.pin = withSeen(readPin(home), seen)
    this.equivocation = readJson(home.equivocation) !== undefined
    this.refresh()
  }

  get root(): TrustedRoot | undefined {
    return this.chain.at(-1)
  }
  get version(): number {
    return this.pin?.version ?? 0
  }
  get fresh(): Fresh | undefined {
    return this.newestFresh
  }
  get freshAtMs(): number | undefined {
    return this.newestFresh && Date.parse(this.newestFresh.at)
  }

  /** The entity tag of what is in force and on disk; undefined asks for the whole set. */
  get etag(): string | undefined {
    return this.diskGood ? this.heldTag : undefined
  }

  /** The rule set in force. Looks at the disk copy first: one stat when nothing has changed there. */
  rules(): TrustedRuleSet | undefined {
    this.refresh()
    return this.inForce
  }

  /** The entity tag of what is in force, whatever the disk holds: for asking whether there is something newer. */
  get heldTag(): string | undefined {
    return this.inForce && `"${this.inForce.set.version}.${this.inForce.digest}"`
  }

  /** What is wrong now: the newest refusal, or that two root documents with one number have been seen. */
  get trouble(): TrustError | undefined {
    if (this.revokedAt !== undefined)
      return { code: 'revoked', message: 'The control plane knows this machine no more.', at: this.revokedAt }
    if (this.lastError || !this.equivocation) return this.lastError
    const kept = readJson<{ at?: string }>(this.home.equivocation)
    const at = kept?.at ?? new Date(this.now()).toISOString()
    return {
      code: 'equivocation',
      message: 'Two different root documents with one number have been seen; neither is followed.',
      at,
    }
  }

  /** The highest clock reading ever seen, this moment's included, milliseconds since 1970. */
  clock(): number {
    return Math.max(this.now(), this.pin?.clockHigh ?? 0)
  }

  private refresh(): void {
    const roots = this.rootsFile.look()
    if (roots.changed) this.readRoots(roots.bytes)
    const rules = this.rulesFile.look()
    if (rules.changed || roots.changed) this.readRules(rules.bytes?.toString('utf8'), rules.why)
  }

  private readRoots(bytes: Buffer | undefined): void {
    if (!bytes) {
      this.diskRefused('disk', 'The root documents on disk are gone or cannot be read.')
      return
    }
    try {
      const chain = walkRoots(
        JSON.parse(bytes.toString('utf8')) as RootEnvelope[],
        this.team.org.id,
        crypto,
        this.pin?.rootDigest,
      )
      if (this.root && chain.at(-1)!.digest !== this.root.digest) {
        // another, valid chain on disk: only a longer one of the same root counts, and that comes through follow()
        if (!chain.some(root => root.digest === this.root!.digest))
          throw new Error('the root documents on disk are others')
      }
      this.chain = chain
      if (!this.pin)
        this.savePin({
          version: this.seen?.version ?? 0,
          ...(this.seen ? { digest: this.seen.digest } : {}),
          rootSeq: this.root!.root.seq,
          rootDigest: this.root!.digest,
          clockHigh: this.now(),
        })
    } catch (error) {
      this.diskRefused(reasonOf(error), `The root documents on disk are not in order: ${messageOf(error)}`)
    }
  }

  private readRules(jws: string | undefined, why: string | undefined): void {
    const { root, pin } = this
    if (!root || !pin) return
    const waiting = readText(this.home.nextRuleset, RULE_SET_MAX)
    for (const [text, isNext] of [
      [jws, false],
      [waiting, true],
    ] as const) {
      if (text === undefined) continue
      try {
        const set = openRuleSet(text.trim(), root.root, crypto)
        // the pin may be a version behind the document when the process died between the two writes
        acceptRuleSet(set, pin.version > 0 ? { version: pin.version, digest: pin.digest ?? '' } : undefined)
        this.inForce = set
        this.diskGood = true
        if (isNext) this.attempt(() => this.home.disk.rename(this.home.nextRuleset, this.home.ruleset))
        if (set.set.version > pin.version) this.savePin({ ...pin, version: set.set.version, digest: set.digest })
        this.readFresh()
        return
      } catch (error) {
        if (!isNext) this.diskRefused(reasonOf(error), `The rules on disk are no rules: ${messageOf(error)}`)
      }
    }
    if (jws === undefined && pin.version > 0) {
      this.diskRefused(why === 'too_large' ? 'too_large' : 'disk', 'The rules on disk are gone or cannot be read.')
    }
  }

  private readFresh(): void {
    if (this.newestFresh || !this.root) return
    const jws = readText(this.home.fresh)?.trim()
    if (!jws) return
    try {
      // an old one only tells the age: it is opened as of its own time
      const at = Number(this.pin?.freshHigh ?? 0)
      this.newestFresh = openFresh(jws, this.root.root, at, crypto)
    } catch {
      // no freshness means that nothing is released until the next poll
    }
  }

  private diskRefused(code: string, message: string): void {
    this.diskGood = false
    this.fail(code, message)
  }

  /** Keeps what went wrong, for status and report. */
  fail(code: string, message: string): void {
    this.lastError = { code, message, at: new Date(this.now()).toISOString() }
  }

  /** The control plane has said that it knows this machine no more: so it is until it answers as before. */
  noteRevoked(message: string): void {
    this.fail('revoked', message)
    this.revokedAt ??= this.lastError!.at
  }

  /** The control plane has answered as it should. */
  noteHeard(): void {
    this.revokedAt = undefined
    if (this.lastError?.code === 'unreachable' || this.lastError?.code === 'revoked') this.lastError = undefined
  }

  /** Whether the control plane knows this machine no more. */
  get revoked(): boolean {
    return this.revokedAt !== undefined
  }

  /**
   * Judges what a poll brought and puts it in force. A rotated root takes force together with a rule set that verifies under
   * it, or not at all. Returns what changed.
   * @throws DocumentRefused, which `lastError` keeps
   */
  take(brought: { roots?: RootEnvelope[]; rules?: string; fresh?: string }): { rules: boolean; root: boolean } {
    const current = this.root
    if (!current) throw this.refused('malformed', 'There is no root document on this machine; join again.')
    const before = { version: this.version, seq: current.root.seq }
    try {
      const chain = followRoots(this.chain, brought.roots ?? [], this.team.org.id)
      const root = chain.at(-1)!
      const set = brought.rules === undefined ? this.inForce : openRuleSet(brought.rules.trim(), root.root, crypto)
      if (set && root !== current) openRuleSet(set.jws.trim(), root.root, crypto)
      const pinned = this.pin!.version > 0 ? { version: this.pin!.version, digest: this.pin!.digest ?? '' } : undefined
      if (set && brought.rules !== undefined) acceptRuleSet(set, pinned)
      this.lastError = undefined
      this.putInForce(chain, set)
      if (brought.fresh !== undefined) this.takeFresh(brought.fresh, root)
    } catch (error) {
      if (reasonOf(error) === 'equivocation') this.keepBoth(brought.roots ?? [])
      throw this.refused(reasonOf(error), messageOf(error), error)
    }
    return { rules: this.version !== before.version, root: this.root!.root.seq !== before.seq }
  }

  private putInForce(chain: TrustedRoot[], set: TrustedRuleSet | undefined): void {
    const root = chain.at(-1)!
    const newRoot = root.digest !== this.root?.digest
    const newSet = set !== undefined && (set.jws.trim() !== this.inForce?.jws.trim() || !this.diskGood)
    if (!newRoot && !newSet) return
    this.chain = chain
    this.inForce = set
    this.attempt(() => {
      if (newRoot && newSet) writeAtomic(this.home, this.home.nextRuleset, set.jws)
      if (newRoot || !this.diskGood)
        writeJson(
          this.home,
          this.home.roots,
          chain.map(r => r.envelope),
        )
      if (newSet) writeAtomic(this.home, this.home.ruleset, set.jws)
      remove(this.home.nextRuleset)
      this.rootsFile.look()
      this.rulesFile.look()
      this.diskGood = true
    })
    this.savePin({
      ...this.pin!,
      ...(set ? { version: set.set.version, digest: set.digest } : {}),
      rootSeq: root.root.seq,
      rootDigest: root.digest,
    })
  }

  private takeFresh(jws: string, root: TrustedRoot): void {
    const now = this.now()
    const fresh = openFresh(jws.trim(), root.root, now, crypto)
    const at = Date.parse(fresh.at)
    // a time signed for another version says nothing about the age of this one
    if (fresh.version < this.version)
      throw new AppError(
        'BAD_SIGNATURE',
        `The control plane calls version ${fresh.version} the newest; this machine has seen ${this.version}.`,
        { details: { why: 'lower_version' } },
      )
    if (fresh.version > this.version) return
    if (fresh.version > 0 && fresh.digest !== this.pin!.digest)
      throw new AppError('BAD_SIGNATURE', `Version ${fresh.version} has two different contents.`, {
        details: { why: 'same_version_other_content' },
      })
    if (this.newestFresh && at < Date.parse(this.newestFresh.at)) return
    this.newestFresh = fresh
    this.attempt(() => writeAtomic(this.home, this.home.fresh, jws))
    // the control plane has signed that it is now: a clock that once ran ahead may come back to that, never below it
    const signedNewer = at > (this.pin!.freshHigh ?? 0) && Math.abs(now - at) <= CLOCK_SKEW_MS
    this.savePin({
      ...this.pin!,
      freshHigh: Math.max(at, this.pin!.freshHigh ?? 0),
      clockHigh: signedNewer ? now : this.clock(),
    })
  }

  /** Remembers the highest clock reading; returns by how many milliseconds the clock stands behind it. */
  noteClock(): number {
    const { pin } = this
    if (!pin) return 0
    const now = this.now()
    if (now > pin.clockHigh) this.savePin({ ...pin, clockHigh: now })
    return Math.max(0, pin.clockHigh - now)
  }

  /** Both are kept and reported, neither is followed. */
  private keepBoth(roots: RootEnvelope[]): void {
    if (this.equivocation) return
    this.equivocation = true
    this.attempt(() =>
      writeJson(this.home, this.home.equivocation, {
        at: new Date(this.now()).toISOString(),
        own: this.root?.envelope,
        other: roots,
      }),
    )
  }

  private savePin(pin: Pin): void {
    this.pin = pin
    this.attempt(() => writePin(this.home, pin))
  }

  private attempt(write: () => void): void {
    try {
      write()
    } catch (error) {
      this.diskGood = false
      this.fail('disk', 'What came could not be written to the disk; it is in force in memory.')
      this.onDiskTrouble(error)
    }
  }

  private refused(code: string, message: string, cause?: unknown): DocumentRefused {
    this.fail(code, message)
    return new DocumentRefused(code, message, cause)
  }
}
