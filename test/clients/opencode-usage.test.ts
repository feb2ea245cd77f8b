import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { opencode } from '#agent/clients/opencode/opencode.ts'
import { type Bench, type StubRequest, type StubStep, sleep, startBench } from './bench.ts'
import { ANTHROPIC_MODEL, opencodeDatabase, runOpencodeOn } from './opencode.ts'
import { axes, readUsage, servedIn } from './read-usage.ts'

let bench: Bench
beforeEach(async () => {
  bench = await startBench()
})
afterEach(() => bench.stop())

/** What was served to calls that the client records: it asks for titles without tools and keeps no record of that. */
const served = (requests: StubRequest[]) => servedIn(requests.filter(({ step }) => (step ?? -1) >= 0))
/** The chat protocol does not tell of cache writes; Anthropic's has reasoning inside its output, as the chat's has. */
const told = (requests: StubRequest[]) =>
  served(requests).map(({ usage }) => {
    const { input, cache_read: cacheRead, cache_5m, cache_1h, output } = usage
    return axes({ input, cacheRead, cacheWrite5m: cache_5m + cache_1h, output })
  })
const read = async () => {
  const { calls, problems } = await readUsage(bench, opencode)
  return { calls, problems, told: calls.map(({ tokens }) => axes(tokens)) }
}
const bash = (usage: StubStep['usage'], command = 'echo hi'): StubStep => ({
  text: 'x',
  tools: [{ name: 'bash', input: { command, description: 'Say hi' } }],
  ...(usage ? { usage } : {}),
})

test('what opencode was served is in the ledger, once, while it runs, when it goes on and when it is forked', {
  timeout: 300_000,
}, async () => {
  const steps = Array.from({ length: 6 }, (_, n) =>
    bash({ input: 100 + n, output: 20 + n, cache_read: n, reasoning: 5 }),
  )
  const running = runOpencodeOn(bench, { scenario: [...steps, { text: 'done', usage: { input: 7, output: 3 } }] })
  let isRunning = true
  const first = running.finally(() => {
    isRunning = false
  })
  const seen = new Set<number>()
  let most: string[] = []
  while (isRunning) {
    const { told: now } = await read()
    // nothing that was counted is taken back or changed
    expect(now.slice(0, most.length)).toEqual(most)
    most = now
    seen.add(now.length)
    await sleep(50)
  }
  const { exit, stderr, requests } = await first
  expect(exit, stderr).toBe(0)
  const after = await read()
  expect(after).toMatchObject({ problems: 0, told: told(requests) })
  expect(after.told).toHaveLength(7)
  expect(seen.size).toBeGreaterThan(2)
  expect(after.calls[0]).toMatchObject({
    model: 'gpt-5.2',
    place: { client: 'opencode', directory: bench.project, session: expect.stringMatching(/^ses_/) },
  })
  const log = readFileSync(`${opencodeDatabase(bench)}-wal`)
  expect(log.length).toBeGreaterThan(0)

  const session = after.calls[0]!.place.session
  const usage = { input: 300, output: 20, cache_read: 1000, cache_5m: 50, cache_1h: 7 }
  const again = await runOpencodeOn(bench, {
    scenario: [bash(usage), { text: 'done', usage: { input: 4, output: 2 } }],
    model: ANTHROPIC_MODEL,
    args: ['-s', session, '--fork'],
  })
  expect(again.exit, again.stderr).toBe(0)
  const forked = await read()
  expect(forked.told.slice(7)).toEqual(told(again.requests))
  expect(forked.calls).toHaveLength(9)
  expect(forked.calls[7]).toMatchObject({ model: 'claude-opus-4-6', provider: 'anthropic' })
  expect(forked.calls[7]!.place.session).not.toBe(session)
})

test('what its subagents were served belongs to their session, and what came before an error stands', {
  timeout: 200_000,
}, async () => {
  await bench.stub.setScenario('sub', [
    bash({ input: 90, output: 11 }),
    { text: 'sub', usage: { input: 33, output: 4 } },
  ])
  const task = { name: 'task', input: { description: 'sub work', prompt: 'Do [stub:sub]', subagent_type: 'general' } }
  const { requests } = await runOpencodeOn(bench, {
    scenario: [
      { tools: [task], usage: { input: 700, output: 21 } },
      { status: 400, error: { error: { message: 'no' } } },
    ],
  })
  const { calls, told: counted, problems } = await read()
  expect(problems).toBe(0)
  expect(counted.sort()).toEqual(told(requests).sort())
  expect(counted).toHaveLength(3)
  expect(calls.map(({ subagent }) => subagent).sort()).toEqual([false, true, true])
  expect(new Set(calls.map(({ place }) => place.session)).size).toBe(1)
})
