/** What the command's exit codes mean: one table, printed by `holdpoint help exit-codes`. */
export const EXIT = { ok: 0, failed: 1, usage: 2, exhausted: 3, missing: 4, unreachable: 5 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_WORDS: Record<ExitCode, string> = {
  0: 'done',
  1: 'refused, or it failed: the reason is printed',
  2: 'the command was not written as it must be; nothing was done',
  3: 'a budget’s window is used up (`holdpoint budget`)',
  4: 'something that the command needs is not here: no organisation joined, no daemon running, no such decision',
  5: 'the control plane could not be reached; what is in force here stays in force',
}

/** A command that ends with a reason for people. `code` is for scripts (`--json`). */
export class CommandFailure extends Error {
  readonly exit: ExitCode
  readonly code: string
  readonly remedy: string | undefined
  constructor(exit: keyof typeof EXIT, code: string, message: string, remedy?: string) {
    super(message)
    this.name = 'CommandFailure'
    this.exit = EXIT[exit]
    this.code = code
    this.remedy = remedy
  }
}

/** What a disk that takes nothing is called in words. */
export function cannotWrite(error: unknown, where: string): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'The disk is full.'
  return code === 'EROFS' || code === 'EACCES' || code === 'EPERM' ? `${where} cannot be written (${code}).` : message
}
