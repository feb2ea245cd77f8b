import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { UsageBucket } from '#core/usage/upload.ts'
import { database } from '#server/db.ts'
import { budgetStepMail } from '#server/email/budget-step.ts'
import { closeMailers } from '#server/email/mailer.ts'
import { cutBudgets } from '#server/features/budget/cut.ts'
import { takeUsage } from '#server/features/usage/take.ts'
import { cutAll } from '#server/jobs/budget-cut.ts'
import type { Jobs } from '#server/jobs/queue.ts'
import { openWorker, type Worker } from '#server/jobs/worker.ts'
import { useDatabase } from '../../support/db.ts'
import {
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  random,
  serverEnvironment,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { catchMail } from '../../support/smtp.ts'
import { bucketOf, dayOf, signUsage, uploadOf } from '../../support/usage.ts'

const db = useDatabase()
const NOW = new Date('2026-11-18T12:00:00Z')
let org: TestOrganisation
let machine: TestMachine
let lead: string
let seq = 0

let smtp: Awaited<ReturnType<typeof catchMail>>

beforeAll(async () => {
  serverEnvironment()
  // Before anything reads the environment.
  smtp = await catchMail()
  process.env.SMTP_URL = smtp.url
})
beforeEach(async () => {
  await db.admin.query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))')
  org = await makeOrganisation(db.prisma)
  lead = await makeMember(db.prisma, org, 'lead', 'Chris')
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'), 'dana-laptop')
})

const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000)
const cut = (now = NOW) => cutBudgets({ db: db.prisma, now, random }, org.id)
const send = (day: string, dollars: number, over: Partial<UsageBucket> = {}, now = NOW) =>
  takeUsage(contextOf(db.prisma, machine.actor, now), {
    usage: signUsage(
      machine,
      uploadOf(machine, ++seq, [
        dayOf(day, [bucketOf({ ...over, tokens: { input: (dollars * 1_000_000) / 3 } })], now.toISOString()),
      ]),
    ),
  })
const budget = (rest: string) =>
  publish(db.prisma, org, `tags: { team: [data, web] }\nbudgets:\n  - { name: run, amount: 30, ${rest} }\n`)
const emailOf = async (id: string) => (await db.prisma.member.findUniqueOrThrow({ where: { id } })).email
/** The mail that waits, as its owner will read it. */
async function mails(): Promise<{ to: string; subject: string; text: string }[]> {
  const { rows } = await db.admin.query(
    `select payload from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'budget.mail' order by j.id`,
  )
  return (rows as { payload: Jobs['budget.mail'] }[]).map(({ payload }) => ({
    to: payload.to,
    ...budgetStepMail(payload.told),
  }))
}
const subjects = async () => (await mails()).map(({ subject }) => subject)
const steps = async () =>
  (
    await db.prisma.budgetStep.findMany({ where: { orgId: org.id }, orderBy: [{ windowId: 'asc' }, { step: 'asc' }] })
  ).map(({ value, windowId, step }) => `${value} ${windowId} ${step}`.trim())

