import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Report } from '#core/protocol.ts'
import { Organisation } from './organisation.ts'
import { Machine, onCleanup, SESSION } from './world.ts'

const DAY_MS = 24 * 3600_000
const OTHER = '00000000-0000-4000-8000-000000000002'

let org: Organisation
let machine: Machine
beforeEach(async () => {
  org = new Organisation()
  machine = new Machine()
  org.clock = machine.now
  await org.listen()
  onCleanup(() => org.close())
})

/** What the client writes about a tool use that ran, with no hook. */
function use(id: string, { session = SESSION, at = machine.now() } = {}): void {
  machine.spend(0.001, { toolUses: [id], session, at })
  machine.result(id, 'ran', session)
}
const reported = (): Report['unguarded'] => org.reports.at(-1)?.unguarded ?? []
const status = async () => (await machine.ask('GET', '/api/status', { token: 'api' })).json
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)

describe('a session that no hook ever told of', () => {
  test('is found by its transcript: what ran in it is chained, shown and reported within a minute', async () => {
    machine.join(org)
    await machine.start()
    await machine.daemon.tick()
    for (const id of ['toolu_1', 'toolu_2']) use(id)
    use('toolu_3', { session: OTHER })
    await machine.daemon.tick()
    expect(machine.entries('not_judged').map(({ session, calls }) => [session, calls])).toEqual([
      [SESSION, 2],
      [OTHER, 1],
    ])
    const today = day(machine.now())
    expect(reported().map(({ calls, day }) => ({ calls, day }))).toEqual([
      { calls: 2, day: today },
      { calls: 1, day: today },
    ])
    expect(await status()).toMatchObject({ unguarded: 3, sessions: [{ unguarded: { [today]: 2 } }, {}] })
    // totals run on, and nothing is counted twice
    use('toolu_4')
    await machine.daemon.tick()
    await machine.daemon.tick()
    expect(reported().find(({ calls }) => calls === 3)).toMatchObject({ client: 'claude-code', day: today })
  })

  test('is found at the start, when it ran while the daemon was down', async () => {
    machine.join(org)
    await machine.start()
    await machine.crash()
    use('toolu_1')
    await machine.start()
    expect(machine.entries('not_judged')).toMatchObject([{ session: SESSION, calls: 1 }])
    expect(machine.entries('alarm').map(alarm => alarm.what)).toContain('daemon_was_down')
  })

  test('is not hidden by a time that a program has set back', async () => {
    await machine.start()
    use('toolu_1')
    utimesSync(machine.transcript(), 0, 0)
    await machine.daemon.tick()
    expect(machine.entries('not_judged')).toMatchObject([{ calls: 1 }])
  })

  test('gets its folder from the first event that comes', async () => {
    await machine.start()
    use('toolu_1')
    await machine.daemon.tick()
    expect((await status()).sessions).toMatchObject([{ project: 'unknown' }])
    await machine.hook({ tool_use_id: 'toolu_2' })
    expect((await status()).sessions).toMatchObject([{ project: 'project' }])
  })

  test.each([
    [
      'a link',
      (path: string) => {
        renameSync(path, `${path}.kept`)
        symlinkSync(`${path}.kept`, path)
      },
    ],
    [
      'a FIFO',
      (path: string) => {
        renameSync(path, `${path}.kept`)
        execFileSync('mkfifo', [path])
      },
    ],
    [
      'below a linked folder',
      (path: string) => {
        const kept = join(machine.folder, 'elsewhere')
        renameSync(dirname(path), kept)
        symlinkSync(kept, dirname(path))
      },
    ],
    ['under a name that is no session’s', (path: string) => renameSync(path, path.replace('0000-', '0 00-'))],
  ])('is not looked for in a file that is %s', async (_, change) => {
    await machine.start()
    use('toolu_1')
    change(machine.transcript())
    await machine.daemon.tick()
    expect((await status()).sessions).toEqual([])
  })
})

