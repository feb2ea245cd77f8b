/** Headers as they go on: the names, values, order and spelling that came, without those that belong to one connection. */

/** RFC 9110 §7.6.1, and what is said to a proxy. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * A flat list of names and values without the connection's own, those that `Connection` names, and `except` (lower case).
 * `prefix`: names that begin so are left out as well.
 */
export function passedOn(raw: readonly string[], except: ReadonlySet<string>, prefix?: string): string[] {
  const names: string[] = []
  let named: Set<string> | undefined
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    names.push(name)
    if (name !== 'connection') continue
    named ??= new Set()
    for (const one of raw[i + 1]!.split(',')) named.add(one.trim().toLowerCase())
  }
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = names[i / 2]!
    if (HOP_BY_HOP.has(name) || named?.has(name) || except.has(name)) continue
    if (prefix !== undefined && name.startsWith(prefix)) continue
    kept.push(raw[i]!, raw[i + 1]!)
  }
  return kept
}

/** What is asked of the upstream besides: `except` (lower case) is left out of `Accept-Encoding`, whoever else may have it. */
export function withoutEncodings(raw: readonly string[], except: readonly string[]): string[] {
  if (except.length === 0) return [...raw]
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const isAccept = raw[i]!.toLowerCase() === 'accept-encoding'
    const value = isAccept
      ? raw[i + 1]!.split(',')
          .map(part => part.trim())
          .filter(part => !except.includes(part.split(';')[0]!.trim().toLowerCase()))
          .join(', ')
      : raw[i + 1]!
    // an empty one asks for nothing but the plain answer
    kept.push(raw[i]!, value === '' && isAccept ? 'identity' : value)
  }
  return kept
}
