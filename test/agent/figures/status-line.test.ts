/** The program that Claude Code starts for its status line, with the daemon that reads what it leaves. */
import { execFileSync, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { claude } from '#agent/clients/claude/claude.ts'
import { statusSampleFile } from '#agent/figures/status-sample.ts'
import { hookInstall } from '#agent/hook-programs.ts'
import { Machine, SESSION, told } from '../daemon/world.ts'

const built = mkdtempSync(join(tmpdir(), 'statusline-'))
beforeAll(async () => {
  await build({
    entryPoints: [new URL('../../../agent/statusline/main.ts', import.meta.url).pathname],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    outfile: join(built, 'statusline.cjs'),
  })
})
afterAll(() => rmSync(built, { recursive: true, force: true }))

const recorded = (login: 'subscription' | 'api-key') =>
  JSON.parse(readFileSync(new URL(`../../clients/payloads/claude/statusline.${login}.json`, import.meta.url), 'utf8'))
const RULE = (more = '') =>
  `boundaries:\n  - name: plan-floor\n    action: continue\n    when: { plan_left_pct: "< 50", window: 5h }\n    require: deny\n    stage: enforce\n${more}`

let machine: Machine
let program: string
let resetsAt: number
beforeEach(() => {
  machine = new Machine()
  mkdirSync(machine.home.bin)
  program = join(machine.home.bin, 'statusline.cjs')
  writeFileSync(program, readFileSync(join(built, 'statusline.cjs')))
  resetsAt = Math.floor(Date.now() / 1000) + 3600
})

/** What the client would give: so much of five hours used, after so long a wait for responses. */
function input(used: number | undefined, { apiMs = 100, session = SESSION, resets = resetsAt } = {}): string {
  const base = recorded(used === undefined ? 'api-key' : 'subscription')
  return JSON.stringify({
    ...base,
    session_id: session,
    cost: { ...base.cost, total_api_duration_ms: apiMs },
    ...(used === undefined
      ? {}
      : {
          rate_limits: {
            five_hour: { used_percentage: used, resets_at: resets },
            seven_day: { used_percentage: 17, resets_at: resets + 86_400 },
          },
        }),
  })
}

/** Draws the line once; what it printed. */
function draw(text: string, wrapped?: string): Promise<string> {
  const args = wrapped === undefined ? [] : ['wrap', Buffer.from(wrapped).toString('base64url')]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { cwd: machine.cwd, stdio: ['pipe', 'pipe', 'inherit'] })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', part => {
      out += part
    })
    child.on('error', reject).on('close', () => resolve(out))
    child.stdin.on('error', () => {}).end(text)
  })
}
const sample = () => JSON.parse(readFileSync(statusSampleFile(machine.home.root), 'utf8'))
const call = async (toolUse: string) => told(await machine.hook({ tool_use_id: toolUse }))
const figures = async () =>
  (await machine.ask('GET', '/api/figures', { token: 'api' })).json.filter(
    ({ name, session }: { name: string; session?: string }) => name === 'plan_left_pct' && session === SESSION,
  )
const status = async () => (await machine.ask('GET', '/api/status', { token: 'api' })).json

