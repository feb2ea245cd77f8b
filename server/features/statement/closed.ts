import { fromUtf8 } from '#core/bytes.ts'
import { parseDecimal } from '#core/decimal.ts'
import type { ClosedStatement, StatementLine } from '#core/spend/statement.ts'
import type { Tx } from '../../db.ts'
import { keptByWeight } from '../kept.ts'

export type ClosedLine = ClosedStatement['lines'][number]

/** What is told of a closed statement without reading all of it. */
export type ClosedHead = {
  month: string
  digest: string
  closedAt: Date
  closedById: string
  evidenceSeq: number
  tenantName: string
  currency: string
  total: string
  unknown: string
  carried: string
  /** Its lines about other months. */
  about: ClosedLine[]
}

type Heads = ReadonlyMap<string, ClosedHead[]>

/** A closed statement stays as it is, so what was read of it is kept; a tenant's list is another when one more is closed. */
const kept = keptByWeight<Heads>(100_000, heads => [...heads.values()].reduce((n, list) => n + list.length, 1))

/** By tenant, its closed statements in the order of their months. */
export async function closedHeads(tx: Tx, orgId: string): Promise<Heads> {
  const counts = await tx.$queryRaw<{ tenant: string; closed: number }[]>`
    select tenant, count(*)::int as closed from "Statement" where "orgId" = ${orgId} group by tenant order by tenant`
  if (counts.length === 0) return new Map()
  const before = kept.get(orgId)
  const changed = counts.filter(({ tenant, closed }) => before?.get(tenant)?.length !== closed)
  if (before && changed.length === 0) return before
  const read = await readHeads(
    tx,
    orgId,
    changed.map(({ tenant }) => tenant),
  )
  return kept.put(
    orgId,
    new Map(counts.map(({ tenant }) => [tenant, read.get(tenant) ?? before?.get(tenant) ?? []] as const)),
  )
}

async function readHeads(tx: Tx, orgId: string, tenants: readonly string[]): Promise<Map<string, ClosedHead[]>> {
  const rows = await tx.$queryRaw<(ClosedHead & { tenant: string })[]>`
    with read as materialized (
      select tenant, month, digest, "closedAt", "closedById", "evidenceSeq", currency, convert_from(bytes, 'UTF8')::jsonb as doc
      from "Statement" where "orgId" = ${orgId} and tenant = any(${tenants}::text[])
    )
    select tenant, month, digest, "closedAt", "closedById", "evidenceSeq", currency, doc ->> 'total' as total, doc ->> 'unknown' as unknown,
      doc ->> 'carried' as carried, doc -> 'tenant' ->> 'name' as "tenantName", jsonb_path_query_array(doc, '$.lines[*] ? (exists(@.month))') as about
    from read order by tenant, month`
  const heads = new Map<string, ClosedHead[]>()
  for (const { tenant, ...head } of rows) heads.set(tenant, [...(heads.get(tenant) ?? []), head])
  return heads
}

/** Closed statements of some tenants and months, whole: by tenant and month. */
export async function closedDocs(
  tx: Tx,
  orgId: string,
  { tenants, months }: { tenants: readonly string[]; months: readonly string[] },
): Promise<Map<string, Map<string, ClosedStatement>>> {
  const rows = await tx.$queryRaw<{ tenant: string; month: string; bytes: Uint8Array }[]>`
    select tenant, month, bytes from "Statement" where "orgId" = ${orgId} and tenant = any(${tenants}::text[]) and month = any(${months}::text[]) order by tenant, month`
  const docs = new Map<string, Map<string, ClosedStatement>>(tenants.map(tenant => [tenant, new Map()]))
  for (const { tenant, month, bytes } of rows) docs.get(tenant)!.set(month, readClosed(bytes))
  return docs
}

/** Frozen bytes as a statement. */
export const readClosed = (bytes: Uint8Array): ClosedStatement =>
  JSON.parse(fromUtf8(new Uint8Array(bytes))) as ClosedStatement

/** A line of closed bytes as it was reckoned. */
export const lineOf = ({ amount, shown: _, counted: __, ...line }: ClosedLine): StatementLine => ({
  ...line,
  pico: parseDecimal(amount) ?? 0n,
})
