import type { MachineActor } from '#core/actor.ts'
import {
  type ApprovalRequest,
  ApprovalRequest as RequestShape,
  requestDigest,
  ruleDigest,
  subjectKey,
} from '#core/approval/request.ts'
import { termsOf } from '#core/approval/terms.ts'
import { readRules } from '#core/boundary/read-rules.ts'
import { ruleDigestInput, ruleToJson } from '#core/boundary/rule.ts'
import { isUnsupported, type Rule } from '#core/boundary/shape.ts'
import { AppError } from '#core/error.ts'
import { openJws } from '#core/jws.ts'
import { ANSWER_MAX_MS, OPEN_REQUESTS_PER_MACHINE } from '#core/limits.ts'
import type { FileAnswer } from '#core/protocol.ts'
import type { RuleSet } from '#core/rule-set.ts'
import { notify } from '../../bus.ts'
import { isUniqueViolation, type Tx } from '../../db.ts'
import { enqueue } from '../../jobs/queue.ts'
import { crypto } from '../../keys/crypto.ts'
import { storedPayload } from '../../keys/stored.ts'
import type { FeatureContext } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { demandRate } from '../rate.ts'
import { eligibleMembers } from './eligible.ts'
import { type ApprovalRecord, asApproval, type KeptRules } from './load.ts'
import { endApproval } from './settle.ts'

/**
 * A machine files a request for an action that an organisation's rule holds. The request is the machine's own signed bytes;
 * retries of the same held call meet the open one, and a denial that still stands is given back without filing anything.
 */
export async function fileRequest(ctx: FeatureContext<MachineActor>, input: { request: string }): Promise<FileAnswer> {
  const request = await openRequest(ctx, input.request)
  await demandRate(ctx, 'requestByMachine', ctx.actor.machineId)
  for (let attempt = 0; ; attempt++) {
    try {
      const row = await ctx.db.$transaction(tx => meetOrCreate(tx, ctx, request, input.request))
      return await fileAnswer(ctx, row)
    } catch (error) {
      // Another call of the same subject was a moment earlier: meet its request.
      if (isUniqueViolation(error) && attempt < 3) continue
      throw error
    }
  }
}

/** Verifies the machine's signature and reads the request strictly; it must be this machine's and name its own member. */
async function openRequest(ctx: FeatureContext<MachineActor>, jws: string): Promise<ApprovalRequest> {
  const { machineId, orgId, memberId } = ctx.actor
  const machine = await ctx.db.machine.findUniqueOrThrow({ where: { id: machineId }, select: { publicKeyX: true } })
  const { value } = openJws(
    jws,
    'holdpoint-request+jws',
    [{ kty: 'OKP', crv: 'Ed25519', x: machine.publicKeyX }],
    crypto,
  )
  const read = RequestShape.safeParse(value)
  if (!read.success) {
    const where = read.error.issues[0]?.path.join('.') ?? ''
    throw new AppError(
      'BAD_INPUT',
      `The request is not of a form this control plane takes${where ? ` (at ${where})` : ''}.`,
      { remedy: 'Update the connector.' },
    )
  }
  const request = read.data
  if (request.machine !== machineId || request.org !== orgId || request.member !== memberId) {
    throw new AppError('FORBIDDEN', 'The request is not of the machine that sent it.')
  }
  const off = Math.abs(Date.parse(request.createdAt) - ctx.now.getTime())
  if (off > ANSWER_MAX_MS)
    throw new AppError('BAD_INPUT', 'The clock of this machine is more than a day off.', {
      remedy: 'Set it; an answer is dated by the clock that the request was made by.',
      details: { why: 'clock_off' },
    })
  const waits = Date.parse(request.expiresAt) - Date.parse(request.createdAt)
  if (waits <= 0 || waits > ANSWER_MAX_MS) throw new AppError('BAD_INPUT', 'A request waits for at most a day.')
  return request
}

