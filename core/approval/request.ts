import * as z from 'zod/mini'
import { ACTIONS } from '#core/boundary/shape.ts'
import { base64url, concat, type Sha256, utf8 } from '#core/bytes.ts'
import { CLIENTS } from '#core/client.ts'
import { DESTINATIONS, FIGURE_NAMES } from '#core/figure.ts'
import { HANDLE } from '#core/id.ts'
import { canonicalJson } from '#core/json.ts'

/**
 * What leaves a machine when an organisation's rule holds an action. Numbers and names from fixed lists
 * only: no field here can carry free text, and a test that walks this schema fails if one is added. Every text is an enum,
 * a pattern that no prose fits, or an ISO time.
 */
export const DIGEST = /^[A-Za-z0-9_-]{43}$/
/** 16 random bytes, base64url. */
export const NONCE = /^[A-Za-z0-9_-]{22}$/
const digest = z.string().check(z.regex(DIGEST))
const id = z.string().check(z.regex(/^(org|mem|mac)_[A-Za-z0-9_-]{16}$/))
/** A rule's or budget's name: the grammar's own pattern, set by the organisation, never typed by the developer. */
export const RULE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/
const name = z.string().check(z.regex(RULE_NAME))
const time = z.iso.datetime()

/** A figure that crossed. `value` is a decimal, a tier or `matched`; what workflow or agent matched is never sent. */
export const CrossedFigure = z.strictObject({
  name: z.enum(FIGURE_NAMES),
  qualifier: z.optional(name),
  value: z.string().check(z.regex(/^(-?\d{1,12}(\.\d{1,6})?|haiku|sonnet|opus|unknown|team|otel|matched|unread)$/)),
  unit: z.enum(['usd', 'pct', 'tier', 'destination', 'match']),
  observedAt: z.optional(time),
})
export type CrossedFigure = z.infer<typeof CrossedFigure>

/** The id of a model in a request. */
export const ROUTE_MODEL = /^[a-z0-9.@:-]{1,80}$/

/** What an answer is about besides the rules: a session; a route; a destination (one open request per subject). */
export const Subject = z.union([
  z.strictObject({ kind: z.literal('session') }),
  z.strictObject({
    kind: z.literal('route'),
    provider: z.string().check(z.regex(/^[a-z0-9-]{1,40}$/)),
    from: z.string().check(z.regex(ROUTE_MODEL)),
    to: z.string().check(z.regex(ROUTE_MODEL)),
  }),
  z.strictObject({ kind: z.literal('share'), destination: z.enum(DESTINATIONS) }),
])
export type Subject = z.infer<typeof Subject>

export const ApprovalRequest = z.strictObject({
  v: z.literal(1),
  /** The decision that held the action; a handle for people, never the binding. */
  handle: z.string().check(z.regex(HANDLE)),
  org: id,
  machine: id,
  member: id,
  client: z.enum(CLIENTS),
  /** HMAC-SHA-256 of the session's id under a secret of the machine: the same session, without its name. */
  sessionRef: digest,
  subject: Subject,
  action: z.enum(ACTIONS),
  /** Every organisation rule with a named approver that matched; the answer lifts these and no others. */
  rules: z.array(z.strictObject({ name, digest })).check(z.minLength(1), z.maxLength(64)),
  ruleset: z.strictObject({ version: z.int().check(z.gte(1)), digest }),
  figures: z.array(CrossedFigure).check(z.maxLength(64)),
  /** 1 for the first request about this subject and these rules, then rising. */
  attempt: z.int().check(z.gte(1)),
  createdAt: time,
  expiresAt: time,
  /** 16 random bytes of the machine: what stops a restored database from replaying an old yes. */
  nonce: z.string().check(z.regex(NONCE)),
})
export type ApprovalRequest = z.infer<typeof ApprovalRequest>

/** The binding of a request: SHA-256 over a domain line and the canonical request. */
export function requestDigest(request: ApprovalRequest, sha256: Sha256): string {
  return base64url(sha256(concat(utf8('holdpoint/request/v1\n'), utf8(canonicalJson(request)))))
}

/** The digest of a rule as answers are bound to it, over the object that core/boundary/rule.ts names. */
export function ruleDigest(digestInput: unknown, sha256: Sha256): string {
  return base64url(sha256(concat(utf8('holdpoint/rule/v1\n'), utf8(canonicalJson(digestInput)))))
}

/** What "the same request" means while one is open: retries of a held call meet it again. */
export function subjectKey(request: Pick<ApprovalRequest, 'sessionRef' | 'subject' | 'rules'>): string {
  const subject = request.subject.kind === 'session' ? { kind: 'session', ref: request.sessionRef } : request.subject
  return canonicalJson({ subject, rules: request.rules.map(rule => rule.name).sort() })
}
