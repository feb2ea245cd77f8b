import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Report } from '#core/protocol.ts'
import type { Role } from '#core/role.ts'
import { database } from '#server/db.ts'
import { budgetStopMail } from '#server/email/budget-stop.ts'
import { closeMailers } from '#server/email/mailer.ts'
import { getBudget } from '#server/features/budget/read.ts'
import { stoppedSheet } from '#server/features/budget/sheet.ts'
import { takeReport } from '#server/features/report/report.ts'
import { grantFigures } from '#server/features/spend/grant.ts'
import type { Jobs } from '#server/jobs/queue.ts'
import { openWorker } from '#server/jobs/worker.ts'
import { reportOf, signReport, someDigest } from '../../support/connector.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  serverEnvironment,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { catchMail } from '../../support/smtp.ts'

const db = useDatabase()
let org: TestOrganisation
let dana: string
let eli: string
let laptop: TestMachine
let smtp: Awaited<ReturnType<typeof catchMail>>

beforeAll(async () => {
  serverEnvironment()
  // Before anything reads the environment.
  smtp = await catchMail()
  process.env.SMTP_URL = smtp.url
})
afterAll(async () => {
  closeMailers()
  await smtp.close()
  await database().prisma.$disconnect()
  await database().pool.end()
})
const TEXT = `budgets:
  - { name: day, amount: 30, window: daily, owners: [role:owner] }
  - { name: other, amount: 30, window: monthly }
boundaries:
  - { name: cap, action: spend, when: { budget_used_pct: ">= 90", budget: day }, require: deny, stage: enforce }
  - { name: free, action: spend, when: { session_cost_usd: ">= 9" }, require: deny, stage: enforce }
tests:
  - { rule: cap, action: spend, figures: { budget_used_pct: 90, budget: day }, expect: deny }
  - { rule: cap, action: spend, figures: { budget_used_pct: 89, budget: day }, expect: pass }
  - { rule: free, action: spend, figures: { session_cost_usd: 9 }, expect: deny }
  - { rule: free, action: spend, figures: { session_cost_usd: 8 }, expect: pass }
`
beforeEach(async () => {
  await db.admin.query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))')
  org = await makeOrganisation(db.prisma)
  dana = await makeMember(db.prisma, org, 'member', 'Dana')
  eli = await makeMember(db.prisma, org, 'member', 'Eli')
  laptop = await makeMachine(db.prisma, org, dana, 'dana-laptop')
  await publish(db.prisma, org, TEXT)
  await db.admin.query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))')
})

type Outcome = Report['outcomes'][number]
const NOW = new Date('2026-11-18T12:00:00Z')
const outcome = (over: Partial<Outcome> = {}): Outcome => ({
  handle: `bnd-${Math.random().toString(16).slice(2, 14).padEnd(12, '0')}`,
  rule: 'cap',
  client: 'claude-code',
  action: 'spend',
  sessionRef: someDigest(),
  stage: 'enforce',
  outcome: 'deny',
  did: 'refused',
  at: NOW.toISOString(),
  figures: [{ name: 'budget_used_pct', qualifier: 'day', value: '91.5', unit: 'pct' }],
  ...over,
})
const seqs = new Map<string, number>()
const report = (of: TestMachine, outcomes: Outcome[], now = NOW) => {
  const seq = (seqs.get(of.id) ?? 0) + 1
  seqs.set(of.id, seq)
  return takeReport(contextOf(db.prisma, of.actor, now), { report: signReport(of, reportOf(of, seq, { outcomes })) })
}
/** What waits to be mailed, as it will be read; `to` by name. */
async function mails(): Promise<{ to: string; subject: string; text: string }[]> {
  const { rows } = await db.admin.query(
    `select payload from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'budget.stop_mail' order by j.id`,
  )
  const members = await db.prisma.member.findMany({ where: { orgId: org.id } })
  return (rows as { payload: Jobs['budget.stop_mail'] }[]).map(({ payload }) => ({
    to: members.find(({ email }) => email === payload.to)!.id,
    ...budgetStopMail(payload.told),
  }))
}
const heads = async () => (await mails()).map(({ to, subject }) => [to, subject])
const stopped = async (id: string, role: Role) =>
  (await getBudget(contextOf(db.prisma, actorOf(org, id, role), NOW), { name: 'day' })).stopped

