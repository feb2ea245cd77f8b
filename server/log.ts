/**
 * One line of JSON per event on standard error. Never hand it a token, a mail's text, an argument's value or a whole error
 * of a library: name the fields.
 */
type Fields = Record<string, string | number | boolean | undefined>

function write(level: 'info' | 'warn' | 'error', event: string, fields: Fields = {}): void {
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), level, event, ...fields })}\n`)
}

export const log = {
  info: (event: string, fields?: Fields) => write('info', event, fields),
  warn: (event: string, fields?: Fields) => write('warn', event, fields),
  /** `note` of an error of ours, or the message of another; stacks only when HOLDPOINT_TRACE is set. */
  error: (event: string, error: unknown, fields?: Fields) => {
    const e = error instanceof Error ? error : new Error(String(error))
    const note = (e as { note?: string }).note
    write('error', event, {
      ...fields,
      message: note ?? e.message,
      ...(process.env.HOLDPOINT_TRACE ? { stack: e.stack } : {}),
    })
  },
}
