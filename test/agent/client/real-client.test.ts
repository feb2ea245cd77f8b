/** The built connector beside the real Claude Code: what holds, and what is found when nothing does. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Bench, startBench } from '../../clients/bench.ts'
import { bashScenario, linesRan, runClaudeOn, usageCosting } from '../../clients/claude.ts'
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

test('the first response of a session, at $21 against a rule of $20, holds its own call', async () => {
  writeFileSync(machine.home.config, RULE('deny'))
  expect((await machine.run(['hooks', 'install'])).code).toBe(0)
  const run = await runClaudeOn(bench, { scenario: bashScenario(usageCosting(21)) })
  expect(run.toolCallsRan).toEqual([])
  expect(run.toolResults).toMatchObject([{ isError: true, text: expect.stringContaining('$21.0') }])
})

describe('five calls that nobody judged', () => {
  beforeEach(async () => {
    plane.org.publish(RULE('deny', 0))
    await machine.run(['join', plane.line])
    expect((await machine.run(['hooks', 'install'])).code).toBe(0)
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
    expect((await machine.run(['daemon', 'start'])).code).toBe(0)
    await sync()
    const report = plane.org.reports.at(-1)!
    expect(unguarded()).toEqual([{ client: 'claude-code', calls: 5 }])
    expect(plane.org.reports.flatMap(one => one.alarms.map(alarm => alarm.what))).toContain('daemon_impostor')
    expect(plane.org.reports.flatMap(one => one.hooks.map(hook => hook.level))).not.toContain('managed')
    expect(report.hooks).toMatchObject([{ client: 'claude-code', level: 'user-hook' }])
    const told = await machine.run(['daemon', 'status'])
    expect(told.stdout).toContain('5 calls ran here without a decision')
    expect(told.stdout).toMatch(/Claude Code, session \S+ in \S+: 5 on \d{4}-/)
    expect((await machine.run(['boundaries', 'status'])).stdout).toContain(
      '5 tool uses in 1 session ran without a decision',
    )
  })

  test('because the client was started with --bare run, and are found although it never told of its session', async () => {
    await runClaudeOn(bench, { scenario: calls(5), args: ['--bare'] })
    expect(linesRan(bench)).toHaveLength(5)
    await sync()
    expect(unguarded()).toEqual([{ client: 'claude-code', calls: 5 }])
  })
})
