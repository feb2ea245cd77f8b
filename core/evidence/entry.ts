import { base64url, concat, type Sha256, utf8 } from '#core/bytes.ts'
import { canonicalJson, type Json } from '#core/json.ts'
import { leafHash } from './merkle.ts'

/**
 * One entry of an organisation's ledger. The form is fixed: the bytes are stored verbatim and hashed,
 * so old entries can never be written anew. People appear only as salted commitments (the salt is kept apart and can be
 * erased); there is no e-mail address, no name, no free text of a person in it.
 */
export type EvidenceEntry = {
  v: 1
  org: string
  seq: number
  /** Leaf of the entry before (RFC 6962 hash of its bytes), base64url; absent in entry 1. */
  prev?: string
  /** When the control plane wrote it; `reportedAt` is what a machine claimed, kept apart. */
  receivedAt: string
  reportedAt?: string
  kind: EvidenceKind
  actor: { kind: 'member' | 'machine' | 'system'; ref: string; method?: string }
  subject?: { kind: string; ref: string }
  data: { [key: string]: Json }
}

/** Everything that is ever recorded. Names are `noun.happened`; none is ever renamed. */
export const EVIDENCE_KINDS = [
  'organisation.created',
  'organisation.setting_changed',
  'organisation.restored',
  'organisation.restore_confirmed',
  'member.invited',
  'member.invitation_revoked',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'member.signed_in',
  'member.sign_in_refused',
  'member.laptop_lost',
  'member.signed_out_everywhere',
  'connection.created',
  'connection.changed',
  'connection.removed',
  'credential.issued',
  'credential.revoked',
  'root.published',
  'key.rotated',
  'ruleset.published',
  'ruleset.equivocation',
  'machine.join_line_made',
  'machine.joined',
  'machine.left',
  'machine.revoked',
  'machine.cloned',
  'machine.reported_refusal',
  'machine.level_changed',
  'machine.unguarded_calls',
  'journal.segment',
  'journal.rolled_back',
  'journal.reset',
  'approval.requested',
  'approval.voted',
  'approval.vote_refused',
  'approval.approved',
  'approval.denied',
  'approval.expired',
  'approval.withdrawn',
  'approval.used',
  'approval.lapsed',
  'approval.revoked',
  'usage.lowered',
  'usage.quarantined',
  'usage.repriced',
  'budget.step_reached',
  'budget.reservation_overrun',
  'statement.closed',
  'statement.sent',
  'statement.rule_changed',
  'tenant.added',
  'tenant.renamed',
  'tenant.removed',
  'tenant.contact_changed',
  'figures.granted',
  'figures.grant_ended',
  'token.made',
  'token.ended',
  'invoice.imported',
  'invoice.spread',
  'invoice.removed',
] as const
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number]

/** The bytes of an entry: canonical JSON. These are stored and hashed; nothing is ever derived from anything else. */
export const entryBytes = (entry: EvidenceEntry): Uint8Array => utf8(canonicalJson(entry))

/** The leaf of an entry's bytes, base64url. */
export const entryLeaf = (bytes: Uint8Array, sha256: Sha256): string => base64url(leafHash(bytes, sha256))

/**
 * A person's stand-in: SHA-256 over a domain line, the person's salt (32 bytes) and the member id. Without the salt, which
 * can be erased, it says nothing about anybody.
 */
export function personCommitment(memberId: string, salt: Uint8Array, sha256: Sha256): string {
  return base64url(sha256(concat(utf8('holdpoint/person/v1\n'), salt, utf8(memberId))))
}
