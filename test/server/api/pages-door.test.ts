import superjson from 'superjson'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GET, POST } from '#app/api/trpc/[trpc]/route.ts'
import { readAsked } from '#app/asked.ts'
import { makeToken } from '#core/token.ts'
import { auditCsv } from '#server/api/csv-doors.ts'
import { singleSignOnDoor } from '#server/api/oidc-doors.ts'
import { cookieName } from '#server/auth/cookies.ts'
import { database } from '#server/db.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { hashToken } from '#server/keys/token-hash.ts'
import { Browser } from '#test/support/browser.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  random,
  serverEnvironment,
  type TestOrganisation,
} from '#test/support/makers.ts'

/** The door that the pages' own calls come in by. */
const db = useDatabase()
const OWN = 'http://localhost:3000'
let org: TestOrganisation
let session: string
let handle: string
let etag: string

beforeAll(async () => {
  serverEnvironment()
  org = await makeOrganisation(db.prisma, 'acme')
  session = makeToken('session', random(32))
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
  const machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member'))
  etag = (await publish(db.prisma, org, costRule('lead'))).etag
  const request = await makeRequest(db.prisma, machine)
  await fileRequest(contextOf(db.prisma, machine.actor), { request: machine.sign('holdpoint-request+jws', request) })
  handle = request.handle
})
afterAll(async () => {
  await database().prisma.$disconnect()
  await database().pool.end()
})

type Sent = { headers?: Record<string, string | undefined>; signedIn?: boolean; body?: string }
async function send(path: string, input: unknown, { headers = {}, signedIn = true, body }: Sent = {}) {
  const text = body ?? JSON.stringify(superjson.serialize(input))
  const given = {
    origin: OWN,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...(signedIn ? { cookie: `${cookieName('session')}=${session}` } : {}),
    ...headers,
  }
  const kept = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const response = await POST(new Request(`${OWN}/api/trpc/${path}`, { method: 'POST', headers: kept, body: text }))
  const answer = await response.text()
  expect(answer).not.toMatch(/ at .*\.ts|node_modules|prisma|Invalid `/i)
  const read = answer === '' ? undefined : JSON.parse(answer)
  return {
    status: response.status,
    error: read?.error?.json as
      | { message: string; data: { app?: string; details?: { errors?: { line: number }[] } } }
      | undefined,
  }
}
const ask = (path: string, input: unknown, headers: Record<string, string> = {}) =>
  GET(
    new Request(`${OWN}/api/trpc/${path}?input=${encodeURIComponent(JSON.stringify(superjson.serialize(input)))}`, {
      headers,
    }),
  )
const draft = (text: string) => ({ org: 'acme', text, note: 'why', etag })
const versions = () => db.prisma.ruleSetVersion.count()

describe('who is let in', () => {
  it('a header that names an inner call skips no check, for reading and for changing', async () => {
    const inner = {
      'x-middleware-subrequest': 'proxy:proxy:proxy:proxy:proxy',
      'x-middleware-next': '1',
      'x-holdpoint-path': '/acme',
      'x-forwarded-host': 'localhost:3000',
    }
    expect((await ask('boundary.current', { org: 'acme' }, inner)).status).toBe(401)
    const changed = await send('boundary.publish', draft(costRule('member')), { headers: inner, signedIn: false })
    expect(changed.status).toBe(401)
    expect(await versions()).toBe(1)
  })

  it.each([
    ['another site', { origin: 'https://evil.test' }],
    ['another port of localhost', { origin: 'http://localhost:3001' }],
    ['no origin', { origin: undefined }],
    ['a page of another site that says it is ours', { 'sec-fetch-site': 'cross-site' }],
  ])('a change that comes from %s is refused before it is read', async (_, headers) => {
    expect((await send('boundary.publish', draft(costRule('member')), { headers })).status).toBe(403)
    expect(await versions()).toBe(1)
  })
})

describe('hostile boundaries', () => {
  it('ten megabytes are refused by their length, and a body without one too', async () => {
    const big = `# ${'x'.repeat(10_000_000)}`
    expect((await send('boundary.publish', draft(big))).status).toBe(413)
    expect((await send('boundary.check', draft(big))).status).toBe(413)
    expect(
      (await send('boundary.publish', draft(costRule('lead')), { headers: { 'content-length': undefined } })).status,
    ).toBe(411)
  })

  it.each([
    [
      'an alias bomb',
      `a: &a [x,x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*${i === 0 ? 'a' : `b${i - 1}`}, *a]`).join('\n')}\nboundaries: *b29\n`,
    ],
    ['a key twice', `${costRule('lead')}boundaries: []\n`],
    [
      'a key twice in a rule',
      costRule('lead').replace('    stage: enforce\n', '    stage: enforce\n    stage: shadow\n'),
    ],
    ['two hundred thousand brackets', '['.repeat(200_000)],
    ['no YAML', 'boundaries: [unclosed'],
    ['a text past its limit', `# ${'x'.repeat(300_000)}`],
  ])('%s: told where, and nothing is stored', async (_, text) => {
    const { status, error } = await send('boundary.publish', draft(text))
    expect([400, 413]).toContain(status)
    expect(['BAD_INPUT', 'TOO_LARGE']).toContain(error!.data.app)
    for (const { line } of error!.data.details?.errors ?? [{ line: 1 }]) expect(line).toBeGreaterThan(0)
    expect(await versions()).toBe(1)
  })
})

it('a character that no database keeps is bad input and no failure of ours, wherever it stands', async () => {
  const nul = 'a\u0000b'
  for (const [path, input] of [
    ['approval.answer', { org: 'acme', handle, decision: 'deny', scope: 'step', reason: nul }],
    ['boundary.rollBack', { org: 'acme', version: 1, note: nul, etag: nul }],
    ['member.changeRole', { org: 'acme', id: nul, role: 'lead' }],
    ['member.invite', { org: 'acme', email: `${nul}@x.test`, name: 'X', role: 'member' }],
  ] as const) {
    const { status, error } = await send(path, input)
    expect(status, `${path}: ${error?.message}`).toBeGreaterThanOrEqual(400)
    expect(status, path).toBeLessThan(500)
  }
  expect((await db.prisma.approvalRequest.findFirstOrThrow()).state).toBe('pending')
  const cookie = `${cookieName('session')}=${session}`
  expect((await ask('evidence.list', { org: 'acme', subject: nul }, { cookie })).status).toBe(400)
  const sheet = await auditCsv(new Request(`${OWN}/api/export/audit?org=acme&subject=%00`, { headers: { cookie } }))
  expect(sheet.status).toBe(400)
  expect(await new Browser().post(singleSignOnDoor, { org: nul })).toMatch(/error=form$/)
  expect(await readAsked(Promise.resolve({ org: nul, next: '/acme' }), 'org', 'next')).toEqual({
    org: undefined,
    next: '/acme',
  })
})
