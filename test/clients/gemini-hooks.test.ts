/** The built connector beside the real Gemini CLI: what holds, and what happens while nobody judges. */
import { existsSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CommandMachine } from '../agent/commands/machine.ts'
import { RULE } from '../agent/daemon/organisation.ts'
import { type Bench, readIfThere, type StubRequest, startBench } from './bench.ts'
import { runGeminiOn, shellScenario, writeGeminiSettings } from './gemini.ts'

let machine: CommandMachine
let bench: Bench
beforeAll(async () => {
  machine = new CommandMachine()
  await machine.install()
  bench = await startBench({ home: machine.folder })
  writeGeminiSettings(bench)
  await hooks()
})
afterAll(async () => {
  await bench.stop()
  await machine.remove()
})
beforeEach(() => rmSync(ran(), { force: true }))

const ran = () => join(bench.project, 'ran.txt')
const hooks = async (...more: string[]) => {
  const { code, stdout, stderr } = await machine.run(['hooks', 'install', '--client', 'gemini', ...more])
  expect(code, stdout + stderr).toBe(0)
}
/** 9 million tokens of its output cost $22.50. */
const DEAR = { input: 10, output: 9_000_000 }
/** What the model was told of its calls. */
const answers = (requests: StubRequest[]) =>
  JSON.stringify(requests.at(-1)?.body?.contents)
    .match(/"functionResponse":\{.*?\}\}/g)
    ?.join('\n') ?? ''

test('the first response of a session, at $22.50 against a rule of $20, holds its own call, and the model reads why', async () => {
  writeFileSync(machine.home.config, RULE('deny'))
  const run = await runGeminiOn(bench, { scenario: shellScenario(DEAR) })
  expect(run.exit, run.stderr).toBe(0)
  expect(existsSync(ran())).toBe(false)
  expect(answers(run.requests)).toContain('$22.5')
})

test('a subagent above a rule’s tier is not started; other calls run', async () => {
  writeFileSync(
    machine.home.config,
    'boundaries:\n  - { name: small, action: subagent_model, when: { model_tier: ">= haiku" }, require: deny, stage: enforce }\n',
  )
  const [shell] = shellScenario()
  const run = await runGeminiOn(bench, {
    scenario: [
      shell!,
      { tools: [{ name: 'invoke_agent', input: { agent_name: 'generalist', prompt: 'Do [stub:subtask]' } }] },
      { text: 'final' },
    ],
  })
  expect(readIfThere(ran())).toBe('ran\n')
  expect(answers(run.requests)).toMatch(/invoke_agent.*Tool execution blocked/)
  expect(run.requests.map(({ scenario }) => scenario)).not.toContain('subtask')
})

test('while the daemon cannot be had a call runs; the next hook starts it again, and that one call is counted as not judged', async () => {
  const unguarded = async () => (await machine.run(['daemon', 'status', '--json'])).json?.unguarded
  expect(await unguarded()).toBe(0)
  const program = join(machine.home.bin, 'holdpoint.cjs')
  renameSync(program, `${program}.gone`)
  await machine.endDaemon('SIGKILL')
  const run = await runGeminiOn(bench, { scenario: shellScenario() })
  expect(run.exit, run.stderr).toBe(0)
  expect(readIfThere(ran())).toBe('ran\n')
  renameSync(`${program}.gone`, program)
  // a start that has just failed is tried again after some seconds
  utimesSync(join(machine.home.root, 'daemon.starting'), 0, 0)
  await runGeminiOn(bench, { scenario: [{ text: 'nothing to do' }] })
  await expect.poll(unguarded, { timeout: 60_000, interval: 500 }).toBe(1)
})

test('installed to block, a call is refused while the daemon cannot be had, also where our program is gone', async () => {
  await hooks('--when-broken', 'block')
  await machine.endDaemon('SIGKILL')
  // what would start it again is taken away
  rmSync(join(machine.home.bin, 'holdpoint.cjs'))
  const held = await runGeminiOn(bench, { scenario: shellScenario() })
  expect(answers(held.requests)).toContain('Holdpoint did not judge this call')
  const program = join(machine.home.bin, 'hook.cjs')
  renameSync(program, `${program}.gone`)
  const gone = await runGeminiOn(bench, { scenario: shellScenario() })
  expect(answers(gone.requests)).toContain('Holdpoint could not judge this call')
  expect(existsSync(ran())).toBe(false)
})