describe('what does not count', () => {
  test('is what ran before the daemon’s first start', async () => {
    use('toolu_1', { at: machine.now() - 1000 })
    use('toolu_2', { session: OTHER, at: machine.now() - 1000 })
    await machine.start()
    // the old session goes on under the daemon’s eyes: its history stays nobody’s business
    await machine.hook({ tool_use_id: 'toolu_3' })
    await machine.daemon.tick()
    expect(machine.entries('not_judged')).toEqual([])
  })

  test('is, for an organisation, what ran before this machine joined it', async () => {
    await machine.start()
    use('toolu_1')
    await machine.daemon.tick()
    expect((await status()).unguarded).toBe(1)
    use('toolu_2')
    machine.offset += 1000
    machine.join(org)
    await machine.daemon.tick()
    expect(reported()).toEqual([])
    use('toolu_3')
    await machine.daemon.tick()
    expect(reported()).toMatchObject([{ calls: 1 }])
  })

  test('is the history that a fork has copied, and a call that the client itself turned back', async () => {
    await machine.start()
    const timestamp = new Date(machine.now()).toISOString()
    const block = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }
    // recorded from the real client: a forked session's lines have the session that asked
    machine.line({
      type: 'assistant',
      sessionId: SESSION,
      requestSessionId: OTHER,
      timestamp,
      message: { role: 'assistant', content: [block] },
    })
    machine.result('toolu_1', 'ran')
    machine.spend(0.001, { toolUses: ['toolu_2'] })
    const content = '<tool_use_error>Error: No such tool available: NoSuchTool</tool_use_error>'
    machine.line({
      type: 'user',
      sessionId: SESSION,
      timestamp,
      toolUseResult: 'Error: No such tool available: NoSuchTool',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content }] },
    })
    await machine.daemon.tick()
    expect(machine.entries('not_judged')).toEqual([])
    // one that the tool itself failed at has run
    machine.spend(0.001, { toolUses: ['toolu_3'] })
    const failed = {
      type: 'tool_result',
      tool_use_id: 'toolu_3',
      is_error: true,
      content: 'Exit code 3\n<tool_use_error>',
    }
    machine.line({ type: 'user', sessionId: SESSION, timestamp, message: { role: 'user', content: [failed] } })
    await machine.daemon.tick()
    expect(machine.entries('not_judged')).toMatchObject([{ calls: 1 }])
  })
})

test('a session of two days has a total for each', async () => {
  machine.join(org)
  await machine.start()
  use('toolu_1')
  await machine.daemon.tick()
  machine.offset += DAY_MS
  use('toolu_2')
  use('toolu_3')
  await machine.daemon.tick()
  const rows = reported().map(({ calls, day }) => [day, calls])
  expect(rows).toEqual([
    [day(machine.now()), 2],
    [day(machine.now() - DAY_MS), 1],
  ])
})

test('more sessions than one report takes are all told', async () => {
  machine.join(org)
  await machine.start()
  for (let n = 0; n < 230; n++) use(`toolu_${n}`, { session: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}` })
  await machine.daemon.tick()
  await machine.daemon.tick()
  const told = new Set(org.reports.flatMap(report => report.unguarded.map(row => row.sessionRef)))
  expect(told.size).toBe(230)
})

test('thousands of transcripts that change at once hold no hook up and begin no session', async () => {
  await machine.start()
  const folder = join(dirname(machine.transcript()), '..', 'old')
  mkdirSync(folder, { recursive: true })
  for (let n = 0; n < 1200; n++) writeFileSync(join(folder, `s${n}.jsonl`), '{"type":"summary"}\n')
  let walked = false
  const walk = machine.daemon.tick().then(() => {
    walked = true
  })
  await machine.hook({ tool_use_id: 'toolu_1' })
  expect(walked).toBe(false)
  await walk
  expect((await status()).sessions).toHaveLength(1)
  // what did not fit comes with the next walks
  writeFileSync(join(folder, 'z.jsonl'), '')
  use('toolu_late', { session: OTHER })
  for (let n = 0; n < 3; n++) await machine.daemon.tick()
  expect(machine.entries('not_judged')).toMatchObject([{ session: OTHER, calls: 1 }])
})
