import type { Answer } from '#core/approval/answer.ts'
import { ceilingText, figureTitle, questionOf } from '#core/approval/describe.ts'
import { limitText } from '#core/approval/limit.ts'
import type { ApprovalRequest } from '#core/approval/request.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import { MAIL_DIGEST_WINDOW_MS, MAILS_BEFORE_DIGEST } from '#core/limits.ts'
import type { Db } from '../db.ts'
import { approvalDigestMail } from '../email/approval-digest.ts'
import { approvalRequestedMail } from '../email/approval-requested.ts'
import { approvalSettledMail, type SettledData } from '../email/approval-settled.ts'
import { env } from '../env.ts'
import { eligibleMembers } from '../features/approval/eligible.ts'
import { asApproval, type KeptRules } from '../features/approval/load.ts'
import { countAttempt } from '../features/rate.ts'
import { storedPayload } from '../keys/stored.ts'
import { letter, mailTime, messageId, requestThread } from './mail-letter.ts'
import { enqueue, type Jobs } from './queue.ts'

const RELATIONS = {
  votes: { orderBy: { at: 'asc' }, include: { member: { select: { name: true } } } },
  org: { select: { name: true, slug: true } },
  member: { select: { id: true, name: true, email: true, removedAt: true } },
  machine: { select: { label: true } },
  answer: { select: { jws: true } },
} as const

const load = (db: Db, { org, handle }: Jobs['approval.mail']) =>
  db.approvalRequest.findUnique({ where: { orgId_handle: { orgId: org, handle } }, include: RELATIONS })

const pageOf = (slug: string, handle: string) => `${env().publicUrl}/${slug}/approvals/${handle}`

/**
 * Mails everybody who could answer a new request right now: one message each, the requester too where they hold the role
 * (worded as their own). Past ten in ten minutes a person gets a digest instead. Repeating the job may repeat a mail, under
 * the same Message-ID; it never loses one: the mails are queued in the transaction that counts them.
 */
export async function mailRequest(db: Db, job: Jobs['approval.mail'], now: Date): Promise<void> {
  const row = await load(db, job)
  if (row?.state !== 'pending' || row.expiresAt <= now) return
  const request = row.request as ApprovalRequest
  const kept = row.rules as KeptRules
  const note = kept.rules
    .map(rule => rule.note)
    .filter(Boolean)
    .join(' ')
  const members = await eligibleMembers(db, asApproval(row), row.orgId, now)
  await db.$transaction(async tx => {
    for (const member of members) {
      const { count, until } = await countAttempt({ db: tx, now }, `request-mails:${member.id}`, MAIL_DIGEST_WINDOW_MS)
      if (count > MAILS_BEFORE_DIGEST) {
        await enqueue(
          tx,
          'mail.digest',
          { org: row.orgId, member: member.id },
          { key: `digest:${member.id}`, runAt: until },
        )
        continue
      }
      const mail = approvalRequestedMail({
        account: member.email,
        org: row.org.name,
        handle: row.handle,
        question: questionOf(request, row.member.name),
        rules: kept.rules.map(rule => rule.name),
        ...(note ? { note } : {}),
        action: request.action,
        client: CLIENT_NAMES[request.client],
        machine: row.machine.label,
        requester: row.member.name,
        role: row.role,
        approvals: row.approvals,
        figures: request.figures.map(figure => ({ ...figure, limit: limitText(kept.rules, figure) })),
        expires: mailTime(row.expiresAt),
        url: pageOf(row.org.slug, row.handle),
        own: member.id === row.memberId,
        about: request.subject.kind,
      })
      await enqueue(tx, 'mail.send', letter(mail, member.email, requestThread(row.handle, member.id)), {
        key: `request:${row.handle}:${member.id}`,
        org: row.orgId,
      })
    }
  })
}

/** Tells the requester, and nobody else, how it ended. */
export async function mailSettled(db: Db, job: Jobs['approval.mail_settled']): Promise<void> {
  const row = await load(db, job)
  if (!row || row.member.removedAt || row.state === 'pending') return
  const request = row.request as ApprovalRequest
  const answer = row.answer ? storedPayload<Answer>(row.answer.jws) : undefined
  const reasons = row.votes.map(vote => vote.reason).filter(Boolean)
  const state = row.state === 'used' || row.state === 'lapsed' ? 'approved' : row.state
  const mail = approvalSettledMail({
    account: row.member.email,
    org: row.org.name,
    handle: row.handle,
    rules: (row.rules as KeptRules).rules.map(rule => rule.name),
    client: CLIENT_NAMES[request.client],
    machine: row.machine.label,
    state,
    ...(answer ? { scope: answer.scope } : {}),
    about: request.subject.kind,
    until:
      answer?.until.map(
        limit => `${figureTitle({ name: limit.figure, qualifier: limit.qualifier })} reaches ${ceilingText(limit)}`,
      ) ?? [],
    ...(row.standsUntil && (state === 'approved' || state === 'denied')
      ? { standsUntil: mailTime(row.standsUntil) }
      : {}),
    answeredBy: row.votes.map(vote => ({
      name: vote.member.name,
      role: vote.role,
      how: vote.how === 'team-cli' ? 'the command' : 'the web app',
    })),
    ...(reasons.length > 0 ? { reason: reasons.join(' / ') } : {}),
    url: pageOf(row.org.slug, row.handle),
  } satisfies SettledData)
  const id = messageId('settled', row.handle, row.member.id, row.state)
  await db.$transaction(tx =>
    enqueue(tx, 'mail.send', letter(mail, row.member.email, id, requestThread(row.handle, row.member.id)), {
      key: `settled:${row.handle}:${row.state}`,
      org: row.orgId,
    }),
  )
}

/** What waits for one person, in one mail; nothing when nothing waits any more. */
export async function mailDigest(db: Db, job: Jobs['mail.digest'], now: Date): Promise<void> {
  const member = await db.member.findFirst({
    where: { id: job.member, orgId: job.org, removedAt: null },
    include: { org: true },
  })
  if (!member) return
  const open = await db.approvalRequest.findMany({
    where: { orgId: job.org, state: 'pending', expiresAt: { gt: now } },
    include: RELATIONS,
    orderBy: { receivedAt: 'asc' },
    take: 500,
  })
  const waiting: { handle: string; rules: string[]; requester: string; machine: string; expires: string }[] = []
  for (const row of open) {
    const eligible = await eligibleMembers(db, asApproval(row), row.orgId, now)
    if (!eligible.some(each => each.id === member.id)) continue
    waiting.push({
      handle: row.handle,
      rules: (row.rules as KeptRules).rules.map(rule => rule.name),
      requester: row.member.name,
      machine: row.machine.label,
      expires: mailTime(row.expiresAt),
    })
  }
  if (waiting.length === 0) return
  const mail = approvalDigestMail({
    account: member.email,
    org: member.org.name,
    waiting,
    url: `${env().publicUrl}/${member.org.slug}/approvals`,
  })
  const id = messageId('digest', member.id, String(now.getTime()))
  await db.$transaction(tx => enqueue(tx, 'mail.send', letter(mail, member.email, id), { org: job.org }))
}
