import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { AppError } from '#core/error.ts'

/**
 * Sealing of secrets at rest: AES-256-GCM under a key outside the database; `aad` names the row and its purpose,
 * so that a sealed secret moved to another row does not open. Layout: 12 bytes nonce, 16 bytes tag, ciphertext.
 */
export function seal(plain: Uint8Array, key: Buffer, aad: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(aad))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** Opens what {@link seal} made; throws UNAVAILABLE when the key or the row is another. */
export function unseal(sealed: Uint8Array, key: Buffer, aad: string): Buffer {
  const bytes = Buffer.from(sealed)
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(aad))
    decipher.setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
  } catch (cause) {
    throw new AppError('UNAVAILABLE', 'A key of this organisation cannot be opened.', {
      remedy:
        'The secret in the data folder (or HOLDPOINT_SECRET) is another than the one the database was filled with; bring the old one back.',
      note: `unseal failed for ${aad}`,
      cause,
    })
  }
}
