import { randomBytes } from 'node:crypto'
import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod/mini'
import { type Db, database } from '../db.ts'
import { env } from '../env.ts'
import { log } from '../log.ts'
import { noticeRollback } from './restore.ts'

/** How far each organisation's ledger and rules had come, by organisation: kept outside the database. */
const Marks = z.record(z.string(), z.strictObject({ size: z.int(), leaf: z.string(), version: z.int() }))
export type Marks = z.infer<typeof Marks>

const TICK_MS = 60_000
const holder = globalThis as unknown as { holdpointHighWater?: true }

/** Compares and keeps the marks now and each minute, once per process. A database that cannot be reached is tried again. */
export function watchHighWater(): void {
  if (holder.holdpointHighWater) return
  holder.holdpointHighWater = true
  const file = path.join(env().dataDir, 'high-water.json')
  const tick = () =>
    keepHighWater(database().prisma, file, new Date()).catch((error: Error) =>
      log.warn('high_water.not_kept', { message: error.message }),
    )
  void tick()
  setInterval(tick, TICK_MS).unref()
}

/**
 * Compares the database with the marks of the file and writes the new ones. A ledger that is shorter than its mark, or has
 * another entry where the mark stands, was restored or rewritten: the organisation is marked so, once.
 * @returns the organisations that were found rolled back
 */
export async function keepHighWater(db: Db, file: string, now: Date): Promise<string[]> {
  const marks = readMarks(file)
  const rows = await db.$queryRaw<{ orgId: string; size: number; leaf: string; version: number; at: string | null }[]>`
    select l."orgId", l.size, l.head as leaf, e.leaf as at,
      coalesce((select max(version) from "RuleSetVersion" r where r."orgId" = l."orgId"), 0)::int as version
    from "Ledger" l
    left join jsonb_to_recordset(${JSON.stringify(Object.entries(marks).map(([org, { size }]) => ({ org, size })))}::jsonb) as m(org text, size int)
      on m.org = l."orgId"
    left join "EvidenceEntry" e on e."orgId" = l."orgId" and e.seq = m.size`
  const found: string[] = []
  for (const row of rows) {
    const mark = marks[row.orgId]
    if (!mark || mark.size === 0 || row.at === mark.leaf) continue
    await noticeRollback(
      { db, now, random: n => new Uint8Array(randomBytes(n)), actor: { kind: 'system', orgId: row.orgId } },
      { ...mark, found: { size: row.size, leaf: row.leaf } },
    )
    found.push(row.orgId)
  }
  writeMarks(file, {
    ...marks,
    ...Object.fromEntries(rows.map(({ orgId, size, leaf, version }) => [orgId, { size, leaf, version }])),
  })
  return found
}

/** A file that is missing or broken has no marks: there is nothing to compare with, and the next minute writes it anew. */
function readMarks(file: string): Marks {
  try {
    return Marks.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.warn('high_water.unreadable', { file })
    return {}
  }
}

/** Written beside and renamed, so that it is never half there. Nothing but a regular file is replaced. */
function writeMarks(file: string, marks: Marks): void {
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (there && !there.isFile()) throw new Error(`${file} is not a regular file`)
  const fresh = `${file}.${process.pid}`
  try {
    writeFileSync(fresh, `${JSON.stringify(marks)}\n`, { mode: 0o600, flush: true })
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}
