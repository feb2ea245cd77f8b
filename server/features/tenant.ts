import type { MemberActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { demand } from '#core/permission.ts'
import { plainName } from '#core/plain-text.ts'
import { TAG_VALUE } from '#core/usage/tags.ts'
import { type FeatureContext, newId, notFound } from './context.ts'
import { recordEvidence } from './evidence.ts'
import { spendInForce } from './usage/in-force.ts'

type Ctx = FeatureContext<MemberActor>
const NAME_MAX = 100

export type TenantRow = {
  key: string
  name: string
  /** On the list of the rules in force: machines send it. */
  listed: boolean
  /** Usage is recorded under its key. */
  used: boolean
  /** Whom statements are mailed to; null: nobody. */
  contact: string | null
}

/** The organisation's tenants by key. */
export async function listTenants({ db, actor: { orgId } }: Ctx): Promise<TenantRow[]> {
  const [rows, { tags }, used] = await Promise.all([
    db.tenant.findMany({ where: { orgId }, orderBy: { key: 'asc' } }),
    spendInForce(db, orgId),
    db.$queryRaw<{ key: string }[]>`
      select distinct tags ->> 'tenant' as key from "UsageSeries" where "orgId" = ${orgId} and tags ? 'tenant'`,
  ])
  return rows.map(({ key, name, contactEmail }) => ({
    key,
    name,
    listed: tags.tenant?.includes(key) ?? false,
    used: used.some(one => one.key === key),
    contact: contactEmail || null,
  }))
}

function readName(asked: string): string {
  const name = plainName(asked)
  if (name === '' || name.length > NAME_MAX)
    throw new AppError('BAD_INPUT', `A tenant needs a name of at most ${NAME_MAX} characters.`)
  return name
}

/** Adds a tenant. Its key is what tags say, and never changes; for usage to name it, it is listed in the rules too. */
export async function addTenant(
  ctx: FeatureContext,
  { key, name: asked }: { key: string; name: string },
): Promise<void> {
  const { actor } = ctx
  demand(actor, 'tenant.change')
  const name = readName(asked)
  if (!TAG_VALUE.test(key))
    throw new AppError('BAD_INPUT', 'A key is of small letters, digits, dots, - and _, a letter or digit first.')
  const { orgId } = actor
  await ctx.db.$transaction(async tx => {
    // Of two who add one key at once, the second meets the row: nothing is thrown by the database.
    const made = await tx.tenant.createMany({
      data: [{ id: newId(ctx, 'tenant'), orgId, key, name, contactEmail: null }],
      skipDuplicates: true,
    })
    if (made.count === 0) throw new AppError('CONFLICT', `There is a tenant ${key} already.`)
    await recordEvidence(tx, ctx, {
      kind: 'tenant.added',
      subject: { kind: 'organisation', id: orgId },
      data: { tenant: key },
    })
  })
}

/** Changes what a tenant is called. Its key stays, and closed statements keep the name they were closed with. */
export async function renameTenant(
  ctx: FeatureContext,
  { key, name: asked }: { key: string; name: string },
): Promise<void> {
  const { actor } = ctx
  demand(actor, 'tenant.change')
  const name = readName(asked)
  const { orgId } = actor
  await ctx.db.$transaction(async tx => {
    await tx.$queryRaw`select 1 from "Tenant" where "orgId" = ${orgId} and key = ${key} for update`
    const before = await tx.tenant.findUnique({ where: { orgId_key: { orgId, key } } })
    if (!before) throw notFound('tenant')
    if (before.name === name) return
    await tx.tenant.update({ where: { orgId_key: { orgId, key } }, data: { name } })
    await recordEvidence(tx, ctx, {
      kind: 'tenant.renamed',
      subject: { kind: 'organisation', id: orgId },
      data: { tenant: key },
    })
  })
}

/**
 * Removes a tenant that the rules list no more. What is recorded under its key stays in every report, by its key alone, and its
 * closed statements stay as they are.
 */
export async function removeTenant(ctx: FeatureContext, { key }: { key: string }): Promise<void> {
  const { actor } = ctx
  demand(actor, 'tenant.change')
  const { orgId } = actor
  await ctx.db.$transaction(async tx => {
    // The lock that publishing takes: a text that lists the tenant is not published in between.
    await tx.$queryRaw`select 1 from "Organisation" where id = ${orgId} for no key update`
    const { tags } = await spendInForce(tx, orgId)
    const gone = await tx.tenant.deleteMany({ where: { orgId, key } })
    if (gone.count === 0) throw notFound('tenant')
    if (tags.tenant?.includes(key))
      throw new AppError('CONFLICT', `The rules in force list the tenant ${key}.`, {
        remedy: 'Take it off the list under Tags first.',
      })
    await recordEvidence(tx, ctx, {
      kind: 'tenant.removed',
      subject: { kind: 'organisation', id: orgId },
      data: { tenant: key },
    })
  })
}
