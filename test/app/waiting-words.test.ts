import { expect, it } from 'vitest'
import { soFar, whoCan } from '#app/(console)/[org]/approvals/[handle]/waiting-words.ts'

const person = (name: string, me = false) => ({ name, role: 'lead', me })
const vote = (name: string, decision: 'approve' | 'deny' = 'approve') => ({ name, decision }) as never
const waiting = (over: Partial<Parameters<typeof whoCan>[0]>) => ({
  approvals: 1,
  votes: 0,
  answeredBy: [],
  eligible: [person('Ada Park'), person('Chris Lind')],
  mayAnswer: { ok: true },
  ...over,
})

it('says who can answer: any one of them, or all that are needed', () => {
  expect(whoCan(waiting({}))).toBe('Right now that is Ada Park (lead) or Chris Lind (lead).')
  expect(whoCan(waiting({ approvals: 2 }))).toBe('Right now that is Ada Park (lead) and Chris Lind (lead).')
  expect(whoCan(waiting({ approvals: 3 }))).toMatch(/, which is too few\.$/)
  expect(whoCan(waiting({ eligible: [] }))).toBe('Right now nobody can.')
  expect(whoCan(waiting({ eligible: 'abcdef'.split('').map(name => person(name)) }))).toMatch(
    /d \(lead\) and 2 more\.$/,
  )
})

it('names the reader first, and what is missing where their sign-in does not count', () => {
  const eligible = [person('Ada Park'), person('Chris Lind', true)]
  expect(whoCan(waiting({ eligible }))).toBe('Right now that is you (lead) or Ada Park (lead).')
  expect(whoCan(waiting({ eligible, mayAnswer: { ok: false } }))).toContain('you (lead), signed in with an account')
})

it('tells how far a quorum has come; names only while each vote counts', () => {
  expect(soFar(waiting({ approvals: 2 }))).toBeUndefined()
  expect(soFar(waiting({ approvals: 2, votes: 1, answeredBy: [vote('Ada Park')] }))).toBe('1 of 2 so far: Ada Park.')
  expect(soFar(waiting({ approvals: 3, votes: 1, answeredBy: [vote('Ada Park'), vote('Gone Person')] }))).toBe(
    '1 of 3 so far.',
  )
})
