import type { MemberActor } from '#core/actor.ts'
import { parseDecimal } from '#core/decimal.ts'
import { isAppError } from '#core/error.ts'
import type { Role } from '#core/role.ts'
import type { UsageBucket } from '#core/usage/upload.ts'
import type { Db } from '#server/db.ts'
import type { ClosedBill, DraftBill } from '#server/features/statement/bill.ts'
import { closeOne } from '#server/features/statement/close.ts'
import { getStatement, listStatements } from '#server/features/statement/read.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { actorOf, contextOf, makeMachine, makeOrganisation, type TestMachine, type TestOrganisation } from './makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from './usage.ts'

/** One organisation with a machine, and what tests of its statements do with it, at a moment of their own. */
export type Books = Awaited<ReturnType<typeof openBooks>>

export const pico = (text: string): bigint => parseDecimal(text)!

export async function openBooks(db: Db, start: Date) {
  const org: TestOrganisation = await makeOrganisation(db)
  const machine = await makeMachine(db, org, org.ownerId)
  const seqs = new Map<string, number>()
  let now = start
  const as = (role: Role = 'owner', memberId = org.ownerId): MemberActor => ({
    ...actorOf(org, memberId, role),
    authnAt: now,
  })
  const ctx = (actor: MemberActor = as()) => contextOf(db, actor, now)
  return {
    org,
    machine,
    as,
    ctx,
    at: (moment: string) => {
      now = new Date(moment)
    },
    /** Tenants as rows of their own, whom lists may name. */
    async tenants(...keys: string[]): Promise<void> {
      for (const key of keys)
        await db.tenant.create({ data: { id: `ten_${org.id}_${key}`, orgId: org.id, key, name: key } })
    },
    /** Whole days as a machine sends them. */
    async send(days: Record<string, UsageBucket[]>, from: TestMachine = machine): Promise<void> {
      const seq = (seqs.get(from.id) ?? 0) + 1
      seqs.set(from.id, seq)
      const list = Object.entries(days).map(([day, buckets]) => dayOf(day, buckets))
      await takeUsage(contextOf(db, from.actor, now), { usage: signUsage(from, uploadOf(from, seq, list)) })
    },
    list: (year?: string) => listStatements(ctx(), { year }),
    get: (tenant: string, month: string) => getStatement(ctx(), { tenant, month }),
    async draft(tenant: string, month: string): Promise<DraftBill> {
      const { bill } = await getStatement(ctx(), { tenant, month })
      if (bill.state !== 'draft') throw new Error('closed')
      return bill
    },
    async closed(tenant: string, month: string): Promise<ClosedBill> {
      const { bill } = await getStatement(ctx(), { tenant, month })
      if (bill.state !== 'closed') throw new Error('a draft')
      return bill
    },
    async close(tenant: string, month: string, acceptBound = false) {
      const { bill } = await getStatement(ctx(), { tenant, month })
      const tag = bill.state === 'draft' ? bill.tag : 'closed'
      return closeOne(ctx(), { tenant, month, tag, acceptBound })
    },
  }
}

/** Usage of a tenant on one UTC day: a million input tokens of the test model cost three dollars. */
export const spent = (
  day: string,
  tenant: string | undefined,
  millions = 1,
  over: Parameters<typeof bucketOf>[0] = {},
): UsageBucket =>
  bucketOf(
    {
      tokens: { input: Math.round(millions * 1_000_000) },
      ...over,
      tags: { ...(tenant ? { tenant } : {}), ...over.tags },
    },
    day,
  )

/** `code` or `code why` of a refusal. */
export async function refused(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (isAppError(error)) return [error.code, error.details?.why].filter(Boolean).join(' ')
    throw error
  }
  return 'done'
}
