import { base64url, fromBase64url, fromUtf8, type Sha256, utf8 } from './bytes.ts'
import { AppError } from './error.ts'
import { canonicalJson, type Json, parseStrictJson } from './json.ts'
import { type Crypto, type PublicKey, thumbprint } from './key.ts'

/** The kinds of document that are signed; each is a `typ` of its own, so that one can never be taken for another. */
const JWS_TYPES = [
  'holdpoint-root+jws',
  'holdpoint-ruleset+jws',
  'holdpoint-fresh+jws',
  'holdpoint-answer+jws',
  'holdpoint-request+jws',
  'holdpoint-report+jws',
  'holdpoint-join+jws',
  'holdpoint-usage+jws',
  'holdpoint-budgets+jws',
] as const
export type JwsType = (typeof JWS_TYPES)[number]

/** A compact JWS taken apart; nothing is verified yet. `signingInput` are the bytes the signature covers (RFC 7515 §5.1). */
export type ParsedJws = {
  kid: string
  typ: JwsType
  payload: Uint8Array
  signingInput: Uint8Array
  signature: Uint8Array
}

const refuse = (why: string) => new AppError('BAD_SIGNATURE', `Not a signed document of ours: ${why}.`)

/**
 * Takes a compact JWS apart (RFC 7515 §3.1, RFC 8037). The protected header is exactly {alg:"Ed25519", kid, typ}: any
 * other member, algorithm name, order of trust or spelling is refused, so that nothing in a message chooses how it is judged.
 */
export function parseJws(text: string): ParsedJws {
  const parts = text.split('.')
  if (parts.length !== 3) throw refuse('it has not three parts')
  const [header, payload, signature] = parts.map(fromBase64url)
  if (!header || !payload || !signature) throw refuse('a part is not base64url')
  if (signature.length !== 64) throw refuse('the signature has not 64 bytes')
  let head: Json
  try {
    head = parseStrictJson(fromUtf8(header), { maxDepth: 1 })
  } catch {
    throw refuse('the header is not strict JSON')
  }
  const h = head as Record<string, Json>
  if (typeof head !== 'object' || Array.isArray(head) || Object.keys(h).sort().join() !== 'alg,kid,typ') {
    throw refuse('the header has other members than alg, kid and typ')
  }
  if (h.alg !== 'Ed25519') throw refuse('the algorithm is not Ed25519')
  if (typeof h.kid !== 'string' || fromBase64url(h.kid)?.length !== 32) throw refuse('the key id is not a thumbprint')
  if (!JWS_TYPES.includes(h.typ as JwsType)) throw refuse('the type is unknown')
  return {
    kid: h.kid,
    typ: h.typ as JwsType,
    payload,
    signingInput: utf8(`${parts[0]}.${parts[1]}`),
    signature,
  }
}

/**
 * Verifies a JWS under one of the keys of a role, and only then parses the very bytes that were signed.
 * The caller names the type and the keys; the message's `kid` merely picks among them.
 */
export function openJws(
  text: string,
  typ: JwsType,
  keys: readonly PublicKey[],
  { sha256, verify }: Crypto,
): { kid: string; payload: Uint8Array; value: Json } {
  const jws = parseJws(text)
  if (jws.typ !== typ) throw refuse(`it is a ${jws.typ}, not a ${typ}`)
  const key = keys.find(k => thumbprint(k, sha256) === jws.kid)
  if (!key)
    throw new AppError('BAD_SIGNATURE', 'Signed by a key that is not in force for this.', {
      details: { kid: jws.kid, why: 'unknown_key' },
    })
  if (!verify(key, jws.signingInput, jws.signature)) {
    throw new AppError('BAD_SIGNATURE', 'The signature does not fit the bytes.', {
      details: { kid: jws.kid, why: 'bad_signature' },
    })
  }
  let document: string
  try {
    document = fromUtf8(jws.payload)
  } catch {
    throw new AppError('BAD_INPUT', 'The signed document is not UTF-8.')
  }
  return { kid: jws.kid, payload: jws.payload, value: parseStrictJson(document) }
}

/** The first two parts of a JWS over a canonical payload: what a signer signs. Append `.` and the signature in base64url. */
export function jwsSigningInput(typ: JwsType, kid: string, payload: unknown): string {
  const header = canonicalJson({ alg: 'Ed25519', kid, typ })
  return `${base64url(utf8(header))}.${base64url(utf8(canonicalJson(payload)))}`
}

/** The digest that names a signed document: SHA-256 of its payload bytes, base64url. */
export const payloadDigest = (payload: Uint8Array, sha256: Sha256): string => base64url(sha256(payload))
