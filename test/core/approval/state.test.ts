import { describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import {
  type Answerer,
  type Approval,
  applyAnswer,
  judgeAnswerer,
  judgeRevoker,
  roleNeeded,
  type Vote,
} from '#core/approval/state.ts'
import type { Role } from '#core/role.ts'

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 30, 12, minutes))
const approval = (over: Partial<Approval> = {}, terms: Partial<Approval['terms']> = {}): Approval => ({
  state: 'pending',
  requesterId: 'mem_dev',
  terms: { role: 'lead', approvals: 1, self: 'account', ceilings: [], ...terms },
  votes: [],
  madeAt: at(0),
  receivedAt: at(0),
  expiresAt: at(60),
  ...over,
})
const who = (over: Partial<Answerer> = {}): Answerer => ({
  memberId: 'mem_lead',
  role: 'lead',
  active: true,
  method: 'oidc',
  how: 'web',
  joinedAt: new Date(0),
  ...over,
})
const yes: Pick<Vote, 'decision' | 'scope' | 'until'> = { decision: 'approve', scope: 'step', until: [] }
const holds = () => 'owner' as const

describe('who may answer', () => {
  const rows: [string, Partial<Answerer>, Partial<Approval['terms']>, string][] = [
    ['a lead for a lead', {}, {}, 'ok'],
    ['an owner for a lead', { role: 'owner' }, {}, 'ok'],
    ['a member for a lead', { role: 'member' }, {}, 'NOT_APPROVER'],
    ['an auditor, never', { role: 'auditor' }, { role: 'member' }, 'NOT_APPROVER'],
    ['a removed member', { active: false }, {}, 'NOT_APPROVER'],
    ["a session of a machine's link", { method: 'device_link' }, {}, 'NOT_APPROVER'],
    ["the command's credential for another's request", { method: 'admin_credential', how: 'team-cli' }, {}, 'ok'],
    ['the console for another', { method: 'console' }, {}, 'ok'],
    [
      'somebody whose role the requester raised since',
      { roleChangedBy: 'mem_dev', roleChangedAt: at(1) },
      {},
      'NOT_APPROVER',
    ],
    ['somebody whose role the requester raised before', { roleChangedBy: 'mem_dev', roleChangedAt: at(-1) }, {}, 'ok'],
    ['somebody whom the requester invited since', { invitedById: 'mem_dev', joinedAt: at(1) }, {}, 'NOT_APPROVER'],
    ['oneself, signed in with an own account', { memberId: 'mem_dev' }, {}, 'ok'],
    ['oneself by an e-mail code', { memberId: 'mem_dev', method: 'email_code' }, {}, 'ok'],
    ['oneself by the console', { memberId: 'mem_dev', method: 'console' }, {}, 'OWN_REQUEST'],
    [
      "oneself by the command's credential",
      { memberId: 'mem_dev', method: 'admin_credential', how: 'team-cli' },
      {},
      'OWN_REQUEST',
    ],
    ['oneself where nobody may', { memberId: 'mem_dev' }, { self: 'never' }, 'OWN_REQUEST'],
    ['oneself where it takes a key', { memberId: 'mem_dev' }, { self: 'key' }, 'OWN_REQUEST'],
    ['oneself where two have to approve', { memberId: 'mem_dev' }, { approvals: 2 }, 'OWN_REQUEST'],
    ['oneself without the role', { memberId: 'mem_dev', role: 'member' }, {}, 'NOT_APPROVER'],
  ]
  it.each(rows)('%s', (_, answerer, terms, expected) => {
    const judged = judgeAnswerer(approval({}, terms), who(answerer), at(5))
    expect(judged.ok ? 'ok' : judged.code).toBe(expected)
  })

  it('lets the fallback role answer once its time has come, not a second before', () => {
    const a = approval({}, { role: 'owner', fallback: { role: 'lead', afterSeconds: 600 } })
    expect(roleNeeded(a, new Date(at(10).getTime() - 1))).toBe('owner')
    expect(judgeAnswerer(a, who(), new Date(at(10).getTime() - 1)).ok).toBe(false)
    expect(judgeAnswerer(a, who(), at(10)).ok).toBe(true)
  })
})

