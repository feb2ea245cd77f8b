import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { database } from '#server/db.ts'
import { closeMailers } from '#server/email/mailer.ts'
import { answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { mailDigest } from '#server/jobs/approval-mail.ts'
import { openWorker, type Worker } from '#server/jobs/worker.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  serverEnvironment,
  type TestMachine,
  type TestOrganisation,
} from '#test/support/makers.ts'
import { catchMail } from '#test/support/smtp.ts'

const db = useDatabase()
let smtp: Awaited<ReturnType<typeof catchMail>>
let worker: Worker | undefined
let org: TestOrganisation
let machine: TestMachine
let n = 0

beforeAll(async () => {
  serverEnvironment()
  smtp = await catchMail()
  process.env.SMTP_URL = smtp.url
})
afterAll(async () => {
  await worker?.stop()
  closeMailers()
  await smtp?.close()
  await database().prisma.$disconnect()
  await database().pool.end()
})
beforeEach(async () => {
  await worker?.stop()
  worker = undefined
  smtp.mails.length = 0
  smtp.refuse(undefined)
  org = await makeOrganisation(db.prisma, `org${++n}`)
  await publish(db.prisma, org, costRule('lead', '    note: "Past $20 somebody looks."\n'))
})

const start = async () => {
  worker = await openWorker({ ...database(), url: db.url }, { cron: false })
}
const emailOf = async (id: string) => (await db.prisma.member.findUniqueOrThrow({ where: { id } })).email
async function file(of: TestMachine = machine): Promise<string> {
  const request = await makeRequest(db.prisma, of)
  await fileRequest(contextOf(db.prisma, of.actor), { request: of.sign('holdpoint-request+jws', request) })
  return request.handle
}
const jobs = async () =>
  (
    await db.admin.query(
      'select task_identifier as task, attempts, max_attempts as most, last_error as error from graphile_worker.jobs order by id',
    )
  ).rows
async function until(ready: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise(resolve => setTimeout(resolve, 25)))
    if (await ready()) return
  throw new Error('it never came')
}

describe('a request', () => {
  it('is mailed once to everyone of the role or above, naming account, organisation, rule, action, client, figures and expiry; its link has no power', async () => {
    const requester = await makeMember(db.prisma, org, 'member', 'Dana Reyes')
    const lead = await makeMember(db.prisma, org, 'lead', 'Lea Lead')
    await makeMember(db.prisma, org, 'member', 'Not Asked')
    await makeMember(db.prisma, org, 'auditor', 'Only Reads')
    machine = await makeMachine(db.prisma, org, requester, 'dana-laptop')
    const handle = await file()
    await start()
    const mail = await smtp.next(await emailOf(lead))
    await smtp.next(`owner@${org.slug}.test`)
    await until(async () => (await jobs()).length === 0)
    expect(smtp.mails.map(each => each.rcpt).sort()).toEqual([await emailOf(lead), `owner@${org.slug}.test`].sort())
    const link = `http://localhost:3000/${org.slug}/approvals/${handle}`
    for (const words of [
      `signed in as ${await emailOf(lead)}`,
      `Organisation: ${org.slug}`,
      'Rule: session-spend',
      'Why there is this rule: Past $20 somebody looks.',
      'Action: continue',
      'Client: Claude Code',
      'Machine: dana-laptop',
      'Session cost: $20.14 (rule: $20.00 or more)',
      'Needs: lead or above',
      'Waits until: 20',
      'A Claude Code session of Dana Reyes has cost $20.14. Let it go on?',
      link,
    ]) {
      expect(mail.text).toContain(words)
      expect(mail.html).toContain(words.replace(/: .*/, '').slice(0, 20))
    }
    expect([...mail.text!.matchAll(/https?:\/\/\S+/g)].map(match => match[0])).toEqual([link])
    expect(mail.headers.get('auto-submitted')).toBe('auto-generated')
    expect(mail.messageId).toContain(handle)
  })

  it('is mailed to a requester who holds the role too, worded as their own', async () => {
    const lead = await makeMember(db.prisma, org, 'lead', 'Lea Lead')
    machine = await makeMachine(db.prisma, org, lead)
    await file()
    await start()
    expect((await smtp.next(await emailOf(lead))).text).toContain(
      'this is your own request: if you answer it, the answer is marked as a self-approval',
    )
    expect((await smtp.next(`owner@${org.slug}.test`)).text).toContain('An agent of Lea Lead')
  })

  it('and its end come in one thread, the end to the requester alone', async () => {
    const requester = await makeMember(db.prisma, org, 'lead', 'Rita Requester')
    const other = await makeMember(db.prisma, org, 'lead', 'Otto Other')
    machine = await makeMachine(db.prisma, org, requester)
    const handle = await file()
    await start()
    const asked = await smtp.next(await emailOf(requester))
    await smtp.next(await emailOf(other))
    await answerApproval(contextOf(db.prisma, { ...actorOf(org, other, 'lead', 'email_code'), name: 'Otto Other' }), {
      handle,
      decision: 'approve',
      scope: 'session',
      until: [{ figure: 'session_cost_usd', op: '<', value: '40' }],
      reason: 'fine this once',
    })
    const end = await smtp.next(await emailOf(requester), 1)
    expect(end.inReplyTo).toBe(asked.messageId)
    expect(end.references).toContain(asked.messageId)
    expect(end.subject).toBe(`Approved: session-spend (${handle})`)
    for (const words of [
      'was approved',
      'Answered by: Otto Other, lead (the web app)',
      'Covers: the rest of the session',
      'Until: Session cost reaches $40',
      'Reason: fine this once',
    ]) {
      expect(end.text).toContain(words)
    }
    await until(async () => (await jobs()).length === 0)
    expect(smtp.mails.filter(mail => mail.text?.includes('was approved')).map(mail => mail.rcpt)).toEqual([
      await emailOf(requester),
    ])
  })

  it('that was withdrawn or ran out before the worker came is not mailed', async () => {
    machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
    const handle = await file()
    await db.admin.query(
      `update "ApprovalRequest" set state = 'withdrawn', "settledAt" = now(), "rowVersion" = 2 where handle = $1`,
      [handle],
    )
    await start()
    await until(async () => (await jobs()).length === 0)
    expect(smtp.mails).toEqual([])
  })

  it('the eleventh within ten minutes comes in a digest that lists what waits', async () => {
    const lead = await makeMember(db.prisma, org, 'lead', 'Lea Lead')
    machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana Reyes'))
    const handles: string[] = []
    for (let i = 0; i < 12; i++) handles.push(await file())
    await start()
    await until(async () => (await jobs()).every(job => job.task === 'mail.digest'))
    const email = await emailOf(lead)
    const sent = smtp.mails.filter(mail => mail.rcpt === email).length
    // Ten in a window, or up to twice that when a window ended in between.
    expect(sent).toBeGreaterThanOrEqual(10)
    if (sent < 12) expect((await jobs()).filter(job => job.task === 'mail.digest')).toHaveLength(2)
    await mailDigest(db.prisma, { org: org.id, member: lead }, new Date())
    const digest = await smtp.next(email, sent)
    expect(digest.subject).toBe(`[${org.slug}] 12 requests wait for an answer`)
    for (const handle of handles) expect(digest.text).toContain(handle)
  })
})

