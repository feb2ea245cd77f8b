import { afterAll, beforeAll, expect, it } from 'vitest'
import { GET } from '#app/api/trpc/[trpc]/route.ts'
import { makeToken } from '#core/token.ts'
import { toAppError } from '#server/api/outage.ts'
import { emailDoor } from '#server/api/sign-in-doors.ts'
import { cookieName } from '#server/auth/cookies.ts'
import { database } from '#server/db.ts'
import { Browser } from '#test/support/browser.ts'
import { random, serverEnvironment } from '#test/support/makers.ts'

/** A database that is not there: every door says that trying again helps, and shows nothing of what went wrong. */
beforeAll(() => {
  process.env.DATABASE_URL = 'postgresql://nobody@127.0.0.1:1/nothing'
  serverEnvironment()
})
afterAll(async () => {
  await database().prisma.$disconnect()
  await database().pool.end()
})

it('a page’s call is told to try again', async () => {
  const cookie = `${cookieName('session')}=${makeToken('session', random(32))}`
  const input = encodeURIComponent(JSON.stringify({ json: { org: 'acme' } }))
  const response = await GET(
    new Request(`http://localhost:3000/api/trpc/boundary.current?input=${input}`, { headers: { cookie } }),
  )
  const text = await response.text()
  expect(response.status).toBe(503)
  expect(text).toContain('The database did not answer. Nothing was changed; try again.')
  expect(text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|prisma|stack|\.ts/i)
})

it('a form leads back to its page', async () => {
  expect(await new Browser().post(emailDoor, { email: 'x@y.test' })).toBe('/sign-in?error=unavailable')
})

it.each([
  ['a deadlock', { code: '40P01' }],
  ['a conflict of transactions', { code: 'P2034' }],
  ['no connection free in time', { code: 'P2028' }],
  ['a server that is ending', { code: '57P01' }],
  ['a raw query whose connection ended', { code: 'P2010', message: 'Raw query failed. Code: `57P01`. Message: `x`' }],
  [
    'a raw query that two serializable transactions lost',
    { code: 'P2010', message: 'Raw query failed. Code: `40001`.' },
  ],
  ['a connection that was cut', { message: 'Connection terminated unexpectedly' }],
  ['a server that is starting', { message: 'the database system is starting up' }],
])('%s is no mistake of the person: try again', (_, error) => {
  const { code, message } = toAppError(Object.assign(new Error('x'), error))
  expect([code, message]).toEqual(['UNAVAILABLE', 'The database did not answer. Nothing was changed; try again.'])
})

it.each(['22007', '22008', '22009'])('a date that the database has none for (%s) is the asker’s', sqlState => {
  const error = { code: 'P2010', message: `Raw query failed. Code: \`${sqlState}\`. Message: \`date out of range\`` }
  expect(toAppError(Object.assign(new Error('x'), error)).code).toBe('BAD_INPUT')
})

it('what nobody knows is ours, and its words are not shown', () => {
  const { code, message } = toAppError(new TypeError('secret of the house'))
  expect([code, message.includes('secret')]).toEqual(['INTERNAL', false])
})
