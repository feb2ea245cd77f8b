import fc from 'fast-check'
import { expect, it } from 'vitest'
import { base64url, concat, fromBase64url, hex, sameBytes } from '#core/bytes.ts'

it('spells bytes as Node does, and reads its own spelling back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), bytes => {
      expect(base64url(bytes)).toBe(Buffer.from(bytes).toString('base64url'))
      expect(fromBase64url(base64url(bytes))).toEqual(bytes)
      expect(hex(bytes)).toBe(Buffer.from(bytes).toString('hex'))
    }),
  )
})

it('accepts one spelling of the same bytes only', () => {
  for (const text of ['AA==', 'AB', 'A', 'AA=', 'A+', 'A/', 'AAAAA', 'A\n', 'AAB'])
    expect(fromBase64url(text), text).toBeUndefined()
  expect(fromBase64url('AA')).toEqual(Uint8Array.of(0))
  expect(fromBase64url('')).toEqual(new Uint8Array(0))
})

it('reads arbitrary text without throwing, and nothing that it would spell otherwise', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      const bytes = fromBase64url(text)
      if (bytes) expect(base64url(bytes)).toBe(text)
    }),
  )
})

it('joins and compares', () => {
  expect(concat(Uint8Array.of(1), Uint8Array.of(2, 3))).toEqual(Uint8Array.of(1, 2, 3))
  expect(sameBytes(Uint8Array.of(1), Uint8Array.of(1, 0))).toBe(false)
})
