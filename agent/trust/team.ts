import { join } from 'node:path'
import * as z from 'zod/mini'
import type { PrivateKey } from '#agent/crypto.ts'
import { type Home, readJson, remove } from '#agent/home.ts'

/** What `holdpoint join` left: whom this machine has joined, and the token that says so. */
export const Team = z.object({
  origin: z.string(),
  org: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
  machine: z.string(),
  member: z.object({ id: z.string(), name: z.string() }),
  token: z.string(),
  /** True when the join line carried no root digest. */
  firstUse: z.boolean(),
  joinedAt: z.string(),
  /** The name that this machine joined under; absent where an earlier connector joined. */
  label: z.optional(z.string()),
  /** True when usage from before joining is the organisation's as well. */
  backfill: z.optional(z.boolean()),
  /** The root document that the join ended with; absent where an earlier connector joined. */
  root: z.optional(z.object({ seq: z.int(), digest: z.string() })),
})
export type Team = z.infer<typeof Team>

/** The joined organisation; undefined when none is joined or the file cannot be read. */
export function readTeam(home: Home): Team | undefined {
  const read = Team.safeParse(readJson(home.team))
  return read.success ? read.data : undefined
}

/** From when on usage is the organisation's, milliseconds since 1970: before joining it is nobody's business, unless asked for. */
export const usageSince = ({ backfill, joinedAt }: Pick<Team, 'backfill' | 'joinedAt'>): number =>
  backfill === true ? 0 : Date.parse(joinedAt) || 0

/** The machine's private key; undefined when there is none. */
export function readMachineKey(home: Home): PrivateKey | undefined {
  const key = readJson<PrivateKey>(home.machineKey)
  return key?.kty === 'OKP' && key.crv === 'Ed25519' && typeof key.x === 'string' && typeof key.d === 'string'
    ? key
    : undefined
}

/** Forgets whom this machine had joined: token, key, pin, root documents, rules. The developer's own rules stay. */
export function forgetTeam(home: Home): void {
  for (const file of [
    home.team,
    home.machineKey,
    home.roots,
    home.ruleset,
    home.nextRuleset,
    home.fresh,
    home.pin,
    home.equivocation,
    home.sync,
    join(home.usage, 'budgets.jws'),
    join(home.usage, 'past-rules.json'),
  ])
    remove(file)
}
