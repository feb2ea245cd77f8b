import { describe, expect, test } from 'vitest'
import {
  ANSWER_REFUSALS,
  type AnswerContext,
  acceptAnswer,
  bindAnswer,
  type ReleaseContext,
  releaseByAnswer,
} from '#core/approval/accept.ts'
import { Answer } from '#core/approval/answer.ts'
import { ApprovalRequest } from '#core/approval/request.ts'
import type { Rule } from '#core/boundary/shape.ts'
import { costReading } from '#core/figure.ts'

const D = (letter: string) => letter.repeat(43)
const T = Date.parse('2026-11-30T12:00:00.000Z')
const HOUR = 3600_000
const at = (ms: number) => new Date(ms).toISOString()

const request = ApprovalRequest.parse({
  v: 1,
  handle: 'bnd-0123456789ab',
  org: 'org_aaaaaaaaaaaaaaaa',
  machine: 'mac_aaaaaaaaaaaaaaaa',
  member: 'mem_requesterrequest'.slice(0, 20),
  client: 'claude-code',
  sessionRef: D('s'),
  subject: { kind: 'session' },
  action: 'continue',
  rules: [{ name: 'session-spend', digest: D('r') }],
  ruleset: { version: 3, digest: D('v') },
  figures: [{ name: 'session_cost_usd', value: '20.1', unit: 'usd', observedAt: at(T) }],
  attempt: 1,
  createdAt: at(T),
  expiresAt: at(T + HOUR),
  nonce: 'n'.repeat(22),
})

const lead: Answer['approvers'][number] = {
  memberId: 'mem_lead',
  name: 'Lea',
  role: 'lead',
  method: 'oidc',
  how: 'web',
  authnAt: at(T),
}
const other: Answer['approvers'][number] = { ...lead, memberId: 'mem_other' }

const answerOf = (more: Partial<Answer> = {}): Answer =>
  Answer.parse({
    v: 1,
    answerId: 'a'.repeat(22),
    org: request.org,
    machine: request.machine,
    rootSeq: 1,
    handle: request.handle,
    request: D('q'),
    decision: 'approve',
    scope: 'step',
    until: [],
    notBefore: at(T),
    notAfter: at(T + 24 * HOUR),
    approvers: [lead],
    policy: { role: 'lead', approvals: 1, signed: false, self: 'never' },
    seq: 1,
    ...more,
  })

const rule: Rule = {
  name: 'session-spend',
  action: 'continue',
  when: [{ figure: 'session_cost_usd', op: '>=', value: 20_000_000 }],
  require: { kind: 'approver', role: 'lead' },
  stage: 'enforce',
  onUnknown: 'pass',
}
const inForce = (more: Partial<Rule> = {}, digest = D('r')) =>
  new Map([['session-spend', { digest, rule: { ...rule, ...more } }]])

const contextOf = (more: Partial<ReleaseContext> = {}): ReleaseContext => ({
  stored: { request, digest: D('q') },
  org: request.org,
  machine: request.machine,
  rootSeq: 1,
  rules: inForce(),
  selfAnswer: 'never',
  nowMs: T + 1000,
  fresh: true,
  figures: [costReading(20_100_000, T)],
  spentBy: undefined,
  toolUse: 'toolu_1',
  ...more,
})

const why = (answer: Answer, context: ReleaseContext) => {
  const judged = releaseByAnswer(answer, context)
  return judged.ok ? 'released' : judged.why
}
const own = { ...lead, memberId: request.member }
const until = [{ figure: 'session_cost_usd' as const, op: '<' as const, value: '40' }]

