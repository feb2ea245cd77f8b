import { describe, expect, it } from 'vitest'
import { ageMs, mayRelease, openFresh } from '#core/fresh.ts'
import { judgeHead } from '#core/journal.ts'
import { openFirstRoot } from '#core/root.ts'
import { acceptRuleSet, openRuleSet, type RuleSet } from '#core/rule-set.ts'
import { crypto, rootPayload, signAs, signRoot, testKey, testKeys } from '../support/trust.ts'

const ORG = 'org_0123456789abcdef'
const keys = testKeys()
const { root } = openFirstRoot(signRoot(rootPayload(ORG, keys), keys.owner), ORG, crypto)
const set = (over: Partial<RuleSet> & Record<string, unknown> = {}) => ({
  v: 1,
  org: ORG,
  version: 3,
  prevDigest: 'x',
  rootSeq: 1,
  minReader: 1,
  requires: [],
  issuedAt: '2026-11-30T12:00:00.000Z',
  maxAge: 86400,
  whenBroken: 'pass',
  selfAnswer: 'account',
  boundaries: [],
  budgets: [],
  rateCard: [],
  attribution: [],
  contracts: [],
  ...over,
})
const open = (payload: unknown, key = keys.ruleset) =>
  openRuleSet(signAs(key, 'holdpoint-ruleset+jws', payload), root, crypto)
const why = (run: () => unknown) => {
  try {
    return run()
  } catch (error) {
    return (error as { details?: { why?: string } }).details?.why
  }
}

describe('a rule set', () => {
  it('is taken under its own key, and unknown sections are listed, not refused', () => {
    expect(open(set({ futureSection: [] })).unknownSections).toEqual(['futureSection'])
  })
  it('is refused under another key, a key of another role, another organisation, a missing section', () => {
    expect(why(() => open(set(), testKey()))).toBe('unknown_key')
    expect(why(() => open(set(), keys.answer))).toBe('unknown_key')
    expect(why(() => open(set({ org: 'org_other' })))).toBe('other_organisation')
    expect(why(() => open(set({ boundaries: undefined })))).toBe('malformed')
  })
  it('only rises: a lower version and an equal one with other content are refused, each in its own words', () => {
    const now = open(set())
    const pin = { version: 3, digest: now.digest }
    expect(acceptRuleSet(now, undefined)).toBe('newer')
    expect(acceptRuleSet(now, pin)).toBe('same')
    expect(acceptRuleSet(open(set({ version: 4 })), pin)).toBe('newer')
    expect(why(() => acceptRuleSet(open(set({ version: 2 })), pin))).toBe('lower_version')
    expect(why(() => acceptRuleSet(open(set({ maxAge: 120 })), pin))).toBe('same_version_other_content')
  })
  it('has one digest however often it is signed', () => {
    expect(open(set()).digest).toBe(open(set()).digest)
  })
})

describe('freshness', () => {
  const at = Date.parse('2026-11-30T12:00:00.000Z')
  const fresh = (over: Record<string, unknown> = {}, key = keys.fresh) =>
    signAs(key, 'holdpoint-fresh+jws', {
      v: 1,
      org: ORG,
      version: 3,
      digest: 'd',
      rootSeq: 1,
      at: new Date(at).toISOString(),
      exp: new Date(at + 900_000).toISOString(),
      checkpoint: { size: 1, root: 'r' },
      ...over,
    })
  it('is read within its quarter hour, with a minute for clocks', () => {
    expect(openFresh(fresh(), root, at, crypto).version).toBe(3)
    expect(openFresh(fresh(), root, at + 959_000, crypto).version).toBe(3)
    expect(why(() => openFresh(fresh(), root, at + 961_000, crypto))).toBe('expired')
    expect(why(() => openFresh(fresh(), root, at - 61_000, crypto))).toBe('from_the_future')
  })
  it('is refused when it lives longer, under another key, with an unknown member', () => {
    expect(why(() => openFresh(fresh({ exp: new Date(at + 901_000).toISOString() }), root, at, crypto))).toBe(
      'malformed',
    )
    expect(why(() => openFresh(fresh({}, keys.ruleset), root, at, crypto))).toBe('unknown_key')
    expect(why(() => openFresh(fresh({ more: 1 }), root, at, crypto))).toBe('malformed')
  })
  it('lets release something up to max age and never without it', () => {
    const newest = { at: new Date(at).toISOString() }
    expect(mayRelease(newest, 3600, at + 3600_000)).toBe(true)
    expect(mayRelease(newest, 3600, at + 3600_001)).toBe(false)
    expect(mayRelease(undefined, 3600, at)).toBe(false)
    expect(ageMs(newest, at - 5)).toBe(0)
  })
})

describe('a reported journal head', () => {
  const recorded = { seq: 10, head: 'h10' }
  it.each([
    [undefined, { seq: 1, head: 'h' }, 'first'],
    [recorded, { seq: 10, head: 'h10', anchor: recorded }, 'same'],
    [recorded, { seq: 12, head: 'h12', anchor: recorded }, 'extends'],
    [recorded, { seq: 9, head: 'h9', anchor: { seq: 9, head: 'h9' } }, 'rolled_back'],
    [recorded, { seq: 12, head: 'x12', anchor: { seq: 10, head: 'x10' } }, 'rolled_back'],
    [recorded, { seq: 12, head: 'h12' }, 'reset'],
  ] as const)('%o then %o is %s', (before, next, expected) => expect(judgeHead(before, next)).toBe(expected))
})
