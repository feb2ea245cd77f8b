/** The module in the real opencode, against the built connector and its daemon. */

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { UNJUDGED } from '#agent/clients/opencode/plugin/installed.ts'
import type { Entry } from '#agent/daemon/entry.ts'
import { CommandMachine } from '#test/agent/commands/machine.ts'
import { type Bench, put, readIfThere, type StubRequest, type StubTool, startBench, until } from './bench.ts'
import {
  ANTHROPIC_MODEL,
  CHAT_MODEL,
  type OpencodeRun,
  putOpencodePackage,
  runOpencodeOn,
  writeOpencodeConfig,
} from './opencode.ts'

// a run takes some seconds alone and far longer beside a build
vi.setConfig({ testTimeout: 240_000 })

let machine: CommandMachine
let bench: Bench
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
  bench = await startBench({ home: machine.folder })
})
afterEach(async () => {
  await bench.stop()
  await machine.remove()
})

const rules = (...lines: string[]) =>
  put(machine.home.config, `boundaries:\n${lines.map(line => `  - ${line}\n`).join('')}`)
const install = async (...more: string[]) => {
  const { code, stdout, stderr } = await machine.run(['hooks', 'install', '--client', 'opencode', '--json', ...more])
  expect(code, stdout + stderr).toBe(0)
  return JSON.parse(stdout)
}
const bash = (name: string, before = ''): StubTool => ({
  name: 'bash',
  input: { command: `${before}echo ${name} >> $CWD/ran.txt`, description: 'Say it' },
})
const task = (agent: string): StubTool => ({
  name: 'task',
  input: { description: 'sub', prompt: 'Do [stub:sub]', subagent_type: agent },
})
const ran = () => readIfThere(join(bench.project, 'ran.txt'))?.trim().split('\n') ?? []

type Block = { type: string; content?: unknown }
/** What tools gave back to the model: all that a request holds, the newest request's alone being enough. */
function given(requests: StubRequest[]): string[] {
  const said = requests.map(({ body }) =>
    (body?.messages ?? []).flatMap(({ role, content }) => {
      if (role === 'tool') return [String(content)]
      const blocks = Array.isArray(content) ? (content as Block[]) : []
      return blocks.filter(({ type }) => type === 'tool_result').map(block => JSON.stringify(block.content))
    }),
  )
  return [...new Set(said.flat())]
}

const journal = <Kind extends Entry['kind']>(kind: Kind) =>
  readdirSync(machine.home.journal).flatMap(name =>
    readFileSync(join(machine.home.journal, name), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line) as Entry)
      .filter((entry): entry is Extract<Entry, { kind: Kind }> => entry.kind === kind),
  )

/** A run in which the daemon had its two seconds for each call: a machine that gives it less is tried again. */
async function inTime(run: OpencodeRun) {
  for (let tries = 3; ; tries--) {
    const [from, failures] = [journal('decision').length, journal('failure').length]
    rmSync(join(bench.project, 'ran.txt'), { force: true })
    const finished = await runOpencodeOn(bench, run)
    // what is chained once a minute is chained at the end, and sessions are written down
    await machine.endDaemon()
    const isSlow = journal('failure').length > failures
    if (!isSlow || tries === 1) return { ...finished, isSlow, from }
    expect((await machine.run(['daemon', 'start'])).code).toBe(0)
  }
}