describe('what an answer does', () => {
  it('settles with one approval and holds for a day from the request', () => {
    const result = applyAnswer(approval(), who(), yes, holds, at(5))
    expect(result).toMatchObject({ kind: 'settled', state: 'approved', scope: 'step', until: [] })
    expect('notAfter' in result && result.notAfter).toEqual(new Date(at(0).getTime() + 24 * 3600_000))
  })
  it('refuses at the very moment of expiry', () => {
    expect(applyAnswer(approval(), who(), yes, holds, at(60))).toEqual({ kind: 'expired' })
    expect(applyAnswer(approval(), who(), yes, holds, new Date(at(60).getTime() - 1))).toMatchObject({
      kind: 'settled',
    })
  })
  it.each(['approved', 'used', 'revoked', 'lapsed', 'denied', 'expired', 'withdrawn'] as const)(
    'changes nothing once it is %s',
    state => {
      expect(applyAnswer(approval({ state }), who(), yes, holds, at(5))).toMatchObject({
        ok: false,
        code: 'NOT_PENDING',
      })
    },
  )
  it('meets the first result when the same person says the same again', () => {
    const votes: Vote[] = [{ memberId: 'mem_lead', role: 'lead', method: 'oidc', how: 'web', ...yes, until: [] }]
    expect(applyAnswer(approval({ state: 'approved', votes }), who(), yes, holds, at(5))).toEqual({ kind: 'already' })
  })
  it('saying the same again settles nothing by itself, for nobody is counted twice', () => {
    const votes: Vote[] = [{ memberId: 'mem_lead', role: 'lead', method: 'oidc', how: 'web', ...yes, until: [] }]
    expect(applyAnswer(approval({ votes }, { approvals: 2 }), who(), yes, holds, at(5))).toEqual({ kind: 'already' })
    expect(applyAnswer(approval({ votes }, { approvals: 2 }), who({ role: 'member' }), yes, holds, at(5))).toEqual({
      kind: 'already',
    })
  })
  it('waits for the second of two, then takes the narrowest scope and the lowest ceiling', () => {
    const two = { approvals: 2, ceilings: [{ figure: 'session_cost_usd', op: '<', value: '45' }] } as const
    const session = (value: string) =>
      ({ decision: 'approve', scope: 'session', until: [{ figure: 'session_cost_usd', op: '<', value }] }) as const
    const first: Vote = {
      memberId: 'mem_admin',
      role: 'admin',
      method: 'oidc',
      how: 'web',
      ...session('100'),
      until: [...session('100').until],
    }
    expect(applyAnswer(approval({}, { ...two, ceilings: [...two.ceilings] }), who(), yes, holds, at(5))).toEqual({
      kind: 'counted',
      missing: 1,
    })
    const withFirst = approval({ votes: [first] }, { ...two, ceilings: [...two.ceilings] })
    expect(
      applyAnswer(withFirst, who(), { ...session('40'), until: [...session('40').until] }, holds, at(5)),
    ).toMatchObject({
      scope: 'session',
      until: [{ figure: 'session_cost_usd', op: '<', value: '40' }],
    })
    expect(
      applyAnswer(withFirst, who(), { ...session('90'), until: [...session('90').until] }, holds, at(5)),
    ).toMatchObject({ until: [{ value: '45' }] })
    expect(applyAnswer(withFirst, who(), yes, holds, at(5))).toMatchObject({
      state: 'approved',
      scope: 'step',
      until: [],
    })
  })
  it('stays pending when the first voter no longer holds the role', () => {
    const first: Vote = { memberId: 'mem_admin', role: 'admin', method: 'oidc', how: 'web', ...yes, until: [] }
    expect(applyAnswer(approval({ votes: [first] }, { approvals: 2 }), who(), yes, () => 'member', at(5))).toEqual({
      kind: 'counted',
      missing: 1,
    })
  })
  it('counts a vote that was given under the fallback role', () => {
    const first: Vote = { memberId: 'mem_other', role: 'lead', method: 'oidc', how: 'web', ...yes, until: [] }
    const terms = { role: 'owner', approvals: 2, fallback: { role: 'lead', afterSeconds: 600 } } as const
    expect(applyAnswer(approval({ votes: [first] }, terms), who(), yes, () => 'lead', at(11))).toMatchObject({
      kind: 'settled',
      state: 'approved',
    })
  })
  it('does not count the vote of somebody who left', () => {
    const first: Vote = { memberId: 'mem_other', role: 'lead', method: 'oidc', how: 'web', ...yes, until: [] }
    expect(applyAnswer(approval({ votes: [first] }, { approvals: 2 }), who(), yes, () => undefined, at(5))).toEqual({
      kind: 'counted',
      missing: 1,
    })
  })
  it('ends with one denial, even of somebody who had approved', () => {
    const first: Vote = { memberId: 'mem_lead', role: 'lead', method: 'oidc', how: 'web', ...yes, until: [] }
    expect(
      applyAnswer(
        approval({ votes: [first] }, { approvals: 2 }),
        who(),
        { ...yes, until: [], decision: 'deny' },
        holds,
        at(5),
      ),
    ).toMatchObject({ state: 'denied' })
  })
})

describe('who may end a grant', () => {
  const person = (role: Role, method: MemberActor['method'] = 'oidc') =>
    ({ kind: 'member', role, method }) as MemberActor
  it.each([
    ['a lead, of what took a lead', 'lead', person('lead'), 'ok'],
    ['a lead, of what took an admin', 'admin', person('lead'), 'NOT_APPROVER'],
    ['a member, even of what a member could give', 'member', person('member'), 'FORBIDDEN'],
    ["a session of a machine's link", 'lead', person('owner', 'device_link'), 'FORBIDDEN'],
    ["the command's credential", 'lead', person('owner', 'admin_credential'), 'FORBIDDEN'],
  ] as const)('%s', (_, role, actor, expected) => {
    const judged = judgeRevoker(role, actor)
    expect(judged.ok ? 'ok' : judged.code).toBe(expected)
  })
})
