/** What owners are mailed of hooks, by the real queue's functions run at given times. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { MAILS_BEFORE_DIGEST } from '#core/limits.ts'
import type { Report } from '#core/protocol.ts'
import { getMachine, listMachines } from '#server/features/machine-list.ts'
import { getOverview } from '#server/features/overview.ts'
import { takeReport } from '#server/features/report/report.ts'
import { mailHooks, mailHooksDigest } from '#server/jobs/hooks-mail.ts'
import { reportOf, signReport } from '../../support/connector.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  serverEnvironment,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
let machine: TestMachine
let seq: number

beforeAll(serverEnvironment)
beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'))
  seq = 0
  await db.admin.query('delete from graphile_worker._private_jobs')
})

type Hook = Report['hooks'][number]
const hook = (level: Hook['level'], off: Hook['off'] = [], client: Hook['client'] = 'claude-code'): Hook => ({
  client,
  level,
  off,
})
const send = (hooks: Hook[], of = machine) => {
  const { rootSeq, rootDigest } = { rootSeq: 0, rootDigest: 'A'.repeat(43) }
  const report = reportOf(of, ++seq, { rules: { rootSeq, rootDigest }, hooks })
  return takeReport(contextOf(db.prisma, of.actor), { report: signReport(of, report) })
}
const settle = (now = new Date(), of = machine) => mailHooks(db.prisma, { org: org.id, machine: of.id }, now)
const jobs = async (task: string) =>
  (
    await db.admin.query<{ payload: { to: string; subject: string; text: string }; runAt: Date; key: string | null }>(
      `select j.payload, p.run_at as "runAt", p.key from graphile_worker._private_jobs p
         join graphile_worker.jobs k on k.id = p.id
         cross join lateral (select p.payload::json as payload) j where k.task_identifier = $1 order by p.id`,
      [task],
    )
  ).rows
const subjects = async () => (await jobs('mail.send')).map(({ payload }) => payload.subject)
const owner = () => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))

it('a hook that goes is mailed to every owner once, and once when it is back', async () => {
  const second = await makeMember(db.prisma, org, 'owner', 'Olga')
  await send([hook('user-hook')])
  expect(await jobs('machine.hooks_mail')).toEqual([])
  await send([hook('broken', ['hooks_disabled_by_user'])])
  expect(await jobs('machine.hooks_mail')).toHaveLength(1)
  await settle()
  const { email } = await db.prisma.member.findUniqueOrThrow({ where: { id: second } })
  const mails = await jobs('mail.send')
  expect(mails).toHaveLength(2)
  expect(mails.map(({ payload }) => payload.to)).toContain(email)
  expect(mails[0]!.payload.subject).toMatch(/^Claude Code on .*: your rules hold less than before$/)
  expect(mails[0]!.payload.text).toContain('user hook → broken or switched off: the user’s settings switch hooks off')
  // the same again, another cause, and the job once more: nobody is told twice
  await send([hook('broken', ['hooks_disabled_by_user'])])
  await send([hook('not-installed')])
  await settle()
  expect(await jobs('mail.send')).toHaveLength(2)
  await send([hook('user-hook')])
  await settle()
  await settle()
  expect((await subjects()).slice(2)).toEqual([
    expect.stringMatching(/^Claude Code on .*: your rules hold again$/),
    expect.stringMatching(/^Claude Code on .*: your rules hold again$/),
  ])
})

it('stands on the machine’s page, in the list and on the overview until it is mended', async () => {
  await send([hook('user-hook'), hook('user-hook', [], 'codex')])
  await send([hook('user-hook'), hook('broken', ['hook_not_trusted'], 'codex')])
  expect(await listMachines(owner())).toMatchObject([{ state: 'alarm', hooks: [{ lost: false }, { lost: true }] }])
  expect((await getOverview(owner())).machines).toMatchObject({ alarm: 1, lost: 1 })
  expect(await getMachine(owner(), { id: machine.id })).toMatchObject({
    hooks: [{ client: 'claude-code' }, { client: 'codex', lost: true, off: ['hook_not_trusted'] }],
  })
  const week = new Date(Date.now() + 8 * 24 * 3600_000)
  expect(await listMachines({ ...owner(), now: week })).toMatchObject([{ state: 'silent' }])
  await send([hook('user-hook'), hook('user-hook', [], 'codex')])
  expect((await getOverview(owner())).machines).toMatchObject({ alarm: 0, lost: 0 })
})

it('a client of which the machine says nothing any more is lost, too', async () => {
  await send([hook('user-hook')])
  await send([])
  await settle()
  expect((await jobs('mail.send')).map(({ payload }) => payload.text)).toEqual([
    expect.stringContaining('user hook → not installed'),
  ])
})

it('a hook that was never held, one that comes and goes before the mail, and a stronger one are no mail', async () => {
  await send([hook('not-installed')])
  expect(await db.prisma.evidenceEntry.count({ where: { orgId: org.id, kind: 'machine.level_changed' } })).toBe(0)
  await send([hook('broken', ['settings_unreadable'])])
  await send([hook('user-hook')])
  await send([hook('not-installed')])
  await send([hook('managed-hook-user-daemon')])
  await settle()
  expect(await subjects()).toEqual([])
  // and from a managed hook to a user's is a loss
  await send([hook('user-hook')])
  await settle()
  expect((await jobs('mail.send'))[0]!.payload.text).toContain('managed hook, user daemon → user hook')
})

it('one that comes and goes all day is four mails an hour, and as it stands at the hour’s end', async () => {
  // from an hour's beginning on: mails are counted by the hour
  const start = Math.ceil(Date.now() / 3600_000) * 3600_000
  for (let n = 0; n < 12; n++) {
    await send([hook(n % 2 === 0 ? 'user-hook' : 'not-installed')])
    await settle(new Date(start + n * 60_000))
  }
  expect(await subjects()).toHaveLength(4)
  const [later] = await jobs('machine.hooks_mail')
  expect(later!.runAt.getTime()).toBeGreaterThan(start + 30 * 60_000)
  await settle(later!.runAt)
  expect((await subjects()).slice(4)).toEqual([expect.stringMatching(/hold less than before$/)])
})

it('past so many mails an owner gets one that lists the machines', async () => {
  const dev = await makeMember(db.prisma, org, 'member', 'Mo')
  const now = new Date()
  for (let n = 0; n < MAILS_BEFORE_DIGEST + 2; n++) {
    const one = await makeMachine(db.prisma, org, dev)
    seq = 0
    await send([hook('user-hook')], one)
    await send([hook('broken')], one)
    await settle(now, one)
  }
  expect(await subjects()).toHaveLength(MAILS_BEFORE_DIGEST)
  expect(await jobs('machine.hooks_digest')).toHaveLength(1)
  await mailHooksDigest(db.prisma, { org: org.id, member: org.ownerId }, now)
  expect((await subjects()).at(-1)).toMatch(new RegExp(`^On ${MAILS_BEFORE_DIGEST + 2} machines of `))
})

it('nobody is mailed of a machine that has left', async () => {
  await send([hook('user-hook')])
  await send([hook('not-installed')])
  await db.prisma.machine.update({ where: { id: machine.id }, data: { leftAt: new Date() } })
  await settle()
  expect(await subjects()).toEqual([])
})

it('a rule whose level is another there is on the machine’s page, and no evidence each time', async () => {
  await send([{ ...hook('user-hook'), rules: [{ rule: 'plan-left', level: 'figure-unread' }] }])
  await send([{ ...hook('user-hook'), rules: [{ rule: 'plan-left', level: 'figure-unread' }] }])
  expect((await getMachine(owner(), { id: machine.id })).hooks).toMatchObject([
    { rules: [{ rule: 'plan-left', level: 'figure-unread' }] },
  ])
  await send([hook('user-hook')])
  expect((await getMachine(owner(), { id: machine.id })).hooks).toMatchObject([{ rules: [] }])
  const kinds = await db.prisma.evidenceEntry.count({ where: { orgId: org.id, kind: 'machine.level_changed' } })
  expect(kinds).toBe(1)
})
