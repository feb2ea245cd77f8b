import { describe, expect, it } from 'vitest'
import { ALL_ROLES, isLadderRole, ROLES, roleAtLeast } from '#core/role.ts'

describe('roles', () => {
  it('stand on one ladder, with the auditor beside it', () => {
    for (const [i, held] of ROLES.entries())
      for (const [j, wanted] of ROLES.entries()) expect(roleAtLeast(held, wanted)).toBe(i >= j)
    for (const wanted of ROLES) expect(roleAtLeast('auditor', wanted)).toBe(false)
    for (const held of ALL_ROLES) expect(roleAtLeast(held, 'auditor')).toBe(held === 'auditor')
    expect(isLadderRole('auditor')).toBe(false)
  })
})
