import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { base64url } from '#core/bytes.ts'
import { type JwsType, jwsSigningInput } from '#core/jws.ts'
import { type Crypto, KEY_ROLES, type KeyRole, type PublicKey, readPublicKey, thumbprint } from '#core/key.ts'
import type { Root, RootEnvelope } from '#core/root.ts'

/** Node's cryptography, as the edges hand it to core. */
export const crypto: Crypto = {
  sha256: bytes => new Uint8Array(createHash('sha256').update(bytes).digest()),
  verify: (key, data, signature) => verify(null, data, createPublicKey({ key, format: 'jwk' }), signature),
}

export type TestKey = { key: PublicKey; kid: string; private: KeyObject }

export function testKey(): TestKey {
  const pair = generateKeyPairSync('ed25519')
  const key = readPublicKey(pair.publicKey.export({ format: 'jwk' }), 'a test key')
  return { key, kid: thumbprint(key, crypto.sha256), private: pair.privateKey }
}

/** A compact JWS of ours over a payload. */
export function signAs(key: TestKey, typ: JwsType, payload: unknown): string {
  const input = jwsSigningInput(typ, key.kid, payload)
  return `${input}.${base64url(sign(null, Buffer.from(input), key.private))}`
}

export type TestKeys = { owner: TestKey; next: TestKey } & Record<KeyRole, TestKey>
export const testKeys = (): TestKeys => ({
  owner: testKey(),
  next: testKey(),
  ...(Object.fromEntries(KEY_ROLES.map(role => [role, testKey()])) as Record<KeyRole, TestKey>),
})

/** The payload of root 1 over some keys. */
export const rootPayload = (org: string, keys: TestKeys, over: Partial<Root> = {}): Root => ({
  v: 1,
  org,
  seq: 1,
  custody: 'server',
  threshold: 1,
  owners: [keys.owner.key],
  roles: Object.fromEntries(KEY_ROLES.map(role => [role, [keys[role].key]])) as Root['roles'],
  approvers: [],
  revoked: [],
  nextKeyThumbprint: keys.next.kid,
  ...over,
})

export const signRoot = (payload: unknown, ...signers: TestKey[]): RootEnvelope => ({
  signed: signers.map(key => signAs(key, 'holdpoint-root+jws', payload)),
})
