import { expect, it } from 'vitest'
import { formatJoinLine, parseJoinLine, readPasted } from '#core/join-line.ts'

const token = `hpj_${'a'.repeat(52)}`
const rootDigest = 'A'.repeat(43)
const parts = { origin: 'https://holdpoint.example.com', slug: 'acme', token, rootDigest }

it('says what was put into it', () => {
  expect(parseJoinLine(formatJoinLine(parts))).toEqual(parts)
  expect(parseJoinLine(` https://holdpoint.example.com/o/acme#e=${token}\n`)).toEqual({
    origin: parts.origin,
    slug: 'acme',
    token,
  })
})

it('is found in the whole command that the page shows, with the name for the machine', () => {
  const line = formatJoinLine(parts)
  const download = 'curl -fsSL "https://holdpoint.example.com/connector/abc/holdpoint.cjs" -o "$f"'
  expect(readPasted(`sh -c '${download} && node "$f" install --join "${line}"'`)).toEqual({ address: line })
  expect(
    readPasted(`HOLDPOINT_LINE='${line}' sh -c '${download} && node "$f" install --join - --label build-1'`),
  ).toEqual({ address: line, label: 'build-1' })
  expect(readPasted(` ${line}\n`)).toEqual({ address: line })
  expect(readPasted('something else')).toEqual({ address: 'something else' })
})

it.each(['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'])('%s may be plain', origin => {
  expect(parseJoinLine(formatJoinLine({ ...parts, origin }))?.origin).toBe(origin)
})

it.each([
  ['plain http to another machine', formatJoinLine({ ...parts, origin: 'http://holdpoint.example.com' })],
  [
    'a name that only begins like this machine’s',
    formatJoinLine({ ...parts, origin: 'http://localhost.evil.example' }),
  ],
  ['no token', 'https://holdpoint.example.com/o/acme'],
  ['a token of another kind', formatJoinLine({ ...parts, token: `hpm_${'a'.repeat(52)}` })],
  ['a token in the query, which servers log', `https://holdpoint.example.com/o/acme?e=${token}#e=${token}`],
  ['a digest that is none', formatJoinLine({ ...parts, rootDigest: 'abc' })],
  ['a password in the address', `https://a:b@holdpoint.example.com/o/acme#e=${token}`],
  ['another path', `https://holdpoint.example.com/acme#e=${token}`],
  ['nothing', ''],
])('%s is no join line', (_, line) => {
  expect(parseJoinLine(line)).toBeUndefined()
})
