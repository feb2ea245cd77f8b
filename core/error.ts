/**
 * The one error of the product. `code` is closed: doors map it to a status in one table (server/api/status.ts), callers
 * switch on it. `message` is for people and agents and never holds a secret or an argument's value; `note` is for the log.
 */
const ERROR_CODES = [
  'BAD_INPUT',
  'TOO_LARGE',
  'NOT_SIGNED_IN',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'STALE_EDIT',
  'NOT_PENDING',
  'EXPIRED',
  'NOT_APPROVER',
  'OWN_REQUEST',
  'RESTORED',
  'BAD_SIGNATURE',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'INTERNAL',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/** An error with a code, words for people, and where there is one a remedy. */
export class AppError extends Error {
  readonly code: ErrorCode
  /** What to do about it, one sentence. */
  readonly remedy: string | undefined
  /** For the log only. */
  readonly note: string | undefined
  /** Facts the caller may show or act on (never free text from a person). */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: ErrorCode,
    message: string,
    more: { remedy?: string; note?: string; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.name = 'AppError'
    this.code = code
    this.remedy = more.remedy
    this.note = more.note
    this.details = more.details
  }
}

/** Whether something thrown is ours, by its code rather than by class identity (bundles may hold two copies). */
export function isAppError(error: unknown): error is AppError {
  return error instanceof Error && ERROR_CODES.includes((error as { code?: unknown }).code as ErrorCode)
}
