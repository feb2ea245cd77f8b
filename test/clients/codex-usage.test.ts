import { afterEach, beforeEach, expect, test } from 'vitest'
import { USAGE_SOURCES } from '#agent/clients/sources.ts'
import { type Bench, runProcess, type StubRequest, type StubStep, type StubUsage, startBench, until } from './bench.ts'
import {
  CODEX_BINARY,
  codexEnv,
  codexHome,
  linesOf,
  rolloutFiles,
  runCodexOn,
  startCodexTui,
  writeCodexConfig,
} from './codex.ts'
import { axes, readUsage, servedIn } from './read-usage.ts'

/** As the daemon has it. */
const codex = USAGE_SOURCES.find(({ client }) => client === 'codex')

let bench: Bench
beforeEach(async () => {
  bench = await startBench()
})
afterEach(() => bench.stop())

/** What the model's server gave out: each response by its id, with its model. Reasoned tokens are a part of the output. */
const served = (requests: StubRequest[]) =>
  servedIn(requests)
    .map(
      ({ id, model, usage }) =>
        `${id} ${model}: ${axes({ input: usage.input, cacheRead: usage.cache_read, cacheWrite5m: usage.cache_5m, output: usage.output })}`,
    )
    .sort()
async function read() {
  const { calls, problems, plans } = await readUsage(bench, codex)
  expect(problems).toBe(0)
  const told = calls.map(({ key, model, tokens }) => `${key.slice('codex '.length)} ${model}: ${axes(tokens)}`)
  return { calls, plans, told: told.sort() }
}
const all = async () => served(await bench.stub.requests())
const exec = (cmd: string) => ({ name: 'exec_command', input: { cmd } })
const say = (text: string, usage: StubUsage): StubStep => ({ text, usage })

test('what Codex was served is in the ledger, once, also when it is resumed, forked and put away', async () => {
  const first = await runCodexOn(bench, {
    scenario: [
      { tools: [exec('echo hi')], usage: { input: 500, output: 40, cache_read: 8000, cache_5m: 300, reasoning: 12 } },
      say('done', { input: 20, output: 9, cache_read: 8800, reasoning: 3 }),
    ],
  })
  expect(first.exit, first.stderr).toBe(0)
  const before = await read()
  expect(before.told).toHaveLength(2)
  expect(before.told).toEqual(served(first.requests))
  expect(before.calls[0]).toMatchObject({
    subagent: false,
    provider: 'other',
    place: { client: 'codex', session: first.threadId, directory: bench.project },
  })

  const runs = [
    await runCodexOn(bench, { scenario: [say('on', { input: 31, output: 7 })], args: ['resume', first.threadId!] }),
    await runCodexOn(bench, { scenario: [say('fork', { input: 41, output: 8 })], args: ['fork', first.threadId!] }),
    // another model's price from here on
    await runCodexOn(bench, {
      scenario: [say('other', { input: 51, output: 9 })],
      args: ['-m', 'gpt-5.4-mini', 'resume', first.threadId!],
    }),
    await runProcess(CODEX_BINARY, ['archive', first.threadId!], { env: codexEnv(bench), cwd: bench.project }),
  ]
  expect(runs.map(({ exit }) => exit)).toEqual([0, 0, 0, 0])
  expect(rolloutFiles(codexHome(bench)).filter(file => file.includes('archived_sessions'))).toHaveLength(1)
  const { told, calls } = await read()
  expect(told).toHaveLength(5)
  expect(told).toEqual(await all())
  expect(new Set(calls.map(({ place }) => place.session)).size).toBe(2)
})

test.each([
  ['gpt-5.5', 'multi_agent_v1', { message: 'Do [stub:sub]' }, { targets: ['$OUT("agent_id":"([^"]+)")$'] }],
  // in the file of this kind the parent's first line and history come before its own
  ['gpt-6-sol', 'collaboration', { task_name: 'one', message: 'Do it' }, {}],
])('subagents of %s belong to their session, and their calls are theirs', async (model, namespace, spawn, wait) => {
  writeCodexConfig(bench, { model })
  await bench.stub.setScenario('sub', [
    { tools: [exec('echo sub')], usage: { input: 60, output: 21 } },
    say('sub done', { input: 15, output: 4 }),
  ])
  const { exit, threadId } = await runCodexOn(bench, {
    scenario: [
      { tools: [{ name: 'spawn_agent', namespace, input: spawn }], usage: { input: 100, output: 30 } },
      {
        tools: [{ name: 'wait_agent', namespace, input: { ...wait, timeout_ms: 20_000 } }],
        usage: { input: 11, output: 12 },
      },
      say('done', { input: 13, output: 14 }),
    ],
  })
  expect(exit).toBe(0)
  const { told, calls } = await read()
  expect(rolloutFiles(codexHome(bench))).toHaveLength(2)
  expect(told).toEqual(await all())
  expect(calls.every(({ place }) => place.session === threadId)).toBe(true)
  const isSub = calls.filter(({ subagent }) => subagent).length
  expect(isSub).toBeGreaterThan(0)
  expect(isSub).toBe(calls.length - 3)
})

