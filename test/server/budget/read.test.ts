import { beforeEach, describe, expect, it } from 'vitest'
import { parseDecimal } from '#core/decimal.ts'
import { isAppError } from '#core/error.ts'
import type { UsageBucket } from '#core/usage/upload.ts'
import { cutBudgets } from '#server/features/budget/cut.ts'
import { dropBudget, saveBudget } from '#server/features/budget/edit.ts'
import { fullestBudget, getBudget, listBudgets } from '#server/features/budget/read.ts'
import { reserve } from '#server/features/budget/reserve.ts'
import { budgetsFor } from '#server/features/budget/serve.ts'
import { currentRuleSet } from '#server/features/rule-set-history.ts'
import { grantFigures } from '#server/features/spend/grant.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  random,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-18T12:00:00Z')
let org: TestOrganisation
let machine: TestMachine
let seq = 0

beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'), 'dana-laptop')
})

const owner = (now = NOW) => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), now)
const send = (day: string, buckets: UsageBucket[], of = machine) =>
  takeUsage(contextOf(db.prisma, of.actor, NOW), {
    usage: signUsage(of, uploadOf(of, ++seq, [dayOf(day, buckets, NOW.toISOString())])),
  })
const refused = async (work: Promise<unknown>) => {
  try {
    await work
  } catch (error) {
    if (isAppError(error)) return { code: error.code, message: error.message, ...error.details }
    throw error
  }
  return 'done'
}
const text = async () => (await currentRuleSet(owner())).text
const etag = async () => (await currentRuleSet(owner())).etag

