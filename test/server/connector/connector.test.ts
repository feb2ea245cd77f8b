import { beforeAll, describe, expect, it } from 'vitest'
import { openFresh } from '#core/fresh.ts'
import { parseJoinLine } from '#core/join-line.ts'
import { CONNECTOR_BODY_MAX, REPORT_BODY_MAX, RULE_SET_MAX } from '#core/limits.ts'
import { FRESH_HEADER, JoinAnswer, ReportAnswer, WaitAnswer } from '#core/protocol.ts'
import { walkRoots } from '#core/root.ts'
import { openRuleSet } from '#core/rule-set.ts'
import { makeToken } from '#core/token.ts'
import { makeJoinLine, posixLine } from '#server/features/join-line.ts'
import { revokeMachine } from '#server/features/machine.ts'
import { rootChain, rotateKey } from '#server/features/root.ts'
import { crypto } from '#server/keys/crypto.ts'
import { ask, doors, joinBody, refusal, reportOf, signReport } from '../../support/connector.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMachine,
  makeMember,
  makeOrganisation,
  publish,
  random,
  type TestMachine,
  type TestOrganisation,
} from '../../support/makers.ts'

const db = useDatabase()
let org: TestOrganisation
let dev: string
let machine: TestMachine

beforeAll(async () => {
  org = await makeOrganisation(db.prisma)
  dev = await makeMember(db.prisma, org, 'member', 'Dana')
  machine = await makeMachine(db.prisma, org, dev)
})

const rules = (token: string, etag?: string) =>
  ask(doors.getRules, { token, ...(etag ? { headers: { 'if-none-match': etag } } : {}) })
const root = async () => (await rootChain(db.prisma, org.id)).at(-1)!.root
const freshOf = async (response: Response) =>
  openFresh(response.headers.get(FRESH_HEADER)!, await root(), Date.now(), crypto)

describe('polling for rules', () => {
  it('an organisation that has published nothing answers 204 with signed freshness of version 0', async () => {
    const other = await makeOrganisation(db.prisma)
    const theirs = await makeMachine(db.prisma, other, other.ownerId)
    const response = await rules(theirs.token)
    expect(response.status).toBe(204)
    const chain = await rootChain(db.prisma, other.id)
    expect(openFresh(response.headers.get(FRESH_HEADER)!, chain.at(-1)!.root, Date.now(), crypto)).toMatchObject({
      version: 0,
      rootSeq: 1,
      org: other.id,
    })
  })

  it('a publication reaches the next poll, verified under the root, and 304 carries freshness that names it', async () => {
    await rules(machine.token)
    const { version, digest } = await publish(db.prisma, org, costRule('lead'))
    await expect.poll(async () => (await rules(machine.token)).status).toBe(200)
    const response = await rules(machine.token)
    const set = openRuleSet(await response.text(), await root(), crypto)
    expect(set).toMatchObject({ digest, set: { version, org: org.id, rootSeq: 1 } })
    expect(response.headers.get('etag')).toBe(`"${version}.${digest}"`)
    const again = await rules(machine.token, response.headers.get('etag')!)
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
    expect(await freshOf(again)).toMatchObject({ version, digest })
    expect((await rules(machine.token, `W/"9.x", W/${response.headers.get('etag')}`)).status).toBe(304)
    expect((await rules(machine.token, '"1.other"')).status).toBe(200)
  })

  it('one signature of freshness serves several polls, and is never about an older version than the answer', async () => {
    const first = await rules(machine.token)
    const second = await rules(machine.token)
    expect(second.headers.get(FRESH_HEADER)).toBe(first.headers.get(FRESH_HEADER))
    const { version } = await publish(db.prisma, org, costRule('lead', '    note: again\n'))
    await expect.poll(async () => (await freshOf(await rules(machine.token))).version).toBe(version)
    const third = await rules(machine.token)
    expect(openRuleSet(await third.text(), await root(), crypto).set.version).toBe((await freshOf(third)).version)
  })

  it('fifty polls at once while it is published give whole answers, each fresh about what it carries', async () => {
    const polls = Array.from({ length: 50 }, async (_, i) => {
      if (i === 20) await publish(db.prisma, org, costRule('lead', `    note: "${i}"\n`))
      const response = await rules(machine.token)
      const trusted = openRuleSet(await response.text(), await root(), crypto)
      expect((await freshOf(response)).digest).toBe(trusted.digest)
      return trusted.set.version
    })
    const seen = await Promise.all(polls)
    expect(new Set(seen).size).toBeLessThanOrEqual(2)
  })

  it('after a rotation of the rule-set key the same version comes under the new key, with a higher root in freshness', async () => {
    const { digest } = await db.prisma.ruleSetVersion.findFirstOrThrow({
      where: { orgId: org.id },
      orderBy: { version: 'desc' },
    })
    const served = async () => openRuleSet(await (await rules(machine.token)).text(), await root(), crypto)
    // What was published just before may still be on its way to this process.
    await expect.poll(async () => (await served()).digest).toBe(digest)
    const before = await served()
    await rotateKey(contextOf(db.prisma, actorOf(org, org.ownerId, 'owner')), { role: 'ruleset' })
    await expect.poll(async () => (await freshOf(await rules(machine.token))).rootSeq).toBe(2)
    const after = await served()
    expect(after.digest).toBe(before.digest)
    expect(after.kid).not.toBe(before.kid)
    const roots = (await (await ask(doors.getRoots, { token: machine.token, query: '?after=1' })).json()) as {
      roots: []
    }
    expect(roots.roots).toHaveLength(1)
  })
})

