/** Every bound on a boundary document, each with its reason. */

/** A rule needs five levels; the YAML library recurses, so depth is bounded before it runs. */
export const MAX_DEPTH = 32
/** Each rule costs time at every tool call. */
export const MAX_RULES = 200
/** Two or three cases a rule. */
export const MAX_CASES = 1000
/** More mistakes than a person reads at once. */
export const MAX_PROBLEMS = 100
/** One short paragraph: it is shown to an agent at every refusal. */
export const MAX_NOTE_CHARS = 500
/** Longer than any `<client>:<project>:<session>` there is. */
export const MAX_PATTERN_CHARS = 300
/** Entries in one of the lists of `for:`. */
export const MAX_FOR_ENTRIES = 200
/** More people than this to answer one call means nobody will. */
export const MAX_APPROVALS = 5
/** A request must wait long enough to be read, and a yes is honoured for a day at most. */
export const MIN_EXPIRES_SECONDS = 5 * 60
export const MAX_EXPIRES_SECONDS = 24 * 3600
