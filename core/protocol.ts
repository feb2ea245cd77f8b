import * as z from 'zod/mini'
import { CrossedFigure, DIGEST, NONCE, RULE_NAME } from './approval/request.ts'
import { APPROVAL_STATES } from './approval/state.ts'
import { ACTIONS } from './boundary/shape.ts'
import { CLIENTS, LEVELS } from './client.ts'
import { HANDLE, MACHINE_LABEL } from './id.ts'
import { REPORT_BODY_MAX, RULE_SET_MAX } from './limits.ts'
import { ROLES } from './role.ts'
import { ROOT_REFUSALS } from './root.ts'
import { RULE_SET_REFUSALS } from './rule-set.ts'

/**
 * What connectors and the control plane say to each other under `/api/v1`. Bodies are strict: an unknown field is refused.
 * Errors are always `{error:{code, message, remedy?}}` with the status of server/api/status.ts.
 *
 *   POST   join                {@link JoinBody} -> {@link JoinAnswer}             (no token; the one-time token is in the body)
 *   GET    roots?after=N       -> {@link RootsAnswer}
 *   GET    rules               -> 200 the JWS as text, ETag `"<version>.<digest>"`; 304; 204 when nothing was ever published;
 *                                 each with the header `holdpoint-fresh: <JWS>`
 *   GET    wait?rules=<etag>&answers=<seq>   long poll -> {@link WaitAnswer}
 *   POST   approvals           {@link FileBody} -> {@link FileAnswer}
 *   GET    answers?after=SEQ   -> {@link AnswersAnswer}
 *   POST   approvals/HANDLE/withdraw   {@link WithdrawBody} -> {@link FileAnswer}
 *   POST   reports             {@link ReportBody} -> {@link ReportAnswer}
 *   POST   usage               UsageBody -> UsageAnswer                      (core/usage/upload.ts)
 *   GET    budgets             -> the JWS of FleetBudgets as text                 (core/budget/fleet.ts)
 *   POST   reservations        ReserveBody -> ReservationAnswer                   (core/budget/fleet.ts)
 *   POST   reservations/ID/settle    SettleBody -> ReservationAnswer
 *   POST   reservations/ID/release   {} -> ReservationAnswer
 *   POST   sign-in-links       -> {url, expiresAt}                               (a look-only session of the machine's member)
 *   DELETE machine             the machine leaves
 *   admin/…                    see server/api/admin-route.ts
 */
export const API = '/api/v1'
/** The header that carries the signed freshness. */
export const FRESH_HEADER = 'holdpoint-fresh'

const digest = z.string().check(z.regex(DIGEST))
const name = z.string().check(z.regex(RULE_NAME))
const handle = z.string().check(z.regex(HANDLE))
const time = z.iso.datetime()
const JWS_FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const jws = z.string().check(z.maxLength(RULE_SET_MAX), z.regex(JWS_FORM))
const version = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9.+-]{0,39}$/))
const count = z.int().check(z.gte(0), z.lte(1_000_000_000))
const publicKey = z.strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: digest })

/** What a machine sends to join. */
export const JoinBody = z.strictObject({
  token: z.string().check(z.maxLength(80)),
  key: publicKey,
  /** The machine's label: its host name unless the developer gave another. Shown to admins; the only free name of the protocol. */
  label: z.string().check(z.regex(MACHINE_LABEL)),
  platform: z.enum(['linux', 'darwin', 'win32', 'other']),
  connector: version,
  /** JWS (holdpoint-join+jws) over {v, token: SHA-256 of the token in base64url}, by the machine's key: proof of possession. */
  proof: jws,
  /** Whether the join line carried a root digest; without one the machine is marked "trusted on first use". */
  pinned: z.boolean(),
})
export type JoinBody = z.infer<typeof JoinBody>

const RootEnvelopeShape = z.strictObject({ signed: z.array(jws).check(z.minLength(1), z.maxLength(32)) })

/** What a joined machine gets: its token, and the root documents up to the one in force. */
export const JoinAnswer = z.strictObject({
  machine: z.string(),
  token: z.string(),
  member: z.strictObject({ id: z.string(), name: z.string() }),
  org: z.strictObject({ id: z.string(), slug: z.string(), name: z.string() }),
  roots: z.array(RootEnvelopeShape),
})
export type JoinAnswer = z.infer<typeof JoinAnswer>

