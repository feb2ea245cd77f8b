import { expect, it } from 'vitest'
import { LEVEL_WORDS } from '#app/(console)/[org]/level-words.ts'
import { byReach } from '#app/(console)/[org]/spend/budgets/reach.ts'

it('a budget is said to be enforced only where a hook can stop a call; advice is advice, and all else is not held', () => {
  const clients = [...Object.keys(LEVEL_WORDS), 'a level of tomorrow'].map(level => ({ level }))
  const groups = byReach(clients).map(group => [group.title, group.clients.map(({ level }) => level)] as const)
  expect(Object.fromEntries(groups)).toEqual({
    'Enforced at hooks': ['managed', 'managed-hook-user-daemon', 'user-hook'],
    Advisory: ['advice-only'],
    'Not held': [
      ...Object.keys(LEVEL_WORDS).filter(level => !/^(managed|user-hook|advice)/.test(level)),
      'a level of tomorrow',
    ],
  })
  expect(groups.map(([title]) => title)).toEqual(['Enforced at hooks', 'Advisory', 'Not held'])
  expect(byReach([{ level: 'advice-only' }]).map(({ title }) => title)).toEqual(['Advisory'])
})
