import { beforeAll, describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { currentRuleSet } from '#server/features/rule-set-history.ts'
import { attributionInForce, unlistedShares, whyUnattributed } from '#server/features/spend/attribution.ts'
import { editSpendRules } from '#server/features/spend/edit-rules.ts'
import { grantFigures } from '#server/features/spend/grant.ts'
import { spendReport } from '#server/features/spend/report.ts'
import { addTenant, listTenants, removeTenant, renameTenant } from '#server/features/tenant.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-30T12:00:00Z')
const DAYS = { from: '2026-11-01', to: '2026-12-01' }
let org: TestOrganisation
let owner: MemberActor
let dana: MemberActor
const machines: { id: string }[] = []
const ctx = (actor = owner) => contextOf(db.prisma, actor, NOW)

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  owner = actorOf(org, org.ownerId, 'owner')
  dana = actorOf(org, await makeMember(db.prisma, org, 'member', 'Dana'), 'member')
  await addTenant(ctx(), { key: 'acme', name: 'Acme' })
  await publish(
    db.prisma,
    org,
    `boundaries: []
tags: { tenant: [acme], team: [data, web] }
attribution:
  - { when: { repository: "billing-*" }, set: { tenant: acme } }
  - { when: { machine: "desk" }, set: { team: web } }
`,
  )
  for (const [i, [member, label]] of (
    [
      [org.ownerId, 'desk'],
      [dana.memberId, 'laptop'],
    ] as const
  ).entries()) {
    const machine = await makeMachine(db.prisma, org, member, label)
    machines.push(machine)
    const days = ['2026-11-03', '2026-11-09'].map(day => ({
      ...dayOf(day, [
        bucketOf({ quarter: 0, tags: { tenant: 'acme' } }, day),
        bucketOf({ quarter: 1, tags: { team: 'data' }, tokens: { input: (i + 1) * 1_000_000 } }, day),
        bucketOf({ quarter: 2, model: 'no-such-model', tags: { tenant: 'acme' } }, day),
      ]),
      unlisted: { tenant: '1.5' },
    }))
    await takeUsage(contextOf(db.prisma, machine.actor, NOW), { usage: signUsage(machine, uploadOf(machine, 1, days)) })
  }
  await grantFigures(ctx(), { holderId: org.ownerId, reason: 'to write the rules', days: 30 })
})

describe('usage without a tag', () => {
  it('adds up to the row of the report, with its machine, client, model and first day', async () => {
    const why = await whyUnattributed(ctx(), { key: 'tenant', ...DAYS })
    const { rows } = await spendReport(ctx(), { ...DAYS, by: 'tenant' })
    expect(why.cost).toBe(rows.find(({ value }) => value === null)!.total.priced.metered)
    expect(why.rows.map(row => [row.machine?.label, row.member, row.cost, row.first, row.last])).toEqual([
      ['laptop', 'Dana', '12', '2026-11-03', '2026-11-09'],
      ['desk', 'Olga Owner', '6', '2026-11-03', '2026-11-09'],
    ])
    expect(why.rows[0]!.sharePct).toBeGreaterThan(why.rows[1]!.sharePct)
    const byTeam = await whyUnattributed(ctx(), { key: 'team', ...DAYS })
    expect(byTeam.rows.filter(({ model }) => model === 'no-such-model')[0]!.atMost).not.toBe('0')
  })

  it('shows nobody’s machine to whoever may not see their figures, and the same total', async () => {
    const whole = await whyUnattributed(ctx(), { key: 'tenant', ...DAYS })
    const why = await whyUnattributed(ctx(dana), { key: 'tenant', ...DAYS })
    expect(why.rows.map(row => row.machine?.label ?? 'others')).toEqual(['laptop', 'others'])
    expect([why.cost, why.of]).toEqual([whole.cost, whole.of])
    expect(JSON.stringify(why)).not.toContain(machines[0]!.id)
    const unlisted = await unlistedShares(ctx(dana), DAYS)
    expect(unlisted.map(row => [row.machine?.label ?? 'others', row.key, row.cost])).toEqual([
      ['laptop', 'tenant', '3'],
      ['others', 'tenant', '3'],
    ])
  })

  it('says of each machine how much stands under values that no list has', async () => {
    const rows = await unlistedShares(ctx(), DAYS)
    expect(rows.map(row => [row.machine!.label, row.cost]).sort()).toEqual([
      ['desk', '3'],
      ['laptop', '3'],
    ])
    expect(rows.every(({ sharePct }) => sharePct > 0 && sharePct < 100)).toBe(true)
  })
})

