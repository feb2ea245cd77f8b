import { beforeEach, describe, expect, it } from 'vitest'
import { parseDecimal } from '#core/decimal.ts'
import { isAppError } from '#core/error.ts'
import { release, reserve, settle } from '#server/features/budget/reserve.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import {
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-18T12:00:00Z')
let org: TestOrganisation
let machine: TestMachine
let other: TestMachine
let attempt = 0

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, org.ownerId, 'one')
  other = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'), 'two')
})

const budget = (amount: number | string, rest = 'window: monthly') =>
  publish(db.prisma, org, `tags: { team: [data, web] }\nbudgets:\n  - { name: run, amount: ${amount}, ${rest} }\n`)
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)
const ctx = (of: TestMachine, now: Date) => contextOf(db.prisma, of.actor, now)
type Wanted = { of?: TestMachine; now?: Date; key?: string; lease?: number; value?: string; name?: string }
const take = (
  amount: string,
  { of = machine, now = NOW, key = `attempt-${++attempt}`, lease = 600, value, name = 'run' }: Wanted = {},
) =>
  reserve(ctx(of, now), {
    budget: name,
    amount,
    leaseSeconds: lease,
    idempotencyKey: key,
    ...(value === undefined ? {} : { value }),
  })
const end = (id: string, amount: string, { of = machine, now = NOW, key = 'settle-0001' }: Wanted = {}) =>
  settle(ctx(of, now), { id, amount, idempotencyKey: key })
const why = async (work: Promise<unknown>) => {
  try {
    await work
  } catch (error) {
    if (isAppError(error)) return { code: error.code, ...error.details }
    throw error
  }
  return 'taken'
}
const send = (of: TestMachine, seq: number, quarters: number[], day = '2026-11-18') =>
  takeUsage(contextOf(db.prisma, of.actor, NOW), {
    usage: signUsage(
      of,
      uploadOf(of, seq, [
        dayOf(
          day,
          quarters.map(quarter => bucketOf({ quarter })),
          NOW.toISOString(),
        ),
      ]),
    ),
  })

describe('many at once', () => {
  it('fifty that ask together are admitted only as far as the limit goes, and never beyond', async () => {
    await budget(10)
    await send(machine, 1, [1])
    const asked = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => take('0.9', { of: i % 2 === 0 ? machine : other })),
    )
    const admitted = asked.filter(result => result.status === 'fulfilled')
    expect(admitted).toHaveLength(7)
    for (const result of asked)
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ details: { why: 'not_enough', left: '0.7' } })
    expect(await why(take('0.7'))).toBe('taken')
    expect(await why(take('0.000001'))).toMatchObject({ why: 'exhausted' })
  })

  it('eight first ones together of a budget of nothing are all refused, and of a budget for one only one is admitted', async () => {
    await budget(0)
    const none = await Promise.all(Array.from({ length: 8 }, () => why(take('0.01'))))
    expect(none).toEqual(
      Array.from({ length: 8 }, () => ({ code: 'CONFLICT', why: 'exhausted', left: '0', currency: 'USD' })),
    )
    await budget(1)
    await db.admin.query(`delete from "ReservationHead" where "orgId" = $1`, [org.id])
    const one = await Promise.all(Array.from({ length: 8 }, () => why(take('1'))))
    expect(one.filter(result => result === 'taken')).toHaveLength(1)
  })

  it('retries of one attempt at once are one reservation', async () => {
    await budget(10)
    const answers = await Promise.all(Array.from({ length: 10 }, () => take('2', { key: 'the-same-1' })))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(await db.prisma.reservation.count({ where: { orgId: org.id } })).toBe(1)
  })

  it('settling, releasing and reserving at once keep to the limit at every end', async () => {
    await budget(6)
    const held = await Promise.all(Array.from({ length: 6 }, () => take('1')))
    await Promise.all([
      ...held.map(({ id }, i) =>
        i % 3 === 0 ? release(ctx(machine, NOW), { id }) : i % 3 === 1 ? end(id, '0.5') : Promise.resolve(),
      ),
      ...Array.from({ length: 20 }, () => why(take('0.5', { of: other }))),
    ])
    while ((await why(take('0.5'))) === 'taken');
    const rows = await db.prisma.reservation.findMany({ where: { orgId: org.id } })
    const held2 = rows.map(row =>
      row.state === 'live' ? row.amount.toString() : row.state === 'settled' ? row.settledAmount!.toString() : '0',
    )
    expect(held2.reduce((sum, text) => sum + parseDecimal(text)!, 0n)).toBe(parseDecimal('6'))
  })
})

