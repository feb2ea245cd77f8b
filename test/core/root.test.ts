import { describe, expect, it } from 'vitest'
import { followRoot, keysOf, openFirstRoot, type Root, walkRoots } from '#core/root.ts'
import { crypto, rootPayload, signRoot, testKey, testKeys } from '../support/trust.ts'

const ORG = 'org_0123456789abcdef'
const keys = testKeys()
const first = openFirstRoot(signRoot(rootPayload(ORG, keys), keys.owner), ORG, crypto)
const second = (over: Partial<Root> = {}) => rootPayload(ORG, keys, { seq: 2, prev: first.digest, ...over })
const why = (run: () => unknown) => {
  try {
    run()
    return 'accepted'
  } catch (error) {
    return (error as { details?: { why?: string } }).details?.why ?? String(error)
  }
}

describe('the first root', () => {
  it('is accepted when its own owner signed it', () => expect(first.root.seq).toBe(1))
  it('is refused unsigned by its owner, of another organisation, and out of sequence', () => {
    expect(why(() => openFirstRoot(signRoot(rootPayload(ORG, keys), testKey()), ORG, crypto))).toBe(
      'too_few_signatures',
    )
    expect(why(() => openFirstRoot(signRoot(rootPayload('org_x', keys), keys.owner), ORG, crypto))).toBe(
      'other_organisation',
    )
    expect(why(() => openFirstRoot(signRoot(second(), keys.owner), ORG, crypto))).toBe('wrong_sequence')
  })
  it('is refused when one key stands in two roles', () => {
    const doubled = rootPayload(ORG, { ...keys, answer: keys.ruleset })
    expect(why(() => openFirstRoot(signRoot(doubled, keys.owner), ORG, crypto))).toBe('key_in_two_roles')
    const ownerToo = rootPayload(ORG, { ...keys, fresh: keys.owner })
    expect(why(() => openFirstRoot(signRoot(ownerToo, keys.owner), ORG, crypto))).toBe('key_in_two_roles')
  })
  it('must have the digest of the join line, at whatever position of the chain', () => {
    const next = signRoot(second(), keys.owner)
    expect(walkRoots([first.envelope, next], ORG, crypto, first.digest)).toHaveLength(2)
    expect(why(() => walkRoots([first.envelope], ORG, crypto, 'A'.repeat(43)))).toBe('not_the_pinned_root')
  })
})

describe('the next root', () => {
  const follow = (payload: unknown, ...signers: Parameters<typeof signRoot>[1][]) =>
    why(() => followRoot(first, signRoot(payload, ...signers), crypto))

  it('rotates a role under the same owner, and the old key is refused from then on', () => {
    const made = testKey()
    const next = second({
      roles: { ...first.root.roles, ruleset: [made.key] },
      revoked: [{ kid: keys.ruleset.kid, since: '2026-11-30T00:00:00.000Z' }],
    })
    const trusted = followRoot(first, signRoot(next, keys.owner), crypto)
    expect(keysOf(trusted.root, 'ruleset', crypto)).toEqual([made.key])
  })
  it('forgets no revocation: a key that was revoked comes back in no role, nor two roots later', () => {
    const made = testKey()
    const revoked = [{ kid: keys.ruleset.kid, since: '2026-11-30T00:00:00.000Z' }]
    const rotated = second({ roles: { ...first.root.roles, ruleset: [made.key] }, revoked })
    const trusted = followRoot(first, signRoot(rotated, keys.owner), crypto)
    const third = (over: Partial<Root>) => {
      const payload = { ...rotated, seq: 3, prev: trusted.digest, ...over }
      return why(() => followRoot(trusted, signRoot(payload, keys.owner), crypto))
    }
    expect(third({})).toBe('accepted')
    expect(third({ revoked: [] })).toBe('wrong_next_key')
    expect(third({ roles: first.root.roles, revoked: [] })).toBe('wrong_next_key')
    expect(third({ roles: first.root.roles })).toBe('wrong_next_key')
    expect(third({ roles: { ...rotated.roles, answer: [keys.ruleset.key] } })).toBe('wrong_next_key')
  })
  it('rotates the owner to the committed key only, signed by both', () => {
    const following = testKey()
    const rotated = second({ owners: [keys.next.key], nextKeyThumbprint: following.kid })
    expect(follow(rotated, keys.owner, keys.next)).toBe('accepted')
    expect(follow(rotated, keys.owner)).toBe('too_few_signatures')
    expect(follow(rotated, keys.next)).toBe('too_few_signatures')
    const stranger = testKey()
    expect(follow(second({ owners: [stranger.key] }), keys.owner, stranger)).toBe('wrong_next_key')
  })
  it('is refused with a gap, another predecessor, another organisation, a stranger as signer', () => {
    expect(follow(second({ seq: 3 }), keys.owner)).toBe('wrong_sequence')
    expect(follow(second({ prev: 'A'.repeat(43) }), keys.owner)).toBe('wrong_predecessor')
    expect(follow(second({ org: 'org_other' }), keys.owner)).toBe('other_organisation')
    expect(follow(second(), testKey())).toBe('too_few_signatures')
  })
  it('with the same number and other bytes is equivocation', () => {
    expect(follow(rootPayload(ORG, keys, { nextKeyThumbprint: testKey().kid }), keys.owner)).toBe('equivocation')
  })
  it('a sibling rotation does not follow: it names another predecessor', () => {
    const a = followRoot(first, signRoot(second(), keys.owner), crypto)
    const sibling = second({ nextKeyThumbprint: testKey().kid })
    expect(why(() => followRoot(a, signRoot(sibling, keys.owner), crypto))).toBe('equivocation')
  })
  it('is refused with an unknown member, with null, or with signatures over different bytes', () => {
    expect(follow({ ...second(), extra: 'x' }, keys.owner)).toBe('malformed')
    const mixed = {
      signed: [signRoot(second(), keys.owner).signed[0]!, signRoot(second({ seq: 3 }), keys.next).signed[0]!],
    }
    expect(why(() => followRoot(first, mixed, crypto))).toBe('malformed')
    expect(why(() => followRoot(first, { signed: [] }, crypto))).toBe('malformed')
  })
})
