import { beforeEach, describe, expect, test } from 'vitest'
import { fromUtf8 } from '#core/bytes.ts'
import { parseJws } from '#core/jws.ts'
import { Organisation, RULE } from './organisation.ts'
import { attended, Machine, onCleanup, told, until } from './world.ts'

let org: Organisation
let machine: Machine

beforeEach(async () => {
  org = new Organisation()
  machine = new Machine()
  org.clock = machine.now
  await org.listen()
  onCleanup(() => org.close())
  machine.join(org)
  org.publish(RULE('approver:lead'))
  await machine.start()
  await machine.daemon.sync()
  machine.spend(20.1)
})

const call = async (toolUse: string, fields: Record<string, unknown> = {}) =>
  told(await machine.hook({ tool_use_id: toolUse, ...fields }))

/** A held call whose request has reached the control plane. */
async function held(toolUse = 'toolu_0') {
  expect((await call(toolUse)).decision).toBe('deny')
  await machine.daemon.sync()
  return org.requests.at(-1)!
}

describe('a request', () => {
  test('is one for a hundred tries of the same session, under one handle', async () => {
    const reasons = new Set<string>()
    for (let i = 0; i < 100; i++) reasons.add(/decision (bnd-\w+)/.exec((await call(`toolu_${i}`)).reason)![1]!)
    await machine.daemon.sync()
    expect(org.requests).toHaveLength(1)
    expect([...reasons]).toEqual([org.requests[0]!.handle])
    expect(machine.entries('request')).toHaveLength(1)
  })

  test('is another one for another session', async () => {
    await held()
    const session = '00000000-0000-4000-8000-000000000009'
    machine.spend(20.1, { session })
    await call('toolu_9', { session_id: session, transcript_path: machine.transcript(session) })
    await machine.daemon.sync()
    expect(org.requests).toHaveLength(2)
    expect(org.requests[1]!.sessionRef).not.toBe(org.requests[0]!.sessionRef)
  })

  test('is kept while the control plane is down and sent when it is back', async () => {
    org.goDown()
    expect((await call('toolu_1')).decision).toBe('deny')
    await expect(machine.daemon.sync()).rejects.toThrow()
    expect((await call('toolu_2')).reason).toContain('cannot be reached')
    org.down = false
    await machine.daemon.sync()
    expect(org.requests).toHaveLength(1)
  })

  test('survives a crash before it was sent, byte for byte', async () => {
    org.goDown()
    await call('toolu_1')
    const stored = machine.entries('request')[0]!.request
    await machine.crash()
    org.down = false
    await machine.start()
    await machine.daemon.sync()
    expect(org.requests).toEqual([stored])
  })

  test('gets a new handle when another machine has the one it chose', async () => {
    org.refuseFiling.push({ status: 409, code: 'CONFLICT', why: 'handle_taken' })
    const { reason } = await call('toolu_1')
    await machine.daemon.sync()
    await machine.daemon.sync()
    expect(org.requests).toHaveLength(1)
    expect(reason).not.toContain(org.requests[0]!.handle)
    expect((await call('toolu_2')).reason).toContain(org.requests[0]!.handle)
  })

  test('ends when nobody answers in time, and a new try asks again as attempt 2', async () => {
    await held()
    machine.offset += 3600_001
    await machine.daemon.sync()
    expect(machine.entries('state').map(entry => entry.state)).toEqual(['expired'])
    const second = await held('toolu_2')
    expect(second.attempt).toBe(2)
    expect(org.requests).toHaveLength(2)
  })

  test('is taken back when the person leaves the session, and no record says that a person denied it', async () => {
    const request = await held()
    await machine.hook({ hook_event_name: 'SessionEnd', reason: 'prompt_input_exit' })
    await machine.daemon.sync()
    expect(org.withdrawn).toEqual([{ handle: request.handle, body: { why: 'session_ended' } }])
  })

  test('of a run without a person outlives its process for half an hour, so that a resumed run can use the answer', async () => {
    const request = await held()
    await machine.hook({ hook_event_name: 'SessionEnd', reason: 'other' })
    await machine.daemon.sync()
    expect(org.withdrawn).toEqual([])
    machine.offset += 31 * 60_000
    await machine.daemon.sync()
    expect(org.withdrawn.map(w => w.handle)).toEqual([request.handle])
  })

  test('can be denied on the machine, which withdraws it', async () => {
    const request = await held()
    const reply = await machine.ask('POST', `/api/decisions/${request.handle}/deny`, { token: 'api', body: '{}' })
    expect(reply.json).toEqual({ handle: request.handle, state: 'withdrawn' })
    await expect.poll(() => org.withdrawn.map(w => w.body)).toEqual([{ why: 'denied_here' }])
  })

  test('tells the agent when nobody in the organisation could answer it', async () => {
    org.eligible = 0
    await held()
    expect((await call('toolu_2')).reason).toContain('nobody in the organisation can answer')
  })

  test('tells the agent when fewer people could answer it than its rule wants', async () => {
    org.eligible = 1
    org.approvals = 2
    org.publish(RULE('approver:lead').replace('stage: enforce', 'stage: enforce\n    approvals: 2'))
    await machine.daemon.sync()
    await held()
    expect((await call('toolu_2')).reason).toContain('too few people in the organisation can answer')
  })

  test('is withdrawn when its rule is no longer in force', async () => {
    const request = await held()
    org.publish(RULE('approver:lead', 30))
    await machine.daemon.sync()
    await machine.daemon.sync()
    expect(org.withdrawn).toEqual([{ handle: request.handle, body: { why: 'rule_gone' } }])
  })
})

