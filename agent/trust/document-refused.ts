import { isAppError } from '#core/error.ts'

/** What came from the control plane was not taken, and the last good documents stay in force. `code`: a word of the report. */
export class DocumentRefused extends Error {
  readonly code: string
  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DocumentRefused'
    this.code = code
  }
}

/** The closed code of what was thrown while a document was judged. */
export function reasonOf(error: unknown): string {
  if (!isAppError(error)) return 'malformed'
  const why = error.details?.why
  return typeof why === 'string' ? why : error.code === 'BAD_SIGNATURE' ? 'bad_signature' : 'malformed'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unreadable')