async function meetOrCreate(
  tx: Tx,
  ctx: FeatureContext<MachineActor>,
  request: ApprovalRequest,
  jws: string,
): Promise<ApprovalRecord> {
  const { orgId, machineId, memberId } = ctx.actor
  const digest = requestDigest(request, crypto.sha256)
  const include = { votes: { orderBy: { at: 'asc' as const } } }
  const same = await tx.approvalRequest.findUnique({ where: { digest }, include })
  if (same) return same
  const key = subjectKey(request)
  const [machine] = await tx.$queryRaw<{ ended: boolean }[]>`
    select ("leftAt" is not null or "revokedAt" is not null) as ended from "Machine" where id = ${machineId} for no key update`
  // Its token was good when the call came in; what ended it meanwhile has withdrawn what there was.
  if (machine?.ended !== false) throw new AppError('NOT_SIGNED_IN', 'This machine’s membership has ended.')
  const open = await tx.approvalRequest.findFirst({ where: { machineId, subjectKey: key, state: 'pending' }, include })
  if (open && open.expiresAt > ctx.now) return open
  if (open) await endApproval(tx, { ...ctx, actor: { kind: 'system', orgId } }, open, 'expired')
  const denied = await tx.approvalRequest.findFirst({
    where: { machineId, subjectKey: key, state: 'denied', standsUntil: { gt: ctx.now } },
    orderBy: { settledAt: 'desc' },
    include,
  })
  if (denied) return denied
  const openCount = await tx.approvalRequest.count({ where: { machineId, state: 'pending' } })
  if (openCount >= OPEN_REQUESTS_PER_MACHINE) {
    throw new AppError('RATE_LIMITED', `This machine has ${openCount} open requests already.`, {
      remedy: 'Withdraw some, or wait until they are answered.',
    })
  }
  const kept = await keepRules(tx, ctx, request)
  if (
    await tx.approvalRequest.findUnique({
      where: { orgId_handle: { orgId, handle: request.handle } },
      select: { handle: true },
    })
  ) {
    throw new AppError('CONFLICT', 'That handle is taken.', {
      remedy: 'File the request under another handle.',
      details: { why: 'handle_taken' },
    })
  }
  // The machine's clock may be off: what counts here is how long the request waits, from now.
  const expiresAt = new Date(ctx.now.getTime() + Date.parse(request.expiresAt) - Date.parse(request.createdAt))
  const row = await tx.approvalRequest.create({
    data: {
      orgId,
      handle: request.handle,
      machineId,
      memberId,
      client: request.client,
      sessionRef: request.sessionRef,
      action: request.action,
      subjectKey: key,
      requestJws: jws,
      request,
      digest,
      rules: kept as object,
      role: kept.terms.role,
      approvals: kept.terms.approvals,
      selfAnswer: kept.terms.self,
      ruleVersion: request.ruleset.version,
      createdAt: ctx.now,
      receivedAt: ctx.now,
      expiresAt,
    },
    include,
  })
  await enqueue(tx, 'approval.mail', { org: orgId, handle: row.handle })
  await notify(tx, { org: orgId, what: 'approval', handle: row.handle })
  await recordEvidence(tx, ctx, {
    kind: 'approval.requested',
    subject: { kind: 'approval', id: row.handle },
    reportedAt: new Date(request.createdAt),
    data: {
      request: digest,
      rules: request.rules,
      ruleset: request.ruleset,
      action: request.action,
      client: request.client,
      role: kept.terms.role,
      approvals: kept.terms.approvals,
      expiresAt: expiresAt.toISOString(),
    },
  })
  return row
}

/** The named rules as they stand in the version the machine obeyed: names, digests and terms must fit what was signed. */
async function keepRules(tx: Tx, ctx: FeatureContext<MachineActor>, request: ApprovalRequest): Promise<KeptRules> {
  const { orgId } = ctx.actor
  const version = await tx.ruleSetVersion.findUnique({
    where: { orgId_version: { orgId, version: request.ruleset.version } },
  })
  if (!version || version.digest !== request.ruleset.digest) {
    throw new AppError('CONFLICT', 'The request was made under a rule set that this control plane does not have.', {
      remedy: 'Fetch the rules again; if it stays so, the control plane may have been restored from a backup.',
      details: { why: 'unknown_ruleset' },
    })
  }
  const { boundaries } = storedPayload<RuleSet>(version.jws)
  const inForce = new Map(
    readRules(boundaries).flatMap(rule => (isUnsupported(rule) ? [] : [[rule.name, rule] as const])),
  )
  const rules: Rule[] = request.rules.map(named => {
    const rule = inForce.get(named.name)
    if (rule?.require.kind !== 'approver' || ruleDigest(ruleDigestInput(rule), crypto.sha256) !== named.digest) {
      throw new AppError('CONFLICT', `The rule ${named.name} does not stand like that in version ${version.version}.`, {
        details: { why: 'rule_mismatch' },
      })
    }
    return rule
  })
  const organisation = await tx.organisation.findUniqueOrThrow({ where: { id: orgId }, select: { selfAnswer: true } })
  const terms = termsOf(rules, organisation.selfAnswer, request.figures)
  if (!terms) throw new AppError('BAD_INPUT', 'None of the rules names an approver.')
  return {
    terms,
    rules: rules.map((rule, i) => ({
      name: rule.name,
      digest: request.rules[i]!.digest,
      text: ruleToJson(rule),
      ...(rule.note === undefined ? {} : { note: rule.note }),
    })),
  }
}

/** A request as its machine is told of it, when it is filed and after. */
export async function fileAnswer(ctx: FeatureContext<MachineActor>, row: ApprovalRecord): Promise<FileAnswer> {
  const eligible = row.state === 'pending' ? await eligibleMembers(ctx.db, asApproval(row), row.orgId, ctx.now) : []
  const org = await ctx.db.organisation.findUniqueOrThrow({ where: { id: row.orgId }, select: { slug: true } })
  return {
    handle: row.handle,
    state: row.state,
    role: row.role as FileAnswer['role'],
    approvals: row.approvals,
    eligible: eligible.length,
    url: `${ctx.origin}/${org.slug}/approvals/${row.handle}`,
  }
}
