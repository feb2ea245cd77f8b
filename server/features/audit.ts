import type { CsvValue } from '#core/csv.ts'
import { AppError } from '#core/error.ts'
import type { EvidenceEntry, EvidenceKind } from '#core/evidence/entry.ts'
import { personCommitment } from '#core/evidence/entry.ts'
import type { Json } from '#core/json.ts'
import { seesEverybody } from '#core/permission.ts'
import type { Prisma } from '#generated/prisma/client.ts'
import { crypto } from '../keys/crypto.ts'
import { figuresFilter } from './audit-figures.ts'
import type { FeatureContext } from './context.ts'

export type EvidenceFilter = {
  kind?: string
  /** A member's id, a machine's id or `control-plane`. */
  actor?: string
  /** A member's id, or the id of whatever it is about (`bnd-…`, a version, a machine). */
  subject?: string
  from?: Date
  to?: Date
}

/** One entry as people read it. `erased`: the person's salt is gone and nobody can tell who it was. `name` is null where the reader may not see it. */
export type EvidenceRow = {
  seq: number
  at: Date
  reportedAt: Date | null
  kind: EvidenceKind
  actor: Named
  subject: Named | null
  data: { [key: string]: Json }
  /** What the ids in `data` are called now, where the reader may know. */
  mentioned: { [id: string]: string }
  leaf: string
}
export type Named = { kind: string; ref: string; name: string | null; erased: boolean; method?: string }

const PAGE = 50

/** The ledger, newest first, with filters. Read from the stored bytes: what is shown is what was hashed, but for individuals' figures. */
export async function listEvidence(
  ctx: FeatureContext,
  input: EvidenceFilter & { cursor?: number },
): Promise<{ items: EvidenceRow[]; next?: number; size: number; root: string }> {
  const ledger = await ctx.db.ledger.findUniqueOrThrow({ where: { orgId: ctx.actor.orgId } })
  const rows = await findEntries(ctx, input, PAGE + 1)
  const items = await nameEntries(ctx, rows.slice(0, PAGE))
  return { items, ...(rows.length > PAGE ? { next: rows[PAGE - 1]!.seq } : {}), size: ledger.size, root: ledger.root }
}

type Row = { seq: number; bytes: Uint8Array; leaf: string; receivedAt: Date }

async function findEntries(
  ctx: FeatureContext,
  input: EvidenceFilter & { cursor?: number },
  take: number,
): Promise<Row[]> {
  const { orgId } = ctx.actor
  const [actorRef, subjectRef] = await Promise.all([refOf(ctx, input.actor), refOf(ctx, input.subject)])
  const where: Prisma.EvidenceEntryWhereInput = {
    orgId,
    // A kind, or all of a noun (`approval`).
    ...(input.kind === undefined
      ? {}
      : input.kind.includes('.')
        ? { kind: input.kind }
        : { kind: { startsWith: `${input.kind}.` } }),
    ...(actorRef === undefined ? {} : { actorRef }),
    ...(subjectRef === undefined ? {} : { subjectRef }),
    ...(input.cursor === undefined ? {} : { seq: { lt: input.cursor } }),
    ...(input.from || input.to
      ? { receivedAt: { ...(input.from ? { gte: input.from } : {}), ...(input.to ? { lt: input.to } : {}) } }
      : {}),
  }
  return ctx.db.evidenceEntry.findMany({
    where,
    orderBy: { seq: 'desc' },
    take,
    select: { seq: true, bytes: true, leaf: true, receivedAt: true },
  })
}

const isSelf = (ctx: FeatureContext, memberId: string) => ctx.actor.kind === 'member' && ctx.actor.memberId === memberId

/** Members are looked for by their commitment; anything else stands in the entries as it is. */
async function refOf(ctx: FeatureContext, asked: string | undefined): Promise<string | undefined> {
  if (asked === undefined || !asked.startsWith('mem_')) return asked
  if (!seesEverybody(ctx.actor) && !isSelf(ctx, asked)) return 'nobody'
  const member = await ctx.db.member.findFirst({ where: { id: asked, orgId: ctx.actor.orgId }, select: { id: true } })
  const person = member && (await ctx.db.evidencePerson.findUnique({ where: { memberId: member.id } }))
  return person ? personCommitment(person.memberId, person.salt, crypto.sha256) : 'nobody'
}

