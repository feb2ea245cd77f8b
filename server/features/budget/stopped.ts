import type { Budget } from '#core/budget/budget.ts'
import { windowAt } from '#core/budget/window.ts'
import type { Report } from '#core/protocol.ts'
import type { Machine } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import { env } from '../../env.ts'
import { mailTime, messageId } from '../../jobs/mail-letter.ts'
import { enqueue } from '../../jobs/queue.ts'
import { budgetsInForce, type InForce } from './in-force.ts'
import { ownersOf, seesFigures } from './tell.ts'
import { isOfPersons } from './use.ts'

type Outcome = Report['outcomes'][number]
type Stop = {
  budget: string
  windowId: string
  windowStart: Date
  windowEnd: Date
  rule: string
  client: string
  did: string
  at: Date
  usedPct: string | null
}

/** A machine's clock may be so far ahead; what it says beyond is of now. */
const AHEAD_MS = 10 * 60_000

/**
 * Of what a machine reports: each budget by which a rule held or refused a call, recorded once for its window and the machine's
 * member, with mail to the member and the budget's owners in the same transaction. Shadow rules stop nobody.
 */
export async function tellStopped(
  tx: Tx,
  { now }: { now: Date },
  machine: Machine,
  outcomes: readonly Outcome[],
): Promise<void> {
  const stopping = outcomes.filter(({ stage, did }) => stage === 'enforce' && (did === 'asked' || did === 'refused'))
  if (stopping.length === 0) return
  const inForce = await budgetsInForce(tx, machine.orgId)
  const stops = firstOf(stopping.flatMap(outcome => stopsOf(outcome, inForce, now)))
  if (stops.length === 0) return
  // One member at a time for an organisation, in one order: who is the first of a window is then known.
  await tx.$executeRaw`select pg_advisory_xact_lock(hashtext('budget stop'), hashtext(${machine.orgId}))`
  const fresh = await tx.$queryRaw<{ budget: string; windowId: string; isFirst: boolean }[]>`
    insert into "BudgetStop" ("orgId", budget, "windowId", "memberId", "windowStart", "windowEnd", "machineId", rule, client, did, at, "usedPct")
    select ${machine.orgId}, r.budget, r."windowId", ${machine.memberId}, r."windowStart", r."windowEnd", ${machine.id}, r.rule, r.client, r.did, r.at, r."usedPct"
    from jsonb_to_recordset(${JSON.stringify(stops)}::jsonb)
      as r(budget text, "windowId" text, "windowStart" timestamptz, "windowEnd" timestamptz, rule text, client text, did text, at timestamptz, "usedPct" text)
    on conflict do nothing
    returning budget, "windowId", not exists (
      select from "BudgetStop" o where o."orgId" = ${machine.orgId} and o.budget = "BudgetStop".budget and o."windowId" = "BudgetStop"."windowId") as "isFirst"`
  for (const { budget, windowId, isFirst } of fresh) {
    const stop = stops.find(one => one.budget === budget && one.windowId === windowId)!
    await mailStop(tx, { now }, machine, inForce.budgets.find(({ name }) => name === budget)!, stop, isFirst)
  }
}

/** The budgets that one decision's rule reads, each with the window that it was made in. */
function stopsOf(outcome: Outcome, { budgets, budgetRules }: InForce, now: Date): Stop[] {
  const { rule, client, did, figures } = outcome
  const read = figures.filter(({ name }) => name === 'budget_used_pct')
  const named = budgetRules.get(rule)
  // A rule of the version in force says which budget it reads; one that reads any, and one of another version, by its figures.
  const names = named === undefined || named === '' ? read.flatMap(({ qualifier }) => qualifier ?? []) : [named]
  const at = new Date(Math.min(Date.parse(outcome.at), now.getTime() + AHEAD_MS))
  return [...new Set(names)].flatMap((name): Stop[] => {
    const budget = budgets.find(one => one.name === name)
    if (budget === undefined) return []
    const { id, start, end } = windowAt(budget.window, budget.zone, at.getTime())
    const usedPct = read.find(({ qualifier }) => qualifier === name)?.value ?? null
    const window = { windowId: id, windowStart: new Date(start), windowEnd: new Date(end) }
    return [{ budget: name, ...window, rule, client, did, at, usedPct }]
  })
}

/** The earliest of each budget and window. */
function firstOf(stops: readonly Stop[]): Stop[] {
  const first = new Map<string, Stop>()
  for (const stop of stops) {
    const key = `${stop.budget} ${stop.windowId}`
    const held = first.get(key)
    if (held === undefined || stop.at < held.at) first.set(key, stop)
  }
  return [...first.values()]
}

async function mailStop(
  tx: Tx,
  { now }: { now: Date },
  machine: Machine,
  budget: Budget,
  stop: Stop,
  isFirst: boolean,
): Promise<void> {
  const { orgId, memberId } = machine
  const org = await tx.organisation.findUniqueOrThrow({ where: { id: orgId }, select: { name: true, slug: true } })
  const members = await tx.member.findMany({
    where: { orgId, removedAt: null },
    select: { id: true, email: true, name: true, role: true },
  })
  const grants = await tx.figuresGrant.findMany({ where: { orgId, endedAt: null } })
  const own = members.find(({ id }) => id === memberId)
  const owners = ownersOf(budget.owners, members).filter(({ id }) => id !== memberId)
  for (const reader of [...(own ? [own] : []), ...owners]) {
    const isSeen = seesFigures(grants, reader.id, memberId, now)
    // Of people whose figures a reader does not see, the first of a window stands for all.
    if (!isSeen && !isFirst) continue
    const whose =
      reader === own
        ? { kind: 'own' as const }
        : isSeen
          ? { kind: 'named' as const, name: own?.name ?? 'a former member' }
          : { kind: 'withheld' as const }
    const told = {
      account: reader.email,
      org: org.name,
      budget: budget.name,
      rule: stop.rule,
      did: stop.did as 'asked' | 'refused',
      client: stop.client,
      whose,
      ...(isSeen ? { machine: machine.label } : {}),
      // of a budget of persons it is what that person spent
      ...(stop.usedPct === null || (!isSeen && isOfPersons(budget)) ? {} : { usedPct: stop.usedPct }),
      at: mailTime(stop.at),
      window: { start: mailTime(stop.windowStart), end: mailTime(stop.windowEnd), zone: budget.zone },
      url: `${env().publicUrl}/${org.slug}/spend/budgets/${encodeURIComponent(budget.name)}`,
    }
    const parts = [orgId, budget.name, stop.windowId, isSeen ? memberId : 'somebody', reader.id]
    const mail = { to: reader.email, messageId: messageId('budget-stop', ...parts), told }
    await enqueue(tx, 'budget.stop_mail', mail, { key: `budget-stop:${parts.join(':')}`, org: orgId })
  }
}