describe('the program', () => {
  test('prints what the other status line prints, as it does, and a line of ours below it', async () => {
    machine.config(RULE())
    await machine.start()
    machine.spend(0.15)
    await call('toolu_0')
    const wrapped = `printf 'first\\nsecond %s' "$(head -c 14 | tail -c 13)"`
    expect(await draw(input(42), wrapped)).toBe(
      `first\nsecond ${input(42).slice(1, 14)}\nholdpoint: $0.15 · 5h 58 % left · week 83 % left\n`,
    )
    expect(await draw(input(60, { apiMs: 200 }))).toBe('holdpoint: $0.15 · 5h 40 % left · week 83 % left\n')
    expect((await call('toolu_1')).decision).toBe('deny')
  })

  test('says what waits, and that prices are bounds', async () => {
    machine.config(RULE().replace('deny', 'ask'))
    await machine.start()
    await draw(input(60))
    machine.line({
      type: 'assistant',
      sessionId: SESSION,
      requestId: 'req_1',
      timestamp: new Date(machine.now()).toISOString(),
      message: {
        id: 'msg_1',
        model: 'claude-unheard-of',
        role: 'assistant',
        content: [],
        usage: { input_tokens: 0, output_tokens: 1 },
      },
    })
    expect((await call('toolu_1')).decision).toBe('deny')
    expect(await draw(input(60))).toMatch(/ · 1 waiting · rate=fallback\n$/)
  })

  test('keeps the limits for this user alone, and those of a login without a plan replace nothing', async () => {
    await draw(input(42))
    const kept = sample()
    expect(kept).toEqual({
      v: 1,
      at: expect.any(Number),
      session: SESSION,
      apiMs: 100,
      windows: { five_hour: { used: 42, resetsAt }, seven_day: { used: 17, resetsAt: resetsAt + 86_400 } },
    })
    expect(statSync(statusSampleFile(machine.home.root)).mode & 0o777).toBe(0o600)
    await draw(input(undefined))
    // and a line that is only drawn again is no newer
    await draw(input(42))
    expect(sample()).toEqual(kept)
    await draw(input(42, { apiMs: 101 }))
    expect(sample().apiMs).toBe(101)
    expect(readdirSync(join(machine.home.root, 'figures'))).toEqual(['status-line.json'])
  })

  test('tells what the client itself knows where the daemon does not answer', async () => {
    expect(await draw(input(42), 'echo theirs')).toBe(
      'theirs\nholdpoint: its daemon does not answer · $0.07 · 5h 58 % left · week 83 % left\n',
    )
    expect(await draw(input(undefined))).toBe('holdpoint: its daemon does not answer · $0.15\n')
  })

  test.each([
    ['nothing', ''],
    ['no JSON', '{"session_id":'],
    ['a list', '[]'],
    ['a session that is no name', '{"session_id":"../../x"}'],
    [
      'limits of another form',
      JSON.stringify({ session_id: 's', rate_limits: { five_hour: 'all', seven_day: { used_percentage: '1' } } }),
    ],
    ['two megabytes', 'x'.repeat(2_000_000)],
  ])('given %s it keeps nothing, and the other line stands', async (_, text) => {
    expect((await draw(text, 'echo theirs')).split('\n')[0]).toBe('theirs')
    expect(() => sample()).toThrow('ENOENT')
  })

  test('shows what a line that fails or never ends has printed', async () => {
    expect(await draw('', 'echo some; exit 3')).toBe('some\n')
    expect(await draw('', 'no-such-program-anywhere')).toBe('')
    const endless = await draw('', 'yes theirs')
    expect(endless.length).toBeLessThan(200_000)
  })

  test('writes through no link and into no pipe that stands in its file’s place', async () => {
    const elsewhere = join(machine.folder, 'elsewhere')
    writeFileSync(elsewhere, 'as it was')
    mkdirSync(join(machine.home.root, 'figures'))
    symlinkSync(elsewhere, statusSampleFile(machine.home.root))
    await draw(input(42))
    expect(readFileSync(elsewhere, 'utf8')).toBe('as it was')
    rmSync(statusSampleFile(machine.home.root))
    execFileSync('mkfifo', [statusSampleFile(machine.home.root)])
    await draw(input(42))
    machine.config(RULE())
    await machine.start()
    expect((await call('toolu_0')).decision).toBe('pass')
  })
})

