import { afterEach, expect, it, vi } from 'vitest'
import { makeToken, TOKEN_KINDS, type TokenKind } from '#core/token.ts'
import { log } from '#server/log.ts'
import { random } from '#test/support/makers.ts'

afterEach(() => vi.restoreAllMocks())

function written(run: () => void): string {
  const lines: string[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation(line => {
    lines.push(String(line))
    return true
  })
  run()
  vi.restoreAllMocks()
  return lines.join('')
}

it('a log line holds no address, whatever a mail server quotes in its refusal', () => {
  const line = written(() =>
    log.error('mail.bounced', new Error('refused for good: 550 5.1.1 <dana@acme.test>: user unknown (dana@acme.test)')),
  )
  expect(line).not.toContain('dana')
  expect(JSON.parse(line)).toMatchObject({
    event: 'mail.bounced',
    message: 'refused for good: 550 5.1.1 <<address>>: user unknown (<address>)',
  })
})

it.each(Object.keys(TOKEN_KINDS) as TokenKind[])('a log line holds no %s token, nor a mailed secret', kind => {
  const token = makeToken(kind, random(32))
  const line = written(() => {
    log.warn('x', { path: `/link?t=${token}`, message: `no ${token}.` })
    log.error('x', new Error(`/link?a=c2VjcmV0&next=%2Facme and /api/auth/callback/idp?code=c2VjcmV0&state=c2VjcmV0`))
  })
  expect(line).not.toContain(token)
  expect(line).not.toContain('c2VjcmV0')
  expect(line).toContain('next=%2Facme')
})
