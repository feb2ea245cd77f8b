import { expect, it } from 'vitest'
import { makeToken, tokenKind } from '#core/token.ts'

it('tokens say their kind, and nothing else has one', () => {
  const token = makeToken('machine', new Uint8Array(32).fill(255))
  expect(token).toMatch(/^hpm_[a-z2-7]{52}$/)
  expect(tokenKind(token)).toBe('machine')
  for (const text of ['', 'hpm_', `hpx_${'a'.repeat(52)}`, `${token}a`, token.toUpperCase(), 'Bearer x'])
    expect(tokenKind(text)).toBeUndefined()
})