const edit = async (asked: Parameters<typeof editSpendRules>[1]['edit']) =>
  editSpendRules(ctx(), { edit: asked, note: 'Because', etag: (await currentRuleSet(ctx())).etag })

describe('rules and lists', () => {
  it('are moved and removed as they were seen, and never another in their place', async () => {
    const { rules } = await attributionInForce(ctx())
    const [first, second] = rules.map(({ index, was }) => ({ index, was }))
    await edit({ kind: 'move_attribution', at: second!, to: 0 })
    expect((await attributionInForce(ctx())).rules.map(({ set }) => set)).toEqual([{ team: 'web' }, { tenant: 'acme' }])
    // Seen before the move: found where it stands now.
    await edit({ kind: 'remove_attribution', at: second! })
    expect((await attributionInForce(ctx())).rules.map(({ set }) => set)).toEqual([{ tenant: 'acme' }])
    await expect(edit({ kind: 'remove_attribution', at: second! })).rejects.toMatchObject({ code: 'BAD_INPUT' })
    expect((await attributionInForce(ctx())).rules).toMatchObject([{ was: first!.was }])
  })

  it('keep what usage carries in sight when it is on the list no more', async () => {
    await edit({ kind: 'remove_tag_value', key: 'team', value: 'data' })
    const { lists } = await attributionInForce(ctx())
    const team = lists.find(({ key }) => key === 'team')!
    expect(team.values.map(({ value }) => value)).toEqual(['web'])
    expect(team.former).toEqual([{ value: 'data', renamedTo: null, used: true }])
    const { rows } = await spendReport(ctx(), { ...DAYS, by: 'tag:team' })
    expect(rows.map(({ value }) => value)).toContain('data')
  })
})

describe('tenants', () => {
  it('are added once, whoever adds them at the same moment', async () => {
    const both = await Promise.allSettled([1, 2].map(n => addTenant(ctx(), { key: 'twice', name: `Twice ${n}` })))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'CONFLICT' } })
    expect((await listTenants(ctx())).filter(({ key }) => key === 'twice')).toHaveLength(1)
  })

  it('are renamed without touching what is recorded, and removed when the rules list them no more', async () => {
    await renameTenant(ctx(), { key: 'acme', name: 'Acme Europe' })
    const report = () => spendReport(ctx(), { ...DAYS, by: 'tenant' })
    expect((await report()).rows.find(({ value }) => value === 'acme')!.label).toBe('Acme Europe')
    await expect(removeTenant(ctx(), { key: 'acme' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect((await listTenants(ctx())).map(({ key }) => key)).toContain('acme')
    await publish(db.prisma, org, 'boundaries: []\n')
    const before = (await report()).total
    await removeTenant(ctx(), { key: 'acme' })
    const after = await report()
    expect(after.total).toEqual(before)
    expect(after.rows.find(({ value }) => value === 'acme')!.label).toBe('acme')
    const told = await db.prisma.evidenceEntry.findMany({
      where: { orgId: org.id, kind: { startsWith: 'tenant.' } },
      orderBy: { seq: 'asc' },
    })
    expect(told.map(({ kind }) => kind)).toEqual(['tenant.added', 'tenant.added', 'tenant.renamed', 'tenant.removed'])
  })

  it('take an admin, a name and a key that tags can say', async () => {
    for (const key of ['Acme', '', 'a b', '-a'])
      await expect(addTenant(ctx(), { key, name: 'x' })).rejects.toMatchObject({ code: 'BAD_INPUT' })
    await expect(addTenant(ctx(), { key: 'x', name: '  ' })).rejects.toMatchObject({ code: 'BAD_INPUT' })
    await expect(addTenant(ctx(dana), { key: 'x', name: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
