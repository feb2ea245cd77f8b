import { expect, it } from 'vitest'
import { compareDecimals } from '#core/decimal.ts'

it('compares by value, not by spelling', () => {
  expect(compareDecimals('9.5', '10')).toBe(-1)
  expect(compareDecimals('10.000001', '10')).toBe(1)
  expect(compareDecimals('10.10', '10.1')).toBe(0)
})

it('compares nothing that is no decimal', () => {
  for (const odd of ['', '1e3', 'unread', ' 1', '0x10']) expect(() => compareDecimals(odd, '1')).toThrow(RangeError)
})
