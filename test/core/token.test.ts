import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { API_SCOPES, DOOR_SCOPES, makeToken, TOKEN_DOORS, tokenKind } from '#core/token.ts'

it('tokens say their kind, and nothing else has one', () => {
  const token = makeToken('machine', new Uint8Array(32).fill(255))
  expect(token).toMatch(/^hpm_[a-z2-7]{52}$/)
  expect(tokenKind(token)).toBe('machine')
  for (const text of ['', 'hpm_', `hpx_${'a'.repeat(52)}`, `${token}a`, token.toUpperCase(), 'Bearer x'])
    expect(tokenKind(text)).toBeUndefined()
})

it('a token for programs bears the CRC-32 of itself, so that a scanner and a slip of one letter are told apart from one', () => {
  const token = makeToken(
    'api',
    Uint8Array.from({ length: 32 }, (_, i) => i * 7),
  )
  expect(token).toMatch(/^hpt_[a-z2-7]{59}$/)
  expect(tokenKind(token)).toBe('api')
  const letters = 'abcdefghijklmnopqrstuvwxyz234567'
  const written = [...token.slice(-7)].reduceRight((sum, letter) => sum * 32 + letters.indexOf(letter), 0)
  expect(written).toBe(crc32(token.slice(0, -7)))
  for (let at = 4; at < token.length; at++) {
    const other = token[at] === 'a' ? 'b' : 'a'
    expect(tokenKind(token.slice(0, at) + other + token.slice(at + 1)), `letter ${at}`).toBeUndefined()
  }
  for (const cut of [token.slice(0, -7), token.slice(0, -1), `${token}a`, token.replace('hpt', 'hpm')])
    expect(tokenKind(cut)).toBeUndefined()
})

it('what programs may is a fixed list, and each of their doors takes one of it', () => {
  expect(API_SCOPES).toEqual(['spend.read'])
  expect(Object.keys(DOOR_SCOPES)).toEqual(TOKEN_DOORS.api)
  for (const scope of Object.values(DOOR_SCOPES)) expect(API_SCOPES).toContain(scope)
})