describe('waiting', () => {
  const wait = (rules: string, answers = 0, signal?: AbortSignal) =>
    ask(doors.getWait, {
      token: machine.token,
      query: `?rules=${encodeURIComponent(rules)}&answers=${answers}`,
      ...(signal ? { signal } : {}),
    })
  const etag = async () => (await rules(machine.token)).headers.get('etag')!

  it('returns at once when there is something newer', async () => {
    expect(WaitAnswer.parse(await (await wait('')).json())).toEqual({ rules: true, answers: false })
    await db.prisma.machine.update({ where: { id: machine.id }, data: { answerSeq: 3 } })
    expect(await (await wait(await etag(), 2)).json()).toEqual({ rules: false, answers: true })
  })

  it('tells a machine that is ahead at once: a backup was put back, and its answers end sooner', async () => {
    expect(await (await wait(await etag(), 5)).json()).toEqual({ rules: false, answers: true })
    const answers = await ask(doors.getAnswers, { token: machine.token, query: '?after=5' })
    expect(await answers.json()).toEqual({ answers: [], states: [], seq: 3 })
  })

  it('is woken by a publication within a second, every machine that waits', async () => {
    const tag = await etag()
    const waiting = Array.from({ length: 20 }, () => wait(tag, 3))
    const started = Date.now()
    await publish(db.prisma, org, costRule('lead', '    note: wake up\n'))
    for (const response of await Promise.all(waiting))
      expect(await response.json()).toEqual({ rules: true, answers: false })
    expect(Date.now() - started).toBeLessThan(5000)
  })

  it('is woken by a new root, which comes with the same rules', async () => {
    const waiting = wait(await etag(), 3)
    await expect.poll(() => db.pool.query('select 1').then(() => true)).toBe(true)
    await rotateKey(contextOf(db.prisma, actorOf(org, org.ownerId, 'owner')), { role: 'answer' })
    expect(await (await waiting).json()).toMatchObject({ rules: true })
  })

  it('ends when the machine hangs up, without waiting out its time', async () => {
    const hangUp = new AbortController()
    const waiting = wait(await etag(), 3, hangUp.signal)
    hangUp.abort()
    const started = Date.now()
    await waiting
    expect(Date.now() - started).toBeLessThan(2000)
  })

  it('a machine that is revoked while it waits is let go, and refused from then on', async () => {
    const doomed = await makeMachine(db.prisma, org, dev, 'doomed')
    const waiting = ask(doors.getWait, {
      token: doomed.token,
      query: `?rules=${encodeURIComponent(await etag())}&answers=0`,
    })
    await revokeMachine(contextOf(db.prisma, actorOf(org, org.ownerId, 'owner')), { id: doomed.id })
    expect(await (await waiting).json()).toMatchObject({ rules: true })
    await expect.poll(async () => (await rules(doomed.token)).status).toBe(401)
  })
})