/** Root documents after a number, oldest first. */
export const RootsAnswer = z.strictObject({ roots: z.array(RootEnvelopeShape) })
export type RootsAnswer = z.infer<typeof RootsAnswer>

/** `rules`, `answers`: whether there is something newer than what was named. Returns at once when there is. */
export const WaitAnswer = z.strictObject({ rules: z.boolean(), answers: z.boolean() })
export type WaitAnswer = z.infer<typeof WaitAnswer>

/** The machine's signed request (holdpoint-request+jws over an ApprovalRequest). */
export const FileBody = z.strictObject({ request: jws })
export type FileBody = z.infer<typeof FileBody>

/** `handle` is the open request's: a retry meets the first one and gets its handle and state. */
export const FileAnswer = z.strictObject({
  handle,
  state: z.enum(APPROVAL_STATES),
  role: z.enum(ROLES),
  approvals: z.int(),
  /** How many people can answer right now; 0 is told to the agent's refusal as "nobody can answer". */
  eligible: count,
  url: z.string(),
})
export type FileAnswer = z.infer<typeof FileAnswer>

/**
 * Why a machine takes its request back. Not who did: nobody signed in there, so it is the machine's word and recorded as such
 * (`withdrawn`, by: machine), never as a person's denial.
 */
export const WithdrawBody = z.strictObject({
  why: z.enum(['session_ended', 'denied_here', 'rule_gone', 'left']),
})
export type WithdrawBody = z.infer<typeof WithdrawBody>

/**
 * Signed answers after a position, and states that need no signature because they only tighten
 * (expired, withdrawn, revoked). A machine keeps the newest `seq`.
 */
export const AnswersAnswer = z.strictObject({
  answers: z.array(z.strictObject({ seq: z.int(), jws })),
  states: z.array(z.strictObject({ seq: z.int(), handle, state: z.enum(APPROVAL_STATES), at: time })),
  seq: z.int(),
})
export type AnswersAnswer = z.infer<typeof AnswersAnswer>

const journal = z.strictObject({
  seq: count,
  head: digest,
  anchor: z.optional(z.strictObject({ seq: count, head: digest })),
})

/** What a connector raises about itself. */
export const ALARM_KINDS = [
  'daemon_impostor',
  'daemon_was_down',
  'journal_reset',
  'journal_rolled_back',
  'answer_refused',
  'second_use_of_answer',
  'local_answer_without_journal',
  'clock_moved_back',
  'clock_off',
  'first_use_pin',
  'disk_full',
  'local_rules_broken',
  'guard_refused',
  'transcript_unreadable',
  'figure_odd',
] as const
export type AlarmKind = (typeof ALARM_KINDS)[number]

/** What switches a hook off, or could. */
export const HOOK_OFF = [
  'hooks_disabled_by_user',
  'hooks_disabled_by_project',
  'proxy_diverts_hook',
  'environment_diverts_hook',
  'hook_edited',
  'hook_not_trusted',
  'client_too_old',
  'mods_may_overrule',
  'managed_only',
  'url_not_allowed',
  'settings_unreadable',
  'canary_failed',
] as const
export type HookOff = (typeof HOOK_OFF)[number]

/** Why a machine took no document, or got none. */
export const REPORTED_REFUSALS = [
  ...RULE_SET_REFUSALS,
  ...ROOT_REFUSALS,
  'expired',
  'from_the_future',
  'unreachable',
  'revoked',
  'disk',
] as const
export type ReportedRefusal = (typeof REPORTED_REFUSALS)[number]

/**
 * A word of a list above. A newer connector's list may be longer, and an alarm is the last thing to be lost over that: any word
 * of this form is taken, and one that the reader's own list does not have is kept as `other`, without its name. Too short for a
 * sentence, and letters only: no path, address, number or secret fits.
 */
const listedWord = z.string().check(z.maxLength(40), z.regex(/^[a-z]{1,20}(_[a-z]{1,20}){0,5}$/))
/** A word as the reader keeps it. */
export const listed = (list: readonly string[], word: string): string => (list.includes(word) ? word : 'other')

