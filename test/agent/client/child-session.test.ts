/** An agent that starts another one: the child’s calls belong to whom the parent’s do, though nobody told the child. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Bench, startBench } from '../../clients/bench.ts'
import { CLAUDE_BINARY, runClaudeOn } from '../../clients/claude.ts'
import { CommandMachine } from '../commands/machine.ts'

// a run takes a second or two alone and far longer beside a build
vi.setConfig({ testTimeout: 120_000 })

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

const spending = (output: number) => ({ input: 0, output })

test.runIf(process.platform === 'linux')('a session that a tool call of another one starts has its tags', async () => {
  expect((await machine.run(['hooks', 'install'])).code).toBe(0)
  const elsewhere = join(machine.folder, 'elsewhere')
  mkdirSync(elsewhere)
  await bench.stub.setScenario('child', [{ text: 'done', usage: spending(100_000) }])
  const command = `cd ${elsewhere} && env -u HOLDPOINT_TAGS ${CLAUDE_BINARY} -p 'go [stub:child]'`
  const run = await runClaudeOn(bench, {
    scenario: [
      {
        text: 'I start one',
        tools: [{ name: 'Bash', input: { command, description: 'Start it' } }],
        usage: spending(50_000),
      },
      { text: 'final', usage: spending(50_000) },
    ],
    env: { HOLDPOINT_TAGS: 'tenant=acme' },
  })
  expect(run.toolResults).toMatchObject([{ isError: false, text: expect.stringContaining('done') }])
  const { json } = await machine.run(['history', '--by', 'tenant', '--json'])
  expect(json.rows).toMatchObject([
    { value: 'acme', calls: 3, cost: '4' },
    { value: null, calls: 0 },
  ])
  const sessions = (await machine.run(['history', '--by', 'session', '--json'])).json.rows
  expect(sessions).toHaveLength(2)
})