describe('a step answer', () => {
  test('lets exactly one call through: the same call again, no other', async () => {
    const request = await held()
    const answer = org.answer(request)
    await machine.daemon.sync()
    expect((await call('toolu_1')).decision).toBe('pass')
    expect((await call('toolu_1')).decision).toBe('pass')
    expect((await call('toolu_2')).decision).toBe('deny')
    expect(machine.entries('spend')).toMatchObject([{ answerId: answer.answerId, toolUse: 'toolu_1' }])
    await machine.daemon.sync()
    expect(org.requests).toHaveLength(2)
    expect(org.requests[1]!.attempt).toBe(2)
  })

  test('of eight calls at once lets one through', async () => {
    org.answer(await held())
    await machine.daemon.sync()
    const replies = await Promise.all(Array.from({ length: 8 }, (_, i) => call(`toolu_p${i}`)))
    expect(replies.filter(reply => reply.decision === 'pass')).toHaveLength(1)
    expect(machine.entries('spend')).toHaveLength(1)
  })

  test('is not spent on a call that something else still holds', async () => {
    machine.config(RULE('deny', 25).replace('session-spend', 'own-limit'))
    const request = await held()
    machine.spend(10)
    org.answer(request)
    await machine.daemon.sync()
    expect((await call('toolu_1')).reason).toContain('own-limit')
    expect(machine.entries('spend')).toEqual([])
  })

  test('lapses after a day without use, and the control plane is told', async () => {
    const answer = org.answer(await held())
    await machine.daemon.sync()
    machine.offset += 24 * 3600_000 + 1000
    await machine.daemon.sync()
    expect((await call('toolu_1')).decision).toBe('deny')
    await machine.daemon.report()
    expect(org.reports.flatMap(report => report.grants)).toMatchObject([{ answerId: answer.answerId, what: 'lapsed' }])
  })

  test('is used once even when the control plane hands it out again', async () => {
    org.answer(await held())
    await machine.daemon.sync()
    await call('toolu_1')
    org.answers.push({ seq: ++org.seq, jws: org.answers[0]!.jws })
    await machine.daemon.sync()
    expect((await call('toolu_2')).decision).toBe('deny')
    expect(machine.entries('spend')).toHaveLength(1)
  })
})

