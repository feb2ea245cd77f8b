import { normaliseEmail } from '#core/email.ts'
import { AppError } from '#core/error.ts'
import { isLoopbackHost } from '#core/loopback.ts'
import { demandFresh } from '#core/permission.ts'
import { plainName } from '#core/plain-text.ts'
import type { OidcConnection } from '#generated/prisma/client.ts'
import type { Db } from '../db.ts'
import { subkey } from '../env.ts'
import { seal, unseal } from '../keys/custody.ts'
import { type FeatureContext, newId, notFound } from './context.ts'
import { recordEvidence } from './evidence.ts'

export type ConnectionRow = {
  id: string
  name: string
  issuer: string
  clientId: string
  domains: string[]
  createdAt: Date
}
/** A connection as the sign-in library needs it. */
export type OpenConnection = Omit<ConnectionRow, 'createdAt'> & { orgId: string; clientSecret: string }

const aad = (orgId: string) => `${orgId}|connection`
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/

/**
 * Connects an OpenID Connect provider to the organisation. `discover` reads its published configuration, so that a wrong
 * address is refused here and not at somebody's sign-in. `domains`, when there are any, are the only ones whose addresses
 * the provider is believed about.
 */
export async function addConnection(
  ctx: FeatureContext,
  input: { name: string; issuer: string; clientId: string; clientSecret: string; domains: readonly string[] },
  discover: (issuer: string) => Promise<void>,
): Promise<{ id: string }> {
  const { actor } = ctx
  demandFresh(actor, 'connection.change', ctx.now)
  const name = plainName(input.name)
  if (!name || !input.clientId.trim() || !input.clientSecret)
    throw new AppError('BAD_INPUT', 'A connection needs a name, a client id and a client secret.')
  const issuer = checkIssuer(input.issuer, ctx.origin)
  const domains = [
    ...new Set(input.domains.map(domain => domain.trim().toLowerCase().replace(/^@/, '')).filter(Boolean)),
  ]
  const bad = domains.find(domain => !DOMAIN.test(domain))
  if (bad !== undefined)
    throw new AppError('BAD_INPUT', `"${plainName(bad)}" is not a domain.`, {
      remedy: 'Write domains like example.com.',
    })
  await discover(issuer)
  const id = newId(ctx, 'connection')
  await ctx.db.$transaction(async tx => {
    const clientSecret = new Uint8Array(seal(Buffer.from(input.clientSecret), subkey('custody'), aad(actor.orgId)))
    await tx.oidcConnection.create({
      data: {
        id,
        orgId: actor.orgId,
        name,
        issuer,
        clientId: input.clientId.trim(),
        clientSecret,
        domains,
        createdAt: ctx.now,
      },
    })
    await recordEvidence(tx, ctx, {
      kind: 'connection.created',
      subject: { kind: 'connection', id },
      data: { issuer, domains },
    })
  })
  return { id }
}

/**
 * https, or http on loopback for trying out where the control plane is on loopback itself: elsewhere the server's own doors are
 * nobody's provider. No query and no fragment (OpenID Connect Core, section 2, `iss`).
 */
function checkIssuer(text: string, origin: string): string {
  let url: URL | undefined
  try {
    url = new URL(text.trim())
  } catch {}
  const loopback = url && isLoopbackHost(url.hostname) && isLoopbackHost(new URL(origin).hostname)
  if (
    !url ||
    !(url.protocol === 'https:' || (loopback && url.protocol === 'http:')) ||
    url.search ||
    url.hash ||
    url.username
  ) {
    throw new AppError('BAD_INPUT', "This is not a provider's issuer address.", {
      remedy: 'Write it as https://login.example.com/…, without a query.',
    })
  }
  return text.trim()
}

/** Ends a connection: nobody signs in through it any more, and sessions that began through it end. */
export async function removeConnection(ctx: FeatureContext, input: { id: string }): Promise<void> {
  const { actor } = ctx
  demandFresh(actor, 'connection.change', ctx.now)
  await ctx.db.$transaction(async tx => {
    const { count } = await tx.oidcConnection.updateMany({
      where: { id: input.id, orgId: actor.orgId, removedAt: null },
      data: { removedAt: ctx.now },
    })
    if (count === 0) throw notFound('connection')
    await tx.oidcAccount.deleteMany({ where: { connectionId: input.id } })
    const sessions = await tx.session.deleteMany({ where: { idpConnectionId: input.id } })
    await recordEvidence(tx, ctx, {
      kind: 'connection.removed',
      subject: { kind: 'connection', id: input.id },
      data: { sessions: sessions.count },
    })
  })
}

/** An organisation's providers, as its settings show them; never the secret. */
export async function listConnections(db: Db, orgId: string): Promise<ConnectionRow[]> {
  return db.oidcConnection.findMany({
    where: { orgId, removedAt: null },
    select: { id: true, name: true, issuer: true, clientId: true, domains: true, createdAt: true },
    orderBy: { createdAt: 'asc' },
  })
}

/** What a sign-in page offers for an organisation: names only; nothing for one that does not exist. */
export async function offeredConnections(db: Db, slug: string): Promise<{ id: string; name: string }[]> {
  return db.oidcConnection.findMany({
    where: { removedAt: null, org: { slug } },
    select: { id: true, name: true },
    orderBy: { createdAt: 'asc' },
  })
}

/** A provider ready to sign in through, its secret unsealed; undefined once it was removed. */
export async function openConnection(db: Db, id: string): Promise<OpenConnection | undefined> {
  const row = await db.oidcConnection.findFirst({ where: { id, removedAt: null } })
  return row ? { ...row, clientSecret: readSecret(row) } : undefined
}

const readSecret = (row: OidcConnection): string =>
  unseal(row.clientSecret, subkey('custody'), aad(row.orgId)).toString('utf8')

/** Whether a connection's list of domains lets an address through; an empty list lets all. */
export function isInDomains(email: string, domains: readonly string[]): boolean {
  if (domains.length === 0) return true
  const domain = normaliseEmail(email).split('@')[1] ?? ''
  return domains.includes(domain)
}
