import { describe, expect, it } from 'vitest'
import { holdersOf, type Person, whoAnswers } from '#core/boundary/answerers.ts'
import type { Rule, SelfAnswer } from '#core/boundary/shape.ts'
import type { LadderRole, Role } from '#core/role.ts'

const person = (role: Role, machines = 0, id: string = role): Person => ({ id, role, machines })
const rule = (role: LadderRole, more: Partial<Rule> = {}) => ({
  name: 'r',
  require: { kind: 'approver', role } as const,
  ...more,
})
const problemOf = (asked: ReturnType<typeof rule>, people: Person[], self: SelfAnswer = 'account') =>
  whoAnswers(asked, people, self)?.problem

it('whoever stands at a role or above it holds it; an auditor holds none', () => {
  const people = (['auditor', 'member', 'lead', 'admin', 'owner'] as const).map(role => person(role))
  expect(holdersOf('lead', people).map(({ role }) => role)).toEqual(['lead', 'admin', 'owner'])
  expect(holdersOf('member', people).map(({ role }) => role)).toEqual(['member', 'lead', 'admin', 'owner'])
})

describe('whether a request could be answered', () => {
  it('is not asked of a rule that names no approver', () => {
    for (const kind of ['allow', 'ask', 'deny'] as const)
      expect(whoAnswers({ name: 'r', require: { kind } }, [], 'never')).toBeUndefined()
  })

  it.each([
    ['nobody holds the role', rule('admin'), [person('lead'), person('auditor')], /nobody holds it/],
    ['too few hold it', rule('lead', { approvals: 2 }), [person('owner')], /1 of the 2 people it wants hold it/],
    ['it takes a key of which there are none', rule('lead', { signed: true }), [person('owner')], /own key/],
  ])('%s: nobody can', (_, asked, people, words) => {
    const found = whoAnswers(asked, people, 'account')
    expect(found?.problem).toBe('nobody_can_answer')
    expect(found?.message).toMatch(words)
  })

  it('a person with a machine who alone holds the role waits for themselves, or for nobody', () => {
    const alone = [person('owner', 1), person('member', 1)]
    expect(problemOf(rule('owner'), [person('owner', 0), person('member', 1)])).toBeUndefined()
    expect(whoAnswers(rule('owner'), alone, 'account')?.message).toMatch(/wait for themselves/)
    expect(whoAnswers(rule('owner'), alone, 'never')?.message).toMatch(/may not answer their own/)
    expect(whoAnswers(rule('owner', { self: 'never' }), alone, 'account')?.message).toMatch(/may not answer their own/)
    expect(whoAnswers(rule('owner', { self: 'account' }), alone, 'never')?.message).toMatch(/wait for themselves/)
    expect(problemOf(rule('owner'), [...alone, person('owner', 0, 'second')])).toBeUndefined()
  })

  it('a requester never counts toward several', () => {
    const two = [person('owner', 1), person('admin', 0)]
    expect(problemOf(rule('admin', { approvals: 2 }), two)).toBe('only_the_requester')
    expect(problemOf(rule('admin', { approvals: 2 }), [...two, person('admin', 0, 'third')])).toBeUndefined()
  })
})
