import { expect, it } from 'vitest'
import { safePath } from '#server/auth/origin.ts'

it.each([
  '//elsewhere.test',
  '/\\elsewhere.test',
  '/.//elsewhere.test',
  '/acme/..//elsewhere.test',
  '/acme/%2e%2e//elsewhere.test',
  '/\telsewhere.test',
  '/\n/elsewhere.test',
  'https://elsewhere.test/',
  'javascript:alert(1)',
  'acme',
  `/${'a'.repeat(500)}`,
  '',
])('%j is no path to go on to after signing in', text => {
  const path = safePath(text)
  expect(path === undefined || new URL(path, 'https://holdpoint.test').href).toBe(true)
})

it('a path of ours is, with its query and without its fragment', () => {
  expect(safePath('/acme/approvals/bnd-0123456789ab?tab=history#top')).toBe(
    '/acme/approvals/bnd-0123456789ab?tab=history',
  )
})
