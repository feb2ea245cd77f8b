import { beforeEach, expect, it } from 'vitest'
import { DAY_MS, utcDay } from '#core/day.ts'
import type { UsageDay } from '#core/usage/upload.ts'
import { spendReport } from '#server/features/spend/report.ts'
import { repriceUsage } from '#server/features/usage/reprice.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, MODEL, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const today = utcDay(Date.now())
const past = utcDay(Date.now() - 20 * DAY_MS)
let org: TestOrganisation
let machine: TestMachine

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
})

const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))
const day = (of: string, calls = 1): UsageDay =>
  dayOf(of, [bucketOf({ quarter: 0, calls }), bucketOf({ quarter: 0, model: 'our-own-model' })], `${of}T00:00:00.000Z`)
const send = async (seq: number, days: UsageDay[]) =>
  (await takeUsage(contextOf(db.prisma, machine.actor), { usage: signUsage(machine, uploadOf(machine, seq, days)) }))
    .days
const rates = (input: string, more = '') => `boundaries: []
rates:
  - { model: ${MODEL}, provider: anthropic, from: 2026-01-01, input: "${input}", output: "2" }
${more}`
const OWN = '  - { model: our-own-model, provider: anthropic, input: "7", output: "7" }\n'
const told = async () =>
  (
    await db.prisma.evidenceEntry.findMany({
      where: { orgId: org.id, kind: { startsWith: 'usage.' } },
      orderBy: { seq: 'asc' },
    })
  ).map(({ kind, bytes }) => ({ kind, ...(JSON.parse(Buffer.from(bytes).toString()).data as object) }))
const kinds = async () =>
  (
    await db.prisma.usageSeries.findMany({ where: { orgId: org.id }, orderBy: [{ model: 'asc' }, { rate: 'asc' }] })
  ).map(row => `${row.model} ${row.rate}`)

it('a day is priced by the rules that were in force on it, whatever was published since', async () => {
  await publish(db.prisma, org, rates('1', OWN))
  expect((await send(1, [day(past), day(today)])).map(one => one.cost === '8')).toEqual([false, true])
  expect(await kinds()).toEqual([
    `${MODEL} card`,
    `${MODEL} override`,
    'our-own-model fallback',
    'our-own-model override',
  ])
})

it('prices that fell lower no day, and fewer tokens do', async () => {
  await send(1, [day(today, 2)])
  await publish(db.prisma, org, rates('1', OWN))
  expect(await send(2, [day(today, 2)])).toEqual([{ day: today, state: 'taken', cost: '8' }])
  expect(await told()).toEqual([])
  await send(3, [day(today, 1)])
  expect(await told()).toMatchObject([{ kind: 'usage.lowered', oldCalls: 3, newCalls: 2 }])
})

it('pricing anew is an act that the ledger tells, and later uploads keep to it', async () => {
  const before = (await send(1, [day(past)]))[0]!.cost
  await publish(db.prisma, org, rates('1', OWN))
  expect((await send(2, [day(past, 5)]))[0]!.cost).toBe(before)
  const done = await repriceUsage(owner(), { from: past, to: today })
  expect(done).toEqual({ version: 1, days: 1, old: before, new: '8' })
  expect(await told()).toEqual([{ kind: 'usage.repriced', from: past, to: past, old: before, new: '8', version: 1 }])
  expect(await repriceUsage(owner(), { from: past, to: today })).toMatchObject({ old: '8', new: '8' })
  expect(await told()).toHaveLength(1)
  expect((await send(3, [day(past, 6)]))[0]!.cost).toBe('8')
  const { total } = await spendReport(owner(), { from: past, to: '2100-01-01', by: 'tenant' })
  expect(total).toMatchObject({ calls: 7, priced: { metered: '8' }, bound: { metered: '0' } })
})

it('pricing anew takes an admin', async () => {
  const lead = contextOf(db.prisma, actorOf(org, await makeMember(db.prisma, org, 'lead'), 'lead'))
  await expect(repriceUsage(lead, { from: past, to: today })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(repriceUsage(owner(), { from: today, to: past })).rejects.toMatchObject({ code: 'BAD_INPUT' })
})
