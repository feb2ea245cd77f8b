import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign as signBytes,
  timingSafeEqual,
  verify as verifyBytes,
} from 'node:crypto'
import { base64url, utf8 } from '#core/bytes.ts'
import { type JwsType, jwsSigningInput } from '#core/jws.ts'
import { type Crypto, type PublicKey, thumbprint } from '#core/key.ts'

const publicKeys = new Map<string, KeyObject>()

function publicKey(key: PublicKey): KeyObject {
  let made = publicKeys.get(key.x)
  if (!made) {
    made = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' })
    if (publicKeys.size > 256) publicKeys.clear()
    publicKeys.set(key.x, made)
  }
  return made
}

/** What core needs of cryptography, by node:crypto. `verify` is false for anything that is no good signature. */
export const crypto: Crypto = {
  sha256: bytes => createHash('sha256').update(bytes).digest(),
  verify: (key, data, signature) => {
    try {
      return verifyBytes(null, data, publicKey(key), signature)
    } catch {
      return false
    }
  },
}

/** The machine's own key as it lies on disk: an Ed25519 private JWK. */
export type PrivateKey = PublicKey & { d: string }

/** A fresh Ed25519 key. */
export function makeKey(): PrivateKey {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return { kty: 'OKP', crv: 'Ed25519', x: jwk.x!, d: jwk.d! }
}

export const publicPart = ({ kty, crv, x }: PublicKey): PublicKey => ({ kty, crv, x })

/** A compact JWS over a canonical payload, signed with a machine's key. */
export function signJws(typ: JwsType, key: PrivateKey, payload: unknown): string {
  const input = jwsSigningInput(typ, thumbprint(key, crypto.sha256), payload)
  const signature = signBytes(null, utf8(input), createPrivateKey({ key: { ...key }, format: 'jwk' }))
  return `${input}.${base64url(signature)}`
}

/** HMAC-SHA-256 of a session's id under the machine's secret: the same session, without its name. */
export const sessionRef = (secret: Uint8Array, sessionId: string): string =>
  base64url(createHmac('sha256', secret).update(`session\n${sessionId}`).digest())

/** What `GET /prove?n=` answers: HMAC-SHA-256 of the text `n` under the machine's secret, in hexadecimal. */
export const proof = (secret: Uint8Array, n: string): string => createHmac('sha256', secret).update(n).digest('hex')

/** What opens the daemon's door for telemetry, and nothing else: it stands in the environment of clients. */
export const otlpToken = (secret: Uint8Array): string => base64url(createHmac('sha256', secret).update('otlp').digest())

/** Whether two secrets are the same, in time that does not depend on where they differ. */
export function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}

export const random = (n: number): Uint8Array => randomBytes(n)