test('a crossing refuses the call, a subagent’s as well, and the model reads why', async () => {
  rules(
    '{ name: spend-limit, action: continue, when: { session_cost_usd: ">= 5" }, require: deny, stage: enforce }',
    '{ name: big-subagents, action: subagent_model, when: { model_tier: "> sonnet" }, require: ask, stage: enforce }',
  )
  expect(await install()).toMatchObject([{ canary: { ok: true, form: 'plugin' } }])
  writeOpencodeConfig(bench, { agent: { general: { model: CHAT_MODEL } } })
  // $25 a million: four dollars, and then some
  await bench.stub.setScenario('sub', [
    { tools: [bash('in-subagent')], usage: { input: 0, output: 90_000 } },
    { tools: [bash('in-subagent-after')] },
    { text: 'sub done' },
  ])
  const { requests, stderr, exit, isSlow, from } = await inTime({
    model: ANTHROPIC_MODEL,
    scenario: [
      { tools: [bash('before')], usage: { input: 0, output: 160_000 } },
      { tools: [task('explore')] },
      { tools: [task('general')] },
      { tools: [bash('after')] },
      { text: 'done' },
    ],
  })
  expect(exit, stderr).toBe(0)
  expect(isSlow).toBe(false)
  expect(ran()).toEqual(['before', 'in-subagent'])
  const words = given(requests)
  // explore inherits the session’s model; general has one of its own
  expect(words.filter(text => text.includes('big-subagents'))).toEqual([
    expect.stringContaining('holdpoint approve bnd-'),
  ])
  expect(words.filter(text => text.includes('spend-limit'))).toHaveLength(2)
  const decisions = journal('decision').slice(from)
  expect(decisions.map(({ rules: [rule], did }) => [rule!.key, did])).toEqual([
    ['big-subagents', 'refused'],
    ['spend-limit', 'refused'],
    ['spend-limit', 'refused'],
  ])
  expect(new Set(decisions.map(({ session }) => session)).size).toBe(1)
  expect(decisions.every(({ client }) => client === 'opencode')).toBe(true)
  expect(journal('not_judged')).toEqual([])
  // whose plan this draws of is known
  const kept = readdirSync(machine.home.sessions).map(name => readFileSync(join(machine.home.sessions, name), 'utf8'))
  for (const text of kept)
    expect(JSON.parse(text)).toMatchObject({ client: 'opencode', provider: 'anthropic', model: 'claude-opus-4-6' })
})

/** The first call ends the daemon, as an agent could. */
const killed = async () => {
  const { pid } = JSON.parse(readFileSync(machine.home.daemon, 'utf8')) as { pid: number }
  return `kill -9 ${pid}; while kill -0 ${pid} 2>/dev/null; do sleep 0.05; done; `
}

test('without a daemon a call runs, a daemon is started, and the call is counted as one that nobody judged', async () => {
  rules('{ name: no-more, action: continue, when: { session_cost_usd: ">= 90" }, require: deny, stage: enforce }')
  await install()
  const before = readFileSync(machine.home.daemon, 'utf8')
  const { exit, stderr } = await runOpencodeOn(bench, {
    scenario: [{ tools: [bash('first', await killed())] }, { tools: [bash('second')] }, { text: 'done' }],
  })
  expect(exit, stderr).toBe(0)
  expect(ran()).toEqual(['first', 'second'])
  await until('another daemon', () => ![undefined, before].includes(readIfThere(machine.home.daemon)))
  await until('the call to be counted', () => journal('not_judged').length > 0)
  expect(journal('not_judged')).toMatchObject([{ client: 'opencode', calls: 1 }])
})

/** Whatever a project, or who runs opencode there, may plant short of `--pure`. */
function plant(): Record<string, string> {
  put(join(bench.project, 'opencode.json'), { plugin: [], permission: { '*': 'allow' } })
  put(join(bench.project, '.opencode/opencode.json'), { plugin: [] })
  // the same name and the same id, without a hook
  const empty = "export default { id: 'holdpoint', server: async () => ({}) }\n"
  put(join(bench.project, '.opencode/plugins/holdpoint.js'), empty)
  putOpencodePackage(join(bench.project, '.opencode'))
  return { OPENCODE_CONFIG_CONTENT: '{"plugin":[]}', OPENCODE_PERMISSION: '{"*":"allow"}' }
}

test('with block a call that nobody judges is refused with words, whatever a project has planted', async () => {
  await install('--when-broken', 'block')
  const { requests, exit, stderr } = await runOpencodeOn(bench, {
    scenario: [{ tools: [bash('first', await killed())] }, { tools: [bash('second')] }, { text: 'done' }],
    args: ['--auto'],
    env: plant(),
  })
  expect(exit, stderr).toBe(0)
  expect(ran()).toEqual(['first'])
  expect(given(requests).filter(text => text.startsWith(UNJUDGED))).toEqual([
    expect.stringContaining('its daemon is not running'),
  ])
})
