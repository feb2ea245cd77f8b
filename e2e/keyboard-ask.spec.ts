import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PseudoTerminal } from '../test/agent/guard/pseudo-terminal.ts'
import { bashScenario, CLAUDE_BINARY, claudeTui, linesRan, runClaudeOn, usageCosting } from '../test/clients/claude.ts'
import type { Tmux } from '../test/clients/tmux.ts'
import { expect, test } from './support/console.ts'
import { emptyMachine, type Machine } from './support/machine.ts'

/** One developer, no organisation: a rule of their own asks whoever sits at the keyboard. */
const RULES = `# My own limits.
boundaries:
  # Twenty dollars is a lunch.
  - name: lunch-money
    action: continue
    when: { session_cost_usd: ">= 20" } # list price
    require: ask
    note: Look at what it is doing first.
`
/** The response that asks for the call may have been priced already: a cent more. */
const CROSSED = /lunch-money: session cost is \$21\.0[01]/

let machine: Machine
let terminal: PseudoTerminal
let tui: Awaited<ReturnType<typeof claudeTui>> | undefined

test.beforeAll(async () => {
  expect(existsSync(CLAUDE_BINARY), 'the real Claude Code; npm test installs it').toBe(true)
  machine = await emptyMachine()
  terminal = new PseudoTerminal()
  // A developer on their own downloads the connector and joins nothing.
  const bundle = path.join(machine.home, 'holdpoint.cjs')
  const { sha256 } = (await (await fetch(`${address()}/connector/manifest.json`)).json()) as { sha256: string }
  writeFileSync(
    bundle,
    Buffer.from(await (await fetch(`${address()}/connector/${sha256}/holdpoint.cjs`)).arrayBuffer()),
  )
  for (const line of [`node ${bundle} install`, '~/.holdpoint/bin/holdpoint hooks install']) {
    const ran = await machine.shell(line)
    expect(ran.exit, ran.stderr).toBe(0)
  }
})
test.afterEach(() => {
  tui?.kill()
  tui = undefined
})
test.afterAll(async () => {
  terminal?.remove()
  await machine?.stop()
})

const address = () => `http://localhost:${process.env.E2E_PORT}`
const config = () => path.join(machine.home, '.holdpoint/config.yaml')
const inForce = (text: string) => writeFileSync(config(), text)
const enforced = RULES.replace('require: ask', 'require: ask\n    stage: enforce')

/** The command as a person types it: at a terminal of their own, below a login shell. */
const typed = (args: string, word: string) =>
  terminal.run(terminal.loginShell(`'${machine.home}/.holdpoint/bin/holdpoint' ${args}; exit $?`), {
    env: { HOME: machine.home },
    typed: `${word}\n`,
  })

const explained = async (handle: string, words: RegExp) => {
  await expect(async () => {
    expect((await machine.holdpoint('explain', handle)).stdout).toMatch(words)
  }).toPass({ timeout: 60_000 })
  return (await machine.holdpoint('explain', handle)).stdout
}

/** A prompt to the interactive client, sent once it is drawn. */
async function ask(session: Tmux, prompt: string): Promise<void> {
  session.type(prompt)
  await session.waitFor(prompt)
  session.sendKeys('Enter')
}

/** A turn without tool calls that costs more than the rule allows: by the next one the transcript holds it for sure. */
const SPENT = [{ text: 'final: thought about it', usage: usageCosting(21) }]
const RUN = bashScenario()[0]!

/** The interactive client at the keyboard, its session over the limit already, with a script for what comes next. */
async function overTheLimit(script: typeof SPENT | ReturnType<typeof bashScenario>) {
  const session = await claudeTui(machine.bench, { scenario: script })
  await machine.bench.stub.setScenario('spent', SPENT)
  await ask(session, 'please think [stub:spent]')
  await session.waitFor('final: thought about it', 60_000)
  await ask(session, session.prompt)
  return session
}

/** The dialog that Claude Code shows with our words; the handle of the decision stands in them. */
async function dialog(session: Tmux): Promise<string> {
  const screen = await session.waitFor(/decision\s+bnd-[0-9a-f]{12}/, 60_000)
  const handle = /bnd-[0-9a-f]{12}/.exec(screen)![0]
  await session.waitFor('Yes')
  // Drawn piece by piece.
  await expect.poll(() => session.screen().replace(/\s+/g, ' ')).toMatch(CROSSED)
  await expect.poll(() => session.screen()).toContain('Look at what it is doing first.')
  return handle
}

