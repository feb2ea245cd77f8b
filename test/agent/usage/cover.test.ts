import { expect, it } from 'vitest'
import type { LedgerCall } from '#agent/usage/ledger.ts'
import { makeMeter, meter, meterKey } from '#agent/usage/meter.ts'
import { NO_TOKENS } from '#core/pricing.ts'
import type { TrustedRuleSet } from '#core/rule-set.ts'
import { bucketsByDay } from '#core/usage/bucket.ts'
import { readUpload, splitDays } from '#core/usage/upload.ts'

/** Whose word it is that a plan covers a call, from the signed rules and the machine's own file to the bytes that are sent. */
const signed = (covered?: unknown[]) =>
  ({
    set: { budgets: [], rateCard: [], attribution: [], ...(covered ? { covered } : {}) },
    digest: 'd',
  }) as unknown as TrustedRuleSet
const call = (client: string, over: Partial<LedgerCall> = {}): LedgerCall => ({
  key: `${client}-${over.covered}`,
  model: 'claude-sonnet-4-5',
  atMs: Date.parse('2026-11-30T12:00:00Z'),
  tokens: { ...NO_TOKENS, input: 1000 },
  subagent: false,
  place: { client, session: 's', repository: [], tags: {}, from: {} },
  ...over,
})
const CALLS = [call('claude-code'), call('codex'), call('codex', { covered: 'plan' }), call('gemini'), call('opencode')]
const self = {
  homeDir: '/home/dev',
  declared: { 'claude-code': [{ from: '', is: 'plan' }], gemini: [{ from: '', is: 'plan' }] },
} as const
const SET = signed([
  { client: 'claude-code', is: 'metered' },
  { client: 'codex', is: 'metered' },
])

it('the organisation’s word is before the machine’s own, a record’s before both, and each upload says whose it is', async () => {
  const buckets = bucketsByDay(await meter(CALLS, makeMeter(SET, self))).get('2026-11-30')!
  const [days] = splitDays([{ day: '2026-11-30', computedAt: '2026-11-30T13:00:00.000Z', buckets }])
  const upload = readUpload({
    v: 1,
    org: `org_${'a'.repeat(16)}`,
    machine: `mac_${'a'.repeat(16)}`,
    seq: 1,
    at: '2026-11-30T13:00:00.000Z',
    days,
  })
  expect(upload.days[0]!.buckets.map(({ client, covered, coverBy }) => [client, covered, coverBy])).toEqual([
    ['claude-code', 'metered', 'organisation'],
    ['codex', 'metered', 'organisation'],
    ['codex', 'plan', undefined],
    ['gemini', 'plan', 'machine'],
    ['opencode', 'unknown', undefined],
  ])
  expect(JSON.stringify(days)).not.toContain('"coverBy":null')
})

it('what was counted by another word is counted anew', () => {
  const keys = [undefined, SET, signed([{ client: 'codex', is: 'plan' }])].map(set => meterKey(makeMeter(set, self)))
  expect(new Set(keys).size).toBe(3)
})
