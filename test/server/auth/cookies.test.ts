import { beforeAll, expect, it } from 'vitest'
import { emailDoor } from '#server/api/sign-in-doors.ts'
import { cookieFlags, cookieName, dropCookie, parseCookies, setCookie } from '#server/auth/cookies.ts'
import { isDemoMode } from '#server/auth/demo-mode.ts'
import { serverEnvironment } from '#test/support/makers.ts'

const NAMES = ['session', 'look', 'attempt', 'oidcCsrf', 'oidcNext', 'oidcPkce', 'oidcState', 'oidcNonce'] as const

beforeAll(() => {
  process.env.HOLDPOINT_PUBLIC_URL = 'https://holdpoint.example.com'
  process.env.DATABASE_URL ??= 'postgresql://nobody@127.0.0.1:1/none'
  delete process.env.SMTP_URL
  serverEnvironment()
})

it('on https every cookie is __Host-, Secure, HttpOnly, Lax and for the whole host', () => {
  for (const name of NAMES) {
    expect(cookieName(name)).toMatch(/^__Host-holdpoint-/)
    expect(setCookie(name, 'v')).toBe(`${cookieName(name)}=v; Path=/; HttpOnly; SameSite=Lax; Secure`)
  }
  expect(cookieFlags()).toEqual({ httpOnly: true, sameSite: 'lax', path: '/', secure: true })
  expect(dropCookie('session')).toContain('; Secure; Max-Age=0')
})

it('no name is the beginning of another: the sign-in library reads by beginnings', () => {
  for (const a of NAMES)
    for (const b of NAMES) if (a !== b) expect(cookieName(b).startsWith(cookieName(a)), `${a} begins ${b}`).toBe(false)
})

it('of two cookies with one name the first counts', () => {
  expect(parseCookies('a=1; a=2; b = 3 ; c; =x')).toEqual(
    new Map([
      ['a', '1'],
      ['b', '3'],
    ]),
  )
})

it('a public address elsewhere than on loopback is never demo mode', () => {
  expect(isDemoMode()).toBe(false)
})

it('redirects are built from the public address, whatever the Host header says', async () => {
  const response = await emailDoor.POST(
    new Request('http://internal:3000/auth/email', {
      method: 'POST',
      body: 'email=x',
      headers: { host: 'evil.test', origin: 'https://evil.test', 'content-type': 'application/x-www-form-urlencoded' },
    }),
  )
  expect([response.status, response.headers.get('location')]).toEqual([
    303,
    'https://holdpoint.example.com/sign-in?error=origin',
  ])
})
