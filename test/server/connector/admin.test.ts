import { beforeAll, describe, expect, it } from 'vitest'
import type { MemberActor } from '#core/actor.ts'
import { fileRequest } from '#server/features/approval/file-request.ts'
import { confirmAdminLogin } from '#server/features/credential.ts'
import { admin, ask, doors, refusal } from '../../support/connector.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  makeRequest,
  publish,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

/** `holdpoint team admin …` at its doors: from the login to publishing and answering. */
const db = useDatabase()
let org: TestOrganisation
let boss: MemberActor
let machine: TestMachine
let bossMachine: TestMachine

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  boss = actorOf(org, await makeMember(db.prisma, org, 'admin', 'Ada'), 'admin')
  machine = await makeMachine(db.prisma, org, await makeMember(db.prisma, org, 'member', 'Dana'))
  bossMachine = await makeMachine(db.prisma, org, boss.memberId, 'boss')
  await publish(db.prisma, org, costRule('lead'))
})

const start = async () =>
  (await (await ask(admin.postLogin, { method: 'POST', body: { org: org.slug, label: 'laptop' } })).json()) as {
    deviceCode: string
    userCode: string
    url: string
    interval: number
  }
const poll = (deviceCode: string) => ask(admin.postToken, { method: 'POST', body: { deviceCode } })
async function login(): Promise<string> {
  const { deviceCode, userCode } = await start()
  await confirmAdminLogin(contextOf(db.prisma, boss), { userCode, allow: true })
  return ((await (await poll(deviceCode)).json()) as { token: string }).token
}
const waiting = async (of: TestMachine) => {
  const request = await makeRequest(db.prisma, of)
  return (await fileRequest(contextOf(db.prisma, of.actor), { request: of.sign('holdpoint-request+jws', request) }))
    .handle
}
const answer = (token: string, handle: string, body: object) =>
  ask(admin.postAnswer, { method: 'POST', token, body, params: { handle } })

describe('the login', () => {
  it('waits until a person has confirmed it in a browser, and hands the credential out once', async () => {
    const { deviceCode, userCode, url } = await start()
    expect(url).toBe('http://localhost:3000/device')
    expect(url).not.toContain(userCode)
    expect(await (await poll(deviceCode)).json()).toEqual({ pending: true })
    await confirmAdminLogin(contextOf(db.prisma, boss), { userCode, allow: true })
    await db.prisma.adminLogin.updateMany({ data: { lastPollAt: null } })
    const issued = (await (await poll(deviceCode)).json()) as { token: string; member: { name: string } }
    expect(issued).toMatchObject({ token: expect.stringMatching(/^hpa_/), member: { name: 'Ada' } })
    expect(await refusal(await poll(deviceCode))).toEqual({ status: 410, code: 'EXPIRED' })
  })
  it('that a person refuses gives nothing', async () => {
    const { deviceCode, userCode } = await start()
    await confirmAdminLogin(contextOf(db.prisma, boss), { userCode, allow: false })
    expect(await refusal(await poll(deviceCode))).toEqual({ status: 403, code: 'FORBIDDEN' })
  })
  it('ends when it is given back', async () => {
    const token = await login()
    expect((await ask(admin.getBoundaries, { token })).status).toBe(200)
    expect((await ask(admin.deleteToken, { method: 'DELETE', token })).status).toBe(204)
    expect(await refusal(await ask(admin.getBoundaries, { token }))).toEqual({ status: 401, code: 'NOT_SIGNED_IN' })
  })
  it('opens no machine door, and a machine’s token opens none of these', async () => {
    const token = await login()
    for (const door of [doors.getRules, doors.getAnswers, doors.getRoots])
      expect((await ask(door, { token })).status).toBe(401)
    for (const door of [admin.getBoundaries, admin.getWaiting])
      expect((await ask(door, { token: machine.token })).status).toBe(401)
  })
})

