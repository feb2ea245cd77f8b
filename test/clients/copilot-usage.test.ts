import { afterEach, beforeEach, expect, test } from 'vitest'
import { copilot } from '#agent/clients/copilot/copilot.ts'
import { type Bench, type StubRequest, type StubStep, startBench } from './bench.ts'
import { anthropicProvider, compactCopilotOn, copilotSessions, runCopilotOn } from './copilot.ts'
import { axes, readUsage, servedIn } from './read-usage.ts'

let bench: Bench
beforeEach(async () => {
  bench = await startBench()
})
afterEach(() => bench.stop())

/** By the provider's id. The chat protocol does not tell of cache writes: they are input to it. */
const served = (requests: StubRequest[], { writes = false } = {}) =>
  servedIn(requests).map(({ id, usage }) => {
    const written = usage.cache_5m + usage.cache_1h
    const input = usage.input + (writes ? 0 : written)
    return `${id}: ${axes({ input, cacheRead: usage.cache_read, cacheWrite5m: writes ? written : 0, output: usage.output })}`
  })
async function read() {
  const { calls, problems } = await readUsage(bench, copilot)
  expect(problems).toBe(0)
  return { calls, told: calls.map(({ key, tokens }) => `${key.slice('copilot '.length)}: ${axes(tokens)}`) }
}
const bash = (usage: StubStep['usage'], last: StubStep['usage']): StubStep[] => [
  {
    text: 'x',
    tools: [{ name: 'bash', input: { command: 'echo hi', description: 'Say hi' } }],
    ...(usage ? { usage } : {}),
  },
  { text: 'done', ...(last ? { usage: last } : {}) },
]

test('what Copilot CLI was served is in the ledger, once, by the provider’s ids, also when it is resumed and compacted', async () => {
  const first = await runCopilotOn(bench, {
    scenario: bash({ input: 300, output: 20, cache_read: 1000, reasoning: 7 }, { input: 11, output: 3 }),
  })
  expect(first.exit, first.stderr).toBe(0)
  const before = await read()
  expect(before.told).toEqual(served(first.requests))
  expect(before.calls[0]).toMatchObject({ model: 'gpt-5.5', place: { client: 'copilot', directory: bench.project } })

  const [session] = copilotSessions(bench)
  const compacting = await compactCopilotOn(bench, session!)
  const second = await runCopilotOn(bench, {
    scenario: [{ text: 'again', usage: { input: 5, output: 2, cache_read: 900 } }],
    args: [`--resume=${session}`],
  })
  expect(second.exit, second.stderr).toBe(0)
  expect(servedIn(compacting)).toHaveLength(1)
  const after = await read()
  // what compacting used bears no id of the provider's
  const counts = (told: string[]) => told.map(one => one.slice(one.indexOf(': ')))
  expect(counts(after.told)).toEqual(counts(served([...first.requests, ...compacting, ...second.requests])))
  expect(after.told.filter(one => !one.startsWith('compaction '))).toEqual(
    served([...first.requests, ...second.requests]),
  )
  expect(copilotSessions(bench)).toEqual([session])
})

test('what its subagents were served belongs to their session, and what came before an error stands', async () => {
  await bench.stub.setScenario('sub', bash({ input: 90, output: 11 }, { input: 33, output: 4 }))
  const { requests } = await runCopilotOn(bench, {
    scenario: [
      {
        tools: [
          {
            name: 'task',
            input: {
              description: 'sub work',
              prompt: 'Do [stub:sub]',
              agent_type: 'general-purpose',
              name: 'one',
              mode: 'sync',
            },
          },
        ],
        usage: { input: 700, output: 21 },
      },
      { status: 400, error: { error: { message: 'no' } } },
    ],
  })
  const { calls, told } = await read()
  expect(told).toEqual(served(requests))
  expect(calls.map(({ subagent }) => subagent)).toEqual([false, true, true])
  expect(new Set(calls.map(({ place }) => place.session)).size).toBe(1)
})

test.each([
  ['the Responses protocol', { COPILOT_PROVIDER_WIRE_API: 'responses' }, 'gpt-5.5'],
  ['Anthropic’s protocol', undefined, 'claude-sonnet-4-5'],
])('%s tells of cache writes, inside the input', async (_, env, model) => {
  const { requests, exit, stderr } = await runCopilotOn(bench, {
    scenario: [{ text: 'done', usage: { input: 300, output: 20, cache_read: 1000, cache_5m: 50 } }],
    env: env ?? anthropicProvider(bench),
  })
  expect(exit, stderr).toBe(0)
  const { calls, told } = await read()
  expect(told).toEqual(served(requests, { writes: true }))
  expect(told).toEqual([expect.stringContaining('input 300, cacheRead 1000, cacheWrite5m 50, output 20')])
  expect(calls[0]?.model).toBe(model)
})
