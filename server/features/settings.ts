import type { MemberActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import type { Json } from '#core/json.ts'
import { demand } from '#core/permission.ts'
import { plainName } from '#core/plain-text.ts'
import type { SelfAnswer, WhenBroken } from '#generated/prisma/enums.ts'
import { notify } from '../bus.ts'
import { env } from '../env.ts'
import { countMail } from '../jobs/queue.ts'
import { type ConnectionRow, listConnections } from './connection.ts'
import type { FeatureContext } from './context.ts'
import { type CredentialRow, listCredentials } from './credential.ts'
import { recordEvidence } from './evidence.ts'
import { rootChain } from './root.ts'

export type Settings = {
  id: string
  slug: string
  name: string
  demo: boolean
  selfAnswer: SelfAnswer
  whenBroken: WhenBroken
  maxAgeS: number
  adminCredential: boolean
  /** The zone of reports, and the one whose totals are being made to take its place (spend.changeTimeZone). */
  timeZone: string
  nextTimeZone: string | null
  restoredAt: Date | null
  createdAt: Date
  keys: { role: string; kid: string; createdAt: Date; retiredAt: Date | null; next: boolean }[]
  root: { seq: number; digest: string; custody: 'server' | 'owners' }
  connections: ConnectionRow[]
  credentials: CredentialRow[]
  /** Of this organisation's mail; `stuck`: mails that the receiving side refused or that were tried too often. */
  mail: { configured: boolean; from: string; waiting: number; stuck: number }
}

/** Everything the settings page shows; private keys never leave their seal. */
export async function getSettings(ctx: FeatureContext<MemberActor>): Promise<Settings> {
  const { orgId } = ctx.actor
  const org = await ctx.db.organisation.findUniqueOrThrow({ where: { id: orgId } })
  const keys = await ctx.db.organisationKey.findMany({
    where: { orgId },
    select: { role: true, kid: true, createdAt: true, retiredAt: true, next: true },
    orderBy: [{ role: 'asc' }, { createdAt: 'desc' }],
  })
  const root = (await rootChain(ctx.db, orgId)).at(-1)!
  return {
    id: org.id,
    slug: org.slug,
    name: org.name,
    demo: org.demo,
    selfAnswer: org.selfAnswer,
    whenBroken: org.whenBroken,
    maxAgeS: org.maxAgeS,
    adminCredential: org.adminCredential,
    timeZone: org.timeZone,
    nextTimeZone: org.nextTimeZone,
    restoredAt: org.restoredAt,
    createdAt: org.createdAt,
    keys,
    root: { seq: root.root.seq, digest: root.digest, custody: root.root.custody },
    connections: await listConnections(ctx.db, orgId),
    credentials: await listCredentials(ctx),
    mail: { configured: env().smtpUrl !== undefined, from: env().mailFrom, ...(await countMail(ctx.db, orgId)) },
  }
}

export type SettingsChange = {
  name?: string
  selfAnswer?: SelfAnswer
  whenBroken?: WhenBroken
  maxAgeS?: number
  adminCredential?: boolean
}

/** Changes what was named and differs; each change stands in the ledger with old and new (the name only as changed). */
export async function updateSettings(ctx: FeatureContext, input: SettingsChange): Promise<void> {
  const { actor } = ctx
  demand(actor, 'settings.change')
  const change = { ...input, ...(input.name === undefined ? {} : { name: plainName(input.name) }) }
  if (change.name === '') throw new AppError('BAD_INPUT', 'An organisation needs a name.')
  if (
    change.maxAgeS !== undefined &&
    !(Number.isInteger(change.maxAgeS) && change.maxAgeS >= 60 && change.maxAgeS <= 30 * 24 * 3600)
  ) {
    throw new AppError('BAD_INPUT', 'The greatest age of rules lies between a minute and thirty days.')
  }
  await ctx.db.$transaction(async tx => {
    await tx.$queryRaw`select 1 from "Organisation" where id = ${actor.orgId} for no key update`
    const before = await tx.organisation.findUniqueOrThrow({ where: { id: actor.orgId } })
    const names = (Object.keys(change) as (keyof SettingsChange)[]).filter(
      name => change[name] !== undefined && change[name] !== before[name],
    )
    if (names.length === 0) return
    await tx.organisation.update({
      where: { id: actor.orgId },
      data: Object.fromEntries(names.map(name => [name, change[name]])),
    })
    // Credentials that the organisation no longer wants end at once; their next use would be refused anyway.
    if (names.includes('adminCredential') && change.adminCredential === false) {
      await tx.token.updateMany({
        where: { orgId: actor.orgId, kind: 'admin', revokedAt: null },
        data: { revokedAt: ctx.now },
      })
    }
    await notify(tx, { org: actor.orgId, what: 'settings' })
    for (const setting of names) {
      const data: { [key: string]: Json } =
        setting === 'name' ? { setting } : { setting, from: before[setting], to: change[setting]! }
      await recordEvidence(tx, ctx, {
        kind: 'organisation.setting_changed',
        subject: { kind: 'organisation', id: actor.orgId },
        data,
      })
    }
  })
}
