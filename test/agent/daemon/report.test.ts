import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { judgeHead } from '#core/journal.ts'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup, SESSION, told } from './world.ts'

let org: Organisation
let machine: Machine
beforeEach(async () => {
  org = new Organisation()
  machine = new Machine()
  org.clock = machine.now
  await org.listen()
  onCleanup(() => org.close())
  machine.join(org)
})
const shadowAndDeny = `${RULE('deny')}  - name: seen\n    action: continue\n    when: { session_cost_usd: ">= 1" }\n    require: ask\n`
async function started() {
  org.publish(shadowAndDeny)
  await machine.start()
  await machine.daemon.sync()
  machine.spend(20.1)
}
let n = 0
const call = async () => told(await machine.hook({ tool_use_id: `toolu_${n++}` }))
const outcomes = () => org.reports.flatMap(report => report.outcomes)
const calls = () =>
  org.reports
    .flatMap(report => report.counts)
    .filter(row => row.action === 'continue')
    .reduce((sum, row) => sum + row.calls, 0)

describe('a report', () => {
  test('says what is in force, what it did, and how many calls there were', async () => {
    await started()
    for (let i = 0; i < 3; i++) await call()
    await machine.daemon.tick()
    const [report] = org.reports
    expect(report!.rules).toMatchObject({
      version: 1,
      digest: org.rulesetDigest,
      rootSeq: 1,
      rootDigest: org.rootDigest,
    })
    expect(report!.hooks).toContainEqual({ client: 'claude-code', level: 'not-installed', off: [] })
    // shadow once per session and rule, enforced each
    expect(report!.outcomes.filter(o => o.rule === 'seen')).toMatchObject([
      { stage: 'shadow', outcome: 'ask', did: 'passed' },
    ])
    expect(report!.outcomes.filter(o => o.rule === 'session-spend')).toHaveLength(3)
    expect(new Set(report!.outcomes.map(o => `${o.handle} ${o.rule}`)).size).toBe(4)
    expect(calls()).toBe(3)
    expect(report!.counts[0]!.figures).toMatchObject([{ name: 'session_cost_usd', value: '20.1' }])
  })

  test('holds nothing of local rules', async () => {
    machine.config(RULE('deny', 5).replace('session-spend', 'my-own'))
    await started()
    await call()
    await machine.daemon.tick()
    expect(JSON.stringify(org.reports)).not.toContain('my-own')
    expect(JSON.stringify(org.reports)).toContain('session-spend')
  })

  test('follows the journal: each head extends the one on record', async () => {
    await started()
    let recorded: { seq: number; head: string } | undefined
    for (let i = 0; i < 4; i++) {
      await call()
      await machine.daemon.tick()
      const { journal } = org.reports.at(-1)!
      if (journal) {
        expect(['first', 'extends']).toContain(judgeHead(recorded, journal))
        recorded = { seq: journal.seq, head: journal.head }
      }
    }
    expect(recorded).toBeDefined()
  })

  test('tells a journal that was taken away, and one that was cut', async () => {
    await started()
    for (let i = 0; i < 3; i++) await machine.daemon.tick()
    const recorded = org.recorded!
    await machine.daemon.stop()
    rmSync(machine.home.journal, { recursive: true })
    await machine.start()
    await machine.daemon.tick()
    expect(judgeHead(recorded, org.reports.at(-1)!.journal!)).toBe('reset')
    expect(org.reports.at(-1)!.alarms.map(alarm => alarm.what)).toEqual(['journal_reset'])
    const again = org.recorded!
    expect(again.seq).toBeGreaterThan(recorded.seq)
  })
})

describe('while the control plane is away', () => {
  test('for weeks, everything is kept in bounded size and sent once when it is back, in reports that fit', async () => {
    await started()
    await call()
    await machine.daemon.tick()
    const before = { outcomes: outcomes().length, calls: calls() }
    org.goDown()
    for (let day = 0; day < 21; day++) {
      for (let i = 0; i < 30; i++) await call()
      machine.offset += 24 * 3600_000
      await machine.daemon.tick()
    }
    await machine.crash()
    await machine.start()
    org.down = false
    await machine.daemon.sync()
    await machine.daemon.report()
    expect(outcomes().length - before.outcomes).toBe(21 * 30)
    expect(calls() - before.calls).toBe(21 * 30)
    for (const report of org.reports) expect(JSON.stringify(report).length * 1.4).toBeLessThan(256 * 1024)
    await machine.daemon.report()
    expect(outcomes().length - before.outcomes).toBe(21 * 30)
  }, 60_000)

  test('a report whose answer was lost is sent again under its number, so that nothing counts twice', async () => {
    await started()
    await call()
    const { controlPlane } = machine.daemon.runtime.membership!
    const report = controlPlane.report.bind(controlPlane)
    controlPlane.report = async jws => {
      await report(jws)
      throw new Error('the connection broke')
    }
    await expect(machine.daemon.report()).rejects.toThrow()
    expect(outcomes()).toHaveLength(2)
    await machine.crash()
    await machine.start()
    await machine.daemon.report()
    await machine.daemon.report()
    expect(outcomes()).toHaveLength(2)
    expect(calls()).toBe(1)
  })
})

