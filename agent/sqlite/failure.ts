/**
 * Why a database could not be read. `corrupt`: it breaks the file format. `unsupported`: sound, but of a kind that is not read
 * here. `moved`: it was written to while it was read, so that what was read may be of two moments; reading again is right.
 */
export type SqliteProblem = 'corrupt' | 'unsupported' | 'moved'

export class SqliteFailure extends Error {
  constructor(
    readonly problem: SqliteProblem,
    message: string,
  ) {
    super(message)
    this.name = 'SqliteFailure'
  }
}

export const corrupt = (message: string) => new SqliteFailure('corrupt', message)
export const unsupported = (message: string) => new SqliteFailure('unsupported', message)
