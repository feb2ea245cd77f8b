import { type ErrorCode, isAppError } from '#core/error.ts'

/** Our own code in an error that came over the API, in the browser or from a server component's call. */
export function errorCode(error: unknown): ErrorCode | undefined {
  const { cause, data } = error as { cause?: unknown; data?: { app?: ErrorCode } }
  return data?.app ?? (isAppError(cause) ? cause.code : undefined)
}

/** Facts that came with it; whoever reads them checks their form. */
export function errorDetails(error: unknown): Record<string, unknown> {
  return (error as { data?: { details?: Record<string, unknown> } }).data?.details ?? {}
}

/** What to do about it, when the server said so. */
export function errorRemedy(error: unknown): string | undefined {
  return (error as { data?: { remedy?: string } }).data?.remedy
}
