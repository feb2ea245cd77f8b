import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerDays, readLedgerDay } from '#agent/usage/ledger.ts'
import { Machine, SESSION, until } from '../daemon/world.ts'
import { PATHS, ProxyWorld, STREAMS } from './world.ts'

const CLAUDE = { 'user-agent': 'claude-cli/2.1.332 (external, sdk-cli)', 'x-claude-code-session-id': SESSION }

async function metered() {
  const machine = new Machine()
  const world = new ProxyWorld(machine.home)
  let stream: string = STREAMS.messages
  let requests = 0
  world.answer = (_, response) => {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'request-id': `req_${++requests}00`,
      'x-request-id': 'echo',
    })
    response.end(stream)
  }
  await machine.start()
  await world.start()
  const send = async (headers: Record<string, string>, { id = 'msg_1', path = PATHS.messages as string } = {}) => {
    const before = world.left().length
    stream = STREAMS.messages.replaceAll('msg_1', id)
    await world.ask(path, { body: '{}', headers })
    await until(() => world.left().length > before)
  }
  /** The ledger once nothing waits any more for the client's own records. */
  const counted = async () => {
    machine.offset += 3 * 60_000
    await machine.daemon.tick()
    machine.offset += 3 * 60_000
    await machine.daemon.tick()
    return (await Promise.all(ledgerDays(machine.home).map(day => readLedgerDay(machine.home, day)))).flat()
  }
  return { machine, world, send, counted }
}

test('a program that nobody knows counts by the proxy alone, to whom its path says', async () => {
  const { send, counted, world } = await metered()
  await send({ 'user-agent': 'python-httpx/1' }, { path: `/s/tenant=acme,project=shop${PATHS.messages}` })
  await send({ 'user-agent': 'python-httpx/1', 'x-holdpoint-session': 'run-7' }, { id: 'msg_2' })
  expect(world.arrived.at(-1)!.raw.join().toLowerCase()).not.toContain('x-holdpoint')
  const calls = await counted()
  expect(calls).toMatchObject([
    {
      model: 'claude-opus-4-6',
      provider: 'anthropic',
      tokens: { input: 100, cacheRead: 20, cacheWrite5m: 30, cacheWrite1h: 7, output: 50 },
      place: { client: 'other', tags: { tenant: 'acme', project: 'shop' } },
    },
    { place: { client: 'other', session: 'run-7', tags: {} } },
  ])
  expect(calls.map(({ partial }) => partial)).toEqual([undefined, undefined])
})

test('a call that the transcript tells as well counts once, one that it left out counts too, and a repetition does not', async () => {
  const { machine, send, counted } = await metered()
  await machine.hook()
  machine.spend(1, { id: 'msg_told' })
  for (const id of ['msg_told', 'msg_told', 'msg_title']) await send(CLAUDE, { id })
  const calls = await counted()
  expect(calls).toHaveLength(2)
  expect(calls.every(({ place }) => place.session === SESSION && place.client === 'claude-code')).toBe(true)
  expect(calls.find(({ key }) => key.includes('msg_title'))?.tokens.output).toBe(50)
})

test('what passed while the daemon was down is counted when it is back, and what is no call of ours is not', async () => {
  const { machine, world, send } = await metered()
  await machine.daemon.stop()
  await send(CLAUDE)
  const folder = join(machine.home.usage, 'proxy')
  writeFileSync(join(folder, 'zzz-1-1.jsonl'), 'not json\n{"kind":"call"}\n\n')
  await machine.start()
  machine.offset += 3 * 60_000
  await machine.daemon.tick()
  expect(readdirSync(folder)).toEqual([])
  machine.offset += 3 * 60_000
  await machine.daemon.tick()
  const days = ledgerDays(machine.home)
  expect((await Promise.all(days.map(day => readLedgerDay(machine.home, day)))).flat()).toHaveLength(1)
  expect(world.left()).toEqual([])
})
