import * as z from 'zod/mini'
import { SELF_ANSWERS } from './boundary/shape.ts'
import { AppError } from './error.ts'
import type { Json } from './json.ts'
import { openJws, payloadDigest } from './jws.ts'
import type { Crypto, PublicKey } from './key.ts'
import { keysOf, type Root } from './root.ts'

/** What a connector of this build understands; a set that `requires` more is still obeyed, what is unknown is listed. */
export const READER = 1

/**
 * The signed rule set: one document for all machines of an organisation.
 * `boundaries` are canonical rule objects (core/boundary/rule.ts); they are read one by one, leniently, on the machine.
 */
export const RuleSet = z.looseObject({
  v: z.literal(1),
  org: z.string().check(z.minLength(1)),
  version: z.int().check(z.gte(1)),
  /** Digest of the version before; absent in version 1. */
  prevDigest: z.optional(z.string()),
  rootSeq: z.int().check(z.gte(1)),
  minReader: z.int().check(z.gte(1)),
  requires: z.array(z.string()),
  issuedAt: z.string(),
  /** Seconds after which the set, without a newer signed freshness, releases nothing any more. */
  maxAge: z.int().check(z.gte(60)),
  whenBroken: z.enum(['pass', 'block']),
  /** Who may answer their own request: part of the set, so that a rule's digest is not the only witness. */
  selfAnswer: z.enum(SELF_ANSWERS),
  boundaries: z.array(z.unknown()),
  budgets: z.array(z.unknown()),
  rateCard: z.array(z.unknown()),
  attribution: z.array(z.unknown()),
  /** What a dollar is in other currencies; absent where there is none. */
  exchange: z.optional(z.array(z.unknown())),
  /** What of clients a plan covers; absent where nothing is said. */
  covered: z.optional(z.array(z.unknown())),
  contracts: z.array(z.unknown()),
})
export type RuleSet = z.infer<typeof RuleSet>

/** A rule set that was verified: its digest (SHA-256 of the payload bytes) and sections that this build does not know. */
export type TrustedRuleSet = { set: RuleSet; digest: string; kid: string; jws: string; unknownSections: string[] }

/** Why a rule set was refused; the last good one stays in force each time. */
export const RULE_SET_REFUSALS = [
  'malformed',
  'bad_signature',
  'unknown_key',
  'other_organisation',
  'lower_version',
  'same_version_other_content',
  'too_large',
] as const
export type RuleSetRefusal = (typeof RULE_SET_REFUSALS)[number]

const refuse = (why: RuleSetRefusal, message: string) => new AppError('BAD_SIGNATURE', message, { details: { why } })

const PLAIN = Object.keys(RuleSet.shape)

/** Verifies and reads a rule set under the `ruleset` keys of a root. Says nothing about versions: see {@link acceptRuleSet}. */
export const openRuleSet = (jws: string, root: Root, crypto: Crypto): TrustedRuleSet =>
  openRuleSetUnder(jws, keysOf(root, 'ruleset', crypto), root.org, crypto)

/** {@link openRuleSet} under keys that the caller names: the control plane knows more than one root's. */
export function openRuleSetUnder(jws: string, keys: readonly PublicKey[], org: string, crypto: Crypto): TrustedRuleSet {
  const { kid, payload, value } = openJws(jws, 'holdpoint-ruleset+jws', keys, crypto)
  const read = RuleSet.safeParse(value)
  if (!read.success) throw refuse('malformed', 'The rule set is signed, but not of a form this connector can read.')
  if (read.data.org !== org) throw refuse('other_organisation', 'The rule set is of another organisation.')
  const unknownSections = Object.keys(value as Record<string, Json>).filter(key => !PLAIN.includes(key))
  return { set: read.data, digest: payloadDigest(payload, crypto.sha256), kid, jws, unknownSections }
}

/** The newest version a machine ever accepted. Kept apart from the document, so that losing one never loosens the other. */
export type VersionPin = { version: number; digest: string }

/**
 * Whether a verified rule set may take the place of what is in force: versions only rise, and one version has one content.
 * Returns 'newer' or 'same'; throws with its own reason otherwise.
 */
export function acceptRuleSet(next: TrustedRuleSet, pin: VersionPin | undefined): 'newer' | 'same' {
  if (!pin) return 'newer'
  if (next.set.version < pin.version) {
    throw refuse(
      'lower_version',
      `Rule set version ${next.set.version} is older than version ${pin.version}, which this machine has seen.`,
    )
  }
  if (next.set.version > pin.version) return 'newer'
  if (next.digest !== pin.digest) {
    throw refuse('same_version_other_content', `Rule set version ${pin.version} has come with two different contents.`)
  }
  return 'same'
}