describe('joining', () => {
  const line = () => makeJoinLine(contextOf(db.prisma, actorOf(org, dev, 'member')), {})
  const join = (body: unknown) => ask(doors.postJoin, { method: 'POST', body })

  it('the line carries a token for its member and the newest root; the joined machine may poll at once', async () => {
    const { url, rootDigest, member } = await line()
    const at = parseJoinLine(url)!
    expect(member.id).toBe(dev)
    const { body } = joinBody(at.token)
    const answer = JoinAnswer.parse(await (await join(body)).json())
    expect(answer).toMatchObject({ member: { id: dev, name: 'Dana' }, org: { id: org.id, slug: org.slug } })
    expect(walkRoots(answer.roots, org.id, crypto, at.rootDigest).at(-1)!.digest).toBe(rootDigest)
    expect((await rules(answer.token)).status).toBe(200)
    const row = await db.prisma.machine.findUniqueOrThrow({ where: { id: answer.machine } })
    expect(row).toMatchObject({ memberId: dev, label: 'dana-laptop', firstUsePin: false })
    expect(await db.prisma.token.count({ where: { hash: answer.token } })).toBe(0)
  })

  it('of ten machines with one line, one joins; the line is dead after ten tries', async () => {
    const { token } = parseJoinLine((await line()).url)!
    const tries = await Promise.all(Array.from({ length: 10 }, () => join(joinBody(token).body)))
    expect(tries.filter(response => response.status === 200)).toHaveLength(1)
    for (const response of tries.filter(r => r.status !== 200))
      expect(await refusal(response)).toEqual({ status: 401, code: 'NOT_SIGNED_IN' })
    expect(await refusal(await join(joinBody(token).body))).toEqual({ status: 429, code: 'RATE_LIMITED' })
  })

  it('refuses a proof by another key, for another token, and a line that is too old or was never made', async () => {
    const { token } = parseJoinLine((await line()).url)!
    const other = parseJoinLine((await line()).url)!.token
    const { body } = joinBody(token)
    expect(await refusal(await join({ ...body, key: joinBody(token).body.key }))).toMatchObject({
      code: 'BAD_SIGNATURE',
    })
    expect(await refusal(await join({ ...body, proof: joinBody(other, {}).body.proof }))).toMatchObject({
      code: 'BAD_SIGNATURE',
    })
    const mine = joinBody(token)
    expect(
      await refusal(await join({ ...mine.body, proof: mine.signer.sign('holdpoint-join+jws', { v: 1, token: 'x' }) })),
    ).toMatchObject({ code: 'BAD_SIGNATURE' })
    expect(await refusal(await join(joinBody(makeToken('join', random(32))).body))).toMatchObject({ status: 401 })
    await db.prisma.token.updateMany({
      where: { memberId: dev, kind: 'join' },
      data: { expiresAt: new Date(Date.now() - 1000) },
    })
    expect(await refusal(await join(body))).toMatchObject({ status: 401 })
  })

  it('a line of a member who was removed joins nothing', async () => {
    const gone = await makeMember(db.prisma, org, 'member', 'Gone')
    const { url } = await makeJoinLine(contextOf(db.prisma, actorOf(org, gone, 'member')), {})
    await db.prisma.member.update({ where: { id: gone }, data: { removedAt: new Date() } })
    expect(await refusal(await join(joinBody(parseJoinLine(url)!.token).body))).toMatchObject({ status: 401 })
    expect(await db.prisma.machine.count({ where: { memberId: gone } })).toBe(0)
  })

  it('a member makes lines for themselves only, an admin for others; a machine link makes none', async () => {
    await expect(
      makeJoinLine(contextOf(db.prisma, actorOf(org, dev, 'member')), { memberId: org.ownerId }),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(
      makeJoinLine(contextOf(db.prisma, actorOf(org, dev, 'member', 'device_link')), {}),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(
      (await makeJoinLine(contextOf(db.prisma, actorOf(org, org.ownerId, 'owner')), { memberId: dev })).member.id,
    ).toBe(dev)
  })

  it('a name for the machine stands in each form of the line, and is made of letters that no shell reads', async () => {
    const ctx = contextOf(db.prisma, actorOf(org, dev, 'member'))
    const made = await makeJoinLine(ctx, { label: 'build-1' })
    expect(made.label).toBe('build-1')
    expect(posixLine('http://127.0.0.1/c', 'ab', made.url, 'build-1')).toMatch(/ --label build-1'$/)
    for (const label of ['two words', '$(id)', '-x', '"', 'a'.repeat(64), ''])
      await expect(makeJoinLine(ctx, { label })).rejects.toMatchObject({ code: 'BAD_INPUT' })
  })

  it('no line leads over plain http, except to this machine', async () => {
    const ctx = { ...contextOf(db.prisma, actorOf(org, dev, 'member')), origin: 'http://holdpoint.example.com' }
    await expect(makeJoinLine(ctx, {})).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})

describe('the doors', () => {
  it('refuse a token of another kind by its text, none, and one that is not known', async () => {
    for (const token of [
      undefined,
      'nonsense',
      makeToken('admin', random(32)),
      makeToken('join', random(32)),
      makeToken('machine', random(32)),
    ]) {
      expect(await refusal(await rules(token as string))).toEqual({ status: 401, code: 'NOT_SIGNED_IN' })
    }
  })

  it('refuse unknown fields by name, other content types, broken JSON and bodies above the limit', async () => {
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      ask(doors.postReport, { method: 'POST', token: machine.token, body, headers })
    const unknown = await post({ report: signReport(machine, reportOf(machine, 1)), extra: true })
    expect(await unknown.json()).toEqual({
      error: { code: 'BAD_INPUT', message: 'The body is not of the form that this takes (at extra).' },
    })
    expect(await refusal(await post('{'))).toMatchObject({ status: 400 })
    expect(await refusal(await post('x', { 'content-type': 'text/plain' }))).toMatchObject({ status: 400 })
    expect(await refusal(await post({ report: 'a'.repeat(REPORT_BODY_MAX) }))).toEqual({
      status: 413,
      code: 'TOO_LARGE',
    })
    const request = { request: 'a'.repeat(CONNECTOR_BODY_MAX) }
    expect(
      await refusal(await ask(doors.postApproval, { method: 'POST', token: machine.token, body: request })),
    ).toEqual({ status: 413, code: 'TOO_LARGE' })
  })

  it('take a report that carries a rule set at its limit', async () => {
    const proof = `${'a'.repeat(RULE_SET_MAX - 90)}.b.${'c'.repeat(86)}`
    expect(proof.length).toBeLessThanOrEqual(RULE_SET_MAX)
    const one = await makeMachine(db.prisma, org, dev, 'far')
    const report = signReport(one, reportOf(one, 1, { rules: { proof } }))
    const response = await ask(doors.postReport, { method: 'POST', token: one.token, body: { report } })
    expect(response.status).toBe(200)
  })

  it('let nothing be kept, and every other answer than rules says so', async () => {
    const response = await ask(doors.postReport, {
      method: 'POST',
      token: machine.token,
      body: { report: signReport(machine, reportOf(machine, 1)) },
    })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(ReportAnswer.parse(await response.json())).toEqual({ seq: 1 })
    expect((await rules(machine.token)).headers.get('cache-control')).toBe('private, no-cache')
  })

  it('a machine that leaves is refused from then on; what it reported stays', async () => {
    const leaver = await makeMachine(db.prisma, org, dev, 'leaver')
    expect((await rules(leaver.token)).status).toBe(200)
    expect((await ask(doors.deleteMachine, { method: 'DELETE', token: leaver.token })).status).toBe(204)
    await expect.poll(async () => (await rules(leaver.token)).status).toBe(401)
    expect(await db.prisma.machine.findUniqueOrThrow({ where: { id: leaver.id } })).toMatchObject({ label: 'leaver' })
  })
})