describe('steps', () => {
  it('are told once each to the budget’s owners, whatever the figure does afterwards', async () => {
    await budget('window: monthly, owners: [role:lead]')
    await send('2026-11-16', 14.7)
    await cut()
    expect(await mails()).toEqual([])
    await send('2026-11-17', 0.3)
    for (let i = 0; i < 3; i++) await cut(at(i))
    expect((await mails()).map(({ to, subject }) => [to, subject]).sort()).toEqual(
      [await emailOf(lead), await emailOf(org.ownerId)].map(to => [to, 'Budget run: 50 % reached']).sort(),
    )
    expect((await mails())[0]!.text).toContain('Used: 15.00 USD')
    await send('2026-11-17', 0)
    await cut(at(4))
    await send('2026-11-17', 0.3)
    await cut(at(5))
    expect(await subjects()).toHaveLength(2)
    await send('2026-11-18', 15)
    await cut(at(6))
    await cut(at(7))
    const told = await mails()
    expect(told.slice(2).map(({ subject }) => subject)).toEqual(Array(2).fill('Budget run: 100 % reached'))
    expect(told[2]!.text).toContain('Steps reached: 75 %, 90 %, 100 %')
    expect(told[2]!.text).toContain('exhausted')
    expect(await steps()).toEqual([50, 75, 90, 100].map(step => `monthly:2026-11@UTC ${step}`))
    const entries = await db.prisma.evidenceEntry.findMany({ where: { orgId: org.id, kind: 'budget.step_reached' } })
    expect(entries.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()).data)).toMatchObject(
      [
        { steps: [50], used: '15' },
        { steps: [75, 90, 100], used: '30' },
      ].map(({ steps: each }) => ({ steps: each, budget: 'run', amount: '30' })),
    )
  })

  it('ten counts at once tell once', async () => {
    await budget('window: monthly')
    await send('2026-11-16', 30)
    await Promise.all(Array.from({ length: 10 }, (_, i) => cut(at(i))))
    expect(await subjects()).toEqual(['Budget run: 100 % reached'])
  })

  it('of a window that ended are still told when the usage came late, once, and said so', async () => {
    await budget('window: daily')
    await send('2026-11-17', 3, {}, new Date('2026-11-17T20:00:00Z'))
    await cut(new Date('2026-11-17T20:00:00Z'))
    await cut(at(0))
    expect(await subjects()).toEqual([])
    await send('2026-11-17', 30, {}, at(5))
    await cut(at(5))
    await cut(at(6))
    const told = await mails()
    expect(told.map(({ subject }) => subject)).toEqual(['Budget run: 100 % reached'])
    expect(told[0]!.text).toContain('The window has ended; the usage was reported late.')
    expect(await steps()).toEqual([50, 75, 90, 100].map(step => `daily:2026-11-17@UTC ${step}`))
    const late = await db.prisma.budgetCut.findFirst({ where: { orgId: org.id, windowId: 'daily:2026-11-17@UTC' } })
    expect(Number(late!.used)).toBe(30)
  })

  it('of a window that ended are told though the usage was still being written when the last count was made', async () => {
    await budget('window: daily')
    await send('2026-11-17', 3, {}, new Date('2026-11-17T20:00:00Z'))
    await cut(new Date('2026-11-17T20:00:00Z'))
    await cut(at(5))
    // received before that count, and in the ledger after it
    await send('2026-11-17', 30, {}, at(4))
    await cut(at(6))
    expect(await subjects()).toEqual(['Budget run: 100 % reached'])
  })

  it('begin anew with the next window, and windows of before a budget was published are not told of', async () => {
    await send('2026-11-16', 30)
    await budget('window: daily')
    await cut()
    expect(await subjects()).toEqual([])
    await send('2026-11-18', 15)
    await cut(at(1))
    const tomorrow = new Date('2026-11-19T12:00:00Z')
    await send('2026-11-19', 15, {}, tomorrow)
    await cut(tomorrow)
    expect(await subjects()).toEqual(Array(2).fill('Budget run: 50 % reached'))
  })

  it('of one value are told for that value alone', async () => {
    await budget('window: monthly, for: { team: "*" }')
    await send('2026-11-16', 30, { tags: { team: 'web' } })
    await cut()
    expect(await subjects()).toEqual(['Budget run (team web): 100 % reached'])
    await send('2026-11-17', 15, { tags: { team: 'data' } })
    await cut(at(1))
    expect((await subjects()).slice(1)).toEqual(['Budget run (team data): 50 % reached'])
  })

  it('of a person’s share name nobody to an owner who does not see that person’s figures', async () => {
    await budget('window: monthly, for: { member: "*" }, owners: [role:member]')
    await send('2026-11-16', 15)
    await cut()
    const told = Object.fromEntries((await mails()).map(({ to, subject, text }) => [to, `${subject}\n${text}`]))
    expect(told[await emailOf(machine.memberId)]).toMatch(/run \(member Dana\)[\s\S]*Used: 15\.00 USD/)
    for (const id of [org.ownerId, lead]) {
      expect(told[await emailOf(id)]).toContain('run (a member)')
      expect(told[await emailOf(id)]).not.toMatch(/Dana|Used/)
    }
    const [entry] = await db.prisma.evidenceEntry.findMany({ where: { orgId: org.id, kind: 'budget.step_reached' } })
    expect(Buffer.from(entry!.bytes).toString()).not.toContain(machine.memberId)
  })

  it('a removed owner is told nothing, and a budget that nobody owns any more is still counted', async () => {
    await budget(`window: monthly, owners: ["member:${lead}"]`)
    await db.prisma.member.update({ where: { id: lead }, data: { removedAt: NOW } })
    await send('2026-11-16', 30)
    await cut()
    expect(await mails()).toEqual([])
    expect(await steps()).toHaveLength(4)
  })

  it('mail and the record of a step are one: a failure between them leaves neither, and the next count tells', async () => {
    await budget('window: monthly')
    await send('2026-11-16', 30)
    await db.admin.query(
      `create function no_entry() returns trigger language plpgsql as $$ begin raise exception 'no entry'; end $$`,
    )
    await db.admin.query(
      `create trigger no_entry before insert on "EvidenceEntry" for each row when (new.kind = 'budget.step_reached') execute function no_entry()`,
    )
    await expect(cut()).rejects.toThrow()
    expect([await mails(), await steps()]).toEqual([[], []])
    expect(await db.prisma.budgetCut.count({ where: { orgId: org.id } })).toBe(0)
    await db.admin.query('drop function no_entry() cascade')
    await cut(at(1))
    expect(await subjects()).toEqual(['Budget run: 100 % reached'])
  })

  it('cannot be taken back by anybody', async () => {
    await budget('window: monthly')
    await send('2026-11-16', 30)
    await cut()
    for (const query of ['delete from "BudgetStep"', 'update "BudgetStep" set step = 1'])
      await expect(db.admin.query(query)).rejects.toThrow('budget_step_stays')
  })
})

