/** Bounds on the sections of a rule document beside its boundaries, each with its reason. */

/** Each is summed at every look at the budgets. */
export const MAX_BUDGETS = 100
/** The document as a whole is bounded; this keeps one list fit for a choice on a page. */
export const MAX_TAG_VALUES = 1000
/** Each is a name that somebody once chose and later did not. */
export const MAX_RENAMES = 500
/** Tried one after another for every session. */
export const MAX_ATTRIBUTION_RULES = 500
/** More than every model of every provider on the card. */
export const MAX_RATES = 500
/** Tried one after another for every request; and the places they can go to. */
export const MAX_ROUTES = 100
export const MAX_UPSTREAMS = 50
/** Names that one model goes by. */
export const MAX_ALIASES = 20
/** A mail each, once a window. */
export const MAX_STEPS = 10
export const MAX_STEP_PCT = 1000
/** People or roles told of one budget. */
export const MAX_OWNERS = 20
/** Whole units: above it is a slip of the finger, and nothing beyond it fits the evaluator's numbers. */
export const MAX_AMOUNT = 1_000_000_000
/** US dollars per million tokens: a hundred times the dearest price there has been. */
export const MAX_RATE = 100_000
/** Decimal places of an amount or a price per million tokens: a price per token is then exact in 10^-12. */
export const PLACES = 6
/** An exchange rate for each day of four years. */
export const MAX_EXCHANGE = 1500
/** Units of another currency for a dollar: ten thousand times the cheapest there is. */
export const MAX_PER_USD = 1_000_000_000
/** Days that a price or an exchange rate may begin on. */
export const FIRST_DAY = '2020-01-01'
export const LAST_DAY = '2100-01-01'
