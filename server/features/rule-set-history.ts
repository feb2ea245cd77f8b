import type { RuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import { storedPayload } from '../keys/stored.ts'
import { type FeatureContext, notFound } from './context.ts'
import { etagOf, newestRuleSet } from './rule-set.ts'

const PAGE = 30

/** What is in force, as the editor opens it: version 0 and an empty text while nothing was published. */
export async function currentRuleSet(ctx: FeatureContext) {
  const { orgId } = ctx.actor
  const newest = await newestRuleSet(ctx.db, orgId)
  const organisation = await ctx.db.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { restoredAt: true },
  })
  const joined = { orgId, leftAt: null, revokedAt: null }
  const machines = await ctx.db.machine.count({ where: joined })
  const inForceOn = newest
    ? await ctx.db.machine.count({ where: { ...joined, rulesVersion: newest.version, rulesDigest: newest.digest } })
    : 0
  const names = await namesOf(ctx, [newest?.publishedById])
  return {
    version: newest?.version ?? 0,
    text: newest?.text ?? '',
    digest: newest?.digest ?? null,
    etag: etagOf(newest),
    note: newest?.note ?? '',
    publishedAt: newest?.publishedAt ?? null,
    publishedBy: names.get(newest?.publishedById ?? '') ?? null,
    inForceOn,
    machines,
    restored: organisation.restoredAt !== null,
  }
}

export type VersionItem = {
  version: number
  note: string
  publishedAt: Date
  publishedBy: string | null
  how: string
  digest: string
  rolledBackTo: number | null
  rules: number
  budgets: number
  rates: number
  attribution: number
}

/** Versions, newest first. `cursor` is the version to go on below. */
export async function ruleSetHistory(
  ctx: FeatureContext,
  input: { cursor?: number },
): Promise<{ items: VersionItem[]; next?: number }> {
  const rows = await ctx.db.ruleSetVersion.findMany({
    where: { orgId: ctx.actor.orgId, ...(input.cursor === undefined ? {} : { version: { lt: input.cursor } }) },
    orderBy: { version: 'desc' },
    take: PAGE + 1,
  })
  const page = rows.slice(0, PAGE)
  const names = await namesOf(
    ctx,
    page.map(row => row.publishedById),
  )
  return { items: page.map(row => item(row, names)), ...(rows.length > PAGE ? { next: page.at(-1)!.version } : {}) }
}

/** One version with its text and the text it replaced. */
export async function ruleSetVersion(
  ctx: FeatureContext,
  input: { version: number },
): Promise<VersionItem & { text: string; previousText: string; previousVersion: number }> {
  const { orgId } = ctx.actor
  const row = await ctx.db.ruleSetVersion.findUnique({ where: { orgId_version: { orgId, version: input.version } } })
  if (!row) throw notFound('version')
  const before = await ctx.db.ruleSetVersion.findFirst({
    where: { orgId, version: { lt: input.version } },
    orderBy: { version: 'desc' },
    select: { version: true, text: true },
  })
  const names = await namesOf(ctx, [row.publishedById])
  return {
    ...item(row, names),
    text: row.text,
    previousText: before?.text ?? '',
    previousVersion: before?.version ?? 0,
  }
}

type Row = {
  version: number
  note: string
  publishedAt: Date
  publishedById: string | null
  how: string
  digest: string
  rolledBackTo: number | null
  jws: string
}

function item(row: Row, names: Map<string, string>): VersionItem {
  const { version, note, publishedAt, how, digest, rolledBackTo } = row
  const set = storedPayload<RuleSet>(row.jws)
  const spend = readSpend(set)
  return {
    version,
    note,
    publishedAt,
    publishedBy: names.get(row.publishedById ?? '') ?? null,
    how,
    digest,
    rolledBackTo,
    rules: set.boundaries.length,
    budgets: spend.budgets.length,
    rates: spend.rates.length,
    attribution: spend.attribution.length,
  }
}

async function namesOf(ctx: FeatureContext, ids: readonly (string | null | undefined)[]): Promise<Map<string, string>> {
  const wanted = [...new Set(ids.filter(id => typeof id === 'string'))]
  if (wanted.length === 0) return new Map()
  const members = await ctx.db.member.findMany({
    where: { orgId: ctx.actor.orgId, id: { in: wanted } },
    select: { id: true, name: true },
  })
  return new Map(members.map(member => [member.id, member.name]))
}
