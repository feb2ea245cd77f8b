import { beforeEach, describe, expect, test } from 'vitest'
import { DISK } from '#agent/home.ts'
import { Organisation, RULE } from './organisation.ts'
import { attended, Machine, onCleanup, SESSION, told } from './world.ts'

let org: Organisation
let machine: Machine
/** The disk takes so long over the next write that no client waits for it. */
let stall = false
beforeEach(async () => {
  stall = false
  org = new Organisation()
  machine = new Machine({
    ...DISK,
    write(fd, bytes) {
      if (stall && Buffer.from(bytes).includes('"kind":"decision"')) {
        stall = false
        busy(2050)
      }
      return DISK.write(fd, bytes)
    },
  })
  org.clock = machine.now
  await org.listen()
  onCleanup(() => org.close())
})

function busy(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}
/** The next look at a transcript takes longer than a client waits. */
function slowLook(): void {
  const { sessions } = machine.daemon.runtime
  const observe = sessions.observe.bind(sessions)
  sessions.observe = (...given) => {
    sessions.observe = observe
    busy(2050)
    return observe(...given)
  }
}

describe('a decision that comes after two seconds', () => {
  test('spends no answer: the next call has it', async () => {
    machine.join(org)
    org.publish(RULE('approver:lead'))
    await machine.start()
    await machine.daemon.sync()
    machine.spend(21)
    await machine.hook({ tool_use_id: 'toolu_0' })
    await machine.daemon.sync()
    org.answer(org.requests[0]!, { scope: 'step' })
    await machine.daemon.sync()
    slowLook()
    expect((await machine.hook({ tool_use_id: 'toolu_1' })).status).toBe(500)
    expect(machine.entries('spend')).toEqual([])
    expect(machine.entries('decision').at(-1)).toMatchObject({ toolUse: 'toolu_1', did: 'passed', why: 'late' })
    expect(told(await machine.hook({ tool_use_id: 'toolu_2' })).decision).toBe('pass')
    expect(machine.entries('spend')).toMatchObject([{ toolUse: 'toolu_2' }])
    await machine.daemon.tick()
    const outcomes = org.reports.flatMap(report => report.outcomes).map(({ outcome, did }) => ({ outcome, did }))
    expect(outcomes).toContainEqual({ outcome: 'approver', did: 'passed' })
  })

  test('files no request', async () => {
    machine.join(org)
    org.publish(RULE('approver:lead'))
    await machine.start()
    await machine.daemon.sync()
    machine.spend(21)
    slowLook()
    expect((await machine.hook()).status).toBe(500)
    expect(machine.entries('request')).toEqual([])
  })

  test.each([
    ['nobody there', {}],
    ['somebody there', attended],
  ])('because the disk was slow is taken back in the next line, and stays so after a restart (%s)', async (_, who) => {
    machine.config(RULE('ask'))
    await machine.start()
    machine.spend(21)
    stall = true
    expect((await machine.hook({}, who)).status).toBe(500)
    const [decision] = machine.entries('decision')
    expect(machine.entries('late')).toMatchObject([{ handle: decision!.handle }])
    const shown = async () => (await machine.ask('GET', `/api/decisions/${decision!.handle}`, { token: 'api' })).json
    expect((await shown()).decision).toMatchObject({ did: 'passed', why: 'late', session: SESSION })
    expect((await machine.ask('GET', '/api/waiting', { token: 'api' })).json).toEqual([])
    await machine.daemon.stop()
    await machine.start()
    expect((await shown()).decision).toMatchObject({ did: 'passed', why: 'late' })
    expect((await machine.ask('GET', '/api/waiting', { token: 'api' })).json).toEqual([])
  })
})
