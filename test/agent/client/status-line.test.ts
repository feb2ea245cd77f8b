/** The real Claude Code with a plan: its status line tells the windows, and a rule on what is left of them holds. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { put, startBench, until } from '../../clients/bench.ts'
import { bashScenario, claudeTui, linesRan, toolResultsOf } from '../../clients/claude.ts'
import { CommandMachine } from '../commands/machine.ts'

// a run takes a few seconds alone and far longer beside a build
vi.setConfig({ testTimeout: 120_000 })

const RULE =
  'boundaries:\n  - name: plan-floor\n    action: continue\n    when: { plan_left_pct: "< 50", window: 5h }\n    require: deny\n    stage: enforce\n'

test('the windows of a plan reach the daemon beside the status line that was there, and below half a call is refused', async () => {
  const machine = new CommandMachine()
  onTestFinished(() => machine.remove())
  await machine.install()
  const bench = await startBench({ home: machine.folder })
  onTestFinished(() => bench.stop())
  writeFileSync(machine.home.config, RULE)
  const file = join(machine.folder, '.claude', 'settings.json')
  put(file, '{\n  "theme": "dark",\n  "statusLine": { "type": "command", "command": "echo THEIRS" }\n}\n')

  expect((await machine.run(['hooks', 'install', '--form', 'http'])).code).toBe(0)
  const before = readFileSync(file, 'utf8')
  expect((await machine.run(['statusline', 'install'])).stdout).toContain('around the one that is there')

  const reset = Math.floor(Date.now() / 1000) + 3600
  await fetch(`${bench.stub.url}/__stub/ratelimit`, {
    method: 'PUT',
    body: JSON.stringify({ '5h': { utilization: 0.58, reset }, '7d': { utilization: 0.17, reset: reset + 86_400 } }),
  })
  await bench.stub.setScenario('bash-now', bashScenario())
  const tui = await claudeTui(bench, {
    scenario: [{ text: 'hello there' }],
    // signed in with a plan; an empty key is none
    env: { CLAUDE_CODE_OAUTH_TOKEN: 'stub-oauth-not-a-secret', ANTHROPIC_API_KEY: '' },
  })
  const say = async (text: string) => {
    tui.type(text)
    await tui.waitFor(text)
    tui.sendKeys('Enter')
  }
  try {
    await say(tui.prompt)
    const screen = await tui.waitFor('5h 42 % left · week 83 % left')
    expect(screen).toContain('THEIRS')
    await say('please run [stub:bash-now]')
    await tui.waitFor('final: done')
  } finally {
    tui.kill()
  }
  expect(linesRan(bench)).toEqual([])
  expect(toolResultsOf(await bench.stub.requests())).toMatchObject([
    { isError: true, text: expect.stringMatching(/plan left.*42/s) },
  ])
  const { stdout } = await machine.run(['figures'])
  expect(stdout).toMatch(/plan left \(anthropic, 5h\): 42% \(from the status line, read .* ago\)/)
  expect((await machine.run(['statusline', 'status'])).stdout).toMatch(
    /around `echo THEIRS`(?:.|\n)*week: 83% left, told/,
  )

  // an agent is no person: only one at a terminal takes it away, and then nothing is left of it
  expect(await machine.run(['statusline', 'uninstall', '--json'])).toMatchObject({
    code: 1,
    json: { error: { code: 'no_terminal' } },
  })
  expect(await machine.type(['statusline', 'uninstall'], 'uninstall\n')).toMatchObject({ code: 0 })
  await until('the settings', () => readFileSync(file, 'utf8') === before)
})
