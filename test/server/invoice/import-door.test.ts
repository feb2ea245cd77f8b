import superjson from 'superjson'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { POST } from '#app/api/trpc/[trpc]/route.ts'
import { INVOICE_TEXT_MAX } from '#core/limits.ts'
import { makeToken } from '#core/token.ts'
import { cookieName } from '#server/auth/cookies.ts'
import { database } from '#server/db.ts'
import { hashToken } from '#server/keys/token-hash.ts'
import { useDatabase } from '#test/support/db.ts'
import { makeOrganisation, random, serverEnvironment } from '#test/support/makers.ts'

/** The door that a file comes in by: wide enough for one at its limit, and no other call is any wider for it. */
const db = useDatabase()
const OWN = 'http://localhost:3000'
let cookie: string

beforeAll(async () => {
  serverEnvironment()
  const org = await makeOrganisation(db.prisma, 'acme')
  const session = makeToken('session', random(32))
  cookie = `${cookieName('session')}=${session}`
  const now = new Date()
  await db.prisma.session.create({
    data: {
      id: 'ses_owner00000000000',
      tokenHash: hashToken(session),
      memberId: org.ownerId,
      orgId: org.id,
      method: 'email_code',
      authnAt: now,
      createdAt: now,
      expiresAt: new Date(now.getTime() + 3600_000),
    },
  })
})
afterAll(async () => {
  await database().prisma.$disconnect()
  await database().pool.end()
})

async function send(path: string, input: unknown): Promise<{ status: number; body: string }> {
  const body = JSON.stringify(superjson.serialize(input))
  const headers = {
    origin: OWN,
    cookie,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  }
  const response = await POST(new Request(`${OWN}/api/trpc/${path}`, { method: 'POST', headers, body }))
  return { status: response.status, body: await response.text() }
}
const csv = (length: number) => `description,amount\n"${'x""'.repeat(Math.floor((length - 30) / 3))}",5\n`
const invoice = (text: string, month: string) => ({
  org: 'acme',
  provider: 'anthropic',
  month,
  currency: 'USD',
  source: 'csv',
  text,
})

it('takes a file at its limit, with every quote of it escaped, and refuses one above it', async () => {
  const full = csv(INVOICE_TEXT_MAX)
  expect([full.length > INVOICE_TEXT_MAX - 100, full.length <= INVOICE_TEXT_MAX]).toEqual([true, true])
  const taken = await send('invoice.import', invoice(full, '2026-10'))
  expect(taken.status, taken.body.slice(0, 300)).toBe(200)
  expect((await send('invoice.import', invoice(`${full}\n${'1\n'.repeat(60)}`, '2026-09'))).status).toBe(400)
  expect((await send('invoice.import', invoice('x'.repeat(18_000_000), '2026-09'))).status).toBe(413)
})

it('no other call takes more than before, a batch with it neither', async () => {
  const three = 'x'.repeat(3_000_000)
  expect((await send('invoice.enter', { ...invoice(three, '2026-08'), lines: [] })).status).toBe(413)
  expect((await send('boundary.publish', { org: 'acme', text: three, note: 'x', etag: '"0"' })).status).toBe(413)
  expect((await send('invoice.import,settings.update', invoice(three, '2026-08'))).status).toBe(413)
  expect(await db.prisma.invoice.count()).toBe(1)
})
