/**
 * One line of JSON per event on standard error. Never hand it a token, a mail's text, an argument's value or a whole error
 * of a library: name the fields.
 */
type Fields = Record<string, string | number | boolean | undefined>

/**
 * What a library's words may quote all the same: an address in a mail server's refusal, a token in an address. Taken out here,
 * where every line passes.
 */
const scrub = (text: string): string =>
  text
    .replace(/[^\s<>"'(),;:=]+@[^\s<>"'(),;:=]+/g, '<address>')
    .replace(/\bhp[a-z]_[a-z2-7]{52}/g, '<token>')
    .replace(/([?&#](?:a|t|e|code|state)=)[^\s&"'#]+/g, '$1<secret>')

function write(level: 'info' | 'warn' | 'error', event: string, fields: Fields = {}): void {
  const line = JSON.stringify({ at: new Date().toISOString(), level, event, ...fields }, (_, value: unknown) =>
    typeof value === 'string' ? scrub(value) : value,
  )
  process.stderr.write(`${line}\n`)
}

export const log = {
  info: (event: string, fields?: Fields) => write('info', event, fields),
  warn: (event: string, fields?: Fields) => write('warn', event, fields),
  /** `note` of an error of ours, or the message of another; stacks only when HOLDPOINT_DEBUG is set. */
  error: (event: string, error: unknown, fields?: Fields) => {
    const e = error instanceof Error ? error : new Error(String(error))
    const note = (e as { note?: string }).note
    write('error', event, {
      ...fields,
      message: note ?? e.message,
      ...(process.env.HOLDPOINT_DEBUG ? { stack: e.stack } : {}),
    })
  },
}
