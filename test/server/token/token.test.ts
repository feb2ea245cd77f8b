import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Role } from '#core/role.ts'
import { makeToken } from '#core/token.ts'
import * as programs from '#server/api/program-doors.ts'
import { isRefusal } from '#server/db-refusal.ts'
import { endApiToken, listApiTokens, makeApiToken } from '#server/features/api-token.ts'
import { changeRole, removeMember, reportLaptopLost } from '#server/features/member.ts'
import { noticeRestore } from '#server/features/restore.ts'
import { hashToken } from '#server/keys/token-hash.ts'
import { admin as adminDoors, ask, doors, refusal } from '#test/support/connector.ts'
import { useDatabase } from '#test/support/db.ts'
import {
  actorOf,
  contextOf,
  makeMachine,
  makeMember,
  makeOrganisation,
  random,
  serverEnvironment,
  type TestOrganisation,
} from '#test/support/makers.ts'
import { during } from '#test/support/moment.ts'

const db = useDatabase()
let org: TestOrganisation
let admin: string
beforeAll(serverEnvironment)
beforeEach(async () => {
  org = await makeOrganisation(db.prisma)
  admin = await makeMember(db.prisma, org, 'admin', 'Ada Admin')
})

const as = (id: string, role: Role, now = new Date()) => contextOf(db.prisma, actorOf(org, id, role, 'email_code'), now)
const owner = (now = new Date()) => as(org.ownerId, 'owner', now)
const asked = { name: 'Warehouse import', scopes: ['spend.read' as const] }
const make = (over = {}, ctx = as(admin, 'admin')) => makeApiToken(ctx, { ...asked, ...over })
const query = '?month=2026-11'
const use = async (token: string): Promise<number> => (await ask(programs.getFocus, { token, query })).status
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  )
const told = async (kind: string) =>
  (await db.prisma.evidenceEntry.findMany({ where: { orgId: org.id, kind }, orderBy: { seq: 'asc' } })).map(row =>
    JSON.parse(Buffer.from(row.bytes).toString()),
  )

describe('making one', () => {
  it('shows its text once: what is kept opens nothing, and the list has no secret in it', async () => {
    const made = await make()
    expect(await use(made.token)).toBe(200)
    const rows = await db.prisma.apiToken.findMany({ where: { orgId: org.id } })
    expect(rows).toMatchObject([{ hash: hashToken(made.token), start: made.token.slice(0, 8), memberId: admin }])
    const list = await listApiTokens(owner())
    expect(list).toMatchObject([
      { id: made.id, name: 'Warehouse import', scopes: ['spend.read'], madeBy: { name: 'Ada Admin' }, live: true },
    ])
    for (const kept of [rows, list, await told('token.made')])
      expect(JSON.stringify(kept)).not.toContain(made.token.slice(8))
  })

  it('is told in evidence: what it may, until when, and how it begins', async () => {
    const now = new Date('2026-11-30T12:00:00Z')
    const { id, token } = await makeApiToken(owner(now), { ...asked, days: 30 })
    expect(await told('token.made')).toMatchObject([
      {
        subject: { kind: 'token', ref: id },
        data: { start: token.slice(0, 8), scopes: ['spend.read'], until: '2026-12-30' },
      },
    ])
  })

  it('lasts ninety days unless said otherwise, and never more than a year', async () => {
    const now = new Date('2026-01-31T12:00:00Z')
    expect((await makeApiToken(owner(now), asked)).expiresAt).toEqual(new Date('2026-05-01T12:00:00Z'))
    for (const days of [0, -1, 366, 1.5, Number.NaN, 1e9]) expect(await codeOf(make({ days }))).toBe('BAD_INPUT')
    expect(await codeOf(make({ days: 365 }))).toBe('done')
  })

  it('takes a name and something that it may read', async () => {
    for (const over of [{ name: ' ' }, { name: '\u202e' }, { name: 'x'.repeat(81) }, { scopes: [] }])
      expect(await codeOf(make(over)), JSON.stringify(over)).toBe('BAD_INPUT')
  })

  it('takes the role admin, a sign-in of one’s own and of the last minutes', async () => {
    for (const role of ['member', 'lead', 'auditor'] as const) {
      const id = await makeMember(db.prisma, org, role)
      expect(await codeOf(makeApiToken(as(id, role), asked)), role).toBe('FORBIDDEN')
      expect(await codeOf(endApiToken(as(id, role), { id: (await make()).id })), role).toBe('FORBIDDEN')
    }
    for (const method of ['device_link', 'admin_credential'] as const) {
      const ctx = contextOf(db.prisma, actorOf(org, admin, 'admin', method))
      expect(await codeOf(makeApiToken(ctx, asked)), method).toBe('FORBIDDEN')
    }
    const old = as(admin, 'admin')
    old.actor.authnAt = new Date(Date.now() - 11 * 60_000)
    await expect(makeApiToken(old, asked)).rejects.toMatchObject({ details: { why: 'sign_in_again' } })
    expect(await codeOf(endApiToken(old, { id: (await make()).id }))).toBe('done')
  })

  it('a hundred are enough, also when two are made at once', async () => {
    const { id, ...one } = await db.prisma.apiToken.findFirstOrThrow({ where: { id: (await make()).id } })
    await db.prisma.apiToken.createMany({
      data: Array.from({ length: 98 }, (_, i) => ({ ...one, id: `${id}${i}`, hash: `h ${org.id} ${i}` })),
    })
    const settled = await Promise.all([codeOf(make()), codeOf(make({}, owner()))])
    expect(settled.sort()).toEqual(['CONFLICT', 'done'])
  })

  it('members see no tokens, auditors see all and end none', async () => {
    await make()
    expect(await listApiTokens(as(await makeMember(db.prisma, org, 'lead'), 'lead'))).toEqual([])
    expect(await listApiTokens(as(await makeMember(db.prisma, org, 'auditor'), 'auditor'))).toHaveLength(1)
  })
})

