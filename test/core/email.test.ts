import { expect, it } from 'vitest'
import { normaliseEmail } from '#core/email.ts'

it.each([
  [' Ana@Example.com ', 'ana@example.com'],
  ["o'neil+x@a-b.example", "o'neil+x@a-b.example"],
])('%s is %s', (text, email) => expect(normaliseEmail(text)).toBe(email))

it.each([
  'a@b@c.example',
  '"a"@b.example',
  'a,b@c.example',
  'a@b.example\r\nBcc: x@y',
  'a@',
  '@b',
  'a b@c',
  'a@-b.example',
  'a@b..example',
  'a..b@c.example',
  '<a@b.example>',
  'ä@b.example',
])('%s is no address', text => expect(() => normaliseEmail(text)).toThrow('not an e-mail address'))
