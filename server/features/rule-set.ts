import { ruleToJson } from '#core/boundary/rule.ts'
import { base64url } from '#core/bytes.ts'
import { AppError } from '#core/error.ts'
import { NOTE_MAX, RULE_SET_MAX } from '#core/limits.ts'
import { demand } from '#core/permission.ts'
import type { RuleSet } from '#core/rule-set.ts'
import { spendToJson } from '#core/rules/json.ts'
import { notify } from '../bus.ts'
import type { Tx } from '../db.ts'
import { crypto } from '../keys/crypto.ts'
import { sign } from '../keys/sign.ts'
import { type DraftProblem, draftOf } from './boundary.ts'
import { followBudgets } from './budget/cut.ts'
import { type FeatureContext, notFound } from './context.ts'
import { recordEvidence } from './evidence.ts'
import { type MachineBehind, MIN_READER } from './reader.ts'

/** The tag that names a version and its content, as it stands in `ETag` (protocol.ts) and guards edits. Version 0: none yet. */
export const etagOf = (newest: { version: number; digest: string } | null | undefined): string =>
  newest ? `"${newest.version}.${newest.digest}"` : '"0"'

export type Published = {
  version: number
  digest: string
  etag: string
  warnings: DraftProblem[]
  behind: MachineBehind[]
}

/**
 * Publishes a text as the next version: checked, signed, stored, recorded and told in one transaction. `etag` is
 * the version the text was written against: another one in force by now is STALE_EDIT, with that version in the details.
 */
export async function publishRuleSet(
  ctx: FeatureContext,
  input: { text: string; note: string; etag: string },
): Promise<Published> {
  demand(ctx.actor, 'boundary.publish')
  const note = readNote(input.note)
  return ctx.db.$transaction(tx => publishIn(tx, ctx, { ...input, note }))
}

/** Publishes the text of an earlier version as a new, higher one. */
export async function rollBackRuleSet(
  ctx: FeatureContext,
  input: { version: number; note: string; etag: string },
): Promise<Published> {
  demand(ctx.actor, 'boundary.publish')
  const note = readNote(input.note)
  return ctx.db.$transaction(async tx => {
    const old = await tx.ruleSetVersion.findUnique({
      where: { orgId_version: { orgId: ctx.actor.orgId, version: input.version } },
    })
    if (!old) throw notFound('version')
    return publishIn(tx, ctx, { text: old.text, note, etag: input.etag, rolledBackTo: old.version })
  })
}

function readNote(text: string): string {
  const note = text.trim()
  if (note === '') throw new AppError('BAD_INPUT', 'A publication needs a note that says why.')
  if (note.length > NOTE_MAX) throw new AppError('BAD_INPUT', `The note is longer than ${NOTE_MAX} characters.`)
  return note
}

type Publication = { text: string; note: string; etag: string; rolledBackTo?: number }

