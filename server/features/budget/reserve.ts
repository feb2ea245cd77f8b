import type { MachineActor } from '#core/actor.ts'
import type { Budget } from '#core/budget/budget.ts'
import { RESERVATION_ID, type ReservationAnswer, type ReserveBody, type SettleBody } from '#core/budget/fleet.ts'
import { decideRelease, decideReserve, decideSettle, isHolding, type Reservation } from '#core/budget/reserve.ts'
import { type Window, windowAt } from '#core/budget/window.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import type { Tx } from '../../db.ts'
import { type FeatureContext, newId, notFound } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { demandRate } from '../rate.ts'
import { budgetsInForce, type InForce } from './in-force.ts'
import { countBudget, peopleOf, spendOfWindow } from './use.ts'

type Ctx = FeatureContext<MachineActor>
type Row = {
  id: string
  budget: string
  value: string
  machineId: string
  key: string
  amount: string
  leaseUntil: Date
  state: 'live' | 'settled' | 'released'
  settledAmount: string | null
  settledKey: string | null
  settledAt: Date | null
  settledSeq: number | null
  /** Number of the newest upload of its machine. */
  usageSeq: number
}

const reserved = (row: Row): Reservation => ({
  id: row.id,
  // One machine's names are nothing to another's.
  key: `${row.machineId} ${row.key}`,
  amount: parseDecimal(row.amount)!,
  leaseUntil: row.leaseUntil.getTime(),
  state: row.state,
  ...(row.settledAt
    ? { settled: { amount: parseDecimal(row.settledAmount!)!, key: row.settledKey!, at: row.settledAt.getTime() } }
    : {}),
})

/**
 * Sets an amount of a budget aside for a machine's run. Everything is decided under the lock of the budget's head, which is made
 * in the same transaction when it is the first: of many that ask at once only those are admitted that fit together. A lease
 * that ends gives its amount back without anybody's doing.
 * @throws AppError NOT_FOUND, BAD_INPUT, CONFLICT (`why`: exhausted, not_enough with `left`; key_used), RATE_LIMITED
 */
export async function reserve(ctx: Ctx, body: ReserveBody): Promise<ReservationAnswer> {
  const { orgId, machineId } = ctx.actor
  await demandRate(ctx, 'reservationByMachine', machineId)
  return ctx.db.$transaction(async tx => {
    const inForce = await budgetsInForce(tx, orgId)
    const budget = inForce.budgets.find(({ name }) => name === body.budget)
    if (!budget) throw notFound('budget')
    const value = await shareFor(tx, ctx, budget, body.value, inForce)
    await lockHead(tx, orgId, budget.name, value)
    const before = await rowByKey(tx, ctx, body.idempotencyKey)
    if (before && (before.budget !== budget.name || before.value !== value)) throw keyUsed()
    const window = windowAt(budget.window, budget.zone, ctx.now.getTime())
    const rows = await rowsThatHold(tx, orgId, budget.name, value, window, ctx.now)
    if (before && !rows.some(({ id }) => id === before.id)) rows.push(before)
    const byId = new Map(rows.map(row => [row.id, row]))
    const decision = decideReserve(
      {
        limit: parseDecimal(budget.amount)!,
        used: await usedNow(tx, orgId, inForce, budget, value, window),
        reservations: rows.map(reserved),
      },
      {
        amount: parseDecimal(body.amount)!,
        leaseSeconds: body.leaseSeconds,
        key: `${machineId} ${body.idempotencyKey}`,
      },
      ctx.now.getTime(),
      ({ id }) => countedUntil(byId.get(id)!),
    )
    if (decision.kind === 'conflict') throw keyUsed()
    if (decision.kind === 'repeat') return answerOf(byId.get(decision.reservation.id)!, ctx.now)
    if (decision.kind === 'refused') throw refused(budget, decision)
    const data = {
      id: newId(ctx, 'reservation'),
      budget: budget.name,
      value,
      machineId,
      key: body.idempotencyKey,
      amount: formatDecimal(decision.amount),
      leaseUntil: new Date(decision.leaseUntil),
      state: 'live' as const,
    }
    await tx.reservation.create({ data: { ...data, orgId, windowId: window.id, createdAt: ctx.now } })
    const row = { ...data, settledAmount: null, settledKey: null, settledAt: null, settledSeq: null, usageSeq: 0 }
    return { ...answerOf(row, ctx.now), left: formatDecimal(decision.left) }
  })
}

