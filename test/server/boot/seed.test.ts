import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { root } from '#server/boot/environment.mjs'
import { hashToken } from '#server/keys/token-hash.ts'
import { useDatabase } from '#test/support/db.ts'

const db = useDatabase()
const file = path.join(root, `.data/test/seed-${process.pid}.mjs`)

beforeAll(async () => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  await build({
    absWorkingDir: root,
    entryPoints: ['server/boot/seed.ts'],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    conditions: ['react-server'],
    logLevel: 'error',
  })
})
afterAll(() => fs.rmSync(file, { force: true }))

/** Runs the seed as the launcher does, and reads its line. */
async function seed(): Promise<{ signInUrl?: string }> {
  const env = {
    ...process.env,
    DATABASE_URL: db.url,
    HOLDPOINT_PUBLIC_URL: 'http://localhost:3000',
    HOLDPOINT_SECRET: 'A'.repeat(43),
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=react-server', file], { env })
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as { signInUrl?: string }
}
const tokenOf = (url: string | undefined) => new URL(url!).searchParams.get('t')!

it('the first start makes the demo organisation once, and a sign-in for its owner until one was used', async () => {
  const [first, second] = await Promise.all([seed(), seed()])
  expect(await db.prisma.organisation.findMany({ select: { slug: true, demo: true } })).toEqual([
    { slug: 'acme', demo: true },
  ])
  const members = await db.prisma.member.findMany({ orderBy: { role: 'desc' } })
  expect(members.map(member => member.role)).toEqual(['owner', 'admin', 'lead', 'member', 'member'])
  expect(await db.prisma.tenant.count()).toBe(2)
  const kinds = (await db.prisma.evidenceEntry.findMany({ orderBy: { seq: 'asc' } })).map(entry => entry.kind)
  expect(kinds.filter(kind => kind === 'member.joined')).toHaveLength(5)

  const third = await seed()
  const live = await db.prisma.token.findMany({ where: { kind: 'console', revokedAt: null } })
  expect(live.map(token => token.hash)).toEqual([hashToken(tokenOf(third.signInUrl))])
  expect(new Set([first, second, third].map(seeded => seeded.signInUrl)).size).toBe(3)
  expect(live[0]!.expiresAt!.getTime() - live[0]!.createdAt.getTime()).toBe(15 * 60_000)

  process.env.HOLDPOINT_PUBLIC_URL = 'http://localhost:3000'
  process.env.HOLDPOINT_SECRET = 'A'.repeat(43)
  const { redeemOneTime } = await import('#server/features/one-time-sign-in.ts')
  const { openContext } = await import('#server/features/context.ts')
  const { database } = await import('#server/db.ts')
  await redeemOneTime(openContext({ kind: 'system', orgId: '' }), { token: tokenOf(third.signInUrl), kind: 'console' })
  expect(await seed()).toEqual({})
  await database().prisma.$disconnect()
  await database().pool.end()
}, 60_000)