describe('the life of a reservation', () => {
  it('a lease that ends gives its amount back without anybody’s doing', async () => {
    await budget(5)
    const { id, left, leaseUntil } = await take('5', { lease: 60 })
    expect({ left, leaseUntil }).toEqual({ left: '0', leaseUntil: at(60).toISOString() })
    expect(await why(take('1', { now: at(59) }))).toMatchObject({ why: 'exhausted' })
    expect(await why(take('5', { now: at(60), of: other }))).toBe('taken')
    expect(await end(id, '1', { now: at(61) })).toMatchObject({ state: 'settled' })
  })

  it('what was spent counts once: a retry has the first answer, another amount or another attempt is refused', async () => {
    await budget(5)
    const { id } = await take('4')
    const first = await end(id, '1.5')
    expect(await end(id, '1.5', { now: at(5) })).toEqual(first)
    expect(await why(end(id, '2'))).toMatchObject({ code: 'CONFLICT', why: 'other_amount' })
    expect(await why(end(id, '1.5', { key: 'settle-0002' }))).toMatchObject({ code: 'CONFLICT', why: 'settled' })
    expect(await why(release(ctx(machine, NOW), { id }))).toMatchObject({ why: 'settled' })
    expect((await take('0.5')).left).toBe('3')
  })

  it('retries of settling that come together count once', async () => {
    await budget(5)
    const { id } = await take('4')
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => why(end(id, '1.5'))))
    const others = await Promise.all(
      Array.from({ length: 5 }, (_, i) => why(end(id, '1.5', { key: `settle-1${i}xx` }))),
    )
    expect([new Set(outcomes), others.filter(each => each === 'taken')]).toEqual([new Set(['taken']), []])
    expect((await take('0.5')).left).toBe('3')
  })

  it('what was settled leaves room once uploads surely have it, and is not counted beside them', async () => {
    await budget(10)
    const { id } = await take('4')
    await end(id, '3')
    await send(machine, 1, [2])
    // This upload may have been on its way before: both are counted, which holds back and never lets through.
    expect((await take('1')).left).toBe('3')
    await send(machine, 2, [2])
    expect((await take('1')).left).toBe('5')
  })

  it('of a machine that never reports again what it settled stays counted for the window, and no longer', async () => {
    await budget(5, 'window: daily')
    const { id } = await take('5')
    await end(id, '5')
    expect(await why(take('1', { now: at(3600) }))).toMatchObject({ why: 'exhausted' })
    expect(await why(take('5', { now: new Date('2026-11-19T00:00:00Z') }))).toBe('taken')
  })

  it('a lease that reaches over the end of the window holds its amount there too', async () => {
    await budget(5, 'window: daily')
    await take('4', { now: new Date('2026-11-18T23:59:50Z'), lease: 60 })
    expect((await take('1', { now: new Date('2026-11-19T00:00:10Z') })).left).toBe('0')
  })

  it('released twice is released; what is released cannot be settled', async () => {
    await budget(5)
    const { id } = await take('5')
    expect(await release(ctx(machine, NOW), { id })).toMatchObject({ state: 'released' })
    expect(await release(ctx(machine, NOW), { id })).toMatchObject({ state: 'released' })
    expect(await why(end(id, '1'))).toMatchObject({ code: 'CONFLICT', why: 'released' })
    expect(await why(take('5'))).toBe('taken')
  })

  it('more than was reserved, or after the lease, counts and is in the evidence; within it nothing is', async () => {
    await budget(5)
    const [a, b, c] = [await take('1'), await take('1'), await take('1', { lease: 10 })]
    await end(a.id, '1')
    await end(b.id, '2.5')
    await end(c.id, '1', { now: at(11) })
    const entries = await db.prisma.evidenceEntry.findMany({
      where: { orgId: org.id, kind: 'budget.reservation_overrun' },
      orderBy: { seq: 'asc' },
    })
    expect(entries.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()).data)).toEqual([
      { budget: 'run', reservation: b.id, reserved: '1', spent: '2.5', late: false },
      { budget: 'run', reservation: c.id, reserved: '1', spent: '1', late: true },
    ])
    expect((await take('0.5', { now: at(12) })).left).toBe('0')
  })

  it('one key names one attempt: another amount or budget under it is refused, another machine has keys of its own', async () => {
    await budget(9)
    await take('2', { key: 'the-key-01' })
    expect(await why(take('3', { key: 'the-key-01' }))).toMatchObject({ why: 'key_used' })
    expect((await take('3', { key: 'the-key-01', of: other })).left).toBe('4')
  })
})

describe('whose', () => {
  it('a reservation is its machine’s alone, and a budget of another organisation is not found', async () => {
    await budget(9)
    const { id } = await take('2')
    const elsewhere = await makeOrganisation(db.prisma)
    const theirs = await makeMachine(db.prisma, elsewhere, elsewhere.ownerId)
    for (const of of [other, theirs]) {
      expect(await why(end(id, '1', { of }))).toEqual({ code: 'NOT_FOUND' })
      expect(await why(release(ctx(of, NOW), { id }))).toEqual({ code: 'NOT_FOUND' })
    }
    expect(await why(take('1', { of: theirs }))).toEqual({ code: 'NOT_FOUND' })
    expect(await why(take('1', { name: 'walk' }))).toEqual({ code: 'NOT_FOUND' })
    expect(await why(end("rsv_'; drop table", '1'))).toEqual({ code: 'NOT_FOUND' })
  })

  it('of a budget for each value the shares are apart: a tag’s is named, a person’s and a machine’s are one’s own', async () => {
    await budget(5, 'window: monthly, for: { team: "*" }')
    expect(await why(take('1'))).toMatchObject({ code: 'BAD_INPUT' })
    expect(await why(take('1', { value: 'nobody' }))).toEqual({ code: 'NOT_FOUND' })
    expect((await take('5', { value: 'data' })).left).toBe('0')
    expect((await take('5', { value: 'web' })).left).toBe('0')
    await budget(5, 'window: monthly, for: { machine: "*" }')
    expect((await take('5')).left).toBe('0')
    expect((await take('5', { of: other })).left).toBe('0')
    expect(await why(take('1', { value: machine.id, of: other }))).toEqual({ code: 'NOT_FOUND' })
    await budget(5, 'window: monthly, for: { machine: two }')
    expect(await why(take('1'))).toEqual({ code: 'NOT_FOUND' })
    expect((await take('1', { of: other })).left).toBe('4')
  })
})
