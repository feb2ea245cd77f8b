import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bindAnswer } from '#core/approval/accept.ts'
import { openAnswer } from '#core/approval/answer.ts'
import { type ApprovalRequest, requestDigest } from '#core/approval/request.ts'
import { openDatabase } from '#server/db.ts'
import { answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { answersAfter } from '#server/features/approval/machine.ts'
import { takeReport } from '#server/features/report/report.ts'
import { confirmRestore } from '#server/features/restore.ts'
import { rootChain } from '#server/features/root.ts'
import { publishRuleSet } from '#server/features/rule-set.ts'
import { crypto } from '#server/keys/crypto.ts'
import { reportOf, signReport } from '../../support/connector.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'
import { withDatabase } from '../../support/postgres.ts'

/** With a real copy of the database taken before the answer and put back after it. */
const db = useDatabase()
const backup = `t_backup_${process.pid}`
let restored: ReturnType<typeof openDatabase>
let org: TestOrganisation
let machine: TestMachine
let lead: string
let first: ApprovalRequest

const onPostgres = async (...statements: string[]) => {
  const client = new pg.Client(withDatabase(db.ownerUrl, 'postgres'))
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'))
  lead = await makeMember(db.prisma, org, 'lead', 'Lea')
  await publish(db.prisma, org, costRule('lead'))
  first = await makeRequest(db.prisma, machine)
  await file(db.prisma, first)
  const name = new URL(db.url).pathname.slice(1)
  await onPostgres(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
    `create database ${backup} template ${name}`,
  )
  restored = openDatabase(withDatabase(db.url, backup), 5)
})
afterAll(async () => {
  await restored?.prisma.$disconnect()
  await restored?.pool.end()
  await onPostgres(`drop database if exists ${backup} with (force)`)
})

const file = (prisma: typeof db.prisma, request: ApprovalRequest) =>
  fileRequest(contextOf(prisma, machine.actor), { request: machine.sign('holdpoint-request+jws', request) })
const approve = (prisma: typeof db.prisma, handle: string) =>
  answerApproval(contextOf(prisma, actorOf(org, lead, 'lead')), {
    handle,
    decision: 'approve',
    scope: 'step',
    reason: '',
  })
const answerTo = async (prisma: typeof db.prisma, request: ApprovalRequest) => {
  const { answers } = await answersAfter(contextOf(prisma, machine.actor), { after: 0 })
  const root = (await rootChain(prisma, org.id)).at(-1)!.root
  return answers.map(({ jws }) => openAnswer(jws, root, crypto)).find(answer => answer.handle === request.handle)!
}
/** What the machine says to an answer, about the request that it has stored under its handle. */
const judge = (answer: Awaited<ReturnType<typeof answerTo>>, request: ApprovalRequest) =>
  bindAnswer(answer, {
    stored: { request, digest: requestDigest(request, crypto.sha256) },
    org: org.id,
    machine: machine.id,
    rootSeq: 1,
  })

it('an old yes opens nothing after a restore, and nothing is published until an owner has confirmed', async () => {
  await approve(db.prisma, first.handle)
  const yes = await answerTo(db.prisma, first)
  expect(judge(yes, first)).toEqual({ ok: true })
  const second = await publish(db.prisma, org, costRule('lead', '    note: after the backup\n'))

  // the backup is put back: request 1 waits in it, version 2 was never published
  const owner = contextOf(restored.prisma, actorOf(org, org.ownerId, 'owner'))
  const again = {
    ...(await makeRequest(restored.prisma, machine, { sessionRef: first.sessionRef, attempt: 2 })),
    handle: first.handle,
  }
  expect(judge(yes, again)).toEqual({ ok: false, why: 'other_request' })

  const { jws: proof } = await db.prisma.ruleSetVersion.findUniqueOrThrow({
    where: { orgId_version: { orgId: org.id, version: second.version } },
  })
  const report = reportOf(machine, 1, { rules: { version: second.version, digest: second.digest, proof } })
  await takeReport(contextOf(restored.prisma, machine.actor), { report: signReport(machine, report) })
  expect(await restored.prisma.organisation.findUniqueOrThrow({ where: { id: org.id } })).toMatchObject({
    restoredAt: expect.any(Date),
    highestReported: 2,
  })
  await expect(approve(restored.prisma, first.handle)).rejects.toMatchObject({ code: 'NOT_PENDING' })
  const { states } = await answersAfter(contextOf(restored.prisma, machine.actor), { after: 0 })
  expect(states).toMatchObject([{ handle: first.handle, state: 'withdrawn' }])

  const newest = await restored.prisma.ruleSetVersion.findFirstOrThrow({ where: { orgId: org.id } })
  const put = () =>
    publishRuleSet(owner, { text: costRule('lead'), note: 'after the restore', etag: `"1.${newest.digest}"` })
  await expect(put()).rejects.toMatchObject({ code: 'RESTORED' })
  await confirmRestore(owner)
  expect(await put()).toMatchObject({ version: 3 })
})