describe('what the page shows', () => {
  it('use, steps, what is set aside, the window in words, owners with how many they are, and who reports', async () => {
    await publish(
      db.prisma,
      org,
      'budgets:\n  - { name: week, amount: 10, window: weekly, zone: Europe/Amsterdam, owners: [role:lead] }\n',
    )
    await send('2026-11-17', [bucketOf(), bucketOf({ quarter: 41, model: 'nobody-knows', tokens: { input: 1 } })])
    await cutBudgets({ db: db.prisma, now: NOW, random }, org.id)
    await send('2026-11-18', [bucketOf({ quarter: 1 })])
    await reserve(contextOf(db.prisma, machine.actor, NOW), {
      budget: 'week',
      amount: '1.5',
      leaseSeconds: 60,
      idempotencyKey: 'attempt-1',
    })
    const { budgets, coverage, version } = await listBudgets(owner())
    expect(version).toBe(1)
    const [week] = budgets
    expect(week).toMatchObject({
      name: 'week',
      label: 'resets Monday 00:00 Europe/Amsterdam',
      next: '2026-11-23 00:00',
      start: new Date('2026-11-15T23:00:00Z'),
      owners: [{ owner: 'role:lead', people: 1 }],
      withheld: 0,
    })
    const share = week!.shares[0]!
    expect(parseDecimal(share.bound)! > 0n).toBe(true)
    expect(parseDecimal(share.used)).toBe(parseDecimal('6')! + parseDecimal(share.bound)!)
    expect(share).toMatchObject({ reserved: '1.5', exhausted: false })
    // Reached a moment ago and seen at once, told by the next count.
    expect(share.steps.map(({ step, reached }) => [step, reached])).toEqual([
      [50, true],
      [75, false],
      [90, false],
      [100, false],
    ])
    expect(share.steps[0]!.toldAt).toBeNull()
    expect(share.forecast).toEqual({ state: 'too_early', days: 1 })
    expect(coverage).toMatchObject({
      machines: 1,
      reporting: 1,
      silent: [],
      clients: [{ client: 'claude-code', level: 'figures-only', machines: 1 }],
    })
    const hook = { machineId: machine.id, orgId: org.id, version: '2.1.300', off: [], changedAt: NOW }
    await db.prisma.machineHook.createMany({
      data: [
        { ...hook, client: 'claude-code', level: 'user-hook' },
        { ...hook, client: 'codex', level: 'advice-only' },
      ],
    })
    expect((await listBudgets(owner())).coverage.clients).toEqual([
      { client: 'claude-code', level: 'user-hook', machines: 1 },
      { client: 'codex', level: 'advice-only', machines: 1 },
    ])
    const later = await listBudgets(owner(new Date(NOW.getTime() + 3 * 3600_000)))
    expect(later.coverage).toMatchObject({ reporting: 0, silent: [{ label: 'dana-laptop', since: NOW }] })
    expect(later.budgets[0]!.shares[0]).toMatchObject({ reserved: '0' })
  })

  it('the fullest at the last count is that of the list, in each budget’s own currency, and of persons for themselves', async () => {
    expect(await fullestBudget(owner())).toBeNull()
    await publish(
      db.prisma,
      org,
      `budgets:
  - { name: wide, amount: 100, window: monthly }
  - { name: euro, amount: 4, window: monthly, currency: EUR }
  - { name: each, amount: 4, window: monthly, for: { member: "*" } }
exchange:
  - { currency: EUR, from: 2026-01-01, per_usd: "0.5" }
`,
    )
    await send('2026-11-17', [bucketOf()])
    expect(await fullestBudget(owner())).toBe('not_counted')
    await cutBudgets({ db: db.prisma, now: NOW, random }, org.id)
    await send('2026-11-18', [bucketOf({ quarter: 1 })])
    // Dana's 3 dollars are three quarters of her share, and the organisation's three eighths of 4 euros.
    expect(await fullestBudget(owner())).toEqual({ name: 'euro', usedPct: 37.5, at: NOW })
    const dana = contextOf(db.prisma, actorOf(org, machine.actor.memberId, 'member'), NOW)
    expect(await fullestBudget(dana)).toEqual({ name: 'each', usedPct: 75, at: NOW })
    await cutBudgets({ db: db.prisma, now: new Date(NOW.getTime() + 1000), random }, org.id)
    const shares = (await listBudgets(owner())).budgets.flatMap(one => one.shares.map(share => share.usedPct))
    expect(((await fullestBudget(owner())) as { usedPct: number }).usedPct).toBe(Math.max(...shares))
    const december = new Date('2026-12-03T00:00:00Z')
    expect(await fullestBudget(owner(december))).toBe('not_counted')
  })

  it('what is shown is what machines are told and what reservations are decided by', async () => {
    await publish(db.prisma, org, 'budgets:\n  - { name: all, amount: 10, window: monthly }\n')
    await send('2026-11-17', [bucketOf(), bucketOf({ quarter: 3 })])
    const shown = (await listBudgets(owner())).budgets[0]!.shares[0]!.used
    const jws = await budgetsFor(contextOf(db.prisma, machine.actor, NOW))
    const told = JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString()).budgets[0].used
    const body = { budget: 'all', amount: '1', leaseSeconds: 60, idempotencyKey: 'attempt-1' }
    const { left } = await reserve(contextOf(db.prisma, machine.actor, NOW), body)
    expect([shown, told, left]).toEqual(['6', '6', '3'])
  })

  it('days of a window add up to what is used, in the budget’s own zone, and the forecast goes on from them', async () => {
    await publish(
      db.prisma,
      org,
      'tags: { team: [data, web] }\nbudgets:\n  - { name: team, amount: 100, window: monthly, zone: Asia/Tokyo, for: { team: "*" } }\n',
    )
    const tags = { team: 'web' }
    for (const day of ['2026-10-31', '2026-11-10', '2026-11-11', '2026-11-12', '2026-11-16', '2026-11-17'])
      await send(day, [bucketOf({ tags, quarter: 10 }), bucketOf({ tags, quarter: 90 }), bucketOf({ quarter: 91 })])
    const got = await getBudget(owner(), { name: 'team', value: 'web' })
    expect(got.days[0]).toEqual({ date: '2026-11-01', cost: '3', sum: '3' })
    expect(got.days.at(-1)!.date).toBe('2026-11-18')
    expect(got.days.filter(({ cost }) => cost !== '0').map(({ date }) => date.slice(8))).toEqual([
      '01',
      '10',
      '11',
      '12',
      '13',
      '16',
      '17',
      '18',
    ])
    expect(got.days.at(-1)!.sum).toBe(got.share!.used)
    expect(got.share).toMatchObject({ used: '33', forecast: { state: 'forecast', method: 'weekday' } })
    expect(await refused(getBudget(owner(), { name: 'team', value: 'nobody' }))).toMatchObject({ code: 'NOT_FOUND' })
    expect(await refused(getBudget(owner(), { name: 'none' }))).toMatchObject({ code: 'NOT_FOUND' })
    expect((await getBudget(owner(), { name: 'team' })).share).toMatchObject({ value: 'data', used: '0' })
  })

  it('shares of people and machines are for themselves and for whom they are opened to, whatever the role', async () => {
    await publish(
      db.prisma,
      org,
      'budgets:\n  - { name: each, amount: 10, window: monthly, for: { member: "*" } }\n  - { name: mine, amount: 10, window: monthly, for: { machine: dana-laptop } }\n',
    )
    await send('2026-11-17', [bucketOf()])
    const dana = contextOf(db.prisma, actorOf(org, machine.memberId, 'member'), NOW)
    const shares = async (ctx: typeof dana) =>
      (await listBudgets(ctx)).budgets.map(({ name, shares: all, withheld }) => [
        name,
        all.map(({ label, used }) => `${label} ${used}`),
        withheld,
      ])
    expect(await shares(dana)).toEqual([
      ['each', ['Dana 3'], 1],
      ['mine', ['dana-laptop 3'], 0],
    ])
    expect(await shares(owner())).toEqual([
      ['each', ['Olga Owner 0'], 1],
      ['mine', [], 1],
    ])
    expect(await refused(getBudget(owner(), { name: 'each', value: machine.memberId }))).toMatchObject({
      code: 'NOT_FOUND',
    })
    await grantFigures(owner(), { holderId: org.ownerId, subjectId: machine.memberId, reason: 'asked for', days: 5 })
    expect((await shares(owner()))[1]).toEqual(['mine', ['dana-laptop 3'], 0])
    // Another's machine of the same name is in the sum too: then it is not hers alone to see.
    await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Eli'), 'dana-laptop')
    expect([(await shares(owner()))[1], (await shares(dana))[1]]).toEqual(Array(2).fill(['mine', [], 1]))
  })

  it('a budget for each value of a tag that lists none is shown, with nothing in it', async () => {
    await publish(db.prisma, org, 'budgets:\n  - { name: each, amount: 10, window: daily, for: { project: "*" } }\n')
    expect((await listBudgets(owner())).budgets).toMatchObject([{ name: 'each', shares: [] }])
    expect(await getBudget(owner(), { name: 'each' })).toMatchObject({ share: null, days: [] })
  })
})

