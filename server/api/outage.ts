import { AppError } from '#core/error.ts'

/**
 * What Prisma, the driver and PostgreSQL say when a connection cannot be had or is lost (57P0x: ended or starting), or two waited
 * for each other. The client's own code may hide PostgreSQL's, which then stands in the words: "Code: `57P01`".
 */
const CODES = /^(P1\d{3}|P2024|P2028|P2034|40P01|40001|ECONNREFUSED|ECONNRESET|EPIPE|57P0\d|08\w{3}|53300)$/
const WORDS =
  /terminating connection|connection terminated|connection error|not queryable|server has closed|can't reach database|ECONNREFUSED|ECONNRESET|the database system is|unable to start a transaction|deadlock|code: `(40P01|40001|57P0\d|08\w{3}|53300)`/i

/** What PostgreSQL says of a text with U+0000 in it, which it cannot keep (SQLSTATE 22021, character_not_in_repertoire). */
const UNKEEPABLE = /\b22021\b/

/** What it says of a date or time that it has none for: the year 0, or one of five digits (22007 to 22009). */
const NO_TIME = /^2200[789]$/
const NO_TIME_WORDS = /\bcode: `2200[789]`/i

/** Something thrown that is not ours: input that no database keeps, a database that cannot be reached (trying again helps), or a mistake of ours. */
export function toAppError(cause: unknown): AppError {
  const e = cause as { code?: string; message?: string } | undefined
  if (e?.code === '22021' || UNKEEPABLE.test(e?.message ?? ''))
    return new AppError('BAD_INPUT', 'A text holds the character U+0000, which cannot be kept.', {
      details: { why: 'form' },
      cause,
    })
  if (NO_TIME.test(e?.code ?? '') || NO_TIME_WORDS.test(e?.message ?? ''))
    return new AppError('BAD_INPUT', 'A date in it is too early or too late.', { details: { why: 'form' }, cause })
  return CODES.test(e?.code ?? '') || WORDS.test(e?.message ?? '')
    ? new AppError('UNAVAILABLE', 'The database did not answer. Nothing was changed; try again.', {
        cause,
      })
    : new AppError('INTERNAL', 'Something went wrong on our side. Nothing was changed; try again.', { cause })
}
