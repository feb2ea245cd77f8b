import { beforeAll, describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { openAnswer } from '#core/approval/answer.ts'
import { requestDigest } from '#core/approval/request.ts'
import { type AnswerInput, answerApproval } from '#server/features/approval/answer.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { answersAfter, markGrant, withdrawByMachine } from '#server/features/approval/machine.ts'
import { getApproval, listApprovals } from '#server/features/approval/read.ts'
import { sweepApprovals } from '#server/features/approval/sweep.ts'
import { revokeGrant } from '#server/features/approval/withdraw.ts'
import { removeMember } from '#server/features/member.ts'
import { rootChain } from '#server/features/root.ts'
import { crypto } from '#server/keys/crypto.ts'
import { useDatabase } from '../../support/db.ts'
import { BLOCKED, untilTrue } from '../../support/db-waits.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  random,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
/** By the database's own clock, which is what decides. */
const isOver = 'select "expiresAt" < clock_timestamp() from "ApprovalRequest" where handle = $1'
let org: TestOrganisation
let lead: MemberActor
let owner: MemberActor
let dev: string
let machine: TestMachine

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  dev = await makeMember(db.prisma, org, 'member', 'Dana')
  lead = actorOf(org, await makeMember(db.prisma, org, 'lead', 'Lea'), 'lead')
  owner = actorOf(org, org.ownerId, 'owner')
  machine = await makeMachine(db.prisma, org, dev)
  await publish(db.prisma, org, costRule('lead'))
})

const file = async (over = {}, of = machine) => {
  const request = await makeRequest(db.prisma, of, over)
  const answer = await fileRequest(contextOf(db.prisma, of.actor), {
    request: of.sign('holdpoint-request+jws', request),
  })
  return { request, answer }
}
const approve = (handle: string, by: MemberActor = lead, over: Partial<AnswerInput> = {}) =>
  answerApproval(contextOf(db.prisma, by), { handle, decision: 'approve', scope: 'step', reason: '', ...over })
const kinds = async (handle: string) =>
  (await db.prisma.evidenceEntry.findMany({ where: { subjectRef: handle }, orderBy: { seq: 'asc' } })).map(e => e.kind)
const jobs = async (handle: string) =>
  (
    await db.admin.query(
      `select task_identifier from graphile_worker.jobs j join graphile_worker._private_jobs p using (id) where p.payload->>'handle' = $1 order by j.id`,
      [handle],
    )
  ).rows.map(r => r.task_identifier as string)