test('two that run at once in one home, each with calls side by side', async () => {
  writeCodexConfig(bench)
  const steps = (n: number): StubStep[] => [
    { tools: [exec(`echo ${n}`), exec('echo side by side')], usage: { input: n, output: n } },
    say('done', { input: n + 1, output: n + 1 }),
  ]
  await bench.stub.setScenario('one', steps(10))
  await bench.stub.setScenario('two', steps(20))
  const runs = await Promise.all(['one', 'two'].map(scenario => runCodexOn(bench, { scenario })))
  expect(runs.map(({ exit }) => exit)).toEqual([0, 0])
  const { told } = await read()
  expect(told).toHaveLength(4)
  expect(told).toEqual(await all())
})

test('compaction is a call as well, and what came before an error stands', async () => {
  writeCodexConfig(bench, { top: 'model_auto_compact_token_limit = 3000' })
  const first = await runCodexOn(bench, { scenario: [say('long', { input: 500, output: 40, cache_read: 8000 })] })
  await bench.stub.setScenario('second', [
    { tools: [exec('echo hi')], usage: { input: 501, output: 41 } },
    { status: 400, error: { error: { message: 'no' } } },
  ])
  const second = await runCodexOn(bench, { scenario: 'second', args: ['resume', first.threadId!] })
  expect([first.exit, second.exit]).toEqual([0, 1])
  expect(linesOf(rolloutFiles(codexHome(bench))[0]!).some(({ type }) => type === 'compacted')).toBe(true)
  const { told } = await read()
  expect(told).toHaveLength(3)
  expect(told).toEqual(await all())
})

test('what a plan’s window covers is told as covered; what a key pays for is not', async () => {
  const resetsAt = Math.floor(Date.now() / 1000) + 3600
  const headers = {
    'x-codex-primary-used-percent': '12.5',
    'x-codex-primary-window-minutes': '300',
    'x-codex-primary-reset-at': `${resetsAt}`,
    'x-codex-secondary-used-percent': '40',
    'x-codex-secondary-window-minutes': '10080',
    'x-codex-secondary-reset-at': `${resetsAt + 86_400}`,
  }
  const plan = await runCodexOn(bench, { scenario: [{ ...say('done', { input: 5, output: 6 }), headers }] })
  const key = await runCodexOn(bench, { scenario: [say('done', { input: 7, output: 8 })] })
  const { calls, plans } = await read()
  const covered = ({ threadId }: { threadId: string | undefined }) =>
    calls.filter(({ place }) => place.session === threadId).map(call => call.covered)
  expect([covered(plan), covered(key)]).toEqual([['plan'], [undefined]])
  // what is left of the windows comes from the same account, and a key's overwrites it with nothing
  expect(plans).toMatchObject([
    {
      plan: 'openai',
      windows: [
        { window: '5h', usedPct: 12.5, resetsAt: resetsAt * 1000 },
        { window: 'week', usedPct: 40, resetsAt: (resetsAt + 86_400) * 1000 },
      ],
    },
  ])
})

test('what the provider searched is counted with the response that it was for', async () => {
  const step = (type: string) => ({ type: 'web_search_call', status: 'completed', action: { type, query: 'x' } })
  await runCodexOn(bench, {
    scenario: [
      { items: [step('search'), step('search'), step('open_page')], tools: [exec('echo hi')] },
      { items: [step('search')], text: 'more', usage: { output: 1 } },
    ],
  })
  const { calls } = await read()
  expect(calls.map(({ tokens }) => tokens.webSearches)).toEqual([2, 1])
})

test('at the keyboard the faster tier is on, and a call of it bears it in its id; a title’s request is told nowhere', async () => {
  writeCodexConfig(bench, { model: 'gpt-6-sol' })
  const scenario = [say('hello there', { input: 100, output: 20, cache_read: 300 })]
  const tui = await startCodexTui(bench, { scenario })
  try {
    await tui.waitFor('hello there')
    const [file] = await until('the file', () => rolloutFiles(codexHome(bench)))
    await until('the call', () => linesOf(file!).some(({ type }) => type === 'token_usage_record'))
  } finally {
    await tui.end()
  }
  const { told } = await read()
  expect(told).toEqual([expect.stringMatching(/^resp_\w+ gpt-6-sol:priority: input 100, cacheRead 300, output 20$/)])
})
