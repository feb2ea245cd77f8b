import { beforeEach, expect, it, vi } from 'vitest'

const GOOD = {
  HOLDPOINT_PUBLIC_URL: 'https://holdpoint.example.com/',
  HOLDPOINT_SECRET: 'A'.repeat(43),
  DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
}

beforeEach(() => {
  vi.resetModules()
  for (const name of ['HOLDPOINT_POOL', 'SMTP_URL', 'HOLDPOINT_MAIL_FROM']) vi.stubEnv(name, undefined)
})
async function read(over: Record<string, string | undefined> = {}) {
  for (const [name, value] of Object.entries({ ...GOOD, ...over })) vi.stubEnv(name, value)
  const { env } = await import('#server/env.ts')
  return env()
}

it('links are made from the public address without a slash at its end', async () => {
  expect(await read()).toMatchObject({
    publicUrl: 'https://holdpoint.example.com',
    mailFrom: 'Holdpoint <holdpoint@holdpoint.example.com>',
    poolSize: 10,
  })
})

it.each([
  ['no public address', { HOLDPOINT_PUBLIC_URL: undefined }, 'HOLDPOINT_PUBLIC_URL'],
  ['an empty one', { HOLDPOINT_PUBLIC_URL: '' }, 'HOLDPOINT_PUBLIC_URL'],
  ['a host alone', { HOLDPOINT_PUBLIC_URL: 'holdpoint.example.com' }, 'HOLDPOINT_PUBLIC_URL'],
  ['a script', { HOLDPOINT_PUBLIC_URL: 'javascript:alert(1)' }, 'HOLDPOINT_PUBLIC_URL'],
  ['a path', { HOLDPOINT_PUBLIC_URL: 'https://example.com/holdpoint' }, 'HOLDPOINT_PUBLIC_URL'],
  ['a password', { HOLDPOINT_PUBLIC_URL: 'https://a:b@example.com' }, 'HOLDPOINT_PUBLIC_URL'],
  ['no secret', { HOLDPOINT_SECRET: undefined }, 'HOLDPOINT_SECRET'],
  ['a short secret', { HOLDPOINT_SECRET: 'A'.repeat(42) }, 'HOLDPOINT_SECRET'],
  ['no database', { DATABASE_URL: undefined }, 'DATABASE_URL'],
  ['a pool of no size', { HOLDPOINT_POOL: 'many' }, 'HOLDPOINT_POOL'],
])(
  '%s: the start is refused with the name of what is wrong and what to do, and without its value',
  async (_, over, name) => {
    const error = (await read(over).catch((thrown: unknown) => thrown)) as Error & { code: string; remedy: string }
    expect(error.code).toBe('BAD_INPUT')
    expect(error.message).toContain(name)
    expect(error.remedy).toBeTruthy()
    for (const value of Object.values(over)) if (value) expect(error.message).not.toContain(value)
  },
)
