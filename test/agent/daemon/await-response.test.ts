import { beforeEach, describe, expect, test } from 'vitest'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup, told } from './world.ts'

let machine: Machine
beforeEach(() => {
  machine = new Machine()
})

/** A call whose response the client writes a while after the hook has arrived, as the real one does. */
async function call(toolUse: string, usd: number, meanwhile?: () => Promise<unknown>) {
  const count = looks()
  let isAnswered = false
  const answered = machine.hook({ tool_use_id: toolUse }).then(reply => {
    isAnswered = true
    return told(reply)
  })
  // the daemon has looked and found nothing, and looks again
  while (count() < 2 && !isAnswered) await new Promise(setImmediate)
  await meanwhile?.()
  machine.spend(usd, { toolUses: [toolUse] })
  return answered
}
/** Calls whose response was in the transcript before the hook: they make the session known. */
async function settled(...costs: number[]) {
  for (const [i, usd] of costs.entries()) {
    machine.spend(usd, { toolUses: [`toolu_s${i}`] })
    await machine.hook({ tool_use_id: `toolu_s${i}` })
  }
}
const looks = () => {
  const { sessions } = machine.daemon.runtime
  const observe = sessions.observe.bind(sessions)
  let count = 0
  sessions.observe = (...given) => {
    count++
    return observe(...given)
  }
  return () => count
}

describe('a response that is written after its call’s hook has arrived', () => {
  test('holds that very call when it crosses the limit: the first of a session, whatever it costs', async () => {
    machine.config(RULE('deny'))
    await machine.start()
    const { decision, reason } = await call('toolu_1', 21)
    expect(decision).toBe('deny')
    expect(reason).toContain('$21.00')
  })

  test('holds it near the limit: within twice the dearest response of the session', async () => {
    machine.config(RULE('deny'))
    await machine.start()
    await settled(4, 5, 5)
    expect((await call('toolu_1', 7)).decision).toBe('deny')
  })

  test('holds it at the ceiling of an answer that stands', async () => {
    const org = new Organisation()
    org.clock = machine.now
    await org.listen()
    onCleanup(() => org.close())
    machine.join(org)
    org.publish(RULE('approver:lead'))
    await machine.start()
    await machine.daemon.sync()
    await settled(21)
    await machine.daemon.sync()
    org.answer(org.requests[0]!, { scope: 'session', until: [{ figure: 'session_cost_usd', op: '<', value: '40' }] })
    await machine.daemon.sync()
    expect((await call('toolu_1', 0.1)).decision).toBe('pass')
    expect((await call('toolu_2', 20)).decision).toBe('deny')
  })

  test('is not waited for in vain for longer than a fifth of a second, and only once', async () => {
    machine.config(RULE('deny'))
    await machine.start()
    const count = looks()
    const began = performance.now()
    expect(told(await machine.hook({ tool_use_id: 'toolu_1' })).decision).toBe('pass')
    expect(performance.now() - began).toBeGreaterThan(190)
    const first = count()
    expect(first).toBeGreaterThan(1)
    await machine.hook({ tool_use_id: 'toolu_2' })
    expect(count()).toBe(first + 1)
    // what was missed counts for the next call
    machine.spend(21, { toolUses: ['toolu_2'] })
    expect(told(await machine.hook({ tool_use_id: 'toolu_3' })).decision).toBe('deny')
  })

  test('is waited for where an unread figure holds: a session’s first call is not refused for being first', async () => {
    machine.config(`${RULE('deny')}    on_unknown: hold\n`)
    await machine.start()
    expect((await call('toolu_1', 1)).decision).toBe('pass')
  })
})

describe('no hook waits', () => {
  const looksOf = async (toolUse: string) => {
    const count = looks()
    await machine.hook({ tool_use_id: toolUse })
    return count()
  }

  test.each([
    ['without a rule', ''],
    ['with a rule in shadow', RULE('deny').replace('stage: enforce', 'stage: shadow')],
    [
      'with rules about other figures',
      'boundaries:\n  - { name: big, action: subagent_model, when: { model_tier: "> opus" }, require: deny, stage: enforce }\n',
    ],
  ])('%s', async (_, rules) => {
    machine.config(rules)
    await machine.start()
    expect(await looksOf('toolu_1')).toBe(1)
  })

  test('far below the limit, above it, or when the transcript has named the call', async () => {
    machine.config(RULE('deny'))
    await machine.start()
    await settled(1)
    expect(await looksOf('toolu_far')).toBe(1)
    machine.spend(18.9, { toolUses: ['toolu_near', 'toolu_parallel'] })
    expect(await looksOf('toolu_near')).toBe(1)
    expect(await looksOf('toolu_parallel')).toBe(1)
    machine.spend(5, { toolUses: ['toolu_over'] })
    await machine.hook({ tool_use_id: 'toolu_over' })
    expect(await looksOf('toolu_above')).toBe(1)
  })
})

test('while one call waits another is judged', async () => {
  machine.config(RULE('deny'))
  await machine.start()
  const order: string[] = []
  const session_id = '00000000-0000-4000-8000-000000000002'
  // one that has waited in vain waits no more
  await machine.hook({ session_id, tool_use_id: undefined })
  const other = () => machine.hook({ session_id, tool_use_id: undefined }).then(() => order.push('other'))
  await call('toolu_1', 21, other).then(() => order.push('waited'))
  expect(order).toEqual(['other', 'waited'])
})
