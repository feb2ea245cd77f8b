import { describe, expect, it } from 'vitest'
import { approvalDigestMail } from '#server/email/approval-digest.ts'
import { approvalRequestedMail } from '#server/email/approval-requested.ts'
import { approvalSettledMail } from '#server/email/approval-settled.ts'
import { budgetStepMail } from '#server/email/budget-step.ts'
import { budgetStopMail } from '#server/email/budget-stop.ts'
import { hooksChangedMail, hooksDigestMail } from '#server/email/hooks-changed.ts'
import { invitationMail } from '#server/email/invitation.ts'
import type { Mail } from '#server/email/layout.ts'
import { signInMail } from '#server/email/sign-in.ts'
import { statementMail } from '#server/email/statement.ts'

const HOSTILE = 'Eve\r\nBcc: all@acme.test\u202e\u061c<script>alert(1)</script>\u2066"\'&'

/** Every template, each text field hostile. A template that is added belongs here. */
const MAILS: Record<string, Mail> = {
  signIn: signInMail({
    email: HOSTILE,
    code: '123456',
    url: 'https://h.test/link?a=x&next=%2Fy',
    origin: 'https://h.test',
    minutes: 10,
  }),
  invitation: invitationMail({
    email: HOSTILE,
    name: HOSTILE,
    org: HOSTILE,
    role: 'lead',
    invitedBy: HOSTILE,
    url: 'https://h.test/invitation?t=x',
    expires: 'soon',
  }),
  requested: approvalRequestedMail({
    account: HOSTILE,
    org: HOSTILE,
    handle: 'bnd-0123456789ab',
    question: HOSTILE,
    rules: [HOSTILE],
    note: HOSTILE,
    action: 'continue',
    client: 'Claude Code',
    machine: HOSTILE,
    requester: HOSTILE,
    role: 'lead',
    approvals: 2,
    figures: [{ name: 'budget_used_pct', qualifier: 'monthly', value: '91', unit: 'pct' }],
    expires: 'soon',
    url: 'https://h.test/acme/approvals/bnd-0123456789ab',
    own: false,
  }),
  settled: approvalSettledMail({
    account: HOSTILE,
    org: HOSTILE,
    handle: 'bnd-0123456789ab',
    rules: [HOSTILE],
    client: 'Claude Code',
    machine: HOSTILE,
    state: 'denied',
    until: [],
    answeredBy: [{ name: HOSTILE, role: 'lead', how: 'the web app' }],
    reason: HOSTILE,
    url: 'https://h.test/acme/approvals/bnd-0123456789ab',
  }),
  statement: statementMail({
    org: HOSTILE,
    tenant: HOSTILE,
    month: 'November 2026',
    total: '$3.02',
    parts: [['Own usage', '$3.02']],
    basis: 'equivalent',
    boundAccepted: true,
    closedAt: 'soon',
    digest: 'x'.repeat(43),
    file: 'acme-globex-2026-11.csv',
    url: 'https://h.test/acme/spend/statements/2026-11/globex',
  }),
  budgetStep: budgetStepMail({
    account: HOSTILE,
    org: HOSTILE,
    budget: HOSTILE,
    of: HOSTILE,
    steps: [50, 75],
    used: '75.001',
    amount: '100',
    currency: 'EUR',
    basis: 'equivalent',
    window: { start: 'then', end: 'soon', zone: HOSTILE },
    ended: false,
    url: 'https://h.test/acme/spend/budgets/monthly',
  }),
  budgetStop: budgetStopMail({
    account: HOSTILE,
    org: HOSTILE,
    budget: HOSTILE,
    rule: HOSTILE,
    did: 'refused',
    client: HOSTILE,
    whose: { kind: 'named', name: HOSTILE },
    machine: HOSTILE,
    usedPct: HOSTILE,
    at: 'now',
    window: { start: 'then', end: 'soon', zone: HOSTILE },
    url: 'https://h.test/acme/spend/budgets/monthly',
  }),
  hooksChanged: hooksChangedMail({
    account: HOSTILE,
    org: HOSTILE,
    machine: HOSTILE,
    member: HOSTILE,
    lost: [{ client: HOSTILE, from: HOSTILE, to: HOSTILE, why: [HOSTILE] }],
    restored: [{ client: HOSTILE, to: HOSTILE }],
    at: 'now',
    url: 'https://h.test/acme/machines/mch_1',
  }),
  hooksDigest: hooksDigestMail({
    account: HOSTILE,
    org: HOSTILE,
    machines: [{ machine: HOSTILE, clients: [HOSTILE, 'codex'] }],
    url: 'https://h.test/acme/machines',
  }),
  digest: approvalDigestMail({
    account: HOSTILE,
    org: HOSTILE,
    waiting: [{ handle: 'bnd-0123456789ab', rules: [HOSTILE], requester: HOSTILE, machine: HOSTILE, expires: 'soon' }],
    url: 'https://h.test/acme/approvals',
  }),
}

describe.each(Object.entries(MAILS))('%s', (_, mail) => {
  it('has a subject of one line without control or direction characters', () => {
    expect(mail.subject).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069]/)
    expect(mail.subject.length).toBeLessThanOrEqual(200)
  })

  it('shows hostile names as text', () => {
    expect(mail.html).not.toContain('<script')
    expect(mail.html).not.toMatch(/<(img|iframe|form|link|style)\b/i)
  })

  it('has addresses of ours only, and none with a token that acts', () => {
    for (const [address] of mail.html.matchAll(/https?:\/\/[^"<\s]+/g))
      expect(address).toMatch(/^https:\/\/h\.test(\/|$)/)
    expect(mail.html).not.toMatch(/hp[amjlsc]_/)
  })
})

it('a quorum and a budget are told in words', () => {
  expect(MAILS.requested!.text).toContain('Needs: 2 people of the role lead or above')
  expect(MAILS.requested!.text).toContain('Budget used (monthly): 91%')
})

it('amounts of a budget are rounded up to the smallest unit of its currency', () => {
  const used = (currency: string) =>
    /Used: (.*)/.exec(
      budgetStepMail({
        account: 'a@b.test',
        org: 'Acme',
        budget: 'monthly',
        steps: [50],
        used: '75.0011',
        amount: '100',
        currency,
        basis: 'billed',
        window: { start: 'then', end: 'soon', zone: 'UTC' },
        ended: false,
        url: 'https://h.test/acme',
      }).text,
    )?.[1]
  expect(['USD', 'JPY', 'KWD'].map(used)).toEqual(['75.01 USD', '76 JPY', '75.002 KWD'])
})

it.each([
  ['approved', 'Approved'],
  ['denied', 'Denied'],
  ['expired', 'Expired'],
  ['withdrawn', 'Withdrawn'],
  ['revoked', 'Ended'],
] as const)(
  'the end "%s" is the first word of its subject, which names the request and says nothing of waiting',
  (state, word) => {
    const { subject } = approvalSettledMail({
      account: 'dana@acme.test',
      org: 'Acme',
      handle: 'bnd-0123456789ab',
      rules: ['session-spend'],
      client: 'Claude Code',
      machine: 'laptop',
      state,
      until: [],
      answeredBy: [],
      url: 'https://h.test/acme/approvals/bnd-0123456789ab',
    })
    expect(subject).toBe(`${word}: session-spend (bnd-0123456789ab)`)
  },
)
