/** Calls that their client gives no id: known again in its records by their tool and their turn. */
import { beforeEach, describe, expect, test } from 'vitest'
import { RULE } from './organisation.ts'
import { Machine, told } from './world.ts'

let machine: Machine
beforeEach(async () => {
  machine = new Machine()
  machine.config(RULE('deny'))
  await machine.start()
})

const unnamed = (fields: object = {}) => machine.hook({ tool_use_id: undefined, ...fields }).then(told)
const unguarded = async () => (await machine.ask('GET', '/api/status', { token: 'api' })).json.unguarded
/** What the client writes of a tool use that ran. */
function ran(id: string) {
  machine.spend(0.001, { toolUses: [id] })
  machine.result(id, 'ran')
}

describe('what nobody judged', () => {
  test('is what ran beyond the calls that were judged, whether the record names those before or after', async () => {
    machine.spend(0.001, { toolUses: ['toolu_before'] })
    await unnamed()
    machine.result('toolu_before', 'ran')
    await unnamed()
    ran('toolu_after')
    await machine.daemon.tick()
    expect(await unguarded()).toBe(0)
    ran('toolu_unseen')
    await machine.daemon.tick()
    expect(await unguarded()).toBe(1)
  })

  test('a call of another tool stands for none', async () => {
    await unnamed({ tool_name: 'Read' })
    ran('toolu_bash')
    await machine.daemon.tick()
    expect(await unguarded()).toBe(1)
  })

  test('a judged call that was never recorded stands for none of the next turn', async () => {
    await unnamed()
    await machine.hook({ hook_event_name: 'UserPromptSubmit', tool_use_id: undefined })
    ran('toolu_unseen')
    await machine.daemon.tick()
    expect(await unguarded()).toBe(1)
  })

  test('is the same after a restart', async () => {
    await unnamed()
    await machine.daemon.tick()
    await machine.crash()
    await machine.start()
    ran('toolu_after')
    await machine.daemon.tick()
    expect(await unguarded()).toBe(0)
  })
})

describe('the response behind it', () => {
  test('is waited for like that of any other: it holds its own call', async () => {
    const answered = unnamed()
    await new Promise(resolve => setTimeout(resolve, 60))
    machine.spend(21, { toolUses: ['toolu_1'] })
    expect((await answered).decision).toBe('deny')
  })

  test('tells the model that a subagent has which names none', async () => {
    machine.config(
      'boundaries:\n  - { name: small, action: subagent_model, when: { model_tier: ">= haiku" }, require: deny, stage: enforce }\n',
    )
    const answered = unnamed({ tool_name: 'Agent', tool_input: {} })
    await new Promise(resolve => setTimeout(resolve, 60))
    machine.spend(0.001, { toolUses: ['toolu_1'] })
    expect((await answered).decision).toBe('deny')
  })
})

test('two calls at once are two, each under an id of its own', async () => {
  machine.spend(0.001, { toolUses: ['toolu_1', 'toolu_2'] })
  await Promise.all([unnamed(), unnamed()])
  const { judged } = machine.daemon.runtime
  const session = machine.payload().session_id as string
  expect([judged.has(session, 'toolu_1'), judged.has(session, 'toolu_2')]).toEqual([true, true])
})
