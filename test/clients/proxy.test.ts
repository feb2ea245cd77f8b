import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Daemon, runDaemon } from '#agent/daemon/main.ts'
import { record } from '#agent/daemon/runtime.ts'
import { type Home, openHome } from '#agent/home.ts'
import { type LocalProxy, runProxy } from '#agent/proxy/run.ts'
import { ledgerDays, readLedgerDay } from '#agent/usage/ledger.ts'
import { type Bench, type StubStep, startBench, until } from './bench.ts'
import { bashScenario, runClaudeOn, usageCosting } from './claude.ts'
import { runCodexOn, writeCodexConfig } from './codex.ts'
import { axes, servedIn } from './read-usage.ts'

// a run takes a second or two alone and far longer beside a build
vi.setConfig({ testTimeout: 90_000 })

let bench: Bench
let home: Home
let daemon: Daemon
let proxy: LocalProxy
let later = 0

/** A daemon and a proxy of the bench's own home, before the scripted model server. */
async function start(routing = '', boundaries = ''): Promise<void> {
  home = openHome(`${bench.dir}/holdpoint`)
  daemon = await runDaemon({
    home,
    version: '1.0.0',
    now: () => Date.now() + later,
    clientHome: { homeDir: bench.home, env: {} },
    follow: false,
  })
  const upstreams = `{ anthropic: "${bench.stub.url}", openai: "${bench.stub.url}" }`
  writeFileSync(home.config, `${boundaries}routing:\n  upstreams: ${upstreams}\n${routing}`)
  proxy = await runProxy({ home, version: '1.0.0', port: 0, askMs: 20_000 })
}
const base = () => `http://127.0.0.1:${proxy.port}`

beforeEach(async () => {
  later = 0
  bench = await startBench()
})
afterEach(async () => {
  await proxy?.stop(0)
  await daemon?.stop()
  await bench.stop()
})

/** The ledger once the client's own records and the proxy's have both been taken in. */
async function counted() {
  const { metered } = proxy.counts()
  await proxy.stop(0)
  later = 5 * 60_000
  await daemon.tick()
  const calls = (await Promise.all(ledgerDays(home).map(day => readLedgerDay(home, day)))).flat()
  return { calls, metered }
}
const served = async () =>
  servedIn(await bench.stub.requests())
    .map(({ usage }) =>
      axes({
        input: usage.input,
        cacheRead: usage.cache_read,
        cacheWrite5m: usage.cache_5m,
        cacheWrite1h: usage.cache_1h,
        output: usage.output,
      }),
    )
    .sort()

test('Claude Code through the proxy: it works as ever, and each call counts once though both tell of it', async () => {
  await start()
  const run = await runClaudeOn(bench, { env: { ANTHROPIC_BASE_URL: `${base()}/anthropic` } })
  expect(run.exit, run.stderr).toBe(0)
  expect(run.toolCallsRan).toEqual(['ran'])
  expect(run.requests.length).toBeGreaterThan(1)
  const { calls, metered } = await counted()
  expect(metered).toBe(servedIn(run.requests).length)
  expect(calls.map(({ tokens }) => axes(tokens)).sort()).toEqual(await served())
  expect(new Set(calls.map(({ place }) => `${place.client} ${place.session}`))).toEqual(
    new Set([`claude-code ${run.result!.session_id}`]),
  )
})

test('Codex through the proxy: each call counts once though both tell of it', async () => {
  await start()
  const through = { ...bench, stub: { ...bench.stub, url: `${base()}/openai` } }
  writeCodexConfig(through)
  const steps: StubStep[] = [
    {
      tools: [{ name: 'exec_command', input: { cmd: 'echo hi' } }],
      usage: { input: 500, output: 40, cache_read: 8000, cache_5m: 300 },
    },
    { text: 'done', usage: { input: 20, output: 9, cache_read: 8800 } },
  ]
  const run = await runCodexOn(bench, { scenario: steps })
  expect(run.exit, run.stderr).toBe(0)
  const { calls, metered } = await counted()
  expect(metered).toBe(2)
  expect(calls.map(({ tokens }) => axes(tokens)).sort()).toEqual(await served())
  expect(calls.every(({ place }) => place.session === run.threadId)).toBe(true)
})

test('a route moves the real client’s requests; held they go on with their own model until a person lets it', async () => {
  const boundaries =
    'boundaries:\n  - { name: no-routes, action: model_route, when: { model_tier: ">= haiku" }, require: ask, stage: enforce }\n'
  await start('  mode: active\n  rules: [{ name: cheaper, from: "claude-*", to: claude-haiku-4-5 }]\n', boundaries)
  const env = { ANTHROPIC_BASE_URL: `${base()}/anthropic` }
  const held = await runClaudeOn(bench, { scenario: [{ text: 'final: done' }], env })
  expect(held.exit).toBe(0)
  const models = (run: typeof held) => new Set(servedIn(run.requests).map(({ model }) => model))
  expect(models(held)).not.toContain('claude-haiku-4-5')
  const question = await until('the question', () => [...daemon.runtime.state.questions.keys()][0])
  record(daemon.runtime, { kind: 'local_answer', handle: question, scope: 'session', how: 'cli' })
  const moved = await runClaudeOn(bench, { scenario: [{ text: 'final: done' }], env })
  expect(moved.exit).toBe(0)
  expect(models(moved)).toEqual(new Set(['claude-haiku-4-5']))
})

test('a hard stop is shown once by the real Claude Code, which does not try again', async () => {
  const boundaries =
    'boundaries:\n  - { name: session-spend, action: continue, when: { session_cost_usd: ">= 20" }, require: deny, stage: enforce }\n'
  await start('  hard_stop: true\n', boundaries)
  const run = await runClaudeOn(bench, {
    scenario: bashScenario(usageCosting(25)),
    env: { ANTHROPIC_BASE_URL: `${base()}/anthropic` },
  })
  expect(run.exit).toBe(1)
  expect(run.stdout.split('Stopped by the boundary session-spend')).toHaveLength(2)
  expect(proxy.counts().stopped).toBe(1)
  expect(servedIn(run.requests)).toHaveLength(1)
  expect([...daemon.runtime.state.decisions.values()].map(({ entry }) => entry.did)).toEqual(['refused'])
})

test('a hard stop is shown by the real Codex, which does not try again', async () => {
  const boundaries =
    'boundaries:\n  - { name: no-more, action: continue, when: { agent_id: "== codex:*" }, require: deny, stage: enforce }\n'
  await start('  hard_stop: true\n', boundaries)
  writeCodexConfig({ ...bench, stub: { ...bench.stub, url: `${base()}/openai` } })
  const run = await runCodexOn(bench, { scenario: [{ text: 'done' }] })
  expect(run.exit).toBe(1)
  expect(run.stdout).toContain('Stopped by the boundary no-more')
  expect(proxy.counts().stopped).toBe(1)
})