describe('a call that a budget’s boundary stops', () => {
  it('is told to the member and to the budget’s owners, once for a window whatever follows', async () => {
    await report(laptop, [outcome(), outcome({ did: 'asked' })])
    expect(await heads()).toEqual([
      [dana, 'Budget day stopped your agent'],
      [org.ownerId, 'Budget day stopped an agent'],
    ])
    const [own, owners] = await mails()
    expect(own!.text).toContain('The boundary cap refused a call of your agent. The budget was 91.5 % used.')
    expect(own!.text).toContain('dana-laptop')
    expect(own!.text).toContain(`/${org.slug}/spend/budgets/day`)
    // Whose figures an owner does not see is not named.
    expect(`${owners!.subject} ${owners!.text}`).not.toMatch(/Dana|dana/)
    await report(laptop, [outcome()])
    await report(await makeMachine(db.prisma, org, dana, 'dana-desktop'), [outcome()])
    expect(await heads()).toHaveLength(2)
    const next = new Date('2026-11-19T01:00:00Z')
    await report(laptop, [outcome({ at: next.toISOString() })], next)
    expect(await heads()).toHaveLength(4)
  })

  it('of another member is told to that member; to an owner again only if the owner sees whose it is', async () => {
    const desktop = await makeMachine(db.prisma, org, eli, 'eli-desktop')
    await report(laptop, [outcome()])
    // the first mail is out, so that no second one could hide behind it
    await db.admin.query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))')
    await report(desktop, [outcome({ did: 'asked' })])
    expect(await heads()).toEqual([[eli, 'Budget day stopped your agent']])
    await db.admin.query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))')
    const to = contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), NOW)
    await grantFigures(to, { holderId: org.ownerId, subjectId: eli, reason: 'to help', days: 9 })
    const next = '2026-11-19T09:00:00.000Z'
    await report(laptop, [outcome({ at: next })], new Date(next))
    await report(desktop, [outcome({ at: next, did: 'asked' })], new Date(next))
    expect(await heads()).toEqual([
      [dana, 'Budget day stopped your agent'],
      [org.ownerId, 'Budget day stopped an agent'],
      [eli, 'Budget day stopped your agent'],
      [org.ownerId, 'Budget day stopped the agent of Eli'],
    ])
    expect((await mails()).at(-1)!.text).toContain('held a call of the agent of Eli')
    // a grant whose time is over opens nothing, though nobody ended it
    await db.admin.query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))')
    const after = '2026-11-28T09:00:00.000Z'
    for (const of of [laptop, desktop]) await report(of, [outcome({ at: after })], new Date(after))
    expect(await heads()).toEqual([
      [dana, 'Budget day stopped your agent'],
      [org.ownerId, 'Budget day stopped an agent'],
      [eli, 'Budget day stopped your agent'],
    ])
  })

  it.each(['member', 'machine'])('of a budget for each %s tells nobody else how much of it is used', async key => {
    await publish(db.prisma, org, TEXT.replace('window: daily,', `window: daily, for: { ${key}: "*" },`))
    await db.admin.query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))')
    await report(laptop, [outcome()])
    const [own, owners] = await mails()
    expect([own!.to, owners!.to]).toEqual([dana, org.ownerId])
    expect(own!.text).toContain('91.5')
    expect(owners!.text).not.toMatch(/91\.5|Dana|dana/)
  })

  it('of an owner is one mail to them', async () => {
    await report(await makeMachine(db.prisma, org, org.ownerId, 'owner-laptop'), [outcome()])
    expect(await heads()).toEqual([[org.ownerId, 'Budget day stopped your agent']])
  })

  it('is none where nothing was stopped, by a shadow rule, or by a rule that reads no budget', async () => {
    const session = [{ name: 'session_cost_usd' as const, value: '10', unit: 'usd' as const }]
    await report(laptop, [
      outcome({ did: 'passed' }),
      outcome({ did: 'released' }),
      outcome({ stage: 'shadow' }),
      outcome({ rule: 'free', figures: session }),
      outcome({ rule: 'gone', figures: session }),
    ])
    expect(await heads()).toEqual([])
    expect(await db.prisma.budgetStop.count({ where: { orgId: org.id } })).toBe(0)
  })

  it('goes by the rule where the machine sends no figures, and by the figures where the rule is of another version', async () => {
    await report(laptop, [
      outcome({ figures: [] }),
      outcome({
        rule: 'old-cap',
        figures: [
          { name: 'budget_used_pct', qualifier: 'other', value: 'unread', unit: 'pct' },
          { name: 'budget_used_pct', qualifier: 'not-there', value: '99', unit: 'pct' },
        ],
      }),
    ])
    const rows = await db.prisma.budgetStop.findMany({ where: { orgId: org.id }, orderBy: { budget: 'asc' } })
    expect(rows.map(({ budget, rule, usedPct, windowId }) => [budget, rule, usedPct, windowId.length > 0])).toEqual([
      ['day', 'cap', null, true],
      ['other', 'old-cap', 'unread', true],
    ])
    expect((await mails()).find(({ subject }) => subject.includes('other'))!.text).toContain('could not be read')
  })

  it('by a clock that is far ahead is of now', async () => {
    await report(laptop, [outcome({ at: '2027-03-01T00:00:00.000Z' })])
    expect(await stopped(dana, 'member')).toMatchObject({ people: [{ memberId: dana }] })
  })

  it('on several machines of one member at once is told once', async () => {
    const others = await Promise.all([1, 2, 3, 4].map(n => makeMachine(db.prisma, org, dana, `dana-${n}`)))
    await Promise.all([laptop, ...others].map(of => report(of, [outcome()])))
    expect(await heads()).toHaveLength(2)
    const more = await Promise.all(
      [1, 2, 3, 4].map(async n => {
        const member = await makeMember(db.prisma, org, 'member', `M${n}`)
        return makeMachine(db.prisma, org, member, `m-${n}`)
      }),
    )
    const next = '2026-11-19T09:00:00.000Z'
    await Promise.all(more.map(of => report(of, [outcome({ at: next })], new Date(next))))
    // four members, and the owner once, for they see nobody's figures
    expect((await heads()).slice(2).filter(([to]) => to === org.ownerId)).toHaveLength(1)
    expect(await heads()).toHaveLength(2 + 5)
  })

  it('and its mail are one with the report: a failure leaves neither, and the report that comes again tells', async () => {
    await db.admin.query(
      `create function no_stop() returns trigger language plpgsql as $$ begin raise exception 'no machine'; end $$`,
    )
    await db.admin.query('create trigger no_stop before update on "Machine" for each row execute function no_stop()')
    await expect(report(laptop, [outcome()])).rejects.toThrow()
    expect([await heads(), await db.prisma.budgetStop.count({ where: { orgId: org.id } })]).toEqual([[], 0])
    await db.admin.query('drop function no_stop() cascade')
    await report(laptop, [outcome()])
    expect(await heads()).toHaveLength(2)
  })

  it('stands on the budget’s page: one’s own, others by grant only, else as a number', async () => {
    await report(laptop, [outcome()])
    await report(await makeMachine(db.prisma, org, eli, 'eli-laptop'), [outcome()])
    const own = { memberId: dana, name: 'Dana', own: true, rule: 'cap', did: 'refused', usedPct: '91.5' }
    expect(await stopped(dana, 'member')).toMatchObject({ people: [own], withheld: 1 })
    expect(await stopped(org.ownerId, 'owner')).toEqual({ people: [], withheld: 2 })
    const by = contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), NOW)
    await grantFigures(by, { holderId: org.ownerId, reason: 'to help', days: 9 })
    const { people, withheld } = await stopped(org.ownerId, 'owner')
    expect([people.map(({ name }) => name).sort(), withheld]).toEqual([['Dana', 'Eli'], 0])
  })

  it('stands in the file as on the page, and in no line of somebody whose figures the reader does not see', async () => {
    await report(laptop, [outcome()])
    await report(await makeMachine(db.prisma, org, eli, 'eli-laptop'), [outcome()])
    const rows = async (id: string, role: Role, name: string) =>
      (await stoppedSheet(contextOf(db.prisma, actorOf(org, id, role), NOW), new URLSearchParams({ name }))).rows
    expect(await rows(dana, 'member', 'day')).toMatchObject([
      ['day', 'Dana', expect.any(Date), 'claude-code', 'refused', 'cap', '91.5'],
    ])
    expect(await rows(dana, 'member', 'other')).toEqual([])
    expect(await rows(org.ownerId, 'owner', 'day')).toEqual([])
    await expect(rows(dana, 'member', 'gone')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

it('a worker delivers it', async () => {
  await report(laptop, [outcome()])
  const worker = await openWorker({ ...database(), url: db.url }, { cron: false })
  try {
    await expect.poll(() => smtp.mails.length, { timeout: 15_000 }).toBe(2)
    expect(smtp.mails.map(mail => mail.subject).sort()).toEqual([
      'Budget day stopped an agent',
      'Budget day stopped your agent',
    ])
  } finally {
    await worker.stop()
  }
})