const CASES: [string, string, Partial<Answer>, Partial<ReleaseContext>][] = [
  ['the answer to the stored request', 'released', {}, {}],
  ['an answer up to its last moment', 'released', {}, { nowMs: T + 24 * HOUR - 1 }],
  ['an answer of a clock a little ahead', 'released', { notBefore: at(T + 50_000) }, {}],
  ['a step answer for the call that spent it', 'released', {}, { spentBy: 'toolu_1' }],
  ['an answer below its ceiling', 'released', { scope: 'session', until }, { figures: [costReading(39_999_999, T)] }],
  ['two people where two are wanted', 'released', { approvers: [lead, other] }, { rules: inForce({ approvals: 2 }) }],
  ['a higher role', 'released', { approvers: [{ ...lead, role: 'owner' }] }, {}],
  [
    'a fallback that has come due',
    'released',
    { notBefore: at(T + 700_000) },
    {
      nowMs: T + 800_000,
      rules: inForce({
        require: { kind: 'approver', role: 'admin' },
        fallback: { role: 'lead', afterSeconds: 600, loosens: true },
      }),
    },
  ],
  [
    'one’s own request where the organisation allows it',
    'released',
    { approvers: [{ ...own, self: true }] },
    { selfAnswer: 'account' },
  ],

  ['an answer to nothing', 'no_such_request', {}, { stored: undefined }],
  ['another organisation’s answer', 'other_organisation', { org: 'org_bbbbbbbbbbbbbbbb' }, {}],
  ['another machine’s answer', 'other_machine', { machine: 'mac_bbbbbbbbbbbbbbbb' }, {}],
  ['the same handle with other contents', 'other_request', { request: D('x') }, {}],
  ['the same contents under another handle', 'other_request', { handle: 'bnd-ffffffffffff' }, {}],
  ['an answer under a root not yet seen', 'root_ahead', { rootSeq: 2 }, {}],
  ['an answer to a request that had ended', 'request_over', {}, { stored: { request, digest: D('q'), over: true } }],
  ['a rule that is gone', 'rule_gone', {}, { rules: new Map() }],
  ['a rule that has changed', 'rule_changed', {}, { rules: inForce({}, D('z')) }],
  ['a rule that wants an approver’s key', 'needs_approver_key', {}, { rules: inForce({ signed: true }) }],
  ['a role below the rule’s', 'role_too_low', { approvers: [{ ...lead, role: 'member' }] }, {}],
  [
    'a fallback that is not due',
    'role_too_low',
    { notBefore: at(T + 500_000) },
    {
      nowMs: T + 800_000,
      rules: inForce({
        require: { kind: 'approver', role: 'admin' },
        fallback: { role: 'lead', afterSeconds: 600, loosens: true },
      }),
    },
  ],
  ['one person where two are wanted', 'too_few_approvers', {}, { rules: inForce({ approvals: 2 }) }],
  [
    'the requester counted towards a quorum',
    'too_few_approvers',
    { approvers: [lead, { ...own, self: true }] },
    { rules: inForce({ approvals: 2 }), selfAnswer: 'account' },
  ],
  [
    'one person counted twice',
    'same_approver_twice',
    { approvers: [lead, lead] },
    { rules: inForce({ approvals: 2 }) },
  ],
  ['a session that a machine’s token began', 'may_not_answer', { approvers: [{ ...lead, method: 'device_link' }] }, {}],
  ['one’s own request where that is not allowed', 'own_request', { approvers: [{ ...own, self: true }] }, {}],
  [
    'one’s own request through a credential',
    'own_request',
    { approvers: [{ ...own, self: true, method: 'admin_credential' }] },
    { selfAnswer: 'account' },
  ],
  [
    'one’s own request at the console',
    'own_request',
    { approvers: [{ ...own, self: true, method: 'console' }] },
    { selfAnswer: 'account' },
  ],
  ['one’s own request, unmarked', 'own_request', { approvers: [own] }, { selfAnswer: 'account' }],
  [
    'one’s own request where the rule says never',
    'own_request',
    { approvers: [{ ...own, self: true }] },
    { selfAnswer: 'account', rules: inForce({ self: 'never' }) },
  ],
  [
    'one’s own request where only the rule would allow it',
    'own_request',
    { approvers: [{ ...own, self: true }] },
    { rules: inForce({ self: 'account' }) },
  ],
  ['a life of more than a day', 'lives_too_long', { notAfter: at(T + 24 * HOUR + 1) }, {}],
  ['an answer of the future', 'not_yet', { notBefore: at(T + HOUR) }, {}],
  ['an answer that has ended', 'expired', {}, { nowMs: T + 24 * HOUR }],
  ['a no', 'denied', { decision: 'deny' }, {}],
  ['rules that are too old', 'stale_rules', {}, { fresh: false }],
  ['a ceiling that cannot be seen', 'ceiling_unread', { until }, { figures: [] }],
  ['a ceiling that was reached', 'above_ceiling', { until }, { figures: [costReading(40_000_000, T)] }],
  ['a step answer that another call has spent', 'spent', {}, { spentBy: 'toolu_2' }],
]

describe('the connector accepts an answer if and only if every part of it fits', () => {
  test.each(CASES)('%s: %s', (_, expected, answer, context) => {
    expect(why(answerOf(answer), contextOf(context))).toBe(expected)
  })

  test('every reason there is has a case', () => {
    expect([...ANSWER_REFUSALS].filter(reason => !CASES.some(([, expected]) => expected === reason))).toEqual([])
  })

  test('a no needs only to be about this machine’s own request', () => {
    const context: AnswerContext = contextOf({ rules: new Map(), fresh: false, nowMs: T + 48 * HOUR })
    expect(bindAnswer(answerOf({ decision: 'deny' }), context)).toEqual({ ok: true })
    expect(acceptAnswer(answerOf({ decision: 'deny' }), context)).toEqual({ ok: false, why: 'denied' })
  })
})