describe('what hooks left while the daemon was down', () => {
  const leave = (name: string, entry: unknown) => {
    mkdirSync(machine.home.spool, { recursive: true })
    writeFileSync(join(machine.home.spool, name), typeof entry === 'string' ? entry : JSON.stringify(entry))
  }

  test('is chained at the start: who is at the keyboard, and an impostor at the port', async () => {
    machine.config(RULE('ask'))
    leave('event-a.json', {
      kind: 'hook_event',
      client: 'claude-code',
      event: 'SessionStart',
      at: new Date().toISOString(),
      why: 'down',
      headers: { 'x-holdpoint-attended': '1' },
      body: {
        hook_event_name: 'SessionStart',
        session_id: SESSION,
        cwd: machine.cwd,
        source: 'startup',
        model: 'claude-opus-4-6',
      },
    })
    leave('alarm-b.json', { kind: 'alarm', what: 'daemon_impostor', at: new Date().toISOString(), why: 'x' })
    await started()
    expect(machine.entries('alarm').map(alarm => alarm.what)).toEqual(['daemon_impostor'])
    org.publish(RULE('ask', 30))
    await machine.daemon.sync()
    expect((await call()).decision).toBe('ask')
    expect(statSync(join(machine.home.spool, 'event-a.json'), { throwIfNoEntry: false })).toBeUndefined()
  })

  test('never judges a call that has long gone on, and rubbish is thrown away', async () => {
    leave('event-a.json', {
      kind: 'hook_event',
      client: 'claude-code',
      headers: {},
      body: { ...machine.payload(), tool_input: undefined },
    })
    leave('event-b.json', '{"kind":')
    leave('event-c.json', {
      kind: 'local_answer',
      handle: 'bnd-0123456789ab',
      scope: 'step',
      pid: 1,
      at: new Date().toISOString(),
    })
    leave('event-d.json', 'x'.repeat(100_000))
    machine.config(RULE('deny', 0))
    machine.spend(1)
    await machine.start()
    expect(machine.entries('decision')).toEqual([])
    expect(machine.entries('local_answer')).toEqual([])
    expect(readFileSync(machine.home.tokens, 'utf8')).toContain('hookToken')
  })
})

test('a first-use pin is told as one', async () => {
  machine.join(org, { pinned: false })
  await machine.start()
  expect((await machine.ask('GET', '/api/status', { token: 'api' })).json.team.pin).toBe('first use')
  await machine.daemon.tick()
  expect(org.reports[0]!.alarms.map(alarm => alarm.what)).toEqual(['first_use_pin'])
})

test('joining tells nothing of the time before, and another organisation nothing of the one left', async () => {
  machine.config(RULE('deny', 5).replace('session-spend', 'own'))
  for (const path of [machine.home.team, machine.home.machineKey, machine.home.roots, machine.home.pin]) rmSync(path)
  await machine.start()
  machine.spend(20.1)
  for (let i = 0; i < 3; i++) await call()
  machine.config('boundaries: []\n')
  org.publish(shadowAndDeny)
  machine.join(org)
  await expect.poll(() => machine.entries('joined').length).toBe(1)
  await machine.daemon.sync()
  await call()
  await machine.daemon.tick()
  expect(calls()).toBe(1)
  expect(outcomes()).toHaveLength(2)

  const other = new Organisation()
  other.clock = machine.now
  await other.listen()
  onCleanup(() => other.close())
  other.publish(RULE('approver:lead', 15))
  for (const path of [machine.home.ruleset, machine.home.fresh]) rmSync(path)
  machine.join(other)
  await expect.poll(() => machine.entries('joined').length).toBe(2)
  await machine.daemon.sync()
  expect((await call()).reason).toContain('org:session-spend')
  await machine.daemon.tick()
  const told = JSON.stringify(other.reports)
  expect(other.reports.at(-1)!.machine).toBe(other.machine)
  expect(told).not.toContain('seen')
  expect(other.reports.flatMap(report => report.outcomes)).toHaveLength(1)
  expect(other.requests).toHaveLength(1)
})