/** {@link publishRuleSet} within a transaction of which it is one part; who may do the whole is for its caller to ask. */
export async function publishIn(tx: Tx, ctx: FeatureContext, input: Publication): Promise<Published> {
  const { orgId } = ctx.actor
  // One publication at a time; the key rotation, which signs the newest version anew, takes the same lock.
  await tx.$queryRaw`select 1 from "Organisation" where id = ${orgId} for no key update`
  const organisation = await tx.organisation.findUniqueOrThrow({ where: { id: orgId } })
  if (organisation.restoredAt) throw restoredError()
  const newest = await newestRuleSet(tx, orgId)
  if (input.etag !== etagOf(newest)) throw await staleEdit(tx, newest)
  const draft = await draftOf(tx, orgId, input.text, ctx.now)
  if (draft.errors.length > 0) {
    const [first] = draft.errors
    throw new AppError('BAD_INPUT', `Line ${first!.line}: ${first!.message}.`, {
      remedy: first!.remedy,
      details: { errors: draft.errors },
    })
  }
  const { document } = draft
  const root = await tx.rootDocument.findFirstOrThrow({
    where: { orgId },
    orderBy: { seq: 'desc' },
    select: { seq: true },
  })
  const version = Math.max(newest?.version ?? 0, organisation.highestReported) + 1
  const set: RuleSet = {
    v: 1,
    org: orgId,
    version,
    ...(newest ? { prevDigest: newest.digest } : {}),
    rootSeq: root.seq,
    minReader: MIN_READER,
    requires: ['boundaries'],
    issuedAt: ctx.now.toISOString(),
    maxAge: organisation.maxAgeS,
    whenBroken: organisation.whenBroken,
    selfAnswer: organisation.selfAnswer,
    boundaries: document.rules.map(ruleToJson),
    ...spendToJson(document),
    contracts: [],
  }
  const jws = await sign(tx, orgId, 'ruleset', 'holdpoint-ruleset+jws', set)
  if (jws.length > RULE_SET_MAX)
    throw new AppError('TOO_LARGE', 'The signed rule set would be larger than machines accept.', {
      remedy: 'Use fewer or shorter rules.',
    })
  const [header, payload] = jws.split('.').map(part => Buffer.from(part, 'base64url'))
  const digest = base64url(crypto.sha256(payload!))
  await tx.ruleSetVersion.create({
    data: {
      orgId,
      version,
      digest,
      jws,
      kid: (JSON.parse(header!.toString('utf8')) as { kid: string }).kid,
      text: input.text,
      note: input.note,
      publishedById: ctx.actor.kind === 'member' ? ctx.actor.memberId : null,
      how: ctx.actor.kind === 'member' ? ctx.actor.how : 'system',
      rolledBackTo: input.rolledBackTo ?? null,
      publishedAt: ctx.now,
    },
  })
  await followBudgets(tx, orgId, document.budgets.length)
  await recordEvidence(tx, ctx, {
    kind: 'ruleset.published',
    subject: { kind: 'ruleset', id: String(version) },
    data: {
      version,
      digest,
      rules: document.rules.length,
      enforced: document.rules.filter(rule => rule.stage === 'enforce').length,
      budgets: document.budgets.length,
      rates: document.rates.length,
      ...(document.exchange.length === 0 ? {} : { exchange: document.exchange.length }),
      attribution: document.attribution.length,
      tagValues: Object.values(document.tags).reduce((sum, values) => sum + values.length, 0),
      ...(newest ? { previousVersion: newest.version, previousDigest: newest.digest } : {}),
      ...(input.rolledBackTo === undefined ? {} : { rolledBackTo: input.rolledBackTo }),
    },
  })
  await notify(tx, { org: orgId, what: 'ruleset' })
  return { version, digest, etag: etagOf({ version, digest }), warnings: draft.warnings, behind: draft.behind }
}

/** The newest version with what an editor needs; null while nothing was published. */
export const newestRuleSet = (tx: Tx, orgId: string) =>
  tx.ruleSetVersion.findFirst({
    where: { orgId },
    orderBy: { version: 'desc' },
    select: { version: true, digest: true, text: true, note: true, publishedById: true, publishedAt: true },
  })

const restoredError = () =>
  new AppError(
    'RESTORED',
    'This control plane looks restored from a backup: a machine has seen newer rules than it holds. Nothing is published until an owner confirms.',
    {
      remedy: 'An owner confirms on the settings page.',
    },
  )

async function staleEdit(tx: Tx, newest: Awaited<ReturnType<typeof newestRuleSet>>): Promise<AppError> {
  const publisher = newest?.publishedById
    ? await tx.member.findUnique({ where: { id: newest.publishedById }, select: { name: true } })
    : null
  const by = publisher ? ` by ${publisher.name}` : ''
  return new AppError(
    'STALE_EDIT',
    newest
      ? `Version ${newest.version} was published${by} since you began.`
      : 'Nothing is published; your text was written against a version that is not there.',
    {
      remedy: 'Look at the other change, put yours on top of it, and publish again.',
      details: {
        current: {
          version: newest?.version ?? 0,
          text: newest?.text ?? '',
          etag: etagOf(newest),
          note: newest?.note ?? '',
          publishedBy: publisher?.name ?? null,
        },
      },
    },
  )
}
