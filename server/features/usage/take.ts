import type { MachineActor } from '#core/actor.ts'
import { base64url, fromBase64url, utf8 } from '#core/bytes.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { priceBucket } from '#core/pricing.ts'
import {
  type DayState,
  dayText,
  openUpload,
  releaseAt,
  type UsageAnswer,
  type UsageBody,
  type UsageDay,
  type UsageUpload,
} from '#core/usage/upload.ts'
import { notify } from '../../bus.ts'
import type { Tx } from '../../db.ts'
import { crypto } from '../../keys/crypto.ts'
import { budgetsInForce } from '../budget/in-force.ts'
import type { FeatureContext } from '../context.ts'
import { type Happening, recordEvidence } from '../evidence.ts'
import { demandRate } from '../rate.ts'
import { keepDays, makeMonths } from './keep.ts'
import { type PricedDay, priceDay, signedCovers } from './price-day.ts'
import { type DayRates, ratesOfDays } from './rates.ts'
import { putDays, putQuarantine, type StandingDay, standingDays } from './standing.ts'

type Ctx = FeatureContext<MachineActor>

/** How many uploads are remembered by their number; an older one that comes again finds its days taken by later ones. */
const REMEMBERED = 200
/** Days of one machine that are kept apart: a clock that is a year ahead. */
const AHEAD_MOST = 400

/**
 * Takes a machine's signed upload of usage: each day whole, in the place of what the machine sent for it before. One
 * transaction under the machine's row, rows, totals and evidence together: taken whole or not at all. The same bytes again
 * have the same answer; a number that was used with other bytes is refused.
 * @throws AppError BAD_SIGNATURE, BAD_INPUT, TOO_LARGE, FORBIDDEN, CONFLICT (`why: sequence_used`), RATE_LIMITED, NOT_SIGNED_IN
 */
export async function takeUsage(ctx: Ctx, input: UsageBody): Promise<UsageAnswer> {
  await demandRate(ctx, 'usageByMachine', ctx.actor.machineId)
  const { upload, digest } = await openMachinesUpload(ctx, input.usage)
  await makeMonths(
    ctx.db,
    upload.days.filter(day => releaseAt(day) <= ctx.now.getTime()).map(({ day }) => day),
  )
  return ctx.db.$transaction(async tx => {
    const machine = await lockMachine(tx, ctx)
    const known = await tx.usageUpload.findUnique({
      where: { orgId_machineId_seq: { orgId: ctx.actor.orgId, machineId: machine.id, seq: upload.seq } },
    })
    if (known?.digest === digest) return known.answer as UsageAnswer
    if (known)
      throw new AppError('CONFLICT', `Upload ${upload.seq} of this machine was taken with another content.`, {
        remedy: 'Send it again under a number above the highest.',
        details: { why: 'sequence_used', seq: machine.usageSeq },
      })
    const standing = await standingDays(
      tx,
      machine,
      upload.days.map(({ day }) => day),
    )
    const { days, happened } = await takeDays(tx, ctx, machine, upload, standing)
    const answer: UsageAnswer = { seq: upload.seq, days }
    await tx.usageUpload.create({
      data: {
        orgId: machine.orgId,
        machineId: machine.id,
        seq: upload.seq,
        digest,
        receivedAt: ctx.now,
        answer,
      },
    })
    await tx.usageUpload.deleteMany({
      where: { orgId: machine.orgId, machineId: machine.id, seq: { lte: machine.usageSeq - REMEMBERED } },
    })
    await tx.machine.update({
      where: { id: machine.id },
      data: { usageSeq: Math.max(machine.usageSeq, upload.seq), usageAt: ctx.now, lastSeenAt: ctx.now },
    })
    await notify(tx, { org: machine.orgId, what: 'usage', machine: machine.id })
    // Last, because the ledger is the organisation's one narrow place.
    for (const one of happened) await recordEvidence(tx, ctx, { ...one, reportedAt: new Date(upload.at) })
    return answer
  })
}

