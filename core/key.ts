import { base64url, fromBase64url, type Sha256, utf8 } from './bytes.ts'
import { AppError } from './error.ts'
import { canonicalJson } from './json.ts'

/** An Ed25519 public key as a JWK (RFC 8037 §2), nothing else beside it. `x` is 32 bytes in base64url. */
export type PublicKey = { kty: 'OKP'; crv: 'Ed25519'; x: string }

/** Whether a signature over some bytes is good under a key. Comes in as an argument; synchronous, returns false on bad input. */
export type Verify = (key: PublicKey, data: Uint8Array, signature: Uint8Array) => boolean

/** What core needs of cryptography, handed in by the edge (agent/crypto.ts, server/keys/crypto.ts). */
export type Crypto = { sha256: Sha256; verify: Verify }

/** What a key is for. No key may stand in two roles. */
export const KEY_ROLES = ['ruleset', 'answer', 'fresh', 'ledger', 'registry'] as const
export type KeyRole = (typeof KEY_ROLES)[number]

/** Reads a public key strictly: exactly the members of {@link PublicKey}, 32 bytes of `x`. */
export function readPublicKey(value: unknown, where: string): PublicKey {
  const v = value as Record<string, unknown>
  const fine =
    typeof value === 'object' &&
    value !== null &&
    Object.keys(v).sort().join() === 'crv,kty,x' &&
    v.kty === 'OKP' &&
    v.crv === 'Ed25519' &&
    typeof v.x === 'string' &&
    fromBase64url(v.x)?.length === 32
  if (!fine) throw new AppError('BAD_INPUT', `${where} is not an Ed25519 public key.`)
  return { kty: 'OKP', crv: 'Ed25519', x: v.x as string }
}

/** The key's id: its JWK thumbprint (RFC 7638 §3, RFC 8037 appendix A.3), 43 letters of base64url. */
export function thumbprint(key: PublicKey, sha256: Sha256): string {
  return base64url(sha256(utf8(canonicalJson({ crv: key.crv, kty: key.kty, x: key.x }))))
}
