/**
 * Secrets that stand for somebody. The kind is in the text, so that a token at the wrong door is refused before any look-up;
 * only the SHA-256 is stored; each kind has its own doors (the table is {@link TOKEN_DOORS}).
 */
export const TOKEN_KINDS = {
  /** A joined machine. Reads rules and answers, files requests, reports; approves nothing. */
  machine: 'hpm',
  /** One-time join token in the fragment of a join line; bound to one member, fifteen minutes. */
  join: 'hpj',
  /** An owner's or admin's own credential (`team admin login`), twelve hours. */
  admin: 'hpa',
  /** A sign-in link made by a machine (`team web`): opens a look-only session. */
  deviceLink: 'hpl',
  /** A browser session. */
  session: 'hps',
  /** An invitation in a mailed link; accepted only after signing in as the invited address. */
  invitation: 'hpi',
  /** A one-time sign-in that the server prints: at the first start, and for a new organisation's owner. */
  console: 'hpc',
  /** An organisation's token for its own programs: read only, by scope. Ends with a checksum, so that a scanner can tell it from noise. */
  api: 'hpt',
} as const
export type TokenKind = keyof typeof TOKEN_KINDS

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const SHAPE = /^(hp[a-z])_[a-z2-7]{52}([a-z2-7]{7})?$/

/**
 * A token of a kind from 32 random bytes: `hpm_` and 52 letters of lower-case base32 (RFC 4648 §6, unpadded). One for programs has
 * seven more: the {@link checksum} of all before.
 */
export function makeToken(kind: TokenKind, random32: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of random32.subarray(0, 32)) {
    bits = (bits << 8) | byte
    held += 8
    while (held >= 5) {
      held -= 5
      text += BASE32[(bits >> held) & 31]
    }
    bits &= (1 << held) - 1
  }
  if (held > 0) text += BASE32[(bits << (5 - held)) & 31]
  const token = `${TOKEN_KINDS[kind]}_${text}`
  return kind === 'api' ? token + checksum(token) : token
}

/** CRC-32 (as in zlib) of an ASCII text, in seven letters of base32, the lowest bits first. */
function checksum(text: string): string {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let letters = ''
  for (let i = 0; i < 7; i++) {
    letters += BASE32[rest & 31]
    rest >>>= 5
  }
  return letters
}

/** The kind of a text that has the shape of a token of ours; undefined for anything else. */
export function tokenKind(text: string): TokenKind | undefined {
  const match = SHAPE.exec(text)
  if (!match) return undefined
  // a slip of one letter, or of a copy that was cut, is seen before anything is looked up
  const isMarked = match[2] !== undefined
  if (isMarked !== (match[1] === TOKEN_KINDS.api) || (isMarked && checksum(text.slice(0, -7)) !== match[2]))
    return undefined
  return (Object.keys(TOKEN_KINDS) as TokenKind[]).find(kind => TOKEN_KINDS[kind] === match[1])
}

/** Which doors of `/api/v1` a kind may use at all; anything else answers as if the door did not exist for it. */
export const TOKEN_DOORS: Partial<Record<TokenKind, readonly string[]>> = {
  machine: [
    'roots',
    'rules',
    'wait',
    'approvals',
    'answers',
    'reports',
    'usage',
    'budgets',
    'reservations',
    'machine',
    'sign-in-links',
  ],
  admin: ['admin'],
  api: ['spend', 'focus'],
}

/** What a token for programs may be good for. A fixed list: nothing that changes anything is on it. */
export const API_SCOPES = ['spend.read'] as const
export type ApiScope = (typeof API_SCOPES)[number]
/** The scope that each of their doors takes. */
export const DOOR_SCOPES: Readonly<Record<string, ApiScope>> = { spend: 'spend.read', focus: 'spend.read' }
