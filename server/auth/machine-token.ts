import type { MachineActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { tokenKind } from '#core/token.ts'
import { bus, type Signal } from '../bus.ts'
import type { Db } from '../db.ts'
import { hashToken } from '../keys/token-hash.ts'
import { log } from '../log.ts'

type Known = { actor: MachineActor; until: number; seenAt: number }

/** A revocation is heard over the bus at once; a lost signal is made good within this time. */
const BELIEVED_MS = 5000
/** `lastSeenAt` is for people: once a minute is plenty, and a poll stays free of writes. */
const SEEN_MS = 60_000
const MOST = 50_000
/** Who is known by a token's hash, and the same again by machine, for a signal that names one. */
type Cache = { byHash: Map<string, Known>; byMachine: Map<string, Known> }
const holder = globalThis as unknown as { holdpointMachines?: WeakMap<Db, Cache> }

function cacheOf(db: Db): Cache {
  holder.holdpointMachines ??= new WeakMap()
  const found = holder.holdpointMachines.get(db)
  if (found) return found
  const cache: Cache = { byHash: new Map(), byMachine: new Map() }
  holder.holdpointMachines.set(db, cache)
  const forget = (signal: Signal) => {
    if (signal.what === 'machine' && signal.machine) {
      const known = cache.byMachine.get(signal.machine)
      if (known) known.until = 0
    } else if (signal.what === 'machine' || signal.what === 'member') {
      for (const known of cache.byHash.values()) if (known.actor.orgId === signal.org) known.until = 0
    }
  }
  bus()
    .on('signal', forget)
    .on('reconnected', () => clear(cache))
  return cache
}

function clear(cache: Cache): void {
  cache.byHash.clear()
  cache.byMachine.clear()
}

const refused = () =>
  new AppError('NOT_SIGNED_IN', 'The token of this machine is not known, or no longer.', {
    remedy: 'Join again with a new line from the Machines page.',
  })

/** Who a machine's token stands for. The same refusal for unknown, revoked, left and removed: nothing to tell apart. */
export async function machineActor(db: Db, token: string, now: Date): Promise<MachineActor> {
  if (tokenKind(token) !== 'machine') throw refused()
  const hash = hashToken(token)
  const cache = cacheOf(db)
  let known = cache.byHash.get(hash)
  if (!known || known.until <= now.getTime()) {
    const seenAt = known?.seenAt
    known = await read(db, hash, now)
    if (!known) {
      cache.byHash.delete(hash)
      throw refused()
    }
    known.seenAt = Math.max(known.seenAt, seenAt ?? 0)
    if (cache.byHash.size >= MOST) clear(cache)
    cache.byHash.set(hash, known)
    cache.byMachine.set(known.actor.machineId, known)
  }
  if (now.getTime() - known.seenAt >= SEEN_MS) {
    known.seenAt = now.getTime()
    db.machine
      .updateMany({ where: { id: known.actor.machineId }, data: { lastSeenAt: now } })
      .catch((error: Error) => log.warn('machine.seen_not_written', { message: error.message }))
  }
  return known.actor
}

async function read(db: Db, hash: string, now: Date): Promise<Known | undefined> {
  const row = await db.token.findUnique({
    where: { hash },
    select: {
      id: true,
      kind: true,
      orgId: true,
      memberId: true,
      revokedAt: true,
      expiresAt: true,
      member: { select: { removedAt: true } },
      machine: { select: { id: true, leftAt: true, revokedAt: true, lastSeenAt: true } },
    },
  })
  const machine = row?.machine
  if (
    !row ||
    !machine ||
    row.kind !== 'machine' ||
    row.revokedAt ||
    machine.leftAt ||
    machine.revokedAt ||
    row.member.removedAt
  )
    return undefined
  if (row.expiresAt && row.expiresAt <= now) return undefined
  const actor: MachineActor = {
    kind: 'machine',
    machineId: machine.id,
    memberId: row.memberId,
    orgId: row.orgId,
    tokenId: row.id,
  }
  return { actor, until: now.getTime() + BELIEVED_MS, seenAt: machine.lastSeenAt?.getTime() ?? 0 }
}