describe('what it leaves', () => {
  beforeEach(async () => {
    machine.config(RULE())
    await machine.start()
  })

  test('decides the next call, and is a figure with its source and its age', async () => {
    await draw(input(40))
    expect((await call('toolu_1')).decision).toBe('pass')
    await draw(input(51, { apiMs: 200 }))
    const held = await call('toolu_2')
    expect([held.decision, held.reason]).toEqual(['deny', expect.stringContaining('49')])
    expect(await figures()).toMatchObject([
      { plan: 'anthropic', qualifier: '5h', value: '49', unit: 'pct', source: 'status_line', fresh: true },
      { plan: 'anthropic', qualifier: 'week', value: '83', fresh: true },
    ])
  })

  test('is too old after half an hour: then the rule says so, and holds only by on_unknown', async () => {
    await draw(input(60))
    expect((await call('toolu_1')).decision).toBe('deny')
    expect((await status()).rules[0].notes).toEqual([])
    machine.offset += 30 * 60_000 + 5000
    expect((await call('toolu_2')).decision).toBe('pass')
    expect(await figures()).toMatchObject([{ qualifier: '5h', value: '40', fresh: false, problem: 'too_old' }, {}])
    expect((await status()).rules[0].notes.join()).toMatch(
      /plan left is unread.*lets calls through.*statusline install/,
    )
    machine.config(RULE('    on_unknown: hold\n'))
    expect((await call('toolu_3')).decision).toBe('deny')
  })

  test('is unread where nothing was ever told, and says what to do', async () => {
    const door = JSON.parse(readFileSync(machine.home.tokens, 'utf8'))
    const request = hookInstall(machine.home, claude, door, { whenBroken: 'pass', form: 'http' })
    claude.hooks.install({ homeDir: join(machine.folder, 'dev'), env: {} }, request, { dryRun: false })
    const level = async () =>
      (await status()).rules[0].levels.find(({ client }: { client: string }) => client === 'claude-code').level
    expect(await level()).toBe('figure-unread')
    expect((await call('toolu_1')).decision).toBe('pass')
    expect(await figures()).toMatchObject([
      { qualifier: '5h', value: 'unread', fresh: false, problem: 'plan_untold' },
      { qualifier: 'week', value: 'unread', fresh: false },
    ])
    await draw(input(42))
    expect(await level()).toBe('user-hook')
  })
})

describe('an agent that wants more of the plan than there is', () => {
  beforeEach(async () => {
    machine.config(RULE())
    await machine.start()
    await draw(input(60))
    expect((await call('toolu_0')).decision).toBe('deny')
  })
  /** As a program of the same user can: the file itself. */
  const write = (used: number, resets = resetsAt, at = machine.now()) =>
    writeFileSync(
      statusSampleFile(machine.home.root),
      JSON.stringify({ v: 1, at, session: SESSION, apiMs: 1e6, windows: { five_hour: { used, resetsAt: resets } } }),
    )
  const isHeld = async (toolUse: string) => (await call(toolUse)).decision === 'deny'
  const alarms = () => machine.entries('alarm').filter(({ what }) => what === 'figure_odd')

  test('fails by feeding the status line, or writing its file, that less was used', async () => {
    await draw(input(1, { apiMs: 200 }))
    expect(await isHeld('toolu_1')).toBe(true)
    write(0)
    expect(await isHeld('toolu_2')).toBe(true)
    await machine.daemon.stop()
    await machine.start()
    write(1)
    expect(await isHeld('toolu_3')).toBe(true)
  })

  test.each([
    ['has ended', -1800],
    ['ends later', 1800],
    ['ends in a year', 365 * 86_400],
  ])('is shown when it says that the window %s', async (_, by) => {
    write(1, resetsAt + by)
    expect(await isHeld('toolu_1')).toBe(true)
    expect(alarms()).toHaveLength(1)
    expect((await status()).alarms).toMatchObject([{ what: 'figure_odd' }])
  })

  test('gets the figure unread by taking the file away, which the rule says, and which on_unknown turns round', async () => {
    rmSync(statusSampleFile(machine.home.root))
    expect(await isHeld('toolu_1')).toBe(true)
    machine.offset += 31 * 60_000
    expect(await isHeld('toolu_2')).toBe(false)
    expect((await status()).rules[0].notes.join()).toContain('plan left is unread')
  })

  test('cannot say that it was told in the future, to be believed for longer', async () => {
    write(60, resetsAt, machine.now() + 50 * 60_000)
    expect(await isHeld('toolu_1')).toBe(true)
    machine.offset += 31 * 60_000
    expect((await status()).rules[0].notes.join()).toContain('plan left is unread')
  })
})