/** Takes what was really spent in the place of what was set aside; the same attempt again changes nothing. */
export async function settle(ctx: Ctx, input: { id: string } & SettleBody): Promise<ReservationAnswer> {
  return ctx.db.$transaction(async tx => {
    const row = await lockRow(tx, ctx, input.id)
    const amount = parseDecimal(input.amount)!
    const decision = decideSettle(reserved(row), { amount, key: input.idempotencyKey }, ctx.now.getTime())
    if (decision.kind === 'repeat') return answerOf(row, ctx.now)
    if (decision.kind === 'conflict')
      throw new AppError('CONFLICT', `This reservation is ${row.state} already.`, { details: { why: decision.why } })
    if (decision.kind === 'refused') throw new AppError('BAD_INPUT', 'What was spent is not an amount.')
    const settled = {
      state: 'settled' as const,
      settledAmount: formatDecimal(amount),
      settledKey: input.idempotencyKey,
      settledAt: ctx.now,
      settledSeq: row.usageSeq,
    }
    await tx.reservation.update({ where: { id: row.id }, data: settled })
    if (decision.over || decision.late) await recordOverrun(tx, ctx, row, formatDecimal(amount), decision.late)
    return answerOf({ ...row, ...settled }, ctx.now)
  })
}

/** Gives an amount back unspent. */
export async function release(ctx: Ctx, input: { id: string }): Promise<ReservationAnswer> {
  return ctx.db.$transaction(async tx => {
    const row = await lockRow(tx, ctx, input.id)
    const decision = decideRelease(reserved(row))
    if (decision.kind === 'conflict')
      throw new AppError('CONFLICT', 'This reservation is settled already.', { details: { why: decision.why } })
    if (decision.kind === 'released')
      await tx.reservation.update({ where: { id: row.id }, data: { state: 'released' } })
    return answerOf({ ...row, state: 'released' }, ctx.now)
  })
}

/** The value that a machine draws on: its own of a budget per machine or member, the named one of a tag. */
async function shareFor(
  tx: Tx,
  { actor }: Ctx,
  { for: whom }: Budget,
  asked: string | undefined,
  { tags }: InForce,
): Promise<string> {
  if (whom === undefined || (whom.key !== 'machine' && whom.key !== 'member')) {
    if (whom?.value !== '*') {
      if (asked !== undefined && asked !== whom?.value) throw notFound('budget')
      return ''
    }
    if (asked === undefined)
      throw new AppError('BAD_INPUT', `This budget is one for each ${whom.key}: name one as value.`)
    if (!tags[whom.key]?.includes(asked)) throw notFound('budget')
    return asked
  }
  const { label } = await tx.machine.findUniqueOrThrow({ where: { id: actor.machineId }, select: { label: true } })
  const own = whom.key === 'member' ? [actor.memberId] : [actor.machineId, label]
  const named = whom.value === '*' ? (asked ?? own[0]!) : whom.value
  if (!own.includes(named) || (asked !== undefined && asked !== named)) throw notFound('budget')
  return whom.value === '*' ? own[0]! : ''
}

/** The head's row, for as long as the transaction lasts; made by the first. */
async function lockHead(tx: Tx, orgId: string, budget: string, value: string): Promise<void> {
  await tx.$executeRaw`
    insert into "ReservationHead" ("orgId", budget, value) values (${orgId}, ${budget}, ${value}) on conflict do nothing`
  await tx.$queryRaw`
    select 1 from "ReservationHead" where "orgId" = ${orgId} and budget = ${budget} and value = ${value} for update`
}

async function rowByKey(tx: Tx, { actor }: Ctx, key: string): Promise<Row | undefined> {
  const [row] = await tx.$queryRaw<Row[]>`
    select r.id, r.budget, r.value, r."machineId", r.key, r.amount::text, r."leaseUntil", r.state, r."settledAmount"::text, r."settledKey", r."settledAt", r."settledSeq", m."usageSeq"
    from "Reservation" r join "Machine" m on m.id = r."machineId"
    where r."orgId" = ${actor.orgId} and r."machineId" = ${actor.machineId} and r.key = ${key}`
  return row
}

