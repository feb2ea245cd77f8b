import type { MemberActor } from '#core/actor.ts'
import type { Ceiling } from '#core/approval/answer.ts'
import type { ApprovalRequest as Request } from '#core/approval/request.ts'
import type { Answerer, Approval, Terms, Vote } from '#core/approval/state.ts'
import type { ApprovalRequest, ApprovalVote, Member } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'

/** A request's row with its votes. */
export type ApprovalRecord = ApprovalRequest & { votes: ApprovalVote[] }

/** What is kept of the matched rules beside the request: as they stood in the version that held the action. */
export type KeptRules = { terms: Terms; rules: { name: string; digest: string; text: unknown; note?: string }[] }

/** The row as core sees it. */
export function asApproval(row: ApprovalRecord): Approval {
  return {
    state: row.state,
    requesterId: row.memberId,
    terms: (row.rules as KeptRules).terms,
    votes: row.votes.map(asVote),
    madeAt: new Date((row.request as Request).createdAt),
    receivedAt: row.receivedAt,
    expiresAt: row.expiresAt,
  }
}

const asVote = (vote: ApprovalVote): Vote => ({
  memberId: vote.memberId,
  role: vote.role,
  method: vote.method,
  how: vote.how as Vote['how'],
  decision: vote.decision,
  scope: vote.scope,
  until: vote.until as Ceiling[],
})

/** The member behind an actor as the database has them now: role and standing are asked again at every answer. */
export function asAnswerer(actor: Pick<MemberActor, 'method' | 'how'>, member: Member): Answerer {
  return {
    ...asVoter(member),
    method: actor.method,
    how: actor.how,
    joinedAt: member.joinedAt,
    ...(member.invitedById === null ? {} : { invitedById: member.invitedById }),
  }
}

/** Whoever has voted, as the database has them now. */
export function asVoter(
  member: Pick<Member, 'id' | 'role' | 'removedAt' | 'roleChangedBy' | 'roleChangedAt'>,
): Omit<Answerer, 'method' | 'how' | 'joinedAt' | 'invitedById'> {
  return {
    memberId: member.id,
    role: member.role,
    active: member.removedAt === null,
    ...(member.roleChangedBy === null ? {} : { roleChangedBy: member.roleChangedBy }),
    ...(member.roleChangedAt === null ? {} : { roleChangedAt: member.roleChangedAt }),
  }
}

/**
 * Locks a request's row and reads the clock after the lock was had: PostgreSQL's now() is the transaction's start, so an
 * answer that waited for a lock past the expiry would look in time.
 */
export async function lockApproval(
  tx: Tx,
  orgId: string,
  handle: string,
): Promise<{ row: ApprovalRecord; now: Date } | undefined> {
  // The machine first, the request second: filing takes them in this order too, so that the two never wait for each other.
  const found = await tx.approvalRequest.findUnique({
    where: { orgId_handle: { orgId, handle } },
    select: { machineId: true },
  })
  if (!found) return undefined
  await tx.$queryRaw`select 1 from "Machine" where id = ${found.machineId} for no key update`
  await tx.$queryRaw`select 1 from "ApprovalRequest" where "orgId" = ${orgId} and handle = ${handle} for no key update`
  const [clock] = await tx.$queryRaw<{ now: Date }[]>`select clock_timestamp() as now`
  const row = await tx.approvalRequest.findUniqueOrThrow({
    where: { orgId_handle: { orgId, handle } },
    include: { votes: { orderBy: { at: 'asc' } } },
  })
  return { row, now: clock!.now }
}

/** The next position in a machine's stream of answers and states; its row is locked until the transaction ends. */
export async function nextAnswerSeq(tx: Tx, machineId: string): Promise<number> {
  const { answerSeq } = await tx.machine.update({
    where: { id: machineId },
    data: { answerSeq: { increment: 1 } },
    select: { answerSeq: true },
  })
  return answerSeq
}
