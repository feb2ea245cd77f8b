import { beforeEach, describe, expect, it } from 'vitest'
import { openFresh } from '#core/fresh.ts'
import { thumbprint } from '#core/key.ts'
import { FRESH_LIFETIME_S, FRESH_REUSE_MS } from '#core/limits.ts'
import { followRoot, keysOf, walkRoots } from '#core/root.ts'
import { openRuleSet } from '#core/rule-set.ts'
import { freshFor, servedRules } from '#server/features/fresh.ts'
import { rootChain, rootsAfter, rotateKey } from '#server/features/root.ts'
import { crypto } from '#server/keys/crypto.ts'
import { signWith } from '#server/keys/sign.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMember,
  makeOrganisation,
  publish,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
})
const owner = (now = new Date()) => contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'), now)
const chain = () => rootChain(db.prisma, org.id)
const newest = async () => (await chain()).at(-1)!.root
const kidOf = async (role: 'ruleset' | 'fresh' | 'answer' | 'ledger' | 'owner') =>
  (await db.prisma.organisationKey.findFirstOrThrow({ where: { orgId: org.id, role, next: false, retiredAt: null } }))
    .kid

describe('rotating a key', () => {
  it.each(['ruleset', 'answer', 'fresh', 'ledger', 'registry'] as const)(
    '%s: the new root lists the new key, refuses the old one, and follows the pinned chain',
    async role => {
      const before = await newest()
      const { seq, kid } = await rotateKey(owner(), { role })
      const roots = await rootsAfter(db.prisma, org.id, 0)
      const root = walkRoots(roots, org.id, crypto, (await chain())[0]!.digest).at(-1)!.root
      expect(root.seq).toBe(seq)
      expect(keysOf(root, role, crypto).map(key => thumbprint(key, crypto.sha256))).toEqual([kid])
      expect(root.revoked.map(entry => entry.kid)).toEqual(
        before.roles[role].map(key => thumbprint(key, crypto.sha256)),
      )
    },
  )

  it('the owner’s: only the committed next key follows, signed by both, and another is committed', async () => {
    const [first] = await chain()
    await rotateKey(owner(), { role: 'owner' })
    const second = (await chain()).at(-1)!
    expect(second.root.owners.map(key => thumbprint(key, crypto.sha256))).toEqual([first!.root.nextKeyThumbprint])
    expect(second.envelope.signed).toHaveLength(2)
    expect(second.root.nextKeyThumbprint).not.toBe(first!.root.nextKeyThumbprint)
    await rotateKey(owner(), { role: 'owner' })
    expect((await newest()).seq).toBe(3)
  })

  it('signs the rules in force anew, over the very same bytes: their digest stays, the old key’s signature is refused', async () => {
    const { digest } = await publish(db.prisma, org, costRule('lead'))
    const { jws: old } = await db.prisma.ruleSetVersion.findFirstOrThrow({ where: { orgId: org.id } })
    await rotateKey(owner(), { role: 'ruleset' })
    const { jws } = await db.prisma.ruleSetVersion.findFirstOrThrow({ where: { orgId: org.id } })
    expect(openRuleSet(jws, await newest(), crypto).digest).toBe(digest)
    await expect(async () => openRuleSet(old, await newest(), crypto)).rejects.toMatchObject({
      code: 'BAD_SIGNATURE',
      details: { why: 'unknown_key' },
    })
  })

  it('two at once make two roots after each other, never siblings', async () => {
    await Promise.all([
      rotateKey(owner(), { role: 'fresh' }),
      rotateKey(owner(), { role: 'answer' }),
      rotateKey(owner(), { role: 'owner' }),
    ])
    expect((await chain()).map(trusted => trusted.root.seq)).toEqual([1, 2, 3, 4])
  })

  it('a sibling of a root, signed by the true owner key, is told apart as equivocation', async () => {
    const [first] = await chain()
    const kid = await kidOf('owner')
    await rotateKey(owner(), { role: 'fresh' })
    const second = (await chain()).at(-1)!
    const sibling = { ...second.root, revoked: [] }
    const envelope = { signed: [await signWith(db.prisma, kid, 'holdpoint-root+jws', sibling)] }
    expect(followRoot(first!, envelope, crypto).root.seq).toBe(2)
    expect(() => followRoot(second, envelope, crypto)).toThrow(
      expect.objectContaining({ details: { why: 'equivocation' } }),
    )
  })

  it('takes an owner with an own sign-in, and is evidence', async () => {
    const admin = actorOf(org, await makeMember(db.prisma, org, 'admin'), 'admin')
    await expect(rotateKey(contextOf(db.prisma, admin), { role: 'fresh' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(
      rotateKey(contextOf(db.prisma, actorOf(org, org.ownerId, 'owner', 'admin_credential')), { role: 'fresh' }),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await rotateKey(owner(), { role: 'fresh' })
    const kinds = (
      await db.prisma.evidenceEntry.findMany({ where: { orgId: org.id, seq: { gt: 3 } }, orderBy: { seq: 'asc' } })
    ).map(entry => entry.kind)
    expect(kinds).toEqual(['root.published', 'key.rotated'])
  })

  it('a root cannot be changed, removed or skipped, not even by the tables’ owner', async () => {
    await expect(
      db.admin.query(`update "RootDocument" set envelope = '' where "orgId" = $1`, [org.id]),
    ).rejects.toThrow('root_stays')
    await expect(db.admin.query(`delete from "RootDocument" where "orgId" = $1`, [org.id])).rejects.toThrow(
      'root_stays',
    )
    await expect(
      db.admin.query(`insert into "RootDocument" values ($1, 3, 'x', 'x', now())`, [org.id]),
    ).rejects.toThrow('root_rises_by_one')
  })
})

describe('freshness', () => {
  it('lives a quarter of an hour, is used for twenty seconds, and is then signed anew', async () => {
    const t0 = Date.now()
    const at = async (ms: number) => {
      const ctx = owner(new Date(t0 + ms))
      return freshFor(ctx, await servedRules(ctx))
    }
    const first = await at(0)
    expect(await at(FRESH_REUSE_MS - 1)).toBe(first)
    const later = await at(FRESH_REUSE_MS)
    expect(later).not.toBe(first)
    const fresh = openFresh(first, await newest(), t0, crypto)
    expect(Date.parse(fresh.exp) - Date.parse(fresh.at)).toBe(FRESH_LIFETIME_S * 1000)
    const ledger = await db.prisma.ledger.findUniqueOrThrow({ where: { orgId: org.id } })
    expect(fresh.checkpoint).toEqual({ size: ledger.size, root: ledger.root })
  })

  it('of many polls at once is signed once', async () => {
    const ctx = owner()
    const signed = await Promise.all(Array.from({ length: 30 }, async () => freshFor(ctx, await servedRules(ctx))))
    expect(new Set(signed).size).toBe(1)
  })
})