/** Puts names to commitments: every member whose salt is still there is committed to again and compared. */
async function nameEntries(ctx: FeatureContext, rows: readonly Row[]): Promise<EvidenceRow[]> {
  const { orgId } = ctx.actor
  const entries = rows.map(row => JSON.parse(Buffer.from(row.bytes).toString('utf8')) as EvidenceEntry)
  const members = await ctx.db.member.findMany({ where: { orgId }, select: { id: true, name: true } })
  const salts = await ctx.db.evidencePerson.findMany({ where: { memberId: { in: members.map(member => member.id) } } })
  const everybody = seesEverybody(ctx.actor)
  const names = new Map(members.map(member => [member.id, everybody || isSelf(ctx, member.id) ? member.name : null]))
  const people = new Map(
    salts.map(({ memberId, salt }) => [personCommitment(memberId, salt, crypto.sha256), names.get(memberId) ?? null]),
  )
  const things = await nameThings(ctx, entries, names)
  const shown = await figuresFilter(ctx, entries)
  const named = (kind: string, ref: string): Named => {
    if (kind === 'member') return { kind, ref, name: people.get(ref) ?? null, erased: !people.has(ref) }
    return { kind, ref, name: kind === 'system' ? 'Control plane' : (things.get(ref) ?? null), erased: false }
  }
  return rows.map((row, i) => {
    const entry = entries[i]!
    const data = shown(entry)
    return {
      seq: row.seq,
      at: row.receivedAt,
      reportedAt: entry.reportedAt ? new Date(entry.reportedAt) : null,
      kind: entry.kind,
      actor: {
        ...named(entry.actor.kind, entry.actor.ref),
        ...(entry.actor.method ? { method: entry.actor.method } : {}),
      },
      subject: entry.subject ? named(entry.subject.kind, entry.subject.ref) : null,
      data,
      mentioned: Object.fromEntries(
        Object.values(data).flatMap(value => {
          const name = typeof value === 'string' ? (things.get(value) ?? people.get(value)) : undefined
          return name == null ? [] : [[value as string, name]]
        }),
      ),
      leaf: row.leaf,
    }
  })
}

/**
 * What the organisation's things are called now, as far as the entries name them by id: machines, providers, keys by what
 * they sign; invitations and credentials by their person, for readers who may know them. None of it stands in the ledger.
 */
async function nameThings(
  ctx: FeatureContext,
  entries: readonly EvidenceEntry[],
  people: ReadonlyMap<string, string | null>,
): Promise<Map<string, string>> {
  const { orgId } = ctx.actor
  const ids = entries.flatMap(({ actor, subject, data }) => [
    actor.ref,
    ...(subject ? [subject.ref] : []),
    ...Object.values(data).filter(value => typeof value === 'string'),
  ])
  const of = { orgId, id: { in: [...new Set(ids)] } }
  const [machines, connections, keys, invitations, credentials] = await Promise.all([
    ctx.db.machine.findMany({ where: of, select: { id: true, label: true } }),
    ctx.db.oidcConnection.findMany({ where: of, select: { id: true, name: true } }),
    ctx.db.organisationKey.findMany({ where: { orgId, kid: of.id }, select: { kid: true, role: true } }),
    seesEverybody(ctx.actor) ? ctx.db.invitation.findMany({ where: of, select: { id: true, name: true } }) : [],
    ctx.db.token.findMany({ where: of, select: { id: true, memberId: true } }),
  ])
  return new Map([
    ...machines.map(({ id, label }) => [id, label] as const),
    ...connections.map(({ id, name }) => [id, name] as const),
    ...keys.map(({ kid, role }) => [kid, role] as const),
    ...invitations.map(({ id, name }) => [id, name] as const),
    ...credentials.flatMap(({ id, memberId }) => {
      const name = people.get(memberId)
      return name ? [[id, name] as const] : []
    }),
  ])
}

/** More than this is asked for in parts, by dates. */
const CSV_MOST = 50_000
const CSV_COLUMNS = [
  'seq',
  'received_at_utc',
  'reported_at_utc',
  'kind',
  'actor_kind',
  'actor',
  'actor_ref',
  'method',
  'subject_kind',
  'subject',
  'subject_ref',
  'data',
  'leaf',
]

/** The same list for a file, oldest first. */
export async function evidenceRows(
  ctx: FeatureContext,
  input: EvidenceFilter,
): Promise<{ columns: readonly string[]; rows: CsvValue[][] }> {
  const found = await findEntries(ctx, input, CSV_MOST + 1)
  if (found.length > CSV_MOST)
    throw new AppError('TOO_LARGE', `There are more than ${CSV_MOST} entries.`, { remedy: 'Choose a shorter time.' })
  const items = await nameEntries(ctx, found.reverse())
  const who = (named: Named | null) => (named === null ? '' : named.erased ? 'erased' : (named.name ?? named.ref))
  const rows = items.map(item => [
    item.seq,
    item.at,
    item.reportedAt,
    item.kind,
    item.actor.kind,
    who(item.actor),
    item.actor.ref,
    item.actor.method,
    item.subject?.kind,
    who(item.subject),
    item.subject?.ref,
    JSON.stringify(item.data),
    item.leaf,
  ])
  return { columns: CSV_COLUMNS, rows }
}
