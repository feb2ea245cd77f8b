/** The built connector beside the real Codex: what holds, what is told where nothing does, and that its words reach the model. */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CommandMachine } from '../agent/commands/machine.ts'
import { RULE } from '../agent/daemon/organisation.ts'
import { type Bench, put, type StubStep, startBench } from './bench.ts'
import { CODEX_BINARY, runCodexOn, writeCodexConfig } from './codex.ts'

// a run takes a second or two alone and far longer beside a build
vi.setConfig({ testTimeout: 120_000 })

let machine: CommandMachine
let bench: Bench
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
  bench = await startBench({ home: machine.folder })
  // where a person would have it: the command finds it on the path
  const program = put(join(machine.folder, 'programs/codex'), `#!/bin/sh\nexec ${CODEX_BINARY} "$@"\n`)
  chmodSync(program, 0o755)
  machine.env.PATH = `${join(machine.folder, 'programs')}:${machine.env.PATH}`
  writeCodexConfig(bench)
})
afterEach(async () => {
  await bench.stop()
  await machine.remove()
})

/** Output of gpt-5.5 costs $30 a million; more than a few dollars at once and Codex would sum up the session first. */
const costing = (usd: number) => ({ input: 0, output: Math.round((usd / 30) * 1e6) })
const call = (cmd: string) => ({ name: 'exec_command', input: { cmd } })
const ran = () =>
  existsSync(join(bench.project, 'ran.txt')) ? readFileSync(join(bench.project, 'ran.txt'), 'utf8') : ''
const RAN = 'echo ran >> $CWD/ran.txt'
const crossing: StubStep[] = [{ tools: [call(RAN)], usage: costing(2.1) }, { text: 'final: done' }]
const install = (...more: string[]) =>
  machine.run(['hooks', 'install', '--client', 'codex', '--json', ...more], { cwd: bench.project })
const status = async () => (await machine.run(['daemon', 'status', '--json'])).json
const foundUnguarded = (calls: number) =>
  vi.waitFor(async () => expect(await status()).toMatchObject({ unguarded: calls }), { timeout: 30_000, interval: 500 })
/** What the model was told of its calls. */
const told = ({ requests }: { requests: { body: { input?: unknown } | null }[] }) =>
  JSON.stringify(requests.at(-1)?.body?.input)

test('a call across a cost rule is refused in our words, runs once it was approved, and a hook that is not trusted is told', async () => {
  writeFileSync(machine.home.config, RULE('ask', 2))
  const untrusted = await install()
  expect(untrusted.json).toMatchObject([{ trust: 'not_told', level: 'broken', canary: { ok: true } }])
  expect(untrusted.json[0].findings[0]).toMatchObject({ severity: 'off', code: 'hook_not_trusted' })
  const unseen = await runCodexOn(bench, { scenario: crossing })
  expect(unseen.exit, unseen.stderr).toBe(0)
  expect(ran()).toBe('ran\n')

  const trusted = await install('--trust')
  expect(trusted, trusted.stdout).toMatchObject({
    code: 0,
    json: [{ trust: 'told', level: 'user-hook', findings: [] }],
  })
  const held = await runCodexOn(bench, { scenario: crossing })
  expect(ran()).toBe('ran\n')
  const handle = /holdpoint approve (bnd-[a-z0-9]+)/.exec(told(held))?.[1]
  expect(told(held)).toContain('$2.1')
  expect(handle).toBeDefined()
  expect((await machine.type(['approve', handle!, '--session'], 'approve\n')).code).toBe(0)
  await runCodexOn(bench, { scenario: [{ tools: [call(RAN)] }, { text: 'final' }], args: ['resume', held.threadId!] })
  expect(ran()).toBe('ran\nran\n')
  // the call of the first run went by unseen, and is found by a daemon that starts
  await machine.endDaemon()
  await machine.run(['daemon', 'start'])
  await foundUnguarded(1)
})

test('a daemon that is killed lets the next call run, is started again by it and finds it; with `block` it is held', async () => {
  writeFileSync(machine.home.config, RULE('deny', 2))
  expect((await install('--trust')).code).toBe(0)
  const { pid } = JSON.parse(readFileSync(machine.home.daemon, 'utf8')) as { pid: number }
  const killing: StubStep[] = [{ tools: [call(`kill -9 ${pid}; ${RAN}`)] }, { tools: [call(RAN)] }, { text: 'final' }]
  await runCodexOn(bench, { scenario: killing })
  expect(ran()).toBe('ran\nran\n')
  await foundUnguarded(1)

  expect((await install('--when-broken', 'block', '--trust')).json).toMatchObject([
    { whenBroken: 'block', level: 'user-hook' },
  ])
  await machine.endDaemon('SIGKILL')
  // what would start it again is taken away
  rmSync(join(machine.home.bin, 'holdpoint.cjs'))
  const held = await runCodexOn(bench, { scenario: [{ tools: [call(RAN)] }, { text: 'final' }] })
  expect(ran()).toBe('ran\nran\n')
  expect(told(held)).toContain('its hooks are set to refuse calls until it can')
  // and so it is where our own program is gone
  rmSync(join(machine.home.bin, 'hook.cjs'))
  const gone = await runCodexOn(bench, { scenario: [{ tools: [call(RAN)] }, { text: 'final' }] })
  expect(ran()).toBe('ran\nran\n')
  expect(told(gone)).toContain('Holdpoint could not judge this call')
})

test('a subagent on a dear model is not started; calls that it makes of its own and calls of a script are judged', async () => {
  writeCodexConfig(bench, { model: 'gpt-6-sol' })
  writeFileSync(
    machine.home.config,
    'boundaries:\n  - { name: big, action: subagent_model, when: { model_tier: "> sonnet" }, require: deny, stage: enforce }\n',
  )
  expect((await install('--trust')).code).toBe(0)
  const spawn = {
    name: 'spawn_agent',
    namespace: 'collaboration',
    input: { task_name: 'one', message: 'Do [stub:text]' },
  }
  const script = `text(await tools.exec_command({ cmd: "${RAN}" })); text(await tools.exec_command({ cmd: "${RAN}" }));`
  const run = await runCodexOn(bench, {
    scenario: [
      { tools: [spawn] },
      { tools: [{ name: 'exec', namespace: 'functions', raw: script }] },
      { text: 'final' },
    ],
  })
  expect(run.requests).toHaveLength(3)
  expect(told(run)).toContain('Tool call blocked by PreToolUse hook')
  expect(told(run)).toContain('model tier')
  expect(ran()).toBe('ran\nran\n')
  // each call for `continue` and `spend`, the subagent's start for its model as well
  expect(await status()).toMatchObject({ unguarded: 0, failures: 0, calls: 3 * 2 + 1 })
})