test('somebody at the keyboard says Yes: it is recorded who and how, and holds for the session', async () => {
  inForce(enforced)
  tui = await overTheLimit([RUN, RUN, { text: 'final: all done' }])
  const handle = await dialog(tui)
  expect(linesRan(machine.bench)).toEqual([])
  await tui.answer('requires confirmation', 'Enter')
  // The next call of the session is not asked: it runs to the end of the script.
  await tui.waitFor('final: all done', 60_000)
  expect(linesRan(machine.bench)).toHaveLength(2)
  const told = await explained(handle, /let it go on for the rest of the session/)
  expect(told).toMatch(/^bnd-[0-9a-f]{12} {2}approved on this machine for the rest of the session/)
  expect(told).toContain('under lunch-money → ask')
  expect(told).toMatch(/\S+ let it go on .*, at the agent’s own prompt\./)
  expect(told).toMatch(/The answer holds for the rest of the session, until .* at the latest/)
})

test('somebody at the keyboard says No: the call does not run, and that they declined is recorded', async () => {
  inForce(enforced)
  const before = linesRan(machine.bench).length
  tui = await overTheLimit(bashScenario())
  const handle = await dialog(tui)
  await tui.answer('requires confirmation', 'Escape')
  const told = await explained(handle, /declined at the agent’s own prompt/)
  expect(told).toContain('The person declined at the agent’s own prompt.')
  expect(linesRan(machine.bench)).toHaveLength(before)
})

test('nobody at the keyboard: refused with the command that a person at a terminal lets it go on with', async () => {
  inForce(enforced)
  const before = linesRan(machine.bench).length
  const { result } = await runClaudeOn(machine.bench, { scenario: SPENT })
  const args = ['--resume', result!.session_id]
  const first = await runClaudeOn(machine.bench, { args, scenario: bashScenario() })
  const refusal = first.toolResults[0]!
  expect(refusal).toMatchObject({ isError: true, text: expect.stringContaining('Stopped by the boundary lunch-money') })
  const handle = /holdpoint approve (bnd-[0-9a-f]{12})/.exec(refusal.text)![1]!
  expect(linesRan(machine.bench)).toHaveLength(before)

  // What the agent itself could run approves nothing: no terminal, or a terminal below the agent.
  expect((await machine.holdpoint('approve', handle)).exit).toBe(1)
  const person = await typed(`approve ${handle}`, 'approve')
  expect(person.screen).toContain('Approved: the next step goes through')
  expect(person.code).toBe(0)

  const again = await runClaudeOn(machine.bench, { args, scenario: [RUN, ...bashScenario()] })
  expect(again.toolResults.slice(-2).map(result => result.isError)).toEqual([false, true])
  expect(linesRan(machine.bench)).toHaveLength(before + 1)
  expect(await explained(handle, /let it go on for one step/)).toMatch(/with the command at \/dev\/pts\/\d+ \(.*bash/)
})

test('promote and demote by command keep every comment; only a person may demote', async () => {
  inForce(RULES)
  const promoted = await machine.holdpoint('boundaries', 'promote', 'lunch-money')
  expect(promoted.stdout).toContain('lunch-money binds from the next call on')
  const text = readFileSync(config(), 'utf8')
  expect(text.replace(/\n\s+stage: enforce/, '')).toBe(RULES)
  await expect(async () => {
    expect((await machine.holdpoint('boundaries', 'status')).stdout).toMatch(/lunch-money .*\[enforce\]/)
  }).toPass({ timeout: 60_000 })

  const refused = await machine.holdpoint('boundaries', 'demote', 'lunch-money')
  expect(refused.exit).toBe(1)
  expect(readFileSync(config(), 'utf8')).toBe(text)
  const person = await typed('boundaries demote lunch-money', 'demote')
  expect(person.screen).toContain('lunch-money only watches from the next call on')
  expect(readFileSync(config(), 'utf8').replace(/\n\s+stage: shadow/, '')).toBe(RULES)
  expect((await machine.holdpoint('boundaries', 'promote', 'org:lunch-money')).exit, 'an organisation’s rule').toBe(1)
})
