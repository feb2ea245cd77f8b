import type { Fresh } from '#core/fresh.ts'
import { FRESH_LIFETIME_S, FRESH_REUSE_MS } from '#core/limits.ts'
import { bus, type Signal } from '../bus.ts'
import type { Db } from '../db.ts'
import { sign } from '../keys/sign.ts'
import type { FeatureContext } from './context.ts'
import { checkpoint } from './evidence.ts'
import { etagOf } from './rule-set.ts'

/** What polls of an organisation are answered from. `etag` and `jws` are undefined while nothing was published. */
export type Served = {
  version: number
  digest: string | undefined
  etag: string | undefined
  jws: string | undefined
  rootSeq: number
}
type Held = {
  served: Promise<Served>
  checkedAt: number
  fresh?: { jws: Promise<string>; at: number; version: number; digest: string | undefined; rootSeq: number }
}

/** What is told over the bus is looked at again at once; a lost signal is made good within this time. */
const RECHECK_MS = 2000
/** One for all routes of the process, apart for each database, so that two never mix. */
const holder = globalThis as unknown as { holdpointServed?: WeakMap<Db, Map<string, Held>> }

function cacheOf(db: Db): Map<string, Held> {
  holder.holdpointServed ??= new WeakMap()
  const found = holder.holdpointServed.get(db)
  if (found) return found
  const cache = new Map<string, Held>()
  holder.holdpointServed.set(db, cache)
  bus()
    .on('signal', (signal: Signal) => {
      const held = (signal.what === 'ruleset' || signal.what === 'root') && cache.get(signal.org)
      if (held) held.checkedAt = 0
    })
    .on('reconnected', () => cache.clear())
  return cache
}

type Ctx = Pick<FeatureContext, 'db' | 'now'> & { actor: { orgId: string } }

/** The newest rule set and root of an organisation, from memory while it is known to be the newest. */
export function servedRules(ctx: Ctx): Promise<Served> {
  const cache = cacheOf(ctx.db)
  const held = cache.get(ctx.actor.orgId)
  const now = Date.now()
  if (held && now - held.checkedAt < RECHECK_MS) return held.served
  const next: Held = { ...held, served: load(ctx), checkedAt: now }
  next.served.catch(() => cache.get(ctx.actor.orgId) === next && cache.delete(ctx.actor.orgId))
  cache.set(ctx.actor.orgId, next)
  return next.served
}

async function load(ctx: Ctx): Promise<Served> {
  const [row] = await ctx.db.$queryRaw<
    { version: number | null; digest: string | null; jws: string | null; rootSeq: number }[]
  >`
    select r.version, r.digest, r.jws, d.seq as "rootSeq"
    from (select max(seq)::int as seq from "RootDocument" where "orgId" = ${ctx.actor.orgId}) d
    left join lateral (select version, digest, jws from "RuleSetVersion" where "orgId" = ${ctx.actor.orgId} order by version desc limit 1) r on true`
  const { version, digest, jws, rootSeq } = row!
  if (version === null || digest === null || jws === null)
    return { version: 0, digest: undefined, etag: undefined, jws: undefined, rootSeq }
  return { version, digest, etag: etagOf({ version, digest }), jws, rootSeq }
}

/**
 * The signed freshness that goes with every poll, about exactly the rules that the poll is answered from. One
 * signature serves a process for {@link FRESH_REUSE_MS}, or until there is something newer.
 */
export async function freshFor(ctx: Ctx, served: Served): Promise<string> {
  const { orgId } = ctx.actor
  const cache = cacheOf(ctx.db)
  const held = cache.get(orgId)?.fresh
  const nowMs = ctx.now.getTime()
  const same =
    held && held.version === served.version && held.digest === served.digest && held.rootSeq === served.rootSeq
  if (same && nowMs >= held.at && nowMs - held.at < FRESH_REUSE_MS) return held.jws
  const jws = signFresh(ctx, served)
  const entry = cache.get(orgId)
  if (entry) {
    const made = { jws, at: nowMs, version: served.version, digest: served.digest, rootSeq: served.rootSeq }
    entry.fresh = made
    jws.catch(() => {
      if (entry.fresh === made) delete entry.fresh
    })
  }
  return jws
}

async function signFresh(ctx: Ctx, served: Served): Promise<string> {
  const { orgId } = ctx.actor
  const fresh: Fresh = {
    v: 1,
    org: orgId,
    version: served.version,
    ...(served.digest === undefined ? {} : { digest: served.digest }),
    rootSeq: served.rootSeq,
    at: ctx.now.toISOString(),
    exp: new Date(ctx.now.getTime() + FRESH_LIFETIME_S * 1000).toISOString(),
    checkpoint: await checkpoint(ctx.db, orgId),
  }
  return sign(ctx.db, orgId, 'fresh', 'holdpoint-fresh+jws', fresh)
}
