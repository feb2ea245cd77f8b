import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
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
const call = async (toolUse: string, fields: Record<string, unknown> = {}) =>
  told(await machine.hook({ tool_use_id: toolUse, ...fields }))
const costUsd = async () => (await machine.ask('GET', '/api/figures', { token: 'api' })).json[0].value

/** A session at $20.10 that was approved up to $40. */
async function approved() {
  org.publish(RULE('approver:lead'))
  await machine.start()
  await machine.daemon.sync()
  machine.spend(20.1)
  await call('toolu_0')
  await machine.daemon.sync()
  org.answer(org.requests[0]!, { scope: 'session', until: [{ figure: 'session_cost_usd', op: '<', value: '40' }] })
  await machine.daemon.sync()
  expect((await call('toolu_1')).decision).toBe('pass')
}

test.each([
  ['a FIFO', (path: string) => void execFileSync('mkfifo', [path])],
  ['a link', (path: string) => symlinkSync('elsewhere.jsonl', path)],
  ['a folder', (path: string) => void mkdirSync(path)],
])(
  'a session whose transcript is %s from the start has no cost, and that is told once, here and to the organisation',
  async (_, make) => {
    await machine.start()
    const path = machine.transcript()
    mkdirSync(dirname(path), { recursive: true })
    make(path)
    await call('toolu_0')
    await call('toolu_1')
    await machine.daemon.tick()
    await machine.daemon.tick()
    expect(machine.entries('alarm').filter(({ what }) => what === 'transcript_unreadable')).toMatchObject([
      { note: 'not_a_file' },
    ])
    const alarms = org.reports.flatMap(report => report.alarms)
    expect(alarms.filter(({ what }) => what === 'transcript_unreadable')).toHaveLength(1)
  },
)

test('a session that has no transcript yet is no alarm', async () => {
  await machine.start()
  await call('toolu_0')
  await machine.daemon.tick()
  expect(machine.entries('alarm')).toEqual([])
})

describe('a figure cannot be hidden: the cost stays at least $20.10, nothing hangs, and $40 asks again', () => {
  test.each([
    ['truncated', (path: string) => writeFileSync(path, '')],
    ['deleted', (path: string) => rmSync(path)],
    [
      'a FIFO',
      (path: string) => {
        rmSync(path)
        execFileSync('mkfifo', [path])
      },
    ],
    ['unreadable', (path: string) => chmodSync(path, 0)],
    [
      'a folder',
      (path: string) => {
        rmSync(path)
        mkdirSync(path)
      },
    ],
    [
      'a link to another session',
      (path: string) => {
        writeFileSync(`${path}.other`, '')
        rmSync(path)
        symlinkSync(`${path}.other`, path)
      },
    ],
  ])('with its transcript %s', async (_, hide) => {
    await approved()
    const path = machine.transcript()
    const kept = `${path}.kept`
    execFileSync('cp', [path, kept])
    hide(path)
    const began = performance.now()
    expect((await call('toolu_2')).decision).toBe('pass')
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(await costUsd()).toBe('20.1')
    // also after a restart, which has only what was written down
    await machine.crash()
    await machine.start()
    await call('toolu_3')
    expect(Number(await costUsd())).toBeGreaterThanOrEqual(20.1)
    rmSync(path, { recursive: true, force: true })
    renameSync(kept, path)
    machine.spend(19.9)
    expect((await call('toolu_4')).decision).toBe('deny')
  })

  test('with a transcript written anew and everything forgotten that was known of the session: the journal remembers', async () => {
    await approved()
    await machine.daemon.stop()
    rmSync(machine.home.sessions, { recursive: true })
    rmSync(machine.transcript())
    await machine.start()
    machine.spend(1)
    expect((await call('toolu_2')).decision).toBe('pass')
    expect(await costUsd()).toBe('20.1')
    machine.spend(19)
    expect(await costUsd()).toBe('20.1')
    machine.spend(20)
    expect((await call('toolu_3')).decision).toBe('deny')
  })

  test('with another transcript named in the hook', async () => {
    await approved()
    writeFileSync(join(machine.folder, 'other.jsonl'), '')
    expect((await call('toolu_2', { transcript_path: join(machine.folder, 'other.jsonl') })).decision).toBe('pass')
    expect(await costUsd()).toBe('20.1')
  })
})