describe('edits', () => {
  const budget = { name: 'monthly', amount: '500.00', window: 'monthly' }

  it('adds, changes and removes one budget in place: comments and all else stay, each a version with its note', async () => {
    await saveBudget(owner(), { budget, note: 'begin', etag: '"0"' })
    expect(await text()).toBe('budgets:\n  - name: monthly\n    amount: "500"\n    window: monthly\n')
    const written = `# ours\n${await text()}    # agreed in March\ntags: { team: [web] }\n`
    await publish(db.prisma, org, written)
    await saveBudget(owner(), {
      name: 'monthly',
      budget: { ...budget, name: 'per-month', steps: [80, 100] },
      note: 'renamed',
      etag: await etag(),
    })
    expect(await text()).toContain('# agreed in March\ntags: { team: [web] }\n')
    expect(await text()).toMatch(/^# ours\nbudgets:\n {2}- name: per-month\n/)
    await dropBudget(owner(), { name: 'per-month', note: 'done', etag: await etag() })
    expect(await text()).toContain('tags: { team: [web] }')
    expect((await listBudgets(owner())).budgets).toEqual([])
    const notes = await db.prisma.ruleSetVersion.findMany({ where: { orgId: org.id }, orderBy: { version: 'asc' } })
    expect(notes.map(({ note }) => note)).toEqual(['begin', 'for a test', 'renamed', 'done'])
  })

  it('refuses a stale edit, a mistake with its words, a budget that is not there, and whoever may not publish', async () => {
    const first = await saveBudget(owner(), { budget, note: 'one', etag: '"0"' })
    expect(await refused(saveBudget(owner(), { budget, note: 'two', etag: '"0"' }))).toMatchObject({
      code: 'STALE_EDIT',
      current: { version: 1 },
    })
    const wrong: [object, string][] = [
      [{ ...budget, window: '30d' }, 'is not a window'],
      [{ ...budget, amount: '-5' }, 'lies between 0 and'],
      [{ ...budget, currency: 'EUR' }, 'no exchange rate for EUR'],
      [{ ...budget, for: { tenant: 'nobody' } }, 'no tenant is called nobody'],
      [{ ...budget, colour: 'red' }, 'olour'],
    ]
    for (const [each, words] of wrong) {
      const outcome = await refused(
        saveBudget(owner(), { budget: each as Record<string, unknown>, note: 'x', etag: first.etag }),
      )
      expect(outcome).toMatchObject({ code: 'BAD_INPUT', message: expect.stringContaining(words) })
    }
    expect(await refused(dropBudget(owner(), { name: 'none', note: 'x', etag: first.etag }))).toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await refused(dropBudget(owner(), { name: 'monthly', note: ' ', etag: first.etag }))).toMatchObject({
      code: 'BAD_INPUT',
    })
    for (const [role, method] of [
      ['lead', 'oidc'],
      ['auditor', 'oidc'],
      ['owner', 'device_link'],
    ] as const) {
      const ctx = contextOf(db.prisma, actorOf(org, org.ownerId, role, method), NOW)
      expect(await refused(saveBudget(ctx, { budget, note: 'x', etag: first.etag }))).toMatchObject({
        code: 'FORBIDDEN',
      })
      expect(await refused(dropBudget(ctx, { name: 'monthly', note: 'x', etag: first.etag }))).toMatchObject({
        code: 'FORBIDDEN',
      })
    }
    expect(await db.prisma.ruleSetVersion.count({ where: { orgId: org.id } })).toBe(1)
  })
})