describe('publishing', () => {
  it('needs If-Match, refuses a stale one with the other change, and says how it was published', async () => {
    const token = await login()
    const { text, etag } = (await (await ask(admin.getBoundaries, { token })).json()) as { text: string; etag: string }
    expect(text).toBe(costRule('lead'))
    const put = (tag?: string) =>
      ask(admin.putBoundaries, {
        method: 'PUT',
        token,
        body: { text: `${text}# changed\n`, note: 'from the command' },
        ...(tag ? { headers: { 'if-match': tag } } : {}),
      })
    expect(await refusal(await put())).toEqual({ status: 400, code: 'BAD_INPUT' })
    expect(await (await put(etag)).json()).toMatchObject({ version: 2, warnings: [], behind: [] })
    const stale = await put(etag)
    expect(stale.status).toBe(412)
    expect(await stale.json()).toMatchObject({
      error: { code: 'STALE_EDIT', details: { current: { version: 2, publishedBy: 'Ada' } } },
    })
    expect(await db.prisma.ruleSetVersion.findFirstOrThrow({ where: { orgId: org.id, version: 2 } })).toMatchObject({
      how: 'team-cli',
      note: 'from the command',
      publishedById: boss.memberId,
    })
  })
  it('gives mistakes with their places', async () => {
    const token = await login()
    const { etag } = (await (await ask(admin.getBoundaries, { token })).json()) as { etag: string }
    const response = await ask(admin.putBoundaries, {
      method: 'PUT',
      token,
      body: { text: 'boundaries: [{}]', note: 'x' },
      headers: { 'if-match': etag },
    })
    expect(response.status).toBe(400)
    expect(
      ((await response.json()) as { error: { details: { errors: object[] } } }).error.details.errors[0],
    ).toMatchObject({ line: 1, code: 'missing' })
  })
  it('a text near its limit fits through the door, escapes and all', async () => {
    const token = await login()
    const { etag } = (await (await ask(admin.getBoundaries, { token })).json()) as { etag: string }
    const text = `boundaries: []\n${'#"\n'.repeat(80_000)}`
    expect(
      (
        await ask(admin.putBoundaries, {
          method: 'PUT',
          token,
          body: { text, note: 'x' },
          headers: { 'if-match': etag },
        })
      ).status,
    ).toBe(200)
    await publish(db.prisma, org, costRule('lead'))
  })
})

describe('answering', () => {
  it('answers other people’s requests, marked as the command’s', async () => {
    const token = await login()
    const handle = await waiting(machine)
    expect(
      ((await (await ask(admin.getWaiting, { token })).json()) as { items: { handle: string }[] }).items.map(
        item => item.handle,
      ),
    ).toContain(handle)
    expect(await (await answer(token, handle, { decision: 'approve', reason: 'fine' })).json()).toMatchObject({
      handle,
      state: 'approved',
      votes: 1,
      approvals: 1,
      settled: true,
    })
    expect(await db.prisma.approvalVote.findFirstOrThrow({ where: { handle } })).toMatchObject({
      how: 'team-cli',
      method: 'admin_credential',
      scope: 'step',
    })
    const answers = (await (await ask(doors.getAnswers, { token: machine.token, query: '?after=0' })).json()) as {
      answers: object[]
    }
    expect(answers.answers).toHaveLength(1)
  })
  it('never its own member’s', async () => {
    const handle = await waiting(bossMachine)
    expect((await answer(await login(), handle, { decision: 'approve' })).status).toBe(403)
    expect((await db.prisma.approvalRequest.findFirstOrThrow({ where: { handle } })).state).toBe('pending')
  })
  it('takes no unknown field, no decision that there is not, no foreign figure', async () => {
    const token = await login()
    const handle = await waiting(machine)
    for (const body of [
      { decision: 'maybe' },
      { decision: 'approve', as: 'owner' },
      { decision: 'approve', scope: 'session', until: [{ figure: 'plan_left_pct', op: '<', value: '1' }] },
    ]) {
      expect((await answer(token, handle, body)).status).toBe(400)
    }
  })
})

it('a machine withdraws its request through its own door, and reads how it stands', async () => {
  const handle = await waiting(machine)
  const withdraw = () =>
    ask(doors.postWithdraw, {
      method: 'POST',
      token: machine.token,
      body: { why: 'session_ended' },
      params: { handle },
    })
  expect(await (await withdraw()).json()).toMatchObject({
    handle,
    state: 'withdrawn',
    role: 'lead',
    eligible: 0,
    url: `http://localhost:3000/${org.slug}/approvals/${handle}`,
  })
  expect((await withdraw()).status).toBe(200)
  expect(
    await refusal(
      await ask(doors.postWithdraw, {
        method: 'POST',
        token: machine.token,
        body: { why: 'left' },
        params: { handle: 'bnd-%2e%2e' },
      }),
    ),
  ).toEqual({ status: 404, code: 'NOT_FOUND' })
  expect(
    await refusal(
      await ask(doors.postWithdraw, {
        method: 'POST',
        token: machine.token,
        body: { by: 'member', why: 'left' },
        params: { handle },
      }),
    ),
    'a machine cannot say that a person did it',
  ).toEqual({ status: 400, code: 'BAD_INPUT' })
})