describe('using one', () => {
  it.each([
    ['none', undefined],
    ['nothing', ''],
    ['a scheme alone', 'Bearer'],
    ['a scheme and a space', 'Bearer '],
    ['another scheme', 'Basic aHB0Og=='],
    ['two tokens', 'Bearer a b'],
    ['no scheme', 'hpt_aaaa'],
    ['what is no token', 'Bearer eyJhbGciOiJub25lIn0.e30.'],
    ['a very long one', `Bearer ${'a'.repeat(60_000)}`],
    ['one that nobody has', `Bearer ${makeToken('api', new Uint8Array(32))}`],
    ['letters of other alphabets', 'Bearer \u00ff\u00fe'],
  ])('a header with %s is 401 and no failure of ours', async (_, authorization) => {
    for (const door of [programs.getFocus, programs.getSpend]) {
      const response = await ask(door, {
        query,
        ...(authorization === undefined ? {} : { headers: { authorization } }),
      })
      expect(await refusal(response)).toEqual({ status: 401, code: 'NOT_SIGNED_IN' })
    }
  })

  it('opens its own doors and no other kind’s; no other kind opens them', async () => {
    const { token } = await make()
    expect((await ask(programs.getSpend, { token })).status).toBe(200)
    for (const door of [doors.getRules, doors.getBudgets, adminDoors.getBoundaries])
      expect((await ask(door, { token })).status).toBe(401)
    const machine = await makeMachine(db.prisma, org, admin)
    expect(await use(machine.token)).toBe(401)
    expect(await use(makeToken('admin', random(32)))).toBe(401)
  })

  it('is written down to the minute', async () => {
    const { id, token } = await make()
    const lastUsed = async () => (await db.prisma.apiToken.findUniqueOrThrow({ where: { id } })).lastUsedAt
    expect(await lastUsed()).toBeNull()
    await use(token)
    const first = await lastUsed()
    expect(Date.now() - first!.getTime()).toBeLessThan(60_000)
    await use(token)
    expect(await lastUsed()).toEqual(first)
  })

  it('six hundred times in ten minutes, and no more', async () => {
    const { id, token } = await make()
    const windowAt = new Date(Math.floor(Date.now() / 600_000) * 600_000)
    await db.admin.query(
      `insert into "RateCount" (key, "windowAt", count) select $1, $2::timestamptz + n * interval '10 minutes', 600 from generate_series(0, 1) n`,
      [`apiByToken:${id}`, windowAt],
    )
    const response = await ask(programs.getFocus, { token, query })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '5'])
    expect(await use((await make()).token)).toBe(200)
  })
})

