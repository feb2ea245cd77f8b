import { crypto } from '#agent/crypto.ts'
import { type Home, readText, writeAtomic } from '#agent/home.ts'
import type { TrustStore } from '#agent/trust/store.ts'
import { WatchedFile } from '#agent/trust/watched-file.ts'
import type { RuleInForce } from '#core/approval/accept.ts'
import { ruleDigest } from '#core/approval/request.ts'
import type { ScopedRule } from '#core/boundary/compile.ts'
import { type CompiledRules, compileRules, mergeRules } from '#core/boundary/evaluate.ts'
import { readRules } from '#core/boundary/read-rules.ts'
import { ruleDigestInput } from '#core/boundary/rule.ts'
import { isUnsupported } from '#core/boundary/shape.ts'
import { BOUNDARIES_TEXT_MAX } from '#core/limits.ts'
import type { TrustedRuleSet } from '#core/rule-set.ts'
import { chooseLocalDocument, type LocalInForce } from '#core/rules/last-good.ts'

/** Sections of config.yaml that are other parts' business. */
export const OTHER_SECTIONS = ['attribution', 'team']

/** Every rule that judges a call on this machine, compiled once per change. */
export type RulesInForce = {
  rules: readonly ScopedRule[]
  compiled: CompiledRules
  /** Digest of every readable rule by key. */
  digests: ReadonlyMap<string, string>
  /** The organisation's readable rules by name, without `org:`. */
  organisation: ReadonlyMap<string, RuleInForce>
  /** Names of the organisation's rules that this build cannot read. */
  unsupported: string[]
  /** Whether an enforced rule compares what a session has cost. */
  comparesCost: boolean
  local: LocalInForce
  set: TrustedRuleSet | undefined
}

/** Reads config.yaml and the signed set, and keeps what is in force. A look costs two stats while nothing changes. */
export class Rules {
  private readonly config: WatchedFile
  private local: LocalInForce = { rules: [], tests: [], budgets: [], source: 'none', errors: [], warnings: [] }
  private lastGood: string | undefined
  private current: RulesInForce | undefined

  constructor(
    private readonly home: Home,
    private readonly trust: () => TrustStore | undefined,
    private readonly onLocalChange: (local: LocalInForce) => void,
  ) {
    // one byte more than is allowed, so that a file too large is told as such by the parser
    this.config = new WatchedFile(home.config, 16 * BOUNDARIES_TEXT_MAX, true)
    this.lastGood = readText(home.localGood)
  }

  inForce(): RulesInForce {
    const file = this.config.look()
    const set = this.trust()?.rules()
    if (file.changed || !this.current) this.readLocal(file)
    if (file.changed || !this.current || this.current.set !== set) this.current = compile(this.local, set)
    return this.current
  }

  private readLocal({ bytes, why }: { bytes: Buffer | undefined; why?: string }): void {
    // a file that is there but cannot be read is a broken one: its last good text stays
    const text = bytes?.toString('utf8') ?? (why === undefined || why === 'absent' ? undefined : '\u0000')
    const lastGoodText = this.lastGood
    this.local = chooseLocalDocument({
      text,
      ...(lastGoodText === undefined ? {} : { lastGoodText }),
      options: { zone: Intl.DateTimeFormat().resolvedOptions().timeZone, other: OTHER_SECTIONS },
    })
    if (this.local.source === 'current' && text !== undefined && text !== this.lastGood) {
      this.lastGood = text
      try {
        writeAtomic(this.home, this.home.localGood, text)
      } catch {
        // it stays in memory; a restart before the disk takes it would only lose the copy
      }
    }
    this.onLocalChange(this.local)
  }
}

function compile(local: LocalInForce, set: TrustedRuleSet | undefined): RulesInForce {
  const organisation = set ? readRules(set.set.boundaries) : []
  const rules = mergeRules({ local: local.rules, organisation })
  const digests = new Map<string, string>()
  const named = new Map<string, RuleInForce>()
  for (const { key, scope, rule } of rules) {
    if (isUnsupported(rule)) continue
    const digest = ruleDigest(ruleDigestInput(rule), crypto.sha256)
    digests.set(key, digest)
    if (scope === 'organisation') named.set(rule.name, { digest, rule })
  }
  const unsupported = organisation.filter(isUnsupported).map(rule => rule.name)
  const comparesCost = rules.some(
    ({ rule }) =>
      !isUnsupported(rule) && rule.stage === 'enforce' && rule.when.some(({ figure }) => figure === 'session_cost_usd'),
  )
  return { rules, compiled: compileRules(rules), digests, organisation: named, unsupported, comparesCost, local, set }
}
