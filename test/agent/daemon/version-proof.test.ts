import { beforeEach, expect, test } from 'vitest'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup } from './world.ts'

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

test('the rule set goes with a report only when the control plane calls a lower version the newest', async () => {
  org.publish(RULE('deny'))
  org.publish(RULE('deny', 5))
  const signed = org.ruleset!
  await machine.start()
  await machine.daemon.sync()
  await machine.daemon.tick()
  expect(org.reports.at(-1)!.rules).toMatchObject({ version: 2 })
  expect(org.reports.at(-1)!.rules.proof).toBeUndefined()

  org.serve.rules = () => ({ status: 304, fresh: org.fresh({ version: 1, digest: 'x'.repeat(43) }) })
  await machine.daemon.sync().catch(() => {})
  await machine.daemon.tick()
  expect(org.reports.at(-1)!.rules).toMatchObject({ version: 2, proof: signed })
})