it('the job of the minute counts every organisation that has budgets, and one that fails keeps nobody waiting', async () => {
  await budget('window: monthly')
  await send('2026-11-16', 30)
  const broken = await makeOrganisation(db.prisma)
  await publish(db.prisma, broken, 'budgets:\n  - { name: run, amount: 30, window: monthly }\n')
  const bare = await makeOrganisation(db.prisma)
  await publish(db.prisma, bare, 'boundaries: []\n')
  await db.admin.query('alter table "RuleSetVersion" disable trigger user')
  await db.admin.query(`update "RuleSetVersion" set jws = 'x.y.z' where "orgId" = $1`, [broken.id])
  await db.admin.query('alter table "RuleSetVersion" enable trigger user')
  await cutAll(db.prisma, {}, NOW)
  expect(await subjects()).toEqual(['Budget run: 100 % reached'])
  expect(await db.prisma.budgetCount.findUnique({ where: { orgId: org.id } })).toMatchObject({
    at: NOW,
    ruleVersion: 1,
  })
  expect(await db.prisma.budgetCount.findUnique({ where: { orgId: bare.id } })).toBeNull()
  await publish(db.prisma, org, 'boundaries: []\n')
  await cutAll(db.prisma, {}, at(1))
  expect(await db.prisma.budgetCount.findUnique({ where: { orgId: org.id } })).toBeNull()
})

describe('with workers', () => {
  const workers: Worker[] = []
  afterAll(async () => {
    for (const worker of workers) await worker.stop()
    closeMailers()
    await smtp?.close()
    await database().prisma.$disconnect()
    await database().pool.end()
  })

  it('two workers and a count from elsewhere deliver one mail, from publishing alone', async () => {
    await send('2026-11-16', 0)
    const today = new Date()
    const day = today.toISOString().slice(0, 10)
    await takeUsage(contextOf(db.prisma, machine.actor, today), {
      usage: signUsage(
        machine,
        uploadOf(machine, ++seq, [
          dayOf(day, [bucketOf({ quarter: 0, tokens: { input: 10_000_000 } }, day)], today.toISOString()),
        ]),
      ),
    })
    for (let i = 0; i < 2; i++) workers.push(await openWorker({ ...database(), url: db.url }, { cron: false }))
    await Promise.all([budget('window: daily').then(() => cut(new Date())), cutAll(db.prisma, {}, new Date())])
    await expect.poll(() => smtp.mails.length).toBe(1)
    await expect
      .poll(async () => (await db.admin.query('select count(*)::int as n from graphile_worker.jobs')).rows[0].n)
      .toBe(0)
    expect(smtp.mails.map(({ subject }) => subject)).toEqual(['Budget run: 100 % reached'])
  })
})