describe('a session answer', () => {
  test('holds for every call of the session, over a restart, and for no other session', async () => {
    org.answer(await held(), { scope: 'session' })
    await machine.daemon.sync()
    expect((await call('toolu_1')).decision).toBe('pass')
    await machine.crash()
    await machine.start()
    expect((await call('toolu_2')).decision).toBe('pass')
    const session = '00000000-0000-4000-8000-000000000009'
    machine.spend(20.1, { session })
    expect(
      (await call('toolu_3', { session_id: session, transcript_path: machine.transcript(session) })).decision,
    ).toBe('deny')
  })

  test('ends at its ceiling and asks again there', async () => {
    org.answer(await held(), { scope: 'session', until: [{ figure: 'session_cost_usd', op: '<', value: '40' }] })
    await machine.daemon.sync()
    machine.spend(19)
    expect((await call('toolu_1')).decision).toBe('pass')
    machine.spend(1)
    expect((await call('toolu_2')).decision).toBe('deny')
    await machine.daemon.sync()
    expect(org.requests).toHaveLength(2)
    expect(org.requests[1]!.figures[0]!.value).toBe('40.1')
  })

  test('ends when it is revoked', async () => {
    const request = await held()
    org.answer(request, { scope: 'session' })
    await machine.daemon.sync()
    expect((await call('toolu_1')).decision).toBe('pass')
    org.setState(request.handle, 'revoked')
    await machine.daemon.sync()
    expect((await call('toolu_2')).decision).toBe('deny')
  })

  test('lifts the rules of its request and no others', async () => {
    org.answer(await held(), { scope: 'session' })
    await machine.daemon.sync()
    org.publish(
      `${RULE('approver:lead')}  - name: second-limit\n    action: continue\n    when: { session_cost_usd: ">= 15" }\n    require: approver:admin\n    stage: enforce\n`,
    )
    await machine.daemon.sync()
    const { decision, reason } = await call('toolu_1')
    expect(decision).toBe('deny')
    expect(reason).toContain('org:second-limit')
    expect(reason).not.toContain('org:session-spend')
  })

  test('no longer fits when the rule has changed', async () => {
    org.answer(await held(), { scope: 'session' })
    await machine.daemon.sync()
    org.publish(RULE('approver:lead', 10))
    await machine.daemon.sync()
    expect((await call('toolu_1')).decision).toBe('deny')
  })

  test('an answer ended by the clock stays ended when the clock is set back', async () => {
    org.answer(await held(), { scope: 'session', notAfter: new Date(machine.now() + 3600_000).toISOString() })
    await machine.daemon.sync()
    machine.offset += 3600_001
    await machine.daemon.tick()
    machine.offset -= 3600_001
    org.goDown()
    expect((await call('toolu_1')).decision).toBe('deny')
    await machine.daemon.tick()
    expect(machine.entries('alarm').map(entry => entry.what)).toContain('clock_moved_back')
  })

  test('that ends before the highest time ever seen here releases nothing', async () => {
    const request = await held()
    machine.offset += 1800_000
    await machine.daemon.tick()
    machine.offset -= 1800_000
    org.serve.rules = () => ({ status: 304, fresh: undefined })
    org.answer(request, { scope: 'session', notAfter: new Date(machine.now() + 600_000).toISOString() })
    await machine.daemon.sync()
    expect((await call('toolu_1')).decision).toBe('deny')
  })
})

describe('a denial', () => {
  test('stands for its subject for a day, files nothing, and is told as a person’s', async () => {
    const request = await held()
    org.answer(request, { decision: 'deny' })
    await machine.daemon.sync()
    for (let i = 0; i < 3; i++) expect((await call(`toolu_d${i}`)).reason).toContain('denied by a person')
    await machine.daemon.sync()
    expect(org.requests).toHaveLength(1)
    machine.offset += 24 * 3600_000 + 1
    expect((await call('toolu_z')).reason).not.toContain('denied')
  })

  test('is obeyed even when the rules are stale, which release nothing', async () => {
    org.publish(RULE('approver:lead'), { maxAge: 60 })
    await machine.daemon.sync()
    const request = await held()
    const frozen = machine.now()
    org.freshAt = () => frozen
    machine.offset += 120_000
    org.answer(request)
    await machine.daemon.sync()
    expect((await call('toolu_1')).reason).toContain('has not heard from the control plane for too long')
    machine.offset += 3600_000
    await machine.daemon.sync().catch(() => {})
    org.answer(request, { decision: 'deny' })
    await machine.daemon.sync().catch(() => {})
    expect((await call('toolu_2')).reason).toContain('denied by a person')
  })
})

describe('a control plane that was restored from a backup', () => {
  test.each([true, false])(
    'cannot replay an old yes: the same subject with another nonce is another request (%s)',
    async toldEnd => {
      const first = await held()
      const answer = org.answer(first)
      await machine.daemon.sync()
      expect((await call('toolu_1')).decision).toBe('pass')
      const old = org.answers[0]!.jws
      // the database goes back to before the request: numbers begin again, the request is unknown there
      org.requests = []
      org.answers = []
      org.seq = 0
      const second = await held('toolu_2')
      expect(second.handle).not.toBe(first.handle)
      org.seq = 1
      org.answers.push({ seq: 1, jws: old })
      await machine.daemon.sync()
      expect((await call('toolu_3')).decision).toBe('deny')
      // and an answer that names the new handle but was made over the old request
      const forged = org.answer(second, { request: answer.request, seq: 2 })
      await machine.daemon.sync()
      expect((await call('toolu_4')).decision).toBe('deny')
      expect(machine.entries('answer_refused').map(entry => entry.why)).toEqual(['other_request'])
      expect(forged.handle).toBe(second.handle)
      // a fresh answer after the restore is seen although its number was given before: at once where the control plane tells
      // that its stream ends sooner, else the next time that everything is looked at again
      org.hidesEnd = !toldEnd
      org.answer(second, { seq: toldEnd ? 3 : 2 })
      await machine.daemon.sync()
      if (!toldEnd) {
        machine.offset += 5 * 60_000
        await machine.daemon.sync()
      }
      expect((await call('toolu_5')).decision).toBe('pass')
    },
  )

  test('is noticed by a machine that waits, so that an answer in a place given anew arrives within moments', async () => {
    await held()
    org.answer(org.requests[0]!)
    await machine.daemon.sync()
    expect(machine.daemon.runtime.state.answerSeq).toBe(1)
    await machine.daemon.stop()
    // put back to before the request; in a place that the machine has seen stands another answer now
    org.requests = []
    org.answers = []
    org.seq = 0
    await machine.start({ follow: true })
    await until(() => machine.daemon.runtime.state.answerSeq === 0)
    const calls = () => org.calls.filter(one => one === 'GET wait').length
    const before = calls()
    expect((await call('toolu_1')).decision).toBe('pass')
    expect((await call('toolu_2')).decision).toBe('deny')
    await until(() => org.requests.length === 1)
    org.answer(org.requests[0]!)
    await until(async () => (await call('toolu_3')).decision === 'pass')
    expect(calls() - before, 'a wait that is news each time would be a busy loop').toBeLessThan(20)
  })
})