/** Live leases whatever window they were made in, and what was settled in this one. */
function rowsThatHold(tx: Tx, orgId: string, budget: string, value: string, window: Window, now: Date): Promise<Row[]> {
  return tx.$queryRaw<Row[]>`
    select r.id, r.budget, r.value, r."machineId", r.key, r.amount::text, r."leaseUntil", r.state, r."settledAmount"::text, r."settledKey", r."settledAt", r."settledSeq", m."usageSeq"
    from "Reservation" r join "Machine" m on m.id = r."machineId"
    where r."orgId" = ${orgId} and r.budget = ${budget} and r.value = ${value}
      and ((r.state = 'live' and r."leaseUntil" > ${now}) or (r.state = 'settled' and r."settledAt" >= ${new Date(window.start)}))`
}

/**
 * Whether what a reservation settled is in the ledger: the next upload of its machine may have been on its way before, the one
 * after that was begun later and has it. A machine that never uploads again keeps its amount counted.
 */
const countedUntil = ({ settledSeq, usageSeq }: Row): number | undefined =>
  settledSeq !== null && usageSeq >= settledSeq + 2 ? Number.POSITIVE_INFINITY : undefined

async function usedNow(
  tx: Tx,
  orgId: string,
  { exchange }: InForce,
  budget: Budget,
  value: string,
  window: Window,
): Promise<bigint> {
  const spend = await spendOfWindow(tx, orgId, budget, exchange, window)
  const people = budget.for?.key === 'machine' ? await peopleOf(tx, orgId) : { machines: [], members: [] }
  return countBudget(budget, window, [value], spend, people).find(count => count.value === value)!.used
}

/** A machine's own reservation, locked under its head. */
async function lockRow(tx: Tx, ctx: Ctx, id: string): Promise<Row> {
  const found = RESERVATION_ID.test(id)
    ? await tx.reservation.findFirst({
        where: { id, orgId: ctx.actor.orgId, machineId: ctx.actor.machineId },
        select: { budget: true, value: true, key: true },
      })
    : null
  if (!found) throw notFound('reservation')
  await lockHead(tx, ctx.actor.orgId, found.budget, found.value)
  return (await rowByKey(tx, ctx, found.key))!
}

const keyUsed = () => new AppError('CONFLICT', 'This key names another reservation.', { details: { why: 'key_used' } })

function refused(
  { name, currency }: Budget,
  { why, left }: { why: 'exhausted' | 'not_enough' | 'bad_amount' | 'bad_lease'; left: bigint },
): AppError {
  if (why === 'bad_amount') return new AppError('BAD_INPUT', 'A reservation is of more than nothing.')
  if (why === 'bad_lease') return new AppError('BAD_INPUT', 'The lease is too short or too long.')
  const rest = formatDecimal(left)
  const message = why === 'exhausted' ? `${name} is exhausted.` : `${name} has ${rest} ${currency} left.`
  return new AppError('CONFLICT', message, { details: { why, left: rest, currency } })
}

function answerOf(row: Row, now: Date): ReservationAnswer {
  const reservation = reserved(row)
  return {
    id: row.id,
    budget: row.budget,
    ...(row.value === '' ? {} : { value: row.value }),
    amount: formatDecimal(reservation.amount),
    leaseUntil: row.leaseUntil.toISOString(),
    state: row.state === 'live' && !isHolding(reservation, now.getTime()) ? 'expired' : row.state,
    ...(reservation.settled
      ? {
          settled: {
            amount: formatDecimal(reservation.settled.amount),
            at: new Date(reservation.settled.at).toISOString(),
          },
        }
      : {}),
  }
}

function recordOverrun(tx: Tx, ctx: Ctx, row: Row, spent: string, late: boolean) {
  return recordEvidence(tx, ctx, {
    kind: 'budget.reservation_overrun',
    subject: { kind: 'machine', id: row.machineId },
    data: {
      budget: row.budget,
      reservation: row.id,
      reserved: formatDecimal(parseDecimal(row.amount)!),
      spent,
      late,
    },
  })
}