describe('the end of one', () => {
  const outcome = async (token: string) => ({
    status: await use(token),
    live: (await listApiTokens(owner())).filter(row => row.live).length,
  })
  const ended = { status: 401, live: 0 }

  it('when somebody ends it: at once, once in the evidence, and for good', async () => {
    const { id, token } = await make()
    await endApiToken(owner(), { id })
    await endApiToken(owner(), { id })
    expect(await outcome(token)).toEqual(ended)
    expect(await told('token.ended')).toHaveLength(1)
    const again = db.prisma.apiToken.updateMany({ where: { id }, data: { endedAt: null } })
    await expect(again).rejects.toSatisfy(error => isRefusal(error, 'api_token_stays'))
  })

  it('when its time is over', async () => {
    const { token } = await makeApiToken(owner(new Date(Date.now() - 2 * 24 * 3600_000)), { ...asked, days: 1 })
    expect(await outcome(token)).toEqual(ended)
  })

  it('when its maker is removed or loses the laptop', async () => {
    const first = await make()
    await reportLaptopLost(owner(), { memberId: admin })
    expect(await outcome(first.token)).toEqual(ended)
    const second = await make()
    await removeMember(owner(), { id: admin })
    expect(await outcome(second.token)).toEqual(ended)
    expect(await told('member.removed')).toMatchObject([{ data: { tokens: 1 } }])
  })

  it('when its maker’s role falls below admin, and it does not come back with the role', async () => {
    const { token } = await make()
    await changeRole(owner(), { id: admin, role: 'lead' })
    expect(await outcome(token)).toEqual(ended)
    expect(await told('member.role_changed')).toMatchObject([{ data: { from: 'admin', to: 'lead', tokens: 1 } }])
    await changeRole(owner(), { id: admin, role: 'admin' })
    expect(await outcome(token)).toEqual(ended)
  })

  it('while the role is gone, even where no act of ours took it', async () => {
    const { token } = await make()
    await db.admin.query(`update "Member" set role = 'lead' where id = $1`, [admin])
    expect(await use(token)).toBe(401)
  })

  it('when the database was restored: the copy may hold one that was ended since', async () => {
    const { token } = await make()
    const machine = await makeMachine(db.prisma, org, admin)
    await noticeRestore(contextOf(db.prisma, machine.actor), { version: 7, digest: 'x' })
    expect(await outcome(token)).toEqual(ended)
  })

  it.each([
    ['is removed', () => removeMember(owner(), { id: admin })],
    ['loses the role', () => changeRole(owner(), { id: admin, role: 'member' })],
    ['loses the laptop', () => reportLaptopLost(owner(), { memberId: admin })],
  ])('also of one that is being made while its maker %s, whichever comes first', async (_, end) => {
    const ledger = `select 1 from "Ledger" where "orgId" = '${org.id}' for update`
    const [made, done] = await during(db, ledger, () => make(), end)
    expect(done!.status).toBe('fulfilled')
    if (made!.status === 'fulfilled')
      expect(await use((made as PromiseFulfilledResult<{ token: string }>).value.token)).toBe(401)
    expect((await listApiTokens(owner())).filter(row => row.live)).toEqual([])
    const late = await codeOf(make())
    expect(late).toBe(_ === 'loses the laptop' ? 'done' : 'FORBIDDEN')
  })
})

describe('the database refuses', () => {
  it.each([
    [{ scopes: ['spend.write'] }, 'api_token_scopes'],
    [{ scopes: [] }, 'api_token_scopes'],
    [{ expiresAt: new Date(Date.now() + 400 * 24 * 3600_000) }, 'api_token_lasts'],
    [{ start: 'hpt_AAAA' }, 'api_token_start'],
    [{ name: '' }, 'api_token_name'],
  ])('a token with %j', async (over, name) => {
    const { id, ...row } = await db.prisma.apiToken.findFirstOrThrow({ where: { id: (await make()).id } })
    const work = db.prisma.apiToken.create({ data: { ...row, id: `${id}x`, hash: `x${id}`, ...over } })
    await expect(work).rejects.toSatisfy(error => isRefusal(error, name))
  })

  it('another owner, scope or end of one', async () => {
    const { id } = await make()
    for (const data of [{ memberId: org.ownerId }, { hash: 'x' }, { expiresAt: new Date(Date.now() + 3600_000) }])
      await expect(db.prisma.apiToken.update({ where: { id }, data })).rejects.toSatisfy(error =>
        isRefusal(error, 'api_token_stays'),
      )
  })
})
