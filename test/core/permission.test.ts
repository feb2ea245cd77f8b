import { describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { SESSION_METHODS } from '#core/approval/answer.ts'
import { normaliseEmail, plainName } from '#core/email.ts'
import { demand, maySetRole, type Right, rightsOf } from '#core/permission.ts'
import { ALL_ROLES, type Role } from '#core/role.ts'
import { makeToken, tokenKind } from '#core/token.ts'

const actor = (role: Role, method: MemberActor['method'] = 'oidc') => ({ kind: 'member', role, method }) as MemberActor

describe('rights', () => {
  it('grow along the ladder and an auditor has none', () => {
    expect(rightsOf(actor('auditor'))).toEqual([])
    const sizes = (['member', 'lead', 'admin', 'owner'] as const).map(role => rightsOf(actor(role)).length)
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b))
    expect(new Set(sizes).size).toBe(4)
  })
  it("a machine's link has none, whatever the role", () => {
    for (const role of ALL_ROLES) expect(rightsOf(actor(role, 'device_link'))).toEqual([])
  })
  it("the command's credential answers and publishes, nothing else", () => {
    expect(rightsOf(actor('owner', 'admin_credential')).sort()).toEqual<Right[]>([
      'approval.answer',
      'boundary.publish',
    ])
  })
  it('machines and the system have none of a person', () => {
    for (const kind of ['machine', 'system'] as const)
      expect(() => demand({ kind } as never, 'approval.answer')).toThrow('signed-in person')
  })
  it.each(SESSION_METHODS)('a member never publishes, signed in by %s', method =>
    expect(() => demand(actor('member', method), 'boundary.publish')).toThrow('admin'),
  )
})

describe('roles', () => {
  it('nobody gives or takes above their own, and only an owner makes or unmakes an owner', () => {
    expect(maySetRole(actor('admin'), 'member', 'admin')).toBe(true)
    expect(maySetRole(actor('admin'), 'member', 'owner')).toBe(false)
    expect(maySetRole(actor('admin'), 'owner', 'member')).toBe(false)
    expect(maySetRole(actor('owner'), 'owner', 'member')).toBe(true)
    expect(maySetRole(actor('lead'), 'admin', 'member')).toBe(false)
    expect(maySetRole(actor('admin'), 'member', 'auditor')).toBe(true)
  })
})

describe('addresses and names', () => {
  it.each([
    [' Ana@Example.com ', 'ana@example.com'],
    ["o'neil+x@a-b.example", "o'neil+x@a-b.example"],
  ])('%s is %s', (text, email) => expect(normaliseEmail(text)).toBe(email))
  it.each([
    'a@b@c.example',
    '"a"@b.example',
    'a,b@c.example',
    'a@b.example\r\nBcc: x@y',
    'a@',
    '@b',
    'a b@c',
    'a@-b.example',
    'a@b..example',
    'a..b@c.example',
    '<a@b.example>',
    'ä@b.example',
  ])('%s is no address', text => expect(() => normaliseEmail(text)).toThrow('not an e-mail address'))
  it('a name loses line breaks, control and direction characters', () =>
    expect(plainName('Ev\r\nil\u202e \u200bname\u0000')).toBe('Ev il name'))
})

describe('tokens', () => {
  it('say their kind, and nothing else has one', () => {
    const token = makeToken('machine', new Uint8Array(32).fill(255))
    expect(token).toMatch(/^hpm_[a-z2-7]{52}$/)
    expect(tokenKind(token)).toBe('machine')
    for (const text of ['', 'hpm_', `hpx_${'a'.repeat(52)}`, `${token}a`, token.toUpperCase(), 'Bearer x'])
      expect(tokenKind(text)).toBeUndefined()
  })
})
