import { createHash, createPublicKey, verify as edVerify } from 'node:crypto'
import type { Crypto, PublicKey } from '#core/key.ts'

/** node:crypto as core wants it. */
export const crypto: Crypto = {
  sha256: bytes => createHash('sha256').update(bytes).digest(),
  verify(key: PublicKey, data, signature) {
    try {
      return edVerify(null, data, createPublicKey({ key, format: 'jwk' }), signature)
    } catch {
      return false
    }
  },
}
