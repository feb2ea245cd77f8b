import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { config } from '#proxy.ts'

/** As Next reads a matcher: its own copy of the library. */
const { pathToRegexp } = createRequire(import.meta.url)('next/dist/compiled/path-to-regexp') as {
  pathToRegexp(pattern: string): RegExp
}
const pages = pathToRegexp(config.matcher[0]!)

it.each([
  '/',
  '/acme',
  '/sign-in',
  '/healthz-labs',
  '/icon.svg-labs/approvals',
  '/robots.txt-labs',
  '/apiary',
  '/authors',
])('the page %s carries the content security policy, whatever its organisation is called', path =>
  expect(pages.test(path)).toBe(true),
)
it.each([
  '/healthz',
  '/icon.svg',
  '/favicon.ico',
  '/robots.txt',
  '/api/trpc/x',
  '/auth/email',
  '/connector/x/holdpoint.cjs',
])('%s is no page', path => expect(pages.test(path)).toBe(false))
