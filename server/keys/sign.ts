import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { CompactSign } from 'jose'
import { utf8 } from '#core/bytes.ts'
import { AppError } from '#core/error.ts'
import { canonicalJson } from '#core/json.ts'
import type { JwsType } from '#core/jws.ts'
import { type PublicKey, readPublicKey, thumbprint } from '#core/key.ts'
import type { KeyRole } from '#generated/prisma/enums.ts'
import type { Tx } from '../db.ts'
import { subkey } from '../env.ts'
import { crypto } from './crypto.ts'
import { seal, unseal } from './custody.ts'

/**
 * The one seam through which the control plane signs: a document, its type, the role whose key signs it. A key management
 * service or PKCS#11 token would take this function's place; nothing else ever sees a private key.
 */
export type Sign = (tx: Tx, orgId: string, role: KeyRole, typ: JwsType, payload: unknown) => Promise<string>

const aad = (orgId: string, kid: string, role: KeyRole) => `${orgId}|${kid}|${role}`

/** Makes a key pair of a role and stores its private half sealed. `next`: committed to, not in force yet. */
export async function makeKey(
  tx: Tx,
  orgId: string,
  role: KeyRole,
  now: Date,
  next = false,
): Promise<{ kid: string; key: PublicKey }> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = readPublicKey(publicKey.export({ format: 'jwk' }), 'a key just made')
  const kid = thumbprint(key, crypto.sha256)
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
  await tx.organisationKey.create({
    data: {
      kid,
      orgId,
      role,
      publicKeyX: key.x,
      next,
      createdAt: now,
      sealed: new Uint8Array(seal(pkcs8, subkey('custody'), aad(orgId, kid, role))),
    },
  })
  return { kid, key }
}

/** Signs under a named key, whatever its state: root rotations need the old and the committed next one. */
export async function signWith(tx: Tx, kid: string, typ: JwsType, payload: unknown): Promise<string> {
  const row = await tx.organisationKey.findUnique({ where: { kid } })
  if (!row) throw new AppError('UNAVAILABLE', 'A signing key is missing.', { note: `no key ${kid}` })
  const der = unseal(row.sealed, subkey('custody'), aad(row.orgId, kid, row.role))
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return new CompactSign(utf8(canonicalJson(payload))).setProtectedHeader({ alg: 'Ed25519', kid, typ }).sign(key)
}

/** Signs under the key of a role that is in force. */
export const sign: Sign = async (tx, orgId, role, typ, payload) => {
  const row = await tx.organisationKey.findFirst({
    where: { orgId, role, next: false, retiredAt: null },
    orderBy: { createdAt: 'desc' },
    select: { kid: true },
  })
  if (!row) throw new AppError('UNAVAILABLE', `This organisation has no ${role} key.`)
  return signWith(tx, row.kid, typ, payload)
}