test('what the machine signs as a request is the very document it stored', async () => {
  const request = await held()
  const stored = machine.entries('request')[0]!
  expect(request).toEqual(stored.request)
  expect(JSON.parse(fromUtf8(parseJws(org.answers[0]?.jws ?? org.ruleset!).payload)).org).toBe(org.id)
  expect(told(await machine.hook({ tool_use_id: 'toolu_x' }, attended)).decision).toBe('deny')
})

test('a call that went on is explained by who let it: the answer, the request and its figures', async () => {
  const request = await held()
  const answer = org.answer(request, {
    scope: 'session',
    until: [{ figure: 'session_cost_usd', op: '<', value: '40' }],
  })
  await machine.daemon.sync()
  await call('toolu_1')
  const released = machine.entries('decision').at(-1)!
  expect(released).toMatchObject({ did: 'released', answeredBy: 'organisation', grants: [answer.answerId] })
  const told = (await machine.ask('GET', `/api/decisions/${released.handle}`, { token: 'api' })).json
  expect(told.request).toMatchObject({ handle: request.handle, state: 'approved', answeredBy: 'Lea' })
  expect(told.grants).toMatchObject([{ scope: 'session', until: answer.until, answeredHere: false }])
  expect(told.history.map((entry: { kind: string }) => entry.kind)).toEqual(['request', 'filed', 'answer', 'decision'])
})

test('a request under rules that the control plane does not have is tried again later, under its own handle', async () => {
  for (let i = 0; i < 2; i++) org.refuseFiling.push({ status: 409, code: 'CONFLICT', why: 'unknown_ruleset' })
  await call('toolu_1')
  for (let i = 0; i < 5; i++) await machine.daemon.sync()
  machine.offset += 61_000
  await machine.daemon.sync()
  machine.offset += 61_000
  await machine.daemon.sync()
  expect(machine.entries('request')).toHaveLength(1)
  expect(org.requests).toEqual([machine.entries('request')[0]!.request])
})

test('a denial that stands at the control plane and is not known here is obeyed for an hour', async () => {
  org.standing = 'bnd-0123456789ab'
  await call('toolu_1')
  await machine.daemon.sync()
  expect((await call('toolu_2')).reason).toContain('denied by a person')
  expect(org.withdrawn).toEqual([])
  org.standing = undefined
  machine.offset += 3600_001
  expect((await call('toolu_3')).decision).toBe('deny')
  await machine.daemon.sync()
  expect(org.requests).toHaveLength(1)
})

test('a request that is refused holds no other back', async () => {
  org.refuseFiling.push({ status: 400, code: 'BAD_INPUT' })
  await call('toolu_1')
  const session = '00000000-0000-4000-8000-000000000009'
  machine.spend(20.1, { session })
  await call('toolu_9', { session_id: session, transcript_path: machine.transcript(session) })
  await machine.daemon.sync()
  await machine.daemon.sync()
  expect(org.requests).toHaveLength(1)
  machine.offset += 61_000
  await machine.daemon.sync()
  expect(org.requests).toHaveLength(2)
})

test('a spend that somebody else wrote into the journal is told, and the answer stays the first call’s', async () => {
  const answer = org.answer(await held())
  await machine.daemon.sync()
  await call('toolu_1')
  machine.daemon.runtime.journal.append({
    kind: 'spend',
    handle: answer.handle,
    answerId: answer.answerId,
    toolUse: 'toolu_2',
    session: 'x',
  })
  await machine.daemon.stop()
  await machine.start()
  expect((await call('toolu_2')).decision).toBe('deny')
  expect((await call('toolu_1')).decision).toBe('pass')
  await machine.daemon.report()
  expect(org.reports.at(-1)!.alarms.map(alarm => alarm.what)).toEqual(['second_use_of_answer'])
})
