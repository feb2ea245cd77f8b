/** The built connector beside the real Copilot CLI: what holds, and what happens while nobody judges. */
import { existsSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CommandMachine } from '../agent/commands/machine.ts'
import { RULE } from '../agent/daemon/organisation.ts'
import { type Bench, readIfThere, type StubRequest, type StubStep, startBench } from './bench.ts'
import { runCopilotOn } from './copilot.ts'

let machine: CommandMachine
let bench: Bench
beforeAll(async () => {
  machine = new CommandMachine()
  await machine.install()
  bench = await startBench({ home: machine.folder })
  await hooks()
})
afterAll(async () => {
  await bench.stop()
  await machine.remove()
})
beforeEach(() => rmSync(ran(), { force: true }))

const ran = () => join(bench.project, 'ran.txt')
const hooks = async (...more: string[]) => {
  const { code, stdout, stderr } = await machine.run(['hooks', 'install', '--client', 'copilot', ...more])
  expect(code, stdout + stderr).toBe(0)
}
/** 100 000 tokens of gpt-5.5's output cost more than a dollar; more of them and the client would compact the session. */
const DEAR = { input: 10, output: 100_000 }
const call = (said: string, usage?: StubStep['usage']): StubStep => ({
  tools: [{ name: 'bash', input: { command: `echo ${said} >> $CWD/ran.txt`, description: 'Run it' } }],
  ...(usage ? { usage } : {}),
})
const task = (more: object = {}): StubStep => ({
  tools: [
    {
      name: 'task',
      input: {
        description: 'sub work',
        prompt: 'Do [stub:sub]',
        agent_type: 'general-purpose',
        name: 'one',
        mode: 'sync',
        ...more,
      },
    },
  ],
})
/** Its hooks tell of each of these, or they would be counted as not judged. */
const several: StubStep = {
  tools: [
    { name: 'view', input: { path: '$CWD/hello.txt' } },
    { name: 'glob', input: { pattern: '*' } },
    { name: 'list_agents', input: {} },
  ],
}
const END: StubStep = { text: 'final: done' }
/** What the model was told of its calls. */
const answers = (requests: StubRequest[]) =>
  (requests.at(-1)?.body?.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => String(content))

test('the very call is held whose response crosses a rule, and what follows, and the model reads why', async () => {
  writeFileSync(machine.home.config, RULE('deny', 1))
  const run = await runCopilotOn(bench, { scenario: [call('main', DEAR), task(), END] })
  expect(run.exit, run.stderr).toBe(0)
  expect(existsSync(ran())).toBe(false)
  expect(answers(run.requests)).toEqual(Array(2).fill(expect.stringMatching(/^Denied by preToolUse hook: .*\$\d/)))
})

test('what a subagent costs is its session’s, and its own calls are held', async () => {
  // the client writes its records within a second, faster than any model answers
  const later = (said: string) => ({ ...call(said), delayMs: 1500 })
  await bench.stub.setScenario('sub', [call('first', DEAR), later('second'), { text: 'sub final' }])
  const run = await runCopilotOn(bench, { scenario: [task(), END] })
  expect(run.exit, run.stderr).toBe(0)
  expect(readIfThere(ran()) ?? '').not.toContain('second')
})

test('a subagent above a rule’s tier is not started, one below it is', async () => {
  writeFileSync(
    machine.home.config,
    'boundaries:\n  - { name: small, action: subagent_model, when: { model_tier: "> haiku" }, require: deny, stage: enforce }\n',
  )
  await bench.stub.setScenario('sub', [call('sub'), { text: 'sub final' }])
  const run = await runCopilotOn(bench, {
    scenario: [task(), task({ model: 'gpt-5-mini', name: 'two' }), several, END],
  })
  expect(readIfThere(ran())).toBe('sub\n')
  expect(answers(run.requests).slice(0, 2)).toEqual([expect.stringMatching(/^Denied by preToolUse hook/), 'sub final'])
})

test('while the daemon cannot be had a call runs; the next hook starts it again, and that one call is counted as not judged', async () => {
  const unguarded = async () => (await machine.run(['daemon', 'status', '--json'])).json?.unguarded
  expect(await unguarded()).toBe(0)
  const program = join(machine.home.bin, 'holdpoint.cjs')
  renameSync(program, `${program}.gone`)
  await machine.endDaemon('SIGKILL')
  const run = await runCopilotOn(bench, { scenario: [call('main'), END] })
  expect(run.exit, run.stderr).toBe(0)
  expect(readIfThere(ran())).toBe('main\n')
  renameSync(`${program}.gone`, program)
  // a start that has just failed is tried again after some seconds
  utimesSync(join(machine.home.root, 'daemon.starting'), 0, 0)
  await runCopilotOn(bench, { scenario: [END] })
  await expect.poll(unguarded, { timeout: 60_000, interval: 500 }).toBe(1)
})

test('while our program is gone a call runs; with the daemon away it is refused where the hook was installed to block', async () => {
  const program = join(machine.home.bin, 'hook.cjs')
  renameSync(program, `${program}.gone`)
  await runCopilotOn(bench, { scenario: [call('main'), END] })
  expect(readIfThere(ran())).toBe('main\n')
  renameSync(`${program}.gone`, program)
  await hooks('--when-broken', 'block')
  await machine.endDaemon('SIGKILL')
  // what would start it again is taken away
  rmSync(join(machine.home.bin, 'holdpoint.cjs'))
  const held = await runCopilotOn(bench, { scenario: [call('held'), END] })
  expect(answers(held.requests)).toEqual([expect.stringContaining('Holdpoint did not judge this call')])
  expect(readIfThere(ran())).toBe('main\n')
})