/** How many tool uses of a session no hook had judged on one UTC day. */
export const UnguardedRow = z.strictObject({
  client: z.enum(CLIENTS),
  sessionRef: digest,
  calls: count,
  day: z.iso.date(),
})
export type UnguardedRow = z.infer<typeof UnguardedRow>

/** One hour of judged calls of a session, with the hour's extreme figures. */
export const HourlyCount = z.strictObject({
  hour: time,
  client: z.enum(CLIENTS),
  action: z.enum(ACTIONS),
  sessionRef: digest,
  calls: count,
  figures: z.array(CrossedFigure).check(z.maxLength(16)),
})
export type HourlyCount = z.infer<typeof HourlyCount>

/** What a machine tells, signed (holdpoint-report+jws), each minute or when something changed. Names from fixed lists only. */
export const Report = z.strictObject({
  v: z.literal(1),
  org: z.string(),
  machine: z.string(),
  /** Rises with every report of a machine; a replay or an older one is ignored. A machine that reports lower is cloned or restored. */
  seq: count,
  at: time,
  connector: version,
  rules: z.strictObject({
    version: count,
    digest: z.optional(digest),
    /**
     * The signed rule set itself, when the control plane calls a lower version the newest: that this version was published is
     * believed on the signature's word, never on the machine's.
     */
    proof: z.optional(jws),
    rootSeq: count,
    rootDigest: digest,
    freshAt: z.optional(time),
    lastError: z.optional(
      z.strictObject({
        code: listedWord,
        at: time,
      }),
    ),
    unsupported: z.array(name).check(z.maxLength(256)),
    unknownSections: z.int().check(z.gte(0), z.lte(64)),
  }),
  hooks: z
    .array(
      z.strictObject({
        client: z.enum(CLIENTS),
        version: z.optional(version),
        level: z.enum(LEVELS),
        off: z.array(listedWord).check(z.maxLength(32)),
        /** The organisation's rules whose level is another there: a figure unread, advice only, idle. */
        rules: z.optional(z.array(z.strictObject({ rule: name, level: z.enum(LEVELS) })).check(z.maxLength(64))),
      }),
    )
    .check(z.maxLength(16)),
  journal: z.optional(journal),
  /** Tool uses found in transcripts that no hook had judged, per session, as running totals. */
  unguarded: z.array(UnguardedRow).check(z.maxLength(200)),
  /** Decisions of organisation rules since the last report: shadow ones once per session and rule, enforced ones each. */
  outcomes: z
    .array(
      z.strictObject({
        handle,
        rule: name,
        client: z.enum(CLIENTS),
        action: z.enum(ACTIONS),
        sessionRef: digest,
        stage: z.enum(['shadow', 'enforce']),
        outcome: z.enum(['allow', 'ask', 'approver', 'deny']),
        did: z.enum(['passed', 'asked', 'refused', 'released']),
        at: time,
        figures: z.array(CrossedFigure).check(z.maxLength(16)),
      }),
    )
    .check(z.maxLength(500)),
  /**
   * Hourly counts of judged calls with the hour's highest figures (of plan_left_pct, which holds when it falls, the lowest): what
   * a draft is replayed over.
   */
  counts: z.array(HourlyCount).check(z.maxLength(1000)),
  /** Grants spent or ended on the machine. */
  grants: z
    .array(
      z.strictObject({
        handle,
        answerId: z.string().check(z.regex(NONCE)),
        what: z.enum(['used', 'lapsed']),
        at: time,
      }),
    )
    .check(z.maxLength(500)),
  /** Things that happened to the connector itself. */
  alarms: z
    .array(
      z.strictObject({
        what: listedWord,
        at: time,
        count,
      }),
    )
    .check(z.maxLength(100)),
})
export type Report = z.infer<typeof Report>

/** Longer than other bodies: a report may carry a whole rule set as proof, which its own encoding makes a third longer. */
export const ReportBody = z.strictObject({
  report: z.string().check(z.maxLength(REPORT_BODY_MAX), z.regex(JWS_FORM)),
})
export type ReportBody = z.infer<typeof ReportBody>

/** What the control plane has recorded: the machine answers the next report with its line at `journal.seq`. */
export const ReportAnswer = z.strictObject({
  seq: count,
  journal: z.optional(z.strictObject({ seq: count, head: digest })),
})
export type ReportAnswer = z.infer<typeof ReportAnswer>
