import { base64url, fromBase64url } from '#core/bytes.ts'
import { AppError } from '#core/error.ts'
import { type EvidenceEntry, type EvidenceKind, entryBytes, entryLeaf, personCommitment } from '#core/evidence/entry.ts'
import { append, EMPTY_FRONTIER, type Frontier, leafHash, treeHash } from '#core/evidence/merkle.ts'
import type { Json } from '#core/json.ts'
import type { Tx } from '../db.ts'
import { crypto } from '../keys/crypto.ts'
import type { FeatureContext } from './context.ts'

/** What a feature says happened; who and when come from its context. */
export type Happening = {
  kind: EvidenceKind
  subject?:
    | { kind: 'member'; id: string }
    | {
        kind:
          | 'machine'
          | 'approval'
          | 'ruleset'
          | 'root'
          | 'key'
          | 'invitation'
          | 'connection'
          | 'credential'
          | 'organisation'
          | 'grant'
          | 'token'
          | 'invoice'
        id: string
      }
  data?: { [key: string]: Json }
  /** What a machine claimed as the time, kept apart from when it was received. */
  reportedAt?: Date
}

/**
 * Writes one entry into the organisation's ledger, inside the transaction of the change it tells of. Locking the ledger's
 * row makes a single writer per organisation; call it last, so that the lock is short.
 */
export async function recordEvidence(
  tx: Tx,
  ctx: Pick<FeatureContext, 'actor' | 'now' | 'random'>,
  what: Happening,
): Promise<{ seq: number }> {
  const { actor } = ctx
  const ref = await actorRef(tx, ctx)
  const subject = what.subject && {
    kind: what.subject.kind,
    ref: what.subject.kind === 'member' ? await personRef(tx, what.subject.id, ctx) : what.subject.id,
  }
  const [ledger] = await tx.$queryRaw<{ size: number; head: string; frontier: Uint8Array }[]>`
    select size, head, frontier from "Ledger" where "orgId" = ${actor.orgId} for update`
  if (!ledger) throw new AppError('INTERNAL', 'The ledger is missing.', { note: `no ledger of ${actor.orgId}` })
  const entry: EvidenceEntry = {
    v: 1,
    org: actor.orgId,
    seq: ledger.size + 1,
    ...(ledger.size > 0 ? { prev: ledger.head } : {}),
    receivedAt: ctx.now.toISOString(),
    ...(what.reportedAt ? { reportedAt: what.reportedAt.toISOString() } : {}),
    kind: what.kind,
    actor: { kind: actor.kind, ref, ...(actor.kind === 'member' ? { method: actor.method } : {}) },
    ...(subject ? { subject } : {}),
    data: what.data ?? {},
  }
  const bytes = entryBytes(entry)
  const leaf = entryLeaf(bytes, crypto.sha256)
  const frontier = append(unpackFrontier(ledger.size, ledger.frontier), leafHash(bytes, crypto.sha256), crypto.sha256)
  await tx.evidenceEntry.create({
    data: {
      orgId: actor.orgId,
      seq: entry.seq,
      bytes: new Uint8Array(bytes),
      leaf,
      kind: entry.kind,
      receivedAt: ctx.now,
      actorRef: ref,
      subjectRef: subject?.ref ?? null,
    },
  })
  await tx.ledger.update({
    where: { orgId: actor.orgId },
    data: {
      size: entry.seq,
      head: leaf,
      frontier: packFrontier(frontier),
      root: base64url(treeHash(frontier, crypto.sha256)),
    },
  })
  return { seq: entry.seq }
}

/** An empty ledger, made with its organisation. */
export async function openLedger(tx: Tx, orgId: string): Promise<void> {
  const root = base64url(treeHash(EMPTY_FRONTIER, crypto.sha256))
  await tx.ledger.create({ data: { orgId, size: 0, head: '', frontier: new Uint8Array(0), root } })
}

async function actorRef(tx: Tx, ctx: Pick<FeatureContext, 'actor' | 'random'>): Promise<string> {
  const { actor } = ctx
  if (actor.kind === 'member') return personRef(tx, actor.memberId, ctx)
  return actor.kind === 'machine' ? actor.machineId : 'control-plane'
}

/** A member's commitment; the first use makes the salt. */
export async function personRef(tx: Tx, memberId: string, ctx: Pick<FeatureContext, 'random'>): Promise<string> {
  const found = await tx.evidencePerson.findUnique({ where: { memberId } })
  if (found) return personCommitment(memberId, found.salt, crypto.sha256)
  const salt = ctx.random(32)
  await tx.$executeRaw`insert into "EvidencePerson" ("memberId", salt) values (${memberId}, ${salt}) on conflict do nothing`
  const kept = await tx.evidencePerson.findUniqueOrThrow({ where: { memberId } })
  return personCommitment(memberId, kept.salt, crypto.sha256)
}

const packFrontier = (frontier: Frontier) => new Uint8Array(Buffer.concat(frontier.nodes))

function unpackFrontier(size: number, bytes: Uint8Array): Frontier {
  const nodes: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += 32) nodes.push(bytes.slice(at, at + 32))
  return { size, nodes }
}

/** The ledger's size and tree hash right now, as `fresh` carries it. */
export async function checkpoint(tx: Tx, orgId: string): Promise<{ size: number; root: string }> {
  const ledger = await tx.ledger.findUniqueOrThrow({ where: { orgId }, select: { size: true, root: true } })
  return { size: ledger.size, root: fromBase64url(ledger.root) ? ledger.root : '' }
}
