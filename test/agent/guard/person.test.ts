import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PseudoTerminal } from './pseudo-terminal.ts'

type Probe = {
  ok?: true
  refused?: string
  words?: string
  names: string[]
  judged: { ok: boolean; code?: string; anchor?: string }
  person?: { tty: string; chain: string[]; pid: number }
}

const terminal = new PseudoTerminal()
const { dir } = terminal
const probe = join(dir, 'probe.cjs')
let runs = 0

beforeAll(() =>
  build({
    entryPoints: [join(__dirname, 'probe.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile: probe,
    logLevel: 'error',
  }),
)
afterAll(() => terminal.remove())

type Options = { env?: Record<string, string>; typed?: string; home?: string; word?: string }

/** Runs a line on a terminal and returns what the probe found that `eval "$PROBE"` in it calls. */
async function onTerminal(
  line: string,
  { env = {}, typed = '', home = join(dir, 'home'), word = '' }: Options = {},
): Promise<Probe> {
  const out = join(dir, `out-${++runs}.json`)
  const call = `${process.execPath} ${probe} ${out} ${home} ${word}; true`
  await terminal.run(line, { env: { HOME: '/nonexistent', ...env, PROBE: call }, typed })
  return JSON.parse(readFileSync(out, 'utf8')) as Probe
}

const loginShell = (line: string) => terminal.loginShell(line)
const nested = (program: string, line: string) => terminal.nested(program, line)
const probing = 'eval "$PROBE"'

describe.skipIf(process.platform !== 'linux')('the guard before everything that loosens', () => {
  it('lets a person through who types below a login shell, however many shells deep', async () => {
    const seen = await onTerminal(loginShell(nested('bash', nested('sh', probing))))
    expect(seen).toMatchObject({ ok: true, judged: { ok: true, anchor: 'login shell' } })
    expect(seen.person!.tty).toMatch(/^\/dev\/pts\/\d+$/)
    expect(seen.person!.chain.length).toBeGreaterThan(3)
  })

  it('refuses a terminal that no login, ssh session or terminal window stands behind', async () => {
    const seen = await onTerminal(nested('bash', probing))
    expect(seen).toMatchObject({ refused: 'no_terminal', judged: { code: 'no_terminal' } })
  })

  it('refuses without a terminal even below a login shell', async () => {
    const seen = await onTerminal(loginShell('exec < /dev/null\neval "$PROBE"'))
    expect(seen.refused).toBe('no_terminal')
    expect(seen.judged.ok).toBe(true)
  })

  it('refuses below an agent that is known by its name', async () => {
    const agent = join(dir, 'claude')
    copyFileSync('/bin/bash', agent)
    const seen = await onTerminal(loginShell(nested(agent, probing)))
    expect(seen).toMatchObject({ refused: 'agent_ancestor', judged: { code: 'agent', program: 'claude' } })
  })

  it('refuses below a Node that runs an agent’s script', async () => {
    const cli = join(dir, 'node_modules/@anthropic-ai/claude-code/cli.js')
    mkdirSync(join(cli, '..'), { recursive: true })
    writeFileSync(
      cli,
      `require('node:child_process').spawnSync('bash', ['-c', process.env.PROBE], { stdio: 'inherit' })`,
    )
    const seen = await onTerminal(loginShell(nested('bash', `${process.execPath} --no-warnings ${cli}; true`)))
    expect(seen).toMatchObject({ refused: 'agent_ancestor', judged: { code: 'agent' } })
  })

  it('refuses where an agent’s variables stand, and still when they were scrubbed', async () => {
    const marked = await onTerminal(loginShell(probing), { env: { CLAUDECODE: '1' } })
    expect(marked.refused).toBe('agent_environment')
    expect(marked.words).toContain('CLAUDECODE')
    const agent = join(dir, 'codex')
    copyFileSync('/bin/bash', agent)
    const scrubbed = await onTerminal(loginShell(nested(agent, `unset CLAUDECODE\n${probing}`)), {
      env: { CLAUDECODE: '1' },
    })
    expect(scrubbed.refused).toBe('agent_ancestor')
  })

  it('does not take a person’s own settings for an agent’s mark', async () => {
    const seen = await onTerminal(loginShell(probing), { env: { CLAUDE_CODE_USE_BEDROCK: '1', CODEX_HOME: '/x' } })
    expect(seen.ok).toBe(true)
  })

  it('a renamed agent passes by name and is refused once a hook has seen its process', async () => {
    const agent = join(dir, 'helper')
    copyFileSync('/bin/bash', agent)
    expect((await onTerminal(loginShell(nested(agent, probing)))).ok).toBe(true)
    const home = join(dir, 'seen-home')
    mkdirSync(join(home, 'agents'), { recursive: true })
    const seen = await onTerminal(loginShell(nested(agent, `: > ${home}/agents/$$\n${probing}`)), { home })
    expect(seen).toMatchObject({ refused: 'agent_ancestor', judged: { code: 'seen_agent' } })
  })

  it('a stated limit: an agent that detaches a login shell of its own gets through, and the record shows the chain', async () => {
    const agent = join(dir, 'claude')
    copyFileSync('/bin/bash', agent)
    // the agent ends before the probe looks, as a process that forks away does
    const detach = `setsid -f script -qec 'bash ${terminal.keep(loginShell(`sleep 0.3\n${probing}`))}' /dev/null > /dev/null 2>&1 < /dev/null`
    const seen = await onTerminal(loginShell(`${nested(agent, detach)}\nsleep 2`))
    expect(seen.judged).toMatchObject({ ok: true, anchor: 'login shell' })
    expect(seen.names).not.toContain('claude')
    expect(seen.names).toContain('script')
  })

  it('wants the word typed on the terminal, and takes no other', async () => {
    expect((await onTerminal(loginShell(probing), { word: 'leave', typed: 'leave\n' })).ok).toBe(true)
    expect((await onTerminal(loginShell(probing), { word: 'leave', typed: 'yes\n' })).refused).toBe('not_confirmed')
  })

  it('a word piped into the command is not a word typed on the terminal', async () => {
    const seen = await onTerminal(loginShell(`echo leave | eval "$PROBE"`), { word: 'leave' })
    expect(seen.refused).toBe('no_terminal')
  })
})