async function openMachinesUpload(ctx: Ctx, jws: string): Promise<{ upload: UsageUpload; digest: string }> {
  const { machineId, orgId } = ctx.actor
  const { publicKeyX } = await ctx.db.machine.findUniqueOrThrow({
    where: { id: machineId },
    select: { publicKeyX: true },
  })
  const upload = openUpload(jws, [{ kty: 'OKP', crv: 'Ed25519', x: publicKeyX }], crypto)
  if (upload.org !== orgId || upload.machine !== machineId)
    throw new AppError('FORBIDDEN', 'The upload is not of the machine that sent it.')
  const digest = base64url(crypto.sha256(fromBase64url(jws.split('.')[1]!)!))
  return { upload, digest }
}

export type LockedMachine = { id: string; orgId: string; memberId: string; machineId: string; usageSeq: number }

/** The machine's row, for as long as the transaction lasts. A machine that left meanwhile is none any more. */
async function lockMachine(tx: Tx, { actor }: Ctx): Promise<LockedMachine> {
  const [row] = await tx.$queryRaw<(LockedMachine & { ended: boolean })[]>`
    select id, id as "machineId", "orgId", "memberId", "usageSeq", ("leftAt" is not null or "revokedAt" is not null) as ended
    from "Machine" where id = ${actor.machineId} and "orgId" = ${actor.orgId} for no key update`
  if (!row || row.ended)
    throw new AppError('NOT_SIGNED_IN', 'This machine does not belong to the organisation any more.')
  return row
}

/** Names a day's content: equal content is an unchanged day. */
export const dayDigest = (usageDay: UsageDay): string => base64url(crypto.sha256(utf8(dayText(usageDay))))

type Taken = { usageDay: UsageDay; digest: string; before: StandingDay | undefined; rates: DayRates; priced: PricedDay }

/**
 * What becomes of each day of an upload, done. Also the way in which days of the quarantine are taken once their time has come.
 */
export async function takeDays(
  tx: Tx,
  ctx: Pick<FeatureContext, 'now'>,
  machine: LockedMachine,
  upload: Pick<UsageUpload, 'seq' | 'days'>,
  standing: ReadonlyMap<string, StandingDay>,
): Promise<{ days: UsageAnswer['days']; happened: Happening[] }> {
  const { seq } = upload
  const subject = { kind: 'machine', id: machine.id } as const
  const happened: Happening[] = []
  const states = new Map<string, DayState>()
  const ahead: { usageDay: UsageDay; digest: string; releaseAt: Date }[] = []
  const present: UsageDay[] = []
  for (const usageDay of upload.days) {
    const before = standing.get(usageDay.day)
    const at = releaseAt(usageDay)
    if ((before?.seq ?? 0) > seq || (before?.waitingSeq ?? 0) > seq) states.set(usageDay.day, 'stale')
    else if (at > ctx.now.getTime()) {
      states.set(usageDay.day, 'quarantined')
      ahead.push({ usageDay, digest: dayDigest(usageDay), releaseAt: new Date(at) })
      if (before?.waitingSeq === undefined)
        happened.push({ kind: 'usage.quarantined', subject, data: { day: usageDay.day, seq } })
    } else present.push(usageDay)
  }
  // days that wait already and come again take no further room
  const others = { machineId: machine.id, day: { notIn: ahead.map(({ usageDay }) => new Date(usageDay.day)) } }
  if (ahead.length > 0 && (await tx.usageQuarantine.count({ where: others })) + ahead.length > AHEAD_MOST)
    throw new AppError('TOO_LARGE', `More than ${AHEAD_MOST} days of this machine lie in the future.`, {
      remedy: "Set the machine's clock right and send again.",
    })
  const versions = new Map(
    [...standing].flatMap(([day, { version }]) => (version === undefined ? [] : [[day, version]])),
  )
  const rates = await ratesOfDays(
    tx,
    machine.orgId,
    present.map(({ day }) => day),
    versions,
  )
  const { covered } = await budgetsInForce(tx, machine.orgId)
  const taken: Taken[] = []
  const same: string[] = []
  for (const usageDay of present) {
    const before = standing.get(usageDay.day)
    const digest = dayDigest(usageDay)
    const dayRates = rates.get(usageDay.day)!
    if (before?.digest === digest && before.version === dayRates.version) {
      states.set(usageDay.day, 'unchanged')
      same.push(usageDay.day)
      continue
    }
    states.set(usageDay.day, 'taken')
    taken.push({
      usageDay,
      digest,
      before,
      rates: dayRates,
      priced: priceDay(signedCovers(usageDay, covered), dayRates),
    })
  }
  for (const one of taken) {
    const lowered = await whatFell(tx, machine, one)
    if (lowered) happened.push({ kind: 'usage.lowered', subject, data: { day: one.usageDay.day, ...lowered } })
  }
  if (taken.length > 0)
    await keepDays(tx, machine, {
      days: taken.map(({ usageDay }) => usageDay.day),
      buckets: taken.flatMap(({ priced }) => priced.buckets),
      fresh: taken.every(({ before }) => before?.seq === undefined),
      zones: await zonesOf(tx, machine.orgId),
    })
  await putDays(tx, ctx, machine, seq, taken, same)
  await putQuarantine(tx, ctx, machine, seq, ahead)
  const costs = new Map(taken.map(({ priced }) => [priced.day, formatDecimal(priced.picoUsd)]))
  const days = upload.days.map(({ day }) => ({
    day,
    state: states.get(day)!,
    cost: costs.get(day) ?? standing.get(day)?.cost ?? '0',
  }))
  return { days, happened }
}

