import { expect, test } from 'vitest'
import { methodName } from '#core/permission.ts'
import { readSources } from '#test/rules/sources.ts'

/** The format of answers has words for ways of signing in that are not built; the pages must not promise them. */
test('no page, mail or document speaks of a passkey', () => {
  const found = [...readSources()].filter(
    ([file, text]) => /^(app|server\/(email|features|api))\//.test(file) && /passkey/i.test(text),
  )
  expect(found.map(([file]) => file)).toEqual([])
})

test('every way a session may begin completes both sentences that name it', () => {
  expect(`Signed in with ${methodName('console')}`).toBe('Signed in with a one-time address that the server printed')
  expect(`A session that began with ${methodName('console')} cannot publish.`).toMatch(
    /address that the server printed/,
  )
})
