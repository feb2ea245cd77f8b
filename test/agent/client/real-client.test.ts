/** The built connector beside the real Claude Code: what holds, and what is found when nothing does. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Bench, startBench } from '../../clients/bench.ts'
import { bashScenario, claudeTui, linesRan, runClaudeOn, usageCosting } from '../../clients/claude.ts'
import { CommandMachine, PlaneWithDoors } from '../commands/machine.ts'
import { RULE } from '../daemon/organisation.ts'

// a run takes a second or two alone and far longer beside a build
vi.setConfig({ testTimeout: 120_000 })

let machine: CommandMachine
let plane: PlaneWithDoors
let bench: Bench
beforeEach(async () => {
  machine = new CommandMachine()
  plane = new PlaneWithDoors()
  await machine.install()
  await plane.listen()
  bench = await startBench({ home: machine.folder })
})
afterEach(async () => {
  await bench.stop()
  await plane.close()
  await machine.remove()
})

const calls = (count: number) => [
  ...Array.from({ length: count }, (_, n) => ({
    text: `step ${n}`,
    tools: [{ name: 'Bash', input: { command: 'echo ran >> $CWD/ran.txt', description: 'Run it' } }],
  })),
  { text: 'final: done' },
]
const sync = () => machine.run(['team', 'sync'])
const unguarded = () => plane.org.reports.at(-1)!.unguarded.map(({ client, calls }) => ({ client, calls }))

describe.each(['http', 'command'])('with the %s form of the hook', form => {
  const install = async (...more: string[]) =>
    expect((await machine.run(['hooks', 'install', '--form', form, ...more])).code).toBe(0)

  test('the first response of a session, at $21 against a rule of $20, holds its own call', async () => {
    writeFileSync(machine.home.config, RULE('deny'))
    await install()
    const run = await runClaudeOn(bench, { scenario: bashScenario(usageCosting(21)) })
    expect(run.toolCallsRan).toEqual([])
    expect(run.toolResults).toMatchObject([{ isError: true, text: expect.stringContaining('$21.0') }])
  })

  test('below the limit calls run, and each was judged', async () => {
    writeFileSync(machine.home.config, RULE('deny'))
    await install()
    await runClaudeOn(bench, { scenario: calls(3) })
    expect(linesRan(bench)).toHaveLength(3)
    const { json } = await machine.run(['daemon', 'status', '--json'])
    expect(json).toMatchObject({ unguarded: 0, failures: 0 })
  })

  test('a rule that asks is refused where nobody is at the keyboard, and asked where somebody is', async () => {
    writeFileSync(machine.home.config, RULE('ask'))
    await install()
    const alone = await runClaudeOn(bench, { scenario: bashScenario(usageCosting(21)) })
    expect(alone.toolCallsRan).toEqual([])
    expect(alone.toolResults).toMatchObject([{ text: expect.stringContaining('holdpoint approve bnd-') }])
    const tui = await claudeTui(bench, { scenario: bashScenario(usageCosting(21)) })
    try {
      tui.type(tui.prompt)
      await tui.waitFor(tui.prompt)
      tui.sendKeys('Enter')
      await tui.waitFor('requires confirmation')
      await tui.answer('requires confirmation', 'Enter')
      await tui.waitFor('final: done')
    } finally {
      tui.kill()
    }
    expect(linesRan(bench)).toHaveLength(1)
  })

  test('when the daemon cannot be had a call runs, or is held where the hook was installed to block', async () => {
    writeFileSync(machine.home.config, RULE('deny'))
    await install()
    await machine.endDaemon('SIGKILL')
    // what would start it again is taken away
    rmSync(join(machine.home.bin, 'holdpoint.cjs'))
    await runClaudeOn(bench)
    expect(linesRan(bench)).toHaveLength(1)
    const settings = machine.settings().json
    settings.hooks.PreToolUse[0].hooks[0].onFailure = 'block'
    const blocked = await runClaudeOn(bench, { settings })
    expect(linesRan(bench)).toHaveLength(1)
    expect(blocked.toolResults.at(-1)).toMatchObject({ isError: true })
  })
})

test('code that a project’s settings load into the hook’s program answers for it: the call runs, as status warns', async () => {
  writeFileSync(machine.home.config, RULE('deny'))
  expect((await machine.run(['hooks', 'install', '--form', 'command'])).code).toBe(0)
  const planted = join(bench.project, 'planted.cjs')
  writeFileSync(planted, 'process.exit(0)')
  const projectSettings = { env: { NODE_OPTIONS: `--require ${planted}` } }
  await runClaudeOn(bench, { scenario: bashScenario(usageCosting(21)), projectSettings })
  expect(linesRan(bench)).toHaveLength(1)
  const status = await machine.run(['hooks', 'status'], { cwd: bench.project })
  expect(status.stdout).toMatch(/risk .*NODE_OPTIONS/)
})

describe('five calls that nobody judged', () => {
  beforeEach(async () => {
    plane.org.publish(RULE('deny', 0))
    await machine.run(['join', plane.line])
    expect((await machine.run(['hooks', 'install', '--form', 'http'])).code).toBe(0)
  })

  test('because the daemon was killed and its port squatted run, and are at the owner’s within a minute of its return', async () => {
    const { port } = JSON.parse(readFileSync(machine.home.daemon, 'utf8')) as { port: number }
    await machine.endDaemon('SIGKILL')
    const squatter = createServer((_, response) => response.writeHead(200).end())
    await new Promise<void>(resolve => squatter.listen(port, '127.0.0.1', resolve))
    try {
      await runClaudeOn(bench, { scenario: calls(5) })
      expect(linesRan(bench)).toHaveLength(5)
    } finally {
      squatter.closeAllConnections()
      await new Promise(resolve => squatter.close(resolve))
    }
    const returned = Date.now()
    expect((await machine.run(['daemon', 'start'])).code).toBe(0)
    // nobody asks it to: the daemon tells the organisation by itself
    await vi.waitFor(() => expect(unguarded()).toEqual([{ client: 'claude-code', calls: 5 }]), {
      timeout: 60_000,
      interval: 50,
    })
    expect(Date.now() - returned).toBeLessThan(60_000)
    const report = plane.org.reports.at(-1)!
    expect(unguarded()).toEqual([{ client: 'claude-code', calls: 5 }])
    expect(plane.org.reports.flatMap(one => one.alarms.map(alarm => alarm.what))).toContain('daemon_impostor')
    expect(plane.org.reports.flatMap(one => one.hooks.map(hook => hook.level))).not.toContain('managed')
    expect(report.hooks).toContainEqual(expect.objectContaining({ client: 'claude-code', level: 'user-hook' }))
    const told = await machine.run(['daemon', 'status'])
    expect(told.stdout).toContain('5 calls ran here without a decision')
    expect(told.stdout).toMatch(/Claude Code, session \S+ in \S+: 5 on \d{4}-/)
    expect((await machine.run(['boundaries', 'status'])).stdout).toContain(
      '5 tool uses in 1 session ran without a decision',
    )
  })

  test('are few in the command form, whose own processes bring a killed daemon back, and are counted all the same', async () => {
    expect((await machine.run(['hooks', 'install', '--form', 'command'])).code).toBe(0)
    await machine.endDaemon('SIGKILL')
    await runClaudeOn(bench, { scenario: calls(5) })
    expect((await machine.run(['daemon', 'status'])).code).toBe(0)
    await sync()
    const ran = linesRan(bench).length
    expect(ran).toBeLessThan(5)
    expect(unguarded()).toEqual(ran === 0 ? [] : [{ client: 'claude-code', calls: ran }])
  })

  test('because the client was started with --bare run, and are found although it never told of its session', async () => {
    await runClaudeOn(bench, { scenario: calls(5), args: ['--bare'] })
    expect(linesRan(bench)).toHaveLength(5)
    await sync()
    expect(unguarded()).toEqual([{ client: 'claude-code', calls: 5 }])
  })
})
