import { describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { SESSION_METHODS } from '#core/approval/answer.ts'
import { demand, maySetRole, type Right, rightsOf } from '#core/permission.ts'
import { ALL_ROLES, type Role } from '#core/role.ts'

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
