// What a database without an organisation is given on the first start. Prints one JSON line for the launcher.
import type { MemberActor } from '#core/actor.ts'
import type { Role } from '#core/role.ts'
import { database, type Tx } from '../db.ts'
import type { Visit } from '../features/context.ts'
import { type FeatureContext, newId, openContext } from '../features/context.ts'
import { personRef } from '../features/evidence.ts'
import { acceptInvitation, inviteIn } from '../features/invitation.ts'
import { makeConsoleSignIn } from '../features/one-time-sign-in.ts'
import { createOrganisation } from '../features/organisation.ts'

/** What the launcher shows: `signInUrl`, a one-time address that signs the first owner in. */
export type Seeded = { signInUrl?: string }

const OWNER = { email: 'ada@acme.example', name: 'Ada Park' }
const MEMBERS: readonly { email: string; name: string; role: Role }[] = [
  { email: 'ben@acme.example', name: 'Ben Ortiz', role: 'admin' },
  { email: 'chris@acme.example', name: 'Chris Lind', role: 'lead' },
  { email: 'dana@acme.example', name: 'Dana Reyes', role: 'member' },
  { email: 'eli@acme.example', name: 'Eli Novak', role: 'member' },
]
const TENANTS = [
  { key: 'northwind', name: 'Northwind Traders', contactEmail: 'finance@northwind.example' },
  { key: 'contoso', name: 'Contoso', contactEmail: 'billing@contoso.example' },
]

/** Two processes that start at once meet here, not at the tables. */
const lock = (tx: Tx) => tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended('holdpoint seed', 0))::text`

/**
 * Makes the demo organisation when there is none (HOLDPOINT_DEMO=off leaves it out), and a one-time sign-in for its owner as long as no owner of it has ever
 * signed in: one that was missed or is too old is made anew at the next start.
 */
export async function seed(): Promise<Seeded> {
  if (process.env.HOLDPOINT_DEMO === 'off') return {}
  const visit = openContext({ kind: 'system', orgId: '' })
  await makeDemo(visit)
  return visit.db.$transaction(async tx => {
    await lock(tx)
    const owner = await tx.member.findFirst({
      where: { role: 'owner', removedAt: null, org: { demo: true } },
      orderBy: { joinedAt: 'asc' },
    })
    if (!owner || (await hasSignedIn(tx, visit, owner.orgId))) return {}
    const { url } = await makeConsoleSignIn(tx, visit, owner)
    return { signInUrl: url }
  })
}

async function hasSignedIn(tx: Tx, visit: Visit, orgId: string): Promise<boolean> {
  const owners = await tx.member.findMany({ where: { orgId, role: 'owner' }, select: { id: true } })
  const refs: string[] = []
  for (const { id } of owners) refs.push(await personRef(tx, id, visit))
  return (await tx.evidenceEntry.count({ where: { orgId, kind: 'member.signed_in', subjectRef: { in: refs } } })) > 0
}

async function makeDemo(visit: Visit): Promise<void> {
  const made = await visit.db.$transaction(async tx => {
    await lock(tx)
    if ((await tx.organisation.count()) > 0) return undefined
    const made = await createOrganisation(tx, visit, { slug: 'acme', name: 'Acme', demo: true, owner: OWNER })
    for (const tenant of TENANTS)
      await tx.tenant.create({ data: { id: newId(visit, 'tenant'), orgId: made.orgId, ...tenant } })
    return made
  })
  if (!made) return
  const owner: FeatureContext<MemberActor> = {
    ...visit,
    actor: {
      kind: 'member',
      memberId: made.ownerId,
      orgId: made.orgId,
      orgSlug: 'acme',
      role: 'owner',
      ...OWNER,
      method: 'console',
      authnAt: visit.now,
      how: 'web',
      demo: true,
    },
  }
  for (const person of MEMBERS) {
    // in one transaction: nobody is mailed an invitation that is accepted already
    await visit.db.$transaction(async tx => {
      const { id } = await inviteIn(tx, owner, person)
      await acceptInvitation(tx, visit, { id, email: person.email })
    })
  }
}

const seeded = await seed()
process.stdout.write(`${JSON.stringify(seeded)}\n`)
await database().prisma.$disconnect()
await database().pool.end()