describe('mail', () => {
  it('is not lost while the mail server is down: it is tried again, and goes out when it is back', async () => {
    machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
    const { port } = smtp
    await smtp.close()
    closeMailers()
    await file()
    await start()
    await until(async () => (await jobs()).some(job => job.task === 'mail.send' && job.attempts > 0 && job.error))
    smtp = await catchMail(port)
    await db.admin.query('select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), now())')
    await smtp.next(`owner@${org.slug}.test`)
    await until(async () => (await jobs()).length === 0)
  })

  it('that the receiving side refuses for good stays as failed, with the reason, and is not sent again', async () => {
    machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
    smtp.refuse(550)
    await file()
    await start()
    await until(async () => (await jobs()).some(job => job.task === 'mail.send' && job.attempts === job.most))
    expect((await jobs()).find(job => job.task === 'mail.send').error).toContain('refused for good: 550')
    smtp.refuse(undefined)
    // what is asked for afterwards is sent by the same worker, and nothing else is
    const later = await file(await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'), 'other'))
    expect((await smtp.next(`owner@${org.slug}.test`)).text).toContain(later)
    expect(smtp.mails).toHaveLength(1)
    await db.admin.query('delete from graphile_worker._private_jobs')
  })

  it('whose worker was killed in the middle is sent by the next one within seconds', async () => {
    machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
    await file()
    // What kill -9 leaves: a job that is locked by a worker that nobody is.
    await db.admin.query(
      "update graphile_worker._private_jobs set locked_by = 'worker-killed', locked_at = now() - interval '5 seconds', attempts = 1",
    )
    await start()
    await smtp.next(`owner@${org.slug}.test`)
  })

  it('queued in a transaction that is undone is never sent', async () => {
    const { enqueue } = await import('#server/jobs/queue.ts')
    await db.prisma
      .$transaction(async tx => {
        await enqueue(tx, 'mail.send', { to: 'x@y.test', subject: 's', text: 't', html: 'h', messageId: '<a@b>' })
        throw new Error('undone')
      })
      .catch(() => {})
    expect(await jobs()).toEqual([])
  })
})
