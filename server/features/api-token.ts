import type { MemberActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { API_TOKEN_DAYS, API_TOKEN_DAYS_MAX, API_TOKENS_MAX } from '#core/limits.ts'
import { demand, demandFresh, seesEverybody } from '#core/permission.ts'
import { plainName } from '#core/plain-text.ts'
import { roleAtLeast } from '#core/role.ts'
import { API_SCOPES, type ApiScope, makeToken } from '#core/token.ts'
import { notify } from '../bus.ts'
import { hashToken } from '../keys/token-hash.ts'
import { type FeatureContext, newId, notFound } from './context.ts'
import { recordEvidence } from './evidence.ts'

const DAY_MS = 24 * 3600_000
const NAME_MAX = 80
/** Letters of a token that people know it by: its kind, and four of 260 bits. */
const START = 8

export type ApiTokenRow = {
  id: string
  name: string
  start: string
  scopes: string[]
  madeBy: { id: string; name: string }
  createdAt: Date
  expiresAt: Date
  lastUsedAt: Date | null
  endedAt: Date | null
  /** Opens something right now. */
  live: boolean
}

/** The organisation's tokens for programs, those in force first. Owners, admins and auditors see them; nobody else has any. */
export async function listApiTokens(ctx: FeatureContext<MemberActor>): Promise<ApiTokenRow[]> {
  if (!seesEverybody(ctx.actor)) return []
  const rows = await ctx.db.apiToken.findMany({
    where: { orgId: ctx.actor.orgId },
    include: { member: { select: { id: true, name: true } } },
    orderBy: { createdAt: 'desc' },
    take: 500,
  })
  const list = rows.map(row => ({
    id: row.id,
    name: row.name,
    start: row.start,
    scopes: row.scopes,
    madeBy: row.member,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    lastUsedAt: row.lastUsedAt,
    endedAt: row.endedAt,
    live: row.endedAt === null && row.expiresAt > ctx.now,
  }))
  return [...list.filter(({ live }) => live), ...list.filter(({ live }) => !live)]
}

export type ApiTokenAsked = { name: string; scopes: ApiScope[]; days?: number }

/**
 * Makes a token; its text is in the answer and nowhere else ever again. Takes a sign-in of the last minutes.
 * @throws AppError BAD_INPUT without a name, a scope, or for a time that is none; CONFLICT for too many
 */
export async function makeApiToken(
  ctx: FeatureContext,
  asked: ApiTokenAsked,
): Promise<{ id: string; token: string; expiresAt: Date }> {
  const { actor } = ctx
  demandFresh(actor, 'token.make', ctx.now)
  const name = plainName(asked.name)
  if (name === '' || name.length > NAME_MAX)
    throw new AppError('BAD_INPUT', `A token needs a name of up to ${NAME_MAX} characters: what it is for.`)
  const scopes = API_SCOPES.filter(scope => asked.scopes.includes(scope))
  if (scopes.length === 0) throw new AppError('BAD_INPUT', 'A token needs something that it may read.')
  const days = asked.days ?? API_TOKEN_DAYS
  if (!Number.isInteger(days) || days < 1 || days > API_TOKEN_DAYS_MAX)
    throw new AppError('BAD_INPUT', `A token lasts from one day to ${API_TOKEN_DAYS_MAX}.`)
  const token = makeToken('api', ctx.random(32))
  const id = newId(ctx, 'token')
  const expiresAt = new Date(ctx.now.getTime() + days * DAY_MS)
  await ctx.db.$transaction(async tx => {
    // Whoever removes the maker or lowers their role waits for us, and finds the token; or we find what they did. So does
    // another that makes one, so that all are counted.
    const [maker] = await tx.$queryRaw<{ role: MemberActor['role']; gone: boolean }[]>`
      select role::text as role, "removedAt" is not null as gone from "Member" where id = ${actor.memberId} and "orgId" = ${actor.orgId} for no key update`
    if (!maker || maker.gone || !roleAtLeast(maker.role, 'admin'))
      throw new AppError('FORBIDDEN', 'Your role has changed meanwhile.')
    await tx.$queryRaw`select 1 from "Organisation" where id = ${actor.orgId} for no key update`
    const live = await tx.apiToken.count({ where: { orgId: actor.orgId, endedAt: null, expiresAt: { gt: ctx.now } } })
    if (live >= API_TOKENS_MAX)
      throw new AppError('CONFLICT', `There are ${API_TOKENS_MAX} tokens already.`, { remedy: 'End some first.' })
    const start = token.slice(0, START)
    await tx.apiToken.create({
      data: {
        id,
        orgId: actor.orgId,
        memberId: actor.memberId,
        name,
        hash: hashToken(token),
        start,
        scopes,
        createdAt: ctx.now,
        expiresAt,
      },
    })
    await notify(tx, { org: actor.orgId, what: 'settings' })
    await recordEvidence(tx, ctx, {
      kind: 'token.made',
      subject: { kind: 'token', id },
      data: { start, scopes, until: expiresAt.toISOString().slice(0, 10) },
    })
  })
  return { id, token, expiresAt }
}

/** Ends a token, whoever made it. Its next use is refused; repeating it changes nothing. */
export async function endApiToken(ctx: FeatureContext, { id }: { id: string }): Promise<void> {
  const { actor } = ctx
  demand(actor, 'token.end')
  await ctx.db.$transaction(async tx => {
    const row = await tx.apiToken.findFirst({ where: { id, orgId: actor.orgId } })
    if (!row) throw notFound('token')
    const { count } = await tx.apiToken.updateMany({ where: { id, endedAt: null }, data: { endedAt: ctx.now } })
    if (count === 0) return
    await notify(tx, { org: actor.orgId, what: 'settings' })
    await recordEvidence(tx, ctx, {
      kind: 'token.ended',
      subject: { kind: 'token', id },
      data: { start: row.start },
    })
  })
}
