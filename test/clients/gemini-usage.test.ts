import { afterEach, beforeEach, expect, test } from 'vitest'
import { gemini } from '#agent/clients/gemini/gemini.ts'
import { type Bench, type StubRequest, startBench } from './bench.ts'
import { runGeminiOn, shellScenario } from './gemini.ts'
import { axes, readUsage, servedIn } from './read-usage.ts'

let bench: Bench
beforeEach(async () => {
  bench = await startBench()
})
afterEach(() => bench.stop())

/** As the provider counts: thoughts are beside what it calls its output, and paid as output. */
const served = (requests: StubRequest[]) =>
  servedIn(requests).map(({ usage }) =>
    axes({ input: usage.input, cacheRead: usage.cache_read, output: usage.output + usage.reasoning }),
  )
const read = () => readUsage(bench, gemini)

test('what Gemini CLI was served is in the ledger, once, and stays so when it is resumed', async () => {
  const first = await runGeminiOn(bench, {
    scenario: shellScenario(
      { input: 500, output: 30, cache_read: 2000, reasoning: 9 },
      { input: 41, output: 7, cache_read: 2500 },
    ),
  })
  expect(first.exit, first.stderr).toBe(0)
  const { calls, problems } = await read()
  expect(problems).toBe(0)
  expect(calls.map(({ tokens }) => axes(tokens))).toEqual([
    'input 500, cacheRead 2000, output 39',
    'input 41, cacheRead 2500, output 7',
  ])
  expect(calls.map(({ tokens }) => axes(tokens))).toEqual(served(first.requests))
  expect(new Set(calls.map(({ model }) => model))).toEqual(new Set(['gemini-2.5-flash']))
  expect(calls[0]?.place).toMatchObject({ client: 'gemini', directory: bench.project })

  const second = await runGeminiOn(bench, {
    scenario: [{ text: 'once more', usage: { input: 77, output: 5, reasoning: 2 } }],
    args: ['--resume', 'latest'],
  })
  expect(second.exit, second.stderr).toBe(0)
  const all = await read()
  expect(all.calls.map(({ tokens }) => axes(tokens))).toEqual(served([...first.requests, ...second.requests]))
  expect(new Set(all.calls.map(({ place }) => place.session)).size).toBe(1)
})

test('what its subagents were served belongs to their session', async () => {
  await bench.stub.setScenario('subtask', [
    {
      tools: [{ name: 'run_shell_command', input: { command: 'echo sub', description: 'x' } }],
      usage: { input: 90, output: 11, cache_read: 40 },
    },
    {
      tools: [{ name: 'complete_task', input: { result: { response: 'sub done' }, response: 'sub done' } }],
      usage: { input: 33, output: 4 },
    },
  ])
  const { requests, exit, stderr } = await runGeminiOn(bench, {
    scenario: [
      {
        tools: [{ name: 'invoke_agent', input: { agent_name: 'generalist', prompt: 'Do [stub:subtask]' } }],
        usage: { input: 700, output: 21 },
      },
      { text: 'final: after sub', usage: { input: 12, output: 3, cache_read: 650 } },
    ],
  })
  expect(exit, stderr).toBe(0)
  const { calls } = await read()
  expect(calls.map(({ tokens }) => axes(tokens)).sort()).toEqual(served(requests).sort())
  expect(calls.filter(({ subagent }) => subagent).length).toBe(requests.length - 2)
  expect(calls.filter(({ subagent }) => subagent).length).toBeGreaterThan(0)
  expect(new Set(calls.map(({ place }) => place.session)).size).toBe(1)
})