describe('what nothing can read', () => {
  test('satisfies no condition, is told in status, and holds only by on_unknown', async () => {
    const rule =
      'boundaries:\n  - name: budget-floor\n    action: spend\n    when: { budget_used_pct: ">= 90" }\n    require: deny\n    stage: enforce\n'
    machine.config(rule)
    await machine.start()
    expect((await call('toolu_1')).decision).toBe('pass')
    const status = (await machine.ask('GET', '/api/status', { token: 'api' })).json
    expect(status.rules[0].notes.join()).toContain('budget used cannot be read on this machine yet')
    machine.config(`${rule}    on_unknown: hold\n`)
    expect((await call('toolu_2')).decision).toBe('deny')
  })

  test('a session whose cost was never read lets its calls through', async () => {
    machine.config(RULE('deny', 0))
    await machine.start()
    expect((await call('toolu_1')).decision).toBe('pass')
  })

  test('a model that is on no list is priced at the bound, and said so', async () => {
    machine.config(RULE('deny'))
    await machine.start()
    machine.line({
      type: 'assistant',
      sessionId: SESSION,
      requestId: 'r',
      timestamp: new Date().toISOString(),
      message: {
        id: 'm',
        model: 'model-of-tomorrow',
        role: 'assistant',
        content: [],
        usage: { input_tokens: 0, output_tokens: 1_000_000 },
      },
    })
    expect((await call('toolu_1')).decision).toBe('deny')
    const figures = (await machine.ask('GET', '/api/figures', { token: 'api' })).json
    expect(figures[0].pricedAtBound).toEqual(['model-of-tomorrow'])
  })
})

describe('calls that nobody judged', () => {
  const use = (id: string) => {
    machine.spend(0.001, { toolUses: [id] })
    machine.result(id, 'ran')
  }

  test('are counted when the transcript shows that they ran, once, and reported', async () => {
    await machine.start()
    await machine.daemon.sync()
    await call('toolu_1')
    use('toolu_1')
    for (const id of ['toolu_u1', 'toolu_u2', 'toolu_u3', 'toolu_u4', 'toolu_u5']) use(id)
    await call('toolu_2')
    await machine.daemon.tick()
    expect(org.reports.at(-1)!.unguarded).toMatchObject([{ client: 'claude-code', calls: 5 }])
    expect(machine.entries('not_judged').reduce((sum, entry) => sum + entry.calls, 0)).toBe(5)
    await machine.daemon.stop()
    await machine.start()
    await machine.daemon.tick()
    expect(org.reports.at(-1)!.unguarded).toMatchObject([{ calls: 5 }])
  })

  test('do not include one that still waits for its hook, or was refused or declined', async () => {
    await machine.start()
    await call('toolu_0')
    machine.spend(0.001, { toolUses: ['toolu_1', 'toolu_2'] })
    await machine.daemon.tick()
    await call('toolu_1')
    machine.result('toolu_1', 'ran')
    machine.result('toolu_2', 'declined')
    await machine.daemon.tick()
    expect(machine.entries('not_judged')).toEqual([])
  })

  test('while the daemon was down are found at its start, with the time', async () => {
    await machine.start()
    await call('toolu_1')
    use('toolu_1')
    await machine.crash()
    machine.offset += 60_000
    for (const id of ['toolu_d1', 'toolu_d2']) use(id)
    machine.offset += 60_000
    await machine.start()
    const [entry] = machine.entries('not_judged')
    expect(entry).toMatchObject({ calls: 2, session: SESSION })
    expect(Date.parse(entry!.from)).toBeGreaterThanOrEqual(Date.now() + 59_000)
    expect(machine.entries('alarm').map(alarm => alarm.what)).toContain('daemon_was_down')
    const status = (await machine.ask('GET', '/api/status', { token: 'api' })).json
    expect(status).toMatchObject({ notJudged: 2, unguarded: 2 })
  })
})