/** The zones that totals are kept by: the organisation's, and the one it is changing to. */
export async function zonesOf(tx: Tx, orgId: string): Promise<string[]> {
  const { timeZone, nextTimeZone } = await tx.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { timeZone: true, nextTimeZone: true },
  })
  return nextTimeZone === null ? [timeZone] : [timeZone, nextTimeZone]
}

/** What a day lost against what stood there; both at the prices of now, so that a price that fell is no lowered day. */
async function whatFell(
  tx: Tx,
  machine: LockedMachine,
  { before, priced, rates, usageDay }: Taken,
): Promise<{ old: string; new: string; oldCalls: number; newCalls: number } | undefined> {
  if (before?.seq === undefined) return undefined
  const newCalls = priced.calls
  let oldPico = parseDecimal(before.cost!)!
  if (newCalls >= before.calls! && priced.picoUsd >= oldPico) return undefined
  if (before.version !== rates.version) oldPico = await priceOfStanding(tx, machine, usageDay.day, rates)
  if (newCalls >= before.calls! && priced.picoUsd >= oldPico) return undefined
  return { old: formatDecimal(oldPico), new: formatDecimal(priced.picoUsd), oldCalls: before.calls!, newCalls }
}

type StandingSum = {
  model: string
  provider: string
  long: boolean
  input: bigint
  cacheRead: bigint
  cacheWrite5m: bigint
  cacheWrite1h: bigint
  output: bigint
  webSearches: bigint
}

/** What stands for a day, at other prices. */
async function priceOfStanding(tx: Tx, machine: LockedMachine, day: string, { rates }: DayRates): Promise<bigint> {
  const sums = await tx.$queryRaw<StandingSum[]>`
    select s.model, s.provider, s.long, sum(input)::bigint as input, sum("cacheRead")::bigint as "cacheRead", sum("cacheWrite5m")::bigint as "cacheWrite5m",
      sum("cacheWrite1h")::bigint as "cacheWrite1h", sum(output)::bigint as output, sum("webSearches")::bigint as "webSearches"
    from "UsageBucket" b join "UsageSeries" s on s."orgId" = b."orgId" and s.id = b."seriesId"
    where b."orgId" = ${machine.orgId} and b."machineId" = ${machine.id} and b.day = ${day}::date group by 1, 2, 3`
  let pico = 0n
  for (const { model, provider, long, ...tokens } of sums) {
    const counts = Object.fromEntries(Object.entries(tokens).map(([axis, count]) => [axis, Number(count)]))
    pico += priceBucket(rates, { model, provider, long, day, tokens: counts as never }).picoUsd
  }
  return pico
}
