import { base64url, fromUtf8, sameBytes } from './bytes.ts'
import { AppError, isAppError } from './error.ts'
import { type Json, parseStrictJson } from './json.ts'
import { parseJws } from './jws.ts'
import { type Crypto, KEY_ROLES, type KeyRole, type PublicKey, readPublicKey, thumbprint } from './key.ts'

/**
 * The root document: which keys an organisation's machines trust, and for what. Pinned on every machine by digest.
 * `custody: "server"` means that the control plane holds the owner key itself; pages then say "attested by the control plane".
 */
export type Root = {
  v: 1
  org: string
  /** Rises by one with every change, from 1. */
  seq: number
  /** SHA-256 of the payload bytes of seq−1, base64url; absent in seq 1. */
  prev?: string
  custody: 'server' | 'owners'
  threshold: number
  owners: PublicKey[]
  roles: Record<KeyRole, PublicKey[]>
  approvers: Json[]
  revoked: { kid: string; since: string }[]
  /** Under server custody: thumbprint of the only owner key that may follow. */
  nextKeyThumbprint?: string
}

/** A root on the wire: one compact JWS per signing owner, all over the same payload bytes. */
export type RootEnvelope = { signed: string[] }

/** A root that was verified, with the digest that pins it and the bytes it came as. */
export type TrustedRoot = { root: Root; digest: string; envelope: RootEnvelope }

/** Why a root was refused; each is shown on the machine and on its page in its own words. */
export const ROOT_REFUSALS = [
  'malformed',
  'other_organisation',
  'wrong_sequence',
  'wrong_predecessor',
  'wrong_next_key',
  'too_few_signatures',
  'bad_signature',
  'key_in_two_roles',
  'equivocation',
  'not_the_pinned_root',
] as const
export type RootRefusal = (typeof ROOT_REFUSALS)[number]

const refuse = (why: RootRefusal, message: string) => new AppError('BAD_SIGNATURE', message, { details: { why } })

const MEMBERS = 'approvers,custody,nextKeyThumbprint,org,owners,prev,revoked,roles,seq,threshold,v'.split(',')

/** Reads a root's payload strictly. Structure only: signatures and the chain are {@link followRoot}'s. */
export function readRoot(payload: Uint8Array): Root {
  const malformed = (what: string) => refuse('malformed', `The root document is malformed: ${what}.`)
  let value: Json
  try {
    value = parseStrictJson(fromUtf8(payload))
  } catch (cause) {
    throw malformed(isAppError(cause) ? cause.message : 'not UTF-8')
  }
  if (typeof value !== 'object' || Array.isArray(value)) throw malformed('no object')
  const v = value
  const unknown = Object.keys(v).find(key => !MEMBERS.includes(key))
  if (unknown) throw malformed(`unknown member ${unknown}`)
  const list = (key: string): Json[] => {
    const member = v[key]
    if (!Array.isArray(member)) throw malformed(`${key} is no list`)
    return member
  }
  const keys = (member: Json | undefined, where: string): PublicKey[] => {
    if (!Array.isArray(member)) throw malformed(`${where} is no list of keys`)
    return member.map((key, i) => readPublicKey(key, `${where}[${i}]`))
  }
  if (v.v !== 1) throw malformed('unknown version')
  if (typeof v.org !== 'string' || !v.org) throw malformed('org')
  if (typeof v.seq !== 'number' || v.seq < 1) throw malformed('seq')
  if (v.custody !== 'server' && v.custody !== 'owners') throw malformed('custody')
  if (typeof v.threshold !== 'number' || v.threshold < 1) throw malformed('threshold')
  if ((v.seq === 1) !== (v.prev === undefined) || (v.prev !== undefined && typeof v.prev !== 'string')) {
    throw malformed('prev')
  }
  if (v.nextKeyThumbprint !== undefined && typeof v.nextKeyThumbprint !== 'string') throw malformed('nextKeyThumbprint')
  if (v.custody === 'server' && v.nextKeyThumbprint === undefined) throw malformed('nextKeyThumbprint is missing')
  const roles = v.roles
  if (
    typeof roles !== 'object' ||
    Array.isArray(roles) ||
    Object.keys(roles).sort().join() !== [...KEY_ROLES].sort().join()
  ) {
    throw malformed('roles')
  }
  const owners = keys(v.owners, 'owners')
  if (owners.length < v.threshold) throw malformed('fewer owners than the threshold')
  const read = Object.fromEntries(KEY_ROLES.map(role => [role, keys(roles[role], `roles.${role}`)]))
  const everyX = [...owners, ...Object.values(read).flat()].map(key => key.x)
  if (new Set(everyX).size !== everyX.length)
    throw refuse('key_in_two_roles', 'One key stands in two roles of the root document.')
  const revoked = list('revoked').map(entry => {
    const e = entry as Record<string, Json>
    if (typeof e !== 'object' || typeof e.kid !== 'string' || typeof e.since !== 'string') throw malformed('revoked')
    return { kid: e.kid, since: e.since }
  })
  return {
    v: 1,
    org: v.org,
    seq: v.seq,
    ...(typeof v.prev === 'string' ? { prev: v.prev } : {}),
    custody: v.custody,
    threshold: v.threshold,
    owners,
    roles: read as Record<KeyRole, PublicKey[]>,
    approvers: list('approvers'),
    revoked,
    ...(typeof v.nextKeyThumbprint === 'string' ? { nextKeyThumbprint: v.nextKeyThumbprint } : {}),
  }
}

