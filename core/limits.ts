/** Every bound in one place, each with its reason. Sizes in bytes, times in milliseconds unless the name says otherwise. */

/** A YAML document of boundaries: a thousand rules with notes and cases fit several times over. */
export const BOUNDARIES_TEXT_MAX = 256 * 1024
/** A signed rule set on the wire: the text above as JSON, in base64. */
export const RULE_SET_MAX = 1024 * 1024
/** What a connector may post in one piece (a report holds at most a day of hourly counts). */
export const CONNECTOR_BODY_MAX = 256 * 1024
/** A report with a rule set at its limit as proof, in base64 once more. */
export const REPORT_BODY_MAX = 2 * 1024 * 1024
/** A client's hook input (Claude Code sends tool inputs whole; 8 MiB is far above what its API takes). */
export const HOOK_BODY_MAX = 8 * 1024 * 1024
/** How often a connector polls for rules; jitter spreads a fleet. */
export const RULES_POLL_MS = 5 * 60_000
export const RULES_POLL_JITTER_MS = 30_000
/** A signed freshness lives this long at most. */
export const FRESH_LIFETIME_S = 15 * 60
/** How long a server process may hand out the same signed freshness: bounds signatures, far inside the lifetime. */
export const FRESH_REUSE_MS = 20_000
/** Answers and grants never outlive this: an answer is honoured for at most a day. */
export const ANSWER_MAX_MS = 24 * 3600_000
/** How long a request waits when its rule does not say: one hour is what access systems use. */
export const REQUEST_WAIT_S = 3600
/** A hook waits at most this long for the daemon, then the call passes. */
export const PAUSE_POINT_MS = 2000
/** Held long poll of a connector; below the idle time-outs of common reverse proxies (60 s). */
export const LONG_POLL_MS = 45_000
/** Clock difference that is tolerated on signed times. */
export const CLOCK_SKEW_MS = 60_000
/** A join line: long enough to carry it to another machine, and no longer. */
export const JOIN_TOKEN_MS = 15 * 60_000
/** A mailed code, and a machine's link: long enough for a slow mail server. */
export const SIGN_IN_CODE_MS = 10 * 60_000
export const DEVICE_LINK_MS = 10 * 60_000
/** Guesses at a six-digit code, and codes an hour for one address: 600 guesses a day at most, one chance in 1,700. */
export const SIGN_IN_TRIES = 5
export const SIGN_INS_PER_HOUR = 5
/** Acts of the highest power take a sign-in no older than this: a browser left open, or a stolen cookie, is not enough. */
export const FRESH_SIGN_IN_MS = 10 * 60_000
/** A working day. */
export const SESSION_MS = 12 * 3600_000
export const ADMIN_CREDENTIAL_MS = 12 * 3600_000
/** Somebody on holiday finds it still open. */
export const INVITATION_MS = 7 * 24 * 3600_000
/** More mails to one person than this in ten minutes become one digest. */
export const MAILS_BEFORE_DIGEST = 10
export const MAIL_DIGEST_WINDOW_MS = 10 * 60_000
/** Open requests of one machine: a runaway agent must not fill an inbox. */
export const OPEN_REQUESTS_PER_MACHINE = 50
/** An approver's reason and a publish note. */
export const REASON_MAX = 500
export const NOTE_MAX = 500
/** Tag keys of an organisation, `tenant` and `project` among them: each is a column of every report. */
export const TAG_KEYS_MAX = 8
/** Days of one upload: a month and a week of a machine that was away; more go in the next. */
export const UPLOAD_DAYS_MAX = 40
/** Buckets of one upload: two hundred combinations of model and tags in every quarter hour of a day. */
export const UPLOAD_BUCKETS_MAX = 20_000
/** Combinations of tags in one UTC day of one machine: far more than anybody works for, and an end to the sums that are kept apart. */
export const DAY_TAG_SETS_MAX = 1000
/** An upload as the door takes it. */
export const USAGE_BODY_MAX = 4 * 1024 * 1024
/** The signed bytes within it: base64 makes four letters of three bytes, the header and signature take the rest. */
export const UPLOAD_PAYLOAD_MAX = 3 * 1024 * 1024
/** Tokens of one axis of one call: fifty times the largest window there is. */
export const CALL_TOKENS_MAX = 100_000_000
/** Tokens of one axis in a quarter hour of one machine: a thousand agents reading a million tokens each minute stay below. */
export const BUCKET_TOKENS_MAX = 100_000_000_000
/** Calls in a quarter hour of one machine. */
export const BUCKET_CALLS_MAX = 10_000_000
/** A day computed further ahead of the control plane's clock than this is kept apart. */
export const UPLOAD_AHEAD_MS = 10 * 60_000
/** A provider's report or a CSV of an invoice: a month by day, model and kind of token several times over. */
export const INVOICE_TEXT_MAX = 8 * 1024 * 1024
export const INVOICE_LINES_MAX = 50_000
/** Lines that somebody types: more is a file. */
export const INVOICE_HAND_LINES_MAX = 200
/** A file at its limit as JSON, were every letter of it a quote that is escaped. */
export const INVOICE_BODY_MAX = 17 * 1024 * 1024
/** A token for programs: renewed each quarter unless somebody says otherwise, and once a year at the least. */
export const API_TOKEN_DAYS = 90
export const API_TOKEN_DAYS_MAX = 365
/** Tokens of an organisation that are good at one time: each is a secret somewhere. */
export const API_TOKENS_MAX = 100
/** UTC days of one FOCUS export: a year. */
export const FOCUS_DAYS_MAX = 366
