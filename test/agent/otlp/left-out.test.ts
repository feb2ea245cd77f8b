/** Attempts of Claude Code that no event and no record tells of: what its sums have beyond its calls. */
import { beforeEach, describe, expect, test } from 'vitest'
import { SESSION } from '../daemon/world.ts'
import { ToldMachine } from './world.ts'

let machine: ToldMachine
beforeEach(async () => {
  machine = new ToldMachine()
  await machine.start()
})
const calls = async () =>
  (await machine.counted()).map(({ tokens, partial = false }) => [
    tokens.input,
    tokens.cacheRead,
    tokens.output,
    partial,
  ])
const quiet = () => {
  machine.offset += 11 * 60_000
}
type Sums = Parameters<ToldMachine['sums']>[1]
const claude = (tokens: Sums, session: string, more: Parameters<ToldMachine['sums']>[2] = {}) =>
  machine.sums('claude_code.token.usage', tokens, { values: { 'session.id': session }, ...more })
/** The event’s own counts. */
const CALL = { input: 100, cacheRead: 20, cacheCreation: 37, output: 50 }
const WITH_ATTEMPT = { input: 105, cacheRead: 1020, cacheCreation: 37, output: 51 }

describe('of a session that is told by its events', () => {
  beforeEach(async () => {
    await machine.tell('logs', machine.logs([machine.request()]))
  })

  test('count once it is quiet, as one that broke off, over restarts and repeated batches', async () => {
    const batch = claude(WITH_ATTEMPT, 'far-away')
    await machine.tell('metrics', batch)
    expect(await calls()).toEqual([[100, 20, 50, false]])
    quiet()
    const counted = [
      [100, 20, 50, false],
      [5, 1000, 1, true],
    ]
    expect(await calls()).toEqual(counted)
    await machine.tell('metrics', batch)
    await machine.daemon.stop()
    await machine.start()
    expect(await calls()).toEqual(counted)
    quiet()
    expect(await calls()).toEqual(counted)
    // another one later, in sums of what was added since
    const at = machine.now()
    await machine.tell('metrics', claude({ input: 7, output: 2 }, 'far-away', { at, start: at - 1000 }))
    await calls()
    quiet()
    expect(await calls()).toEqual([counted[0], [12, 1000, 3, true]])
  })

  test('of running sums are what these came to', async () => {
    const start = machine.now()
    for (const [i, tokens] of [CALL, WITH_ATTEMPT].entries())
      await machine.tell('metrics', claude(tokens, 'far-away', { running: true, start, at: start + 1000 * (i + 1) }))
    await calls()
    quiet()
    expect(await calls()).toEqual([
      [100, 20, 50, false],
      [5, 1000, 1, true],
    ])
  })

  test.each([
    ['that are as much as its calls', CALL, {}],
    ['under another name of the model', CALL, { model: 'claude-opus-4-6[1m]' }],
    ['that were told of a part of it', { input: 500, cacheRead: 20, cacheCreation: 37, output: 49 }, {}],
  ])('are none in sums %s', async (_, tokens, values) => {
    await machine.tell('metrics', claude(tokens, 'far-away', { values: { 'session.id': 'far-away', ...values } }))
    await calls()
    quiet()
    expect(await calls()).toEqual([[100, 20, 50, false]])
  })
})

test('of a session whose records are read are what these leave out', async () => {
  machine.spend(1, { id: 'msg_1' })
  await machine.counted()
  await machine.tell('metrics', claude({ input: 9, output: 40_001 }, SESSION))
  await machine.counted()
  quiet()
  expect(await calls()).toEqual([
    [0, 0, 40_000, false],
    [9, 0, 1, true],
  ])
  // a session that its sums do not tell whole leaves nothing out
  machine.spend(1, { id: 'msg_2' })
  await machine.tell('metrics', claude({ input: 9 }, SESSION))
  await machine.counted()
  quiet()
  expect(await calls()).toHaveLength(3)
})

test('of a session without calls are no attempts', async () => {
  await machine.tell('metrics', claude(WITH_ATTEMPT, 'by-sums'))
  await calls()
  quiet()
  expect(await calls()).toEqual([[105, 1020, 51, false]])
})
