import { expect, test } from 'vitest'
import { coverageWords, lacksOf } from '#agent/clients/coverage.ts'
import { USAGE_SOURCES } from '#agent/clients/sources.ts'
import { CLIENT_NAMES, CLIENTS } from '#core/client.ts'

test('of every client it is said whether its calls are counted', () => {
  const said = coverageWords(USAGE_SOURCES).join('\n')
  for (const client of CLIENTS) expect(said, client).toContain(CLIENT_NAMES[client])
  expect(coverageWords([]).join('\n')).toContain(
    'Claude Code, Codex, opencode, Gemini CLI and Copilot CLI: not read yet',
  )
})

test('Cursor’s are not, and why', () => {
  expect(USAGE_SOURCES.some(({ client }) => client === 'cursor')).toBe(false)
  expect(coverageWords(USAGE_SOURCES).at(-1)).toMatch(/Cursor .* not public/)
})

test('what records leave out is said of clients that are there, and of no others', () => {
  expect(lacksOf(USAGE_SOURCES, new Set())).toEqual([])
  expect(lacksOf(USAGE_SOURCES, new Set(['claude-code']))).toEqual([
    expect.stringContaining('an attempt that broke off before its first whole block'),
  ])
  expect(lacksOf(USAGE_SOURCES, new Set(['gemini']))).toEqual([expect.stringContaining('Gemini CLI')])
})

test('each client is read by one source', () => {
  const clients = USAGE_SOURCES.map(({ client }) => client)
  expect(new Set(clients).size).toBe(clients.length)
  for (const client of clients) expect(CLIENTS as readonly string[]).toContain(client)
})
