import { beforeAll, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { type AppError, isAppError } from '#core/error.ts'
import { etagOf, publishRuleSet } from '#server/features/rule-set.ts'
import { spendKeys } from '#server/features/spend/keys.ts'
import { spendReport } from '#server/features/spend/report.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import { actorOf, contextOf, makeMachine, makeOrganisation, type TestOrganisation } from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-29T12:00:00Z')
let org: TestOrganisation
let owner: MemberActor

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  owner = actorOf(org, org.ownerId, 'owner')
})

const keys = (actor = owner) => spendKeys(contextOf(db.prisma, actor, NOW))

it('tenant and project can be grouped by before there is anything', async () => {
  expect(await keys()).toEqual({
    zone: 'UTC',
    tags: ['tenant', 'project'],
    firstMonth: null,
    lists: [
      { key: 'tenant', values: [] },
      { key: 'project', values: [] },
    ],
    budgets: [],
  })
})

it('keys of the lists in force and of usage from before are told, and the first month with usage', async () => {
  const text = 'tags:\n  team: [core]\nbudgets:\n  - { name: monthly, amount: "5", window: monthly }\n'
  await publishRuleSet(contextOf(db.prisma, owner, NOW), { text, note: 'Lists', etag: etagOf(undefined) })
  const machine = await makeMachine(db.prisma, org, org.ownerId)
  const day = (date: string, tags: Record<string, string>) => dayOf(date, [bucketOf({ tags }, date)])
  await takeUsage(contextOf(db.prisma, machine.actor, NOW), {
    usage: signUsage(machine, uploadOf(machine, 1, [day('2026-09-30', { squad: 'red' }), day('2026-11-02', {})])),
  })
  const found = await keys()
  expect(found.tags).toEqual(['tenant', 'project', 'team', 'squad'])
  expect(found.firstMonth).toBe('2026-09')
  expect(found.lists).toContainEqual({ key: 'team', values: ['core'] })
  expect(found.budgets.map(({ name, window }) => [name, window.kind])).toEqual([['monthly', 'monthly']])
})

const report = (asked: { by: string; filter?: Record<string, string[]> }, actor = owner) =>
  spendReport(contextOf(db.prisma, actor, NOW), { from: '2026-09-01', to: '2026-12-01', ...asked })

it.each([
  [{ by: 'tennant' }, 'tennant'],
  [{ by: 'tag:teem' }, 'teem'],
  [{ by: 'tenant', filter: { teem: ['core'] } }, 'teem'],
])(
  'a report of %j is refused with what there is, never answered as if nothing were attributed',
  async (asked, word) => {
    const refusal = await report(asked).catch((error: unknown) => error)
    expect(isAppError(refusal) && refusal.code).toBe('BAD_INPUT')
    const { message, remedy, details } = refusal as AppError
    expect(message).toContain(`There is no tag ${word}`)
    expect(details!.tags).toEqual(['tenant', 'project', 'team', 'squad'])
    for (const known of ['tenant', 'squad', 'client', 'member', 'cover']) expect(remedy).toContain(known)
  },
)

it('a tag that is listed and not used, or used and listed no more, is reported by', async () => {
  for (const by of ['team', 'tag:squad', 'project']) expect((await report({ by })).rows.length).toBeGreaterThan(0)
})

it('another organisation’s usage and lists are not in it', async () => {
  const other = await makeOrganisation(db.prisma)
  expect(await keys(actorOf(other, other.ownerId, 'owner'))).toMatchObject({
    tags: ['tenant', 'project'],
    firstMonth: null,
  })
})