describe('filing', () => {
  it('a hundred retries of one held call make one request, one mail job and one evidence entry', async () => {
    const request = await makeRequest(db.prisma, machine)
    const retries = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const retry = { ...request, handle: `bnd-${i.toString(16).padStart(12, '0')}`, attempt: 1 }
        return fileRequest(contextOf(db.prisma, machine.actor), {
          request: machine.sign('holdpoint-request+jws', retry),
        })
      }),
    )
    expect(new Set(retries.map(r => r.handle)).size).toBe(1)
    const handle = retries[0]!.handle
    expect(await db.prisma.approvalRequest.count({ where: { sessionRef: request.sessionRef } })).toBe(1)
    expect(await jobs(handle)).toEqual(['approval.mail'])
    expect(await kinds(handle)).toEqual(['approval.requested'])
  })
  it('says who can answer and where', async () => {
    const { answer } = await file()
    expect(answer).toMatchObject({
      state: 'pending',
      role: 'lead',
      approvals: 1,
      eligible: 2,
      url: `http://localhost:3000/${org.slug}/approvals/${answer.handle}`,
    })
  })
  it('a machine that files without end, and a member who answers without end, are stopped before the ledger is', async () => {
    const busy = await makeMachine(db.prisma, org, dev, 'busy')
    const { answer } = await file({}, busy)
    const size = async () => (await db.prisma.ledger.findUniqueOrThrow({ where: { orgId: org.id } })).size
    const link = { ...actorOf(org, await makeMember(db.prisma, org, 'lead'), 'lead', 'device_link') } as const
    await expect(approve(answer.handle, link)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await db.prisma.rateCount.updateMany({
      where: { key: { in: [`requestByMachine:${busy.id}`, `answerByMember:${link.memberId}`] } },
      data: { count: 600 },
    })
    const before = await size()
    await expect(approve(answer.handle, link)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await expect(file({}, busy)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(await size()).toBe(before)
  })
  it('refuses a clock that is more than a day off: no answer to it could hold, or one would hold for days', async () => {
    for (const hours of [-25, 25, 24 * 400]) {
      const createdAt = Date.now() + hours * 3600_000
      const times = {
        createdAt: new Date(createdAt).toISOString(),
        expiresAt: new Date(createdAt + 3600_000).toISOString(),
      }
      await expect(file(times), String(hours)).rejects.toMatchObject({ details: { why: 'clock_off' } })
    }
    const createdAt = Date.now() + 23 * 3600_000
    const { answer } = await file({
      createdAt: new Date(createdAt).toISOString(),
      expiresAt: new Date(createdAt + 3600_000).toISOString(),
    })
    expect(await approve(answer.handle)).toEqual({ settled: true, missing: 0 })
  })
  it('refuses a signature of another key, another machine, another member and a rule that does not stand like that', async () => {
    const other = await makeMachine(db.prisma, org, dev, 'other')
    const request = await makeRequest(db.prisma, machine)
    const send = (jws: string, of = machine) => fileRequest(contextOf(db.prisma, of.actor), { request: jws })
    await expect(send(other.sign('holdpoint-request+jws', request))).rejects.toMatchObject({ code: 'BAD_SIGNATURE' })
    await expect(send(other.sign('holdpoint-request+jws', request), other)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(
      send(machine.sign('holdpoint-request+jws', { ...request, member: org.ownerId })),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const wrongRule = {
      ...request,
      rules: [{ name: 'session-spend', digest: requestDigest(request, crypto.sha256) }],
    }
    await expect(send(machine.sign('holdpoint-request+jws', wrongRule))).rejects.toMatchObject({
      details: { why: 'rule_mismatch' },
    })
    const wrongSet = { ...request, ruleset: { ...request.ruleset, version: 99 } }
    await expect(send(machine.sign('holdpoint-request+jws', wrongSet))).rejects.toMatchObject({
      details: { why: 'unknown_ruleset' },
    })
    await expect(send(machine.sign('holdpoint-request+jws', { ...request, prompt: 'please' }))).rejects.toMatchObject({
      code: 'BAD_INPUT',
    })
  })
  it('files nothing while a denial of the same subject stands', async () => {
    const { request, answer } = await file()
    await approve(answer.handle, lead, { decision: 'deny' })
    const again = await file({ sessionRef: request.sessionRef, attempt: 2 })
    expect(again.answer).toMatchObject({ handle: answer.handle, state: 'denied' })
  })
})

describe('answering', () => {
  it('signs an answer that a machine can verify, bound to the request, and tells who, how and up to when', async () => {
    const { request, answer } = await file()
    await approve(answer.handle, lead, {
      scope: 'session',
      until: [{ figure: 'session_cost_usd', op: '<', value: '40' }],
      reason: 'fine',
    })
    const { answers } = await answersAfter(contextOf(db.prisma, machine.actor), { after: 0 })
    const root = (await db.prisma.$transaction(tx => rootChain(tx, org.id))).at(-1)!
    const opened = openAnswer(answers.at(-1)!.jws, root.root, crypto)
    expect(opened).toMatchObject({
      handle: answer.handle,
      request: requestDigest(request, crypto.sha256),
      decision: 'approve',
      scope: 'session',
      until: [{ figure: 'session_cost_usd', op: '<', value: '40' }],
      approvers: [{ memberId: lead.memberId, name: 'Lea', role: 'lead', method: 'oidc', how: 'web' }],
      policy: { role: 'lead', approvals: 1, self: 'account' },
    })
    expect(Date.parse(opened.notBefore)).toBeGreaterThan(Date.parse(request.createdAt))
    expect(Date.parse(opened.notAfter)).toBe(Date.parse(request.createdAt) + 24 * 3600_000)
    expect(await kinds(answer.handle)).toEqual(['approval.requested', 'approval.approved'])
    expect(await jobs(answer.handle)).toEqual(['approval.mail', 'approval.mail_settled'])
    const ledger = await db.prisma.evidenceEntry.findMany({ where: { subjectRef: answer.handle } })
    expect(ledger.map(e => Buffer.from(e.bytes).toString()).join()).not.toContain('fine')
  })
  it('two answers at once: one settles it, the other sees the first', async () => {
    const { answer } = await file()
    const both = await Promise.allSettled([
      approve(answer.handle, lead),
      approve(answer.handle, owner, { decision: 'deny' }),
    ])
    expect(both.filter(r => r.status === 'fulfilled')).toHaveLength(1)
    const lost = both.find(r => r.status === 'rejected') as PromiseRejectedResult
    expect(lost.reason).toMatchObject({ code: 'NOT_PENDING' })
    expect(await db.prisma.approvalAnswer.count({ where: { handle: answer.handle } })).toBe(1)
  })
  it('ten clicks of the same person are one vote and one answer', async () => {
    const { answer } = await file()
    const clicks = await Promise.all(Array.from({ length: 10 }, () => approve(answer.handle)))
    expect(clicks.every(c => c.settled)).toBe(true)
    expect(await db.prisma.approvalVote.count({ where: { handle: answer.handle } })).toBe(1)
    expect(await db.prisma.approvalAnswer.count({ where: { handle: answer.handle } })).toBe(1)
  })
  it('an answer blocked on a row lock past its expiry is expired, and the second clicker sees it', async () => {
    // It must have begun in time, by PostgreSQL's clock: a slow machine gets more of it.
    for (const waitMs of [1000, 4000, 8000]) {
      const expiresAt = Date.now() + waitMs
      const { answer } = await file({
        createdAt: new Date().toISOString(),
        expiresAt: new Date(expiresAt).toISOString(),
      })
      const holder = await db.admin.connect()
      await holder.query('begin')
      await holder.query('select 1 from "ApprovalRequest" where handle = $1 for update', [answer.handle])
      const blocked = approve(answer.handle).catch((error: unknown) => error)
      await untilTrue(db.admin, `(${BLOCKED}) > 0`)
      const { rows } = await db.admin.query<{ began: Date }>(
        BLOCKED.replace('count(*)::int as n', 'xact_start as began'),
      )
      await untilTrue(db.admin, isOver, answer.handle)
      await holder.query('commit')
      holder.release()
      expect(await blocked).toMatchObject({ code: 'EXPIRED' })
      await expect(approve(answer.handle, owner)).rejects.toMatchObject({ code: 'NOT_PENDING' })
      expect(await db.prisma.approvalAnswer.count({ where: { handle: answer.handle } })).toBe(0)
      expect(await kinds(answer.handle)).toContain('approval.expired')
      if (rows[0]!.began.getTime() < expiresAt) return
    }
    throw new Error('no answer could be begun in time')
  })
  it('a role lost between mail and click is refused, and the refusal is evidence', async () => {
    const { answer } = await file()
    const demoted = await makeMember(db.prisma, org, 'lead', 'Soon a member')
    await db.prisma.member.update({
      where: { id: demoted },
      data: { role: 'member', roleChangedAt: new Date(), roleChangedBy: org.ownerId },
    })
    await expect(approve(answer.handle, actorOf(org, demoted, 'lead'))).rejects.toMatchObject({ code: 'NOT_APPROVER' })
    expect(await kinds(answer.handle)).toContain('approval.vote_refused')
  })
  it("refuses a machine's link, the requester's own credential and the console for one's own request", async () => {
    const own = await makeMachine(db.prisma, org, lead.memberId, 'lead-laptop')
    const { answer } = await file({}, own)
    const by = (method: MemberActor['method']) => actorOf(org, lead.memberId, 'lead', method)
    await expect(approve(answer.handle, by('device_link'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(approve(answer.handle, by('admin_credential'))).rejects.toMatchObject({ code: 'OWN_REQUEST' })
    await expect(approve(answer.handle, by('console'))).rejects.toMatchObject({ code: 'OWN_REQUEST' })
    await approve(answer.handle, by('email_code'))
    expect((await getApproval(contextOf(db.prisma, owner), { handle: answer.handle })).answeredBy[0]).toMatchObject({
      self: true,
    })
  })
  it('a machine whose clock is an hour behind gets an answer that holds by its own clock', async () => {
    const behind = new Date(Date.now() - 3600_000)
    const { request, answer } = await file({
      createdAt: behind.toISOString(),
      expiresAt: new Date(behind.getTime() + 1800_000).toISOString(),
    })
    await approve(answer.handle)
    const { answers } = await answersAfter(contextOf(db.prisma, machine.actor), { after: 0 })
    const payload = JSON.parse(Buffer.from(answers.at(-1)!.jws.split('.')[1]!, 'base64url').toString())
    expect(Date.parse(payload.notBefore) - behind.getTime()).toBeLessThan(60_000)
    expect(Date.parse(payload.notAfter)).toBe(Date.parse(request.createdAt) + 24 * 3600_000)
  })
  it('two approvals: a voter demoted or removed before the next one votes leaves it waiting, scopes mixed give the step', async () => {
    await publish(db.prisma, org, costRule('lead', '    approvals: 2\n'))
    const { answer } = await file()
    const first = await makeMember(db.prisma, org, 'lead', 'First')
    expect(await approve(answer.handle, actorOf(org, first, 'lead'), { scope: 'session' })).toEqual({
      settled: false,
      missing: 1,
    })
    await db.prisma.member.update({ where: { id: first }, data: { role: 'member' } })
    const removed = await makeMember(db.prisma, org, 'lead', 'Removed')
    expect(await approve(answer.handle, actorOf(org, removed, 'lead'))).toEqual({ settled: false, missing: 1 })
    await removeMember(contextOf(db.prisma, owner), { id: removed })
    expect(await approve(answer.handle, lead, { scope: 'session' })).toEqual({ settled: false, missing: 1 })
    expect(await approve(answer.handle, owner, { scope: 'step' })).toEqual({ settled: true, missing: 0 })
    expect(await getApproval(contextOf(db.prisma, owner), { handle: answer.handle })).toMatchObject({
      state: 'approved',
      scope: 'step',
    })
    await publish(db.prisma, org, costRule('lead'))
  })
})

describe('ending', () => {
  it('withdrawn by its machine is no denial, and reaches the machine as withdrawn', async () => {
    const { answer } = await file()
    await withdrawByMachine(contextOf(db.prisma, machine.actor), {
      handle: answer.handle,
      why: 'session_ended',
    })
    const { states } = await answersAfter(contextOf(db.prisma, machine.actor), { after: 0 })
    expect(states.find(s => s.handle === answer.handle)).toMatchObject({ state: 'withdrawn' })
    await expect(approve(answer.handle)).rejects.toMatchObject({ code: 'NOT_PENDING' })
  })
  it('denied on a machine is the machine’s word, and no person’s denial', async () => {
    const { answer } = await file()
    await withdrawByMachine(contextOf(db.prisma, machine.actor), {
      handle: answer.handle,
      why: 'denied_here',
    })
    expect(await getApproval(contextOf(db.prisma, lead), { handle: answer.handle })).toMatchObject({
      state: 'withdrawn',
      ended: { by: 'machine', why: 'denied_here' },
    })
  })
  it('a used grant cannot be revoked, a standing one can, and the machine is told', async () => {
    const { answer } = await file()
    await approve(answer.handle, lead, { scope: 'session' })
    await revokeGrant(contextOf(db.prisma, lead), { handle: answer.handle })
    const second = await file()
    await approve(second.answer.handle)
    const { answerId } = await db.prisma.approvalAnswer.findFirstOrThrow({ where: { handle: second.answer.handle } })
    const mark = () =>
      db.prisma.$transaction(tx =>
        markGrant(tx, contextOf(db.prisma, machine.actor), {
          handle: second.answer.handle,
          answerId,
          what: 'used',
          at: new Date(),
        }),
      )
    expect([await mark(), await mark()]).toEqual([true, false])
    await expect(revokeGrant(contextOf(db.prisma, lead), { handle: second.answer.handle })).rejects.toMatchObject({
      code: 'NOT_PENDING',
    })
    const { states } = await answersAfter(contextOf(db.prisma, machine.actor), { after: 0 })
    expect(states.find(s => s.handle === answer.handle)).toMatchObject({ state: 'revoked' })
  })
  it('a grant reads as lapsed from the moment its time is over, before housekeeping came by', async () => {
    const { answer } = await file()
    await approve(answer.handle, lead, { scope: 'session' })
    const { standsUntil } = await db.prisma.approvalRequest.findFirstOrThrow({ where: { handle: answer.handle } })
    const at = async (ms: number) => {
      const now = new Date(standsUntil!.getTime() + ms)
      const { state, mayRevoke } = await getApproval(contextOf(db.prisma, lead, now), { handle: answer.handle })
      return { state, mayRevoke }
    }
    expect(await at(-1)).toEqual({ state: 'approved', mayRevoke: true })
    expect(await at(0)).toEqual({ state: 'lapsed', mayRevoke: false })
  })
  it('housekeeping expires what is due and nothing else', async () => {
    const due = await file({ createdAt: new Date().toISOString(), expiresAt: new Date(Date.now() + 100).toISOString() })
    const waiting = await file()
    await untilTrue(db.admin, isOver, due.answer.handle)
    await sweepApprovals(db.prisma, new Date(), random)
    const state = async (handle: string) =>
      (await db.prisma.approvalRequest.findFirstOrThrow({ where: { handle } })).state
    expect([await state(due.answer.handle), await state(waiting.answer.handle)]).toEqual(['expired', 'pending'])
  })
})

describe('reading', () => {
  it('shows a request to its requester, to possible answerers and auditors, and to no other member', async () => {
    const { answer } = await file()
    const other = actorOf(org, await makeMember(db.prisma, org, 'member', 'Other'), 'member')
    const auditor = actorOf(org, await makeMember(db.prisma, org, 'auditor', 'Audra'), 'auditor')
    const sees = async (actor: MemberActor) =>
      (await listApprovals(contextOf(db.prisma, actor), { state: 'all' })).items.some(i => i.handle === answer.handle)
    expect([await sees(actorOf(org, dev, 'member')), await sees(lead), await sees(auditor), await sees(other)]).toEqual(
      [true, true, true, false],
    )
    await expect(getApproval(contextOf(db.prisma, other), { handle: answer.handle })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})

describe('the database itself', () => {
  const raw = (sql: string, values: unknown[]) => db.admin.query(sql, values)
  it('refuses every other way between states by name', async () => {
    const { answer } = await file()
    const set = (state: string) =>
      raw(
        `update "ApprovalRequest" set state = $2::"ApprovalState", "rowVersion" = "rowVersion" + 1, "settledAt" = now() where handle = $1`,
        [answer.handle, state],
      )
    for (const state of ['used', 'revoked', 'lapsed'])
      await expect(set(state)).rejects.toThrow(`approval_cannot_move_from_pending_to_${state}`)
    await set('denied')
    for (const state of ['approved', 'expired', 'withdrawn'])
      await expect(set(state)).rejects.toThrow(`approval_cannot_move_from_denied_to_${state}`)
  })
  it('refuses a change without a new row version, of the request itself, of a vote and of an answer', async () => {
    const { answer } = await file()
    await expect(
      raw(`update "ApprovalRequest" set state = 'denied', "settledAt" = now() where handle = $1`, [answer.handle]),
    ).rejects.toThrow('approval_row_version')
    await expect(
      raw(`update "ApprovalRequest" set role = 'member', "rowVersion" = 2 where handle = $1`, [answer.handle]),
    ).rejects.toThrow('approval_request_stays')
    await approve(answer.handle)
    await expect(raw(`update "ApprovalVote" set decision = 'deny' where handle = $1`, [answer.handle])).rejects.toThrow(
      'approvalvote_append_only',
    )
    await expect(raw(`delete from "ApprovalAnswer" where handle = $1`, [answer.handle])).rejects.toThrow(
      'approvalanswer_append_only',
    )
  })
  it('refuses evidence that is changed, deleted or out of order', async () => {
    await expect(raw(`update "EvidenceEntry" set kind = 'x' where "orgId" = $1`, [org.id])).rejects.toThrow(
      'evidenceentry_append_only',
    )
    await expect(raw(`delete from "EvidenceEntry" where "orgId" = $1`, [org.id])).rejects.toThrow(
      'evidenceentry_append_only',
    )
    await expect(raw('truncate "EvidenceEntry"', [])).rejects.toThrow('evidenceentry_append_only')
    await expect(db.pool.query('delete from "EvidenceEntry"')).rejects.toThrow('permission denied')
    await expect(db.pool.query('delete from "Ledger"')).rejects.toThrow('permission denied')
    await expect(
      raw(
        `insert into "EvidenceEntry" ("orgId", seq, bytes, leaf, kind, "receivedAt", "actorRef") values ($1, 9999, '', '', 'x', now(), '')`,
        [org.id],
      ),
    ).rejects.toThrow('evidence_without_gap')
  })
})
