import { AppError } from '#core/error.ts'

/** What Prisma, the driver and PostgreSQL say when a connection cannot be had or is lost (57P0x: ended or starting), or two waited for each other. */
const CODES = /^(P1\d{3}|P2024|P2028|P2034|40P01|ECONNREFUSED|ECONNRESET|EPIPE|57P0\d|08\w{3}|53300)$/
const WORDS =
  /terminating connection|connection terminated|connection error|not queryable|server has closed|ECONNREFUSED|ECONNRESET|the database system is|unable to start a transaction|deadlock/i

/** Something thrown that is not ours: a database that cannot be reached (trying again helps), or a mistake of ours. */
export function toAppError(cause: unknown): AppError {
  const e = cause as { code?: string; message?: string } | undefined
  return CODES.test(e?.code ?? '') || WORDS.test(e?.message ?? '')
    ? new AppError('UNAVAILABLE', 'The database did not answer. Nothing was changed; try again.', {
        cause,
      })
    : new AppError('INTERNAL', 'Something went wrong on our side. Nothing was changed; try again.', { cause })
}
