import { expect, it } from 'vitest'
import { bus, nextSignal, readSignal, type Signal } from '#server/bus.ts'
import { useDatabase } from '#test/support/db.ts'
import { serverEnvironment } from '#test/support/makers.ts'

const db = useDatabase()

it.each(['', 'not JSON', 'null', '[]', '7', '{"org":1,"what":"ruleset"}', '{"what":"ruleset"}'])(
  '%j is no signal',
  payload => {
    expect(readSignal(payload)).toBeUndefined()
  },
)

it('what anybody with a connection may tell ends nothing: the next signal is heard', async () => {
  serverEnvironment()
  const ready = new Promise(resolve => bus().once('reconnected', resolve))
  await ready
  const heard: Signal[] = []
  bus().on('signal', signal => heard.push(signal))
  for (const payload of ['not JSON', 'null', '{"what":"ruleset"}'])
    await db.admin.query("select pg_notify('holdpoint', $1)", [payload])
  const next = nextSignal(signal => signal.org === 'org_x', 10_000)
  await db.admin.query("select pg_notify('holdpoint', $1)", [JSON.stringify({ org: 'org_x', what: 'ruleset' })])
  expect(await next.promise).toBe(true)
  expect(heard).toEqual([{ org: 'org_x', what: 'ruleset' }])
})