/** How many distinct keys of `owners` signed the envelope; every signature in it must be over the same bytes. */
function signers(
  envelope: RootEnvelope,
  crypto: Crypto,
): { payload: Uint8Array; signedBy(owners: PublicKey[]): number } {
  const parsed = envelope.signed.slice(0, 32).map(parseJws)
  const first = parsed[0]
  if (!first || parsed.some(p => p.typ !== 'holdpoint-root+jws' || !sameBytes(p.payload, first.payload))) {
    throw refuse('malformed', 'The root document is malformed: its signatures are not over the same bytes.')
  }
  return {
    payload: first.payload,
    signedBy: owners =>
      owners.filter(key =>
        parsed.some(p => p.kid === thumbprint(key, crypto.sha256) && crypto.verify(key, p.signingInput, p.signature)),
      ).length,
  }
}

/** Opens the first root a machine sees: it must be seq 1, signed by its own owners' threshold. */
export function openFirstRoot(envelope: RootEnvelope, org: string, crypto: Crypto): TrustedRoot {
  const { payload, signedBy } = signers(envelope, crypto)
  const root = readRoot(payload)
  if (root.org !== org) throw refuse('other_organisation', 'The root document is of another organisation.')
  if (root.seq !== 1) throw refuse('wrong_sequence', `The chain of root documents starts at ${root.seq}, not at 1.`)
  if (signedBy(root.owners) < root.threshold)
    throw refuse('too_few_signatures', 'The first root document is not signed by its own owners.')
  return { root, digest: base64url(crypto.sha256(payload)), envelope }
}

/**
 * Follows the chain by one root: `next` must be `seq + 1` of the same organisation, name this one as predecessor, be signed
 * by the thresholds of both this one's and its own owners, and under server custody use the owner key that was committed.
 * A second root with this one's seq and other bytes is `equivocation`: report it, follow neither.
 */
export function followRoot(current: TrustedRoot, next: RootEnvelope, crypto: Crypto): TrustedRoot {
  const { payload, signedBy } = signers(next, crypto)
  const root = readRoot(payload)
  const digest = base64url(crypto.sha256(payload))
  const now = current.root
  if (root.org !== now.org) throw refuse('other_organisation', 'The root document is of another organisation.')
  if (root.seq === now.seq && digest !== current.digest) {
    throw refuse('equivocation', `Two different root documents with number ${root.seq}.`)
  }
  if (root.seq !== now.seq + 1) throw refuse('wrong_sequence', `Root document ${root.seq} cannot follow ${now.seq}.`)
  if (root.prev !== current.digest)
    throw refuse('wrong_predecessor', `Root document ${root.seq} follows another ${now.seq} than the one pinned here.`)
  if (now.custody === 'server') {
    const newOwners = root.owners.filter(key => !now.owners.some(old => old.x === key.x))
    if (newOwners.some(key => thumbprint(key, crypto.sha256) !== now.nextKeyThumbprint)) {
      throw refuse('wrong_next_key', 'The new owner key is not the one that was committed to before.')
    }
  }
  // What was revoked stays so: or the root after next could name it again.
  if (now.revoked.some(gone => !root.revoked.some(r => r.kid === gone.kid)))
    throw refuse('wrong_next_key', 'The root document forgets that a key was revoked.')
  const listed = [...root.owners, ...KEY_ROLES.flatMap(role => root.roles[role])]
  if (listed.some(key => now.revoked.some(r => r.kid === thumbprint(key, crypto.sha256))))
    throw refuse('wrong_next_key', 'The root document brings back a revoked key.')
  if (signedBy(now.owners) < now.threshold)
    throw refuse('too_few_signatures', `Root document ${root.seq} is not signed by the owners of ${now.seq}.`)
  if (signedBy(root.owners) < root.threshold)
    throw refuse('too_few_signatures', `Root document ${root.seq} is not signed by its own owners.`)
  return { root, digest, envelope: next }
}

/**
 * Walks a whole chain from seq 1. `pin` is a digest from another channel (the join line): one of the chain's roots must have it.
 */
export function walkRoots(
  envelopes: readonly RootEnvelope[],
  org: string,
  crypto: Crypto,
  pin?: string,
): TrustedRoot[] {
  const first = envelopes[0]
  if (!first) throw refuse('malformed', 'There is no root document.')
  const chain = [openFirstRoot(first, org, crypto)]
  for (const next of envelopes.slice(1)) chain.push(followRoot(chain.at(-1)!, next, crypto))
  if (pin !== undefined && !chain.some(trusted => trusted.digest === pin)) {
    throw refuse(
      'not_the_pinned_root',
      'No root document of the control plane has the digest that the join line names.',
    )
  }
  return chain
}

/** The keys of a role that are in force under a root: those listed and not revoked. */
export function keysOf(root: Root, role: KeyRole, crypto: Pick<Crypto, 'sha256'>): PublicKey[] {
  return root.roles[role].filter(key => !root.revoked.some(r => r.kid === thumbprint(key, crypto.sha256)))
}
