import { CompactSign, compactVerify, importJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { base64url, utf8 } from '#core/bytes.ts'
import { openJws, parseJws } from '#core/jws.ts'
import { crypto, signAs, testKey } from '../support/trust.ts'

const key = testKey()
const good = signAs(key, 'holdpoint-fresh+jws', { a: 1 })
const [header, payload, signature] = good.split('.') as [string, string, string]
const withHeader = (head: unknown) =>
  `${base64url(utf8(typeof head === 'string' ? head : JSON.stringify(head)))}.${payload}.${signature}`
const open = (text: string, keys = [key.key]) => openJws(text, 'holdpoint-fresh+jws', keys, crypto)

it('is what jose calls a compact JWS, both ways', async () => {
  const jwk = await importJWK({ ...key.key, alg: 'Ed25519' }, 'Ed25519')
  expect(JSON.parse(new TextDecoder().decode((await compactVerify(good, jwk)).payload))).toEqual({ a: 1 })
  const theirs = await new CompactSign(utf8('{"a":1}'))
    .setProtectedHeader({ alg: 'Ed25519', kid: key.kid, typ: 'holdpoint-fresh+jws' })
    .sign(key.private)
  expect(open(theirs).value).toEqual({ a: 1 })
})

describe('a signed document is refused', () => {
  const head = { alg: 'Ed25519', kid: key.kid, typ: 'holdpoint-fresh+jws' }
  it.each([
    ['with algorithm none', withHeader({ ...head, alg: 'none' })],
    ['with the older name EdDSA', withHeader({ ...head, alg: 'EdDSA' })],
    ['with a shared secret', withHeader({ ...head, alg: 'HS256' })],
    ['with a critical extension', withHeader({ ...head, crit: ['b64'], b64: false })],
    ['with a key of its own', withHeader({ ...head, jwk: key.key })],
    ['with a place to fetch a key', withHeader({ ...head, jku: 'https://example.com' })],
    [
      'with alg standing twice',
      withHeader(`{"alg":"none","alg":"Ed25519","kid":"${key.kid}","typ":"holdpoint-fresh+jws"}`),
    ],
    ['with an unknown type', withHeader({ ...head, typ: 'JWT' })],
    ['with a key id that is no thumbprint', withHeader({ ...head, kid: '../../key' })],
    ['with a detached payload', `${header}..${signature}`],
    ['with a fourth part', `${good}.AA`],
    ['with padding', `${header}.${payload}=.${signature}`],
    ['with a short signature', `${header}.${payload}.${signature.slice(0, 80)}`],
    ['with a changed payload', `${header}.${base64url(utf8('{"a":2}'))}.${signature}`],
    ['as nothing', ''],
  ])('%s', (_, text) => expect(() => open(text)).toThrow(expect.objectContaining({ code: 'BAD_SIGNATURE' })))
  it('when another type is asked for, though the signature is good', () => {
    expect(() => openJws(good, 'holdpoint-answer+jws', [key.key], crypto)).toThrow('not a holdpoint-answer+jws')
  })
  it('under a key that is not in the role', () => expect(() => open(good, [testKey().key])).toThrow('not in force'))
  it('when the signed bytes are not strict JSON, though the signature is good', async () => {
    const twice = await new CompactSign(utf8('{"a":1,"a":2}')).setProtectedHeader(head).sign(key.private)
    expect(() => open(twice)).toThrow('the key "a" twice')
  })
  it('when the signed bytes are not UTF-8, as bad input and not as a failure of ours', async () => {
    const bytes = await new CompactSign(Uint8Array.of(0xff, 0xfe)).setProtectedHeader(head).sign(key.private)
    expect(() => open(bytes)).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
  })
})

it('takes a document apart without judging it', () =>
  expect(parseJws(good)).toMatchObject({ kid: key.kid, typ: 'holdpoint-fresh+jws' }))
