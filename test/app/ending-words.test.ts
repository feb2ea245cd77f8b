import { expect, it } from 'vitest'
import { endedBy, endingLine } from '#app/(console)/[org]/approvals/[handle]/ending-words.ts'

const vote = (name: string, decision: 'approve' | 'deny') =>
  ({
    name,
    decision,
    role: 'lead',
    how: 'web',
    method: 'oidc',
    at: new Date(0),
    self: false,
    demo: false,
    reason: '',
  }) as const
const line = (state: Parameters<typeof endingLine>[0]['state'], over = {}) =>
  endingLine({
    state,
    scope: 'step',
    subject: { kind: 'session' },
    answeredBy: [vote('Chris Lind', 'approve')],
    ended: undefined,
    ...over,
  })

it('a settled request says in one line how it ended and by whom', () => {
  expect(line('pending')).toBeUndefined()
  expect(line('approved')).toBe('Approved for one step by Chris Lind.')
  expect(line('used')).toBe('Approved for one step by Chris Lind, and used.')
  expect(line('lapsed', { scope: 'session' })).toBe('Approved for the session by Chris Lind; its time is over.')
  const subject = { kind: 'route', provider: 'anthropic', from: 'a', to: 'b' }
  expect(line('approved', { subject })).toBe('Approved for one request by Chris Lind.')
  expect(line('approved', { subject, scope: 'session' })).toBe('Approved for a day by Chris Lind.')
  expect(line('approved', { answeredBy: [vote('Ada Park', 'approve'), vote('Chris Lind', 'approve')] })).toContain(
    'by Ada Park and Chris Lind.',
  )
})

it('a denial names whoever denied it, not who had approved before', () => {
  const answeredBy = [vote('Ada Park', 'approve'), vote('Chris Lind', 'deny')]
  expect(line('denied', { answeredBy })).toBe('Denied for a day by Chris Lind.')
})

it('expiry and withdrawal are told as no person’s denial', () => {
  for (const state of ['expired', 'withdrawn'] as const) expect(line(state, { answeredBy: [] })).not.toMatch(/denied/i)
})

it('an end names whose act it was', () => {
  expect(endedBy({ by: 'machine', why: 'session_ended' }, 'withdrawn')).toBe('the machine: its session had ended')
  expect(endedBy({ by: 'machine', why: 'denied_here' }, 'withdrawn')).toBe(
    'the machine: somebody at its keyboard said no',
  )
  expect(endedBy({ by: 'machine', why: 'what-nobody-knows' }, 'withdrawn')).toBe('the machine')
  expect(endedBy({ by: 'machine', why: 'left' }, 'revoked')).toBe('the machine, which left the organisation')
  expect(endedBy({ by: 'admin', why: 'laptop_lost' }, 'revoked')).toBe('an admin, who reported the laptop lost')
  expect(endedBy({ by: 'member', why: 'revoked' }, 'revoked')).toBe('the requester, who revoked the machine')
  expect(endedBy({ by: 'member', why: 'withdrawn' }, 'withdrawn')).toBe('the requester')
  expect(endedBy({ by: 'member' }, 'revoked')).toBe('somebody who may answer it')
  expect(endedBy({ by: 'system', why: 'restored' }, 'withdrawn')).toBe(
    'the control plane: it was restored from an older copy',
  )
})

it('a withdrawal says in its line who took the request back, the machine or its requester', () => {
  const withdrawn = (by: string, why: string) => line('withdrawn', { answeredBy: [], ended: { by, why } })
  expect(withdrawn('member', 'withdrawn')).toBe('Withdrawn by its requester.')
  expect(withdrawn('machine', 'session_ended')).toBe('Withdrawn by the machine: its session had ended.')
  expect(withdrawn('admin', 'laptop_lost')).toBe('Withdrawn by an admin, who reported the laptop lost.')
})
