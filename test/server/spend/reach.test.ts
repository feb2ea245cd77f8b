import { expect, it } from 'vitest'
import { spendReport } from '#server/features/spend/report.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import { actorOf, contextOf, makeMachine, makeOrganisation } from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-29T12:00:00Z')

it('beside the total stands what it is of: who reports, what machines reckoned otherwise, kept apart or held back', async () => {
  const org = await makeOrganisation(db.prisma)
  const machine = await makeMachine(db.prisma, org, org.ownerId)
  await makeMachine(db.prisma, org, org.ownerId, 'silent')
  const gone = await makeMachine(db.prisma, org, org.ownerId, 'gone')
  await db.prisma.machine.update({ where: { id: gone.id }, data: { leftAt: NOW } })
  const days = [
    { ...dayOf('2026-11-01', [bucketOf({ cost: '0' }), bucketOf({ quarter: 41 })]), unlisted: { tenant: '1.5' } },
    dayOf('2026-11-02', [bucketOf()]),
    dayOf('2027-01-29', [bucketOf({ cost: '0' })]),
  ]
  await takeUsage(contextOf(db.prisma, machine.actor, NOW), { usage: signUsage(machine, uploadOf(machine, 1, days)) })
  const coverage = async (from: string, to: string, now = NOW) =>
    (await spendReport(contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), now), { from, to, by: 'tenant' }))
      .coverage
  expect(await coverage('2026-11-01', '2026-12-01')).toEqual({
    machines: 2,
    reporting: 1,
    lastAt: NOW,
    // a cost of nothing for tokens that have a price is an alarm, and never the price
    differing: { days: 1, machineCost: '3', cost: '6' },
    quarantined: 1,
    unlisted: { tenant: '1.5' },
  })
  expect(await coverage('2026-11-02', '2026-12-01', new Date(NOW.getTime() + 3 * 3600_000))).toMatchObject({
    reporting: 0,
    differing: { days: 0, machineCost: '0', cost: '0' },
    unlisted: {},
  })
})
