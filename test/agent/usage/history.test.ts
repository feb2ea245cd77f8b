import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readCsv } from '#core/csv.ts'
import { parseDecimal } from '#core/decimal.ts'
import { canonicalJson } from '#core/json.ts'
import { CommandMachine, PlaneWithDoors, refuse } from '../commands/machine.ts'

let machine: CommandMachine
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
})
afterEach(() => machine.remove())

const HOUR_MS = 3600_000
let n = 0
/** One call of Claude Code in a folder of the machine, as the client records it. */
function call(
  folder: string,
  output: number,
  { model = 'claude-opus-4-6', ago = HOUR_MS, session = 'aaaa' } = {},
): void {
  const cwd = join(machine.folder, folder)
  mkdirSync(cwd, { recursive: true })
  const at = join(machine.folder, '.claude', 'projects', cwd.replace(/[^A-Za-z0-9]/g, '-'))
  mkdirSync(at, { recursive: true })
  const id = `msg_${n++}`
  const line = {
    type: 'assistant',
    sessionId: session,
    requestId: `req_${id}`,
    timestamp: new Date(Date.now() - ago).toISOString(),
    cwd,
    message: { id, model, role: 'assistant', content: [], usage: { input_tokens: 0, output_tokens: output } },
  }
  appendFileSync(join(at, `${session}.jsonl`), `${JSON.stringify(line)}\n`)
}
const tag = (folder: string, tags: string) => {
  mkdirSync(join(machine.folder, folder), { recursive: true })
  writeFileSync(join(machine.folder, folder, '.holdpoint.yaml'), `tags: ${tags}\n`)
}
const history = (...args: string[]) => machine.run(['history', ...args])
type Row = {
  value: string | null
  calls: number
  cost: string
  unpricedAtMost: string
  covered: Record<string, string>
}
const rowsBy = async (...args: string[]): Promise<{ rows: Row[]; total: Row }> =>
  (await history(...args, '--json')).json

describe('budget', () => {
  const config = (amount: string, scope = 'global') =>
    writeFileSync(
      machine.home.config,
      `budgets:\n  - { name: mine, amount: "${amount}", window: rolling 7d, zone: UTC, scope: ${scope} }\n`,
    )

  it('ends with 3 when a window is used up, and says what the next run may spend', async () => {
    call('a', 40_000)
    config('1.5')
    const left = await machine.run(['budget'])
    expect(left.code).toBe(0)
    expect(left.stdout).toMatch(/mine +global +66\.7 % +\$1\.00 of \$1\.50 +\$0\.50 left; moves on every day 00:00 UTC/)
    expect(left.stdout).toContain('The next run may spend at most $0.50 (mine).')
    call('a', 20_000)
    expect(await machine.run(['budget', '--json'])).toMatchObject({
      code: 3,
      json: { exhausted: true, nextRunCap: { amount: '0', budget: 'mine' } },
    })
  })

  it('of a workspace is that of the folder where it is asked', async () => {
    call('a', 40_000)
    call('b', 400)
    config('1', 'workspace')
    expect((await machine.run(['budget'], { cwd: join(machine.folder, 'a') })).code).toBe(3)
    expect((await machine.run(['budget'], { cwd: join(machine.folder, 'b') })).code).toBe(0)
  })

  it('of what is billed goes by what config.yaml declares, for another file’s budgets too', async () => {
    call('a', 40_000)
    const billed =
      'budgets:\n  - { name: job, amount: "0.5", window: rolling 7d, zone: UTC, scope: global, basis: billed }\n'
    const file = join(machine.folder, 'job.yaml')
    writeFileSync(file, billed)
    for (const [is, code] of [
      ['plan', 0],
      ['metered', 3],
    ] as const) {
      const covered = `covered: { claude-code: ${is} }\n`
      writeFileSync(machine.home.config, covered)
      expect((await machine.run(['budget', file])).code, is).toBe(code)
      writeFileSync(machine.home.config, covered + billed)
      expect((await machine.run(['budget'])).code, is).toBe(code)
    }
  })

  it('reads another file’s budgets, and tells what is wrong with it by line', async () => {
    call('a', 40_000)
    const file = join(machine.folder, 'job.yaml')
    writeFileSync(file, 'budgets:\n  - { name: job, amount: "0.5", window: rolling 7d, zone: UTC, scope: global }\n')
    expect((await machine.run(['budget', file])).code).toBe(3)
    writeFileSync(file, 'budgets:\n  - { name: job, amount: much }\n')
    const wrong = await machine.run(['budget', file])
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toContain(`${file}:2:`)
    expect((await machine.run(['budget', join(machine.folder, 'absent.yaml')])).code).toBe(1)
  })

  it('says so when there are none', async () => {
    expect(await machine.run(['budget'])).toMatchObject({ code: 0, stdout: 'There are no budgets here.\n' })
  })

  it('says of the organisation’s that they count other work, and when one begins anew', async () => {
    const plane = new PlaneWithDoors()
    await plane.listen()
    onTestFinished(() => plane.close())
    const window = { windowStart: '2020-01-01T00:00:00.000Z', windowEnd: '2100-01-01T00:00:00.000Z', zone: 'UTC' }
    const known = { name: 'of-acme', amount: '10', currency: 'USD', basis: 'equivalent' as const }
    plane.org.publish('boundaries: []\n', {
      tags: { tenant: ['acme', 'other'] },
      budgets: [
        { ...known, window: 'monthly', zone: 'UTC', steps: [50], owners: ['role:admin'], for: { tenant: 'acme' } },
      ],
    })
    plane.org.budgets = () => ({
      budgets: [{ ...known, ...window, of: { key: 'tenant', value: 'acme' }, used: '4', own: '0', ownSeq: 0 }],
    })
    tag('a', '{ tenant: acme }')
    tag('b', '{ tenant: other }')
    await machine.run(['join', plane.line])
    await machine.run(['daemon', 'start'])
    await machine.run(['team', 'sync'])
    const of = async (folder: string) => (await machine.run(['budget'], { cwd: join(machine.folder, folder) })).stdout
    await expect.poll(() => of('a')).toMatch(/\$4\.00 of \$10\.00 .*; resets 2100-01-01 00:00 UTC\n/)
    expect(await of('b')).toBe(
      'No budget counts what is used in this folder; of your organisation’s, 1 counts other work.\n',
    )
    await machine.type(['daemon', 'stop'], 'stop\n')
  })
})

it('team preview prints the next upload’s exact bytes, and a control plane that takes none yet is told apart', async () => {
  const plane = new PlaneWithDoors()
  await plane.listen()
  onTestFinished(() => plane.close())
  await machine.run(['join', plane.line])
  await machine.run(['daemon', 'start'])
  call('a', 40_000, { ago: -1000 })
  const usage = await machine.run(['team', 'preview', 'usage'])
  const upload = JSON.parse(usage.stdout)
  expect(usage.stdout).toBe(canonicalJson(upload))
  expect(upload).toMatchObject({ v: 1, seq: 1, days: [{ buckets: [{ calls: 1, cost: '1' }] }] })
  const [report, second] = (await machine.run(['team', 'preview'])).stdout.split('\n')
  expect(second).toBe(usage.stdout)
  expect(report).toBe(canonicalJson(JSON.parse(report!)))
  expect((await machine.run(['team', 'preview', 'report'])).stdout).not.toContain('\n')
  expect((await machine.run(['team', 'preview', '--json'])).json).toMatchObject({ usage: upload, report: { v: 1 } })
  expect((await machine.run(['team', 'preview', 'all'])).code).toBe(2)
  plane.routes['POST usage'] = (_, __, response) => refuse(response, 404, 'NOT_FOUND')
  const synced = await machine.run(['team', 'sync'])
  expect(synced.stdout).toContain('this control plane takes no usage yet')
  expect(synced.code).toBe(0)
  delete plane.routes['POST usage']
  expect((await machine.run(['team', 'sync'])).stdout).toMatch(/Usage: sent .* \(upload 1\)\./)
  expect(plane.org.uploads.map(({ text }) => text)).toEqual([usage.stdout])
  expect((await machine.run(['team', 'preview', 'usage'])).stderr).toContain('No usage is due')
  await machine.type(['daemon', 'stop'], 'stop\n')
})

it.each([['join'], ['install', '--join']])(
  '%s … --backfill sends what was used before, as far as it is on record',
  async (...command) => {
    const plane = new PlaneWithDoors()
    await plane.listen()
    onTestFinished(() => plane.close())
    call('a', 40_000)
    call('a', 40_000, { ago: 50 * 24 * HOUR_MS })
    expect((await machine.run([...command, plane.line, '--backfill'])).code).toBe(0)
    await machine.run(['daemon', 'start'])
    await machine.run(['team', 'sync'])
    expect([...plane.org.usage.values()].map(({ sent }) => sent.buckets.map(({ cost }) => cost))).toEqual([
      ['1'],
      ['1'],
    ])
    await machine.type(['daemon', 'stop'], 'stop\n')
  },
)

it('the hook of a session’s start passes HOLDPOINT_TAGS on, and nothing else that stands there', async () => {
  const hook = (env: Record<string, string>, event: string) =>
    spawnSync(process.execPath, [join(machine.home.bin, 'hook.cjs'), 'claude-code', event], {
      env: { ...machine.env, ...env } as unknown as NodeJS.ProcessEnv,
      input: JSON.stringify({ hook_event_name: event, session_id: 'aaaa', cwd: machine.folder, source: 'startup' }),
    })
  mkdirSync(machine.home.root, { recursive: true })
  await machine.run(['daemon', 'start'])
  hook(
    { HOLDPOINT_TAGS: ' tenant=acme , project=Billing API sk-secret,mood=good', SECRET: 'sk-secret' },
    'SessionStart',
  )
  call('a', 40_000)
  const { rows } = await rowsBy('--by', 'mood')
  expect(rows.map(({ value, calls }) => [value, calls])).toEqual([
    ['good', 1],
    [null, 0],
  ])
  expect((await rowsBy('--by', 'tenant')).rows[0]).toMatchObject({ value: 'acme', calls: 1 })
  await machine.type(['daemon', 'stop'], 'stop\n')
  const kept = readdirSync(machine.home.root, { recursive: true, encoding: 'utf8' })
    .map(name => join(machine.home.root, name))
    .filter(path => statSync(path).isFile() && !path.startsWith(machine.home.bin))
    .map(path => readFileSync(path, 'utf8'))
    .join('')
  expect(kept).toContain('good')
  expect(kept).not.toContain('sk-secret')
})

describe('history', () => {
  it('reads what is on record without any daemon, by whatever key, and always to one total', async () => {
    tag('a', '{ tenant: acme, mood: good }')
    tag('b', '{ tenant: globex }')
    call('a', 40_000, { session: 's1' })
    call('a', 13, { session: 's2', ago: 26 * HOUR_MS })
    call('b', 120_000, { session: 's3', model: 'claude-haiku-4-5' })
    call('c', 7, { session: 's4' })
    const by: Record<string, Row[]> = {}
    for (const key of [
      'tenant',
      'project',
      'model',
      'day',
      'month',
      'client',
      'session',
      'directory',
      'repository',
      'mood',
    ]) {
      const { rows, total } = await rowsBy('--by', key)
      by[key] = rows
      expect(total).toMatchObject({ calls: 4 })
      expect(
        rows.reduce((sum, { calls }) => sum + calls, 0),
        key,
      ).toBe(4)
      const sum = rows.reduce((all, { cost }) => all + parseDecimal(cost)!, 0n)
      expect(sum, key).toBe(parseDecimal(total.cost))
    }
    expect(by.tenant!.map(({ value, calls }) => [value, calls])).toEqual([
      ['acme', 2],
      ['globex', 1],
      [null, 1],
    ])
    expect(by.mood!.map(({ value }) => value)).toEqual(['good', null])
    expect(by.session!.map(({ value }) => value)).toEqual(['s1', 's3', 's2', 's4'])
  })

  it('prints columns that add up, and unattributed even where it is nothing', async () => {
    tag('a', '{ tenant: acme }')
    call('a', 40_000)
    const { stdout } = await history('--by', 'tenant')
    expect(stdout).toMatch(/^Cost at list price, whatever plan covers it, since/)
    expect(stdout).toMatch(/acme +1 +40,000 +\$1\.00/)
    expect(stdout).toMatch(/unattributed +0 +0 +\$0\.00/)
    expect(stdout).toMatch(/total +1 +40,000 +\$1\.00/)
  })

  it('shows models without a price beside the total, at most', async () => {
    call('a', 40_000)
    call('a', 1000, { model: 'claude-unheard-of-9' })
    const { total, ...rest } = await rowsBy('--by', 'model')
    expect(total.cost).toBe('1')
    expect(Number(total.unpricedAtMost)).toBeGreaterThan(0)
    expect(rest.rows.find(({ value }) => value === 'claude-unheard-of-9')!.cost).toBe('0')
    const { stdout } = await history('--by', 'model')
    expect(stdout).toContain('unpriced, at most')
    expect(stdout).toContain('not in the cost: claude-unheard-of-9')
  })

  it('adds up what several agents recorded, and says what the records of those that are there leave out', async () => {
    call('a', 40_000)
    const at = new Date().toISOString()
    const write = (file: string, lines: object[]) => {
      mkdirSync(join(machine.folder, file, '..'), { recursive: true })
      writeFileSync(join(machine.folder, file), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    }
    write('.gemini/tmp/a/chats/session-2026-11-30T12-00-gemini00.jsonl', [
      { sessionId: 'gemini00-1', projectHash: 'f'.repeat(64), kind: 'main' },
      { id: 'm1', timestamp: at, type: 'gemini', model: 'gemini-2.5-flash', tokens: { input: 0, output: 400_000 } },
    ])
    const two = await rowsBy('--by', 'client')
    expect(two.rows.map(({ value, cost }) => [value, cost])).toEqual([
      ['claude-code', '1'],
      ['gemini', '1'],
    ])
    const { stdout } = await history('--by', 'client')
    expect(stdout).toMatch(/Gemini CLI records .* are missing\./)
    expect(stdout).not.toContain('Copilot CLI records')
    const usage = { model: 'claude-opus-4.6', apiCallId: 'c1', inputTokens: 0, outputTokens: 40_000 }
    write('.copilot/session-state/copilot-1/events.jsonl', [
      { type: 'session.usage_record', id: 'e1', timestamp: at, data: { usage } },
    ])
    const three = await rowsBy('--by', 'client')
    expect(three.rows.map(({ value }) => value).sort()).toEqual(['claude-code', 'copilot', 'gemini'])
    expect(three.total).toMatchObject({ calls: 3, cost: '3' })
    expect((await history('--by', 'client')).stdout).toContain('Copilot CLI records no attempts')
  })

  it('counts from a day on, and says what it cannot take', async () => {
    call('a', 40_000)
    call('a', 80_000, { ago: 5 * 24 * HOUR_MS })
    expect((await rowsBy('--since', '2d')).total.calls).toBe(1)
    expect((await rowsBy('--since', '2020-01-01')).total.calls).toBe(2)
    for (const since of ['30', '0d', '900d', '2026-13-01', 'yesterday'])
      expect((await history('--since', since)).code, since).toBe(2)
    expect((await history('--by', 'No Key')).code).toBe(2)
    expect((await history('--csv', '--json')).code).toBe(2)
  })

  it('writes a CSV with exact amounts and no formula', async () => {
    mkdirSync(join(machine.folder, '=cmd'), { recursive: true })
    call('a', 13)
    const read = readCsv((await history('--by', 'model', '--csv')).stdout)
    if (!('rows' in read)) throw new Error(read.message)
    expect(read.rows.map(({ cells }) => cells)).toEqual([
      [
        'model',
        'calls',
        'input',
        'cacheRead',
        'cacheWrite5m',
        'cacheWrite1h',
        'output',
        'webSearches',
        'cost_usd',
        'unpriced_at_most_usd',
        'broke_off',
        'plan_usd',
        'metered_usd',
        'unknown_usd',
      ],
      ['claude-opus-4-6', '1', '0', '0', '0', '0', '13', '0', '0.000325', '0', '0', '0', '0', '0.000325'],
    ])
  })

  it('says what covers the cost: what the session’s start showed, else what is declared from a day on, else nobody knows', async () => {
    const covered = async () => (await rowsBy()).total.covered
    call('a', 40_000, { session: 'aaaa' })
    call('a', 20_000, { session: 'bbbb', ago: 50 * HOUR_MS })
    expect(await covered()).toEqual({ plan: '0', metered: '0', unknown: '1.5' })
    expect((await history()).stdout).toContain('$1.50 by a plan or by the call, which is not known here.')
    const yesterday = new Date(Date.now() - 25 * HOUR_MS).toISOString().slice(0, 10)
    writeFileSync(machine.home.config, `covered: { claude-code: { 2020-01-01: plan, ${yesterday}: metered } }\n`)
    expect(await covered()).toEqual({ plan: '0.5', metered: '1', unknown: '0' })
    await machine.run(['daemon', 'start'])
    const start = spawnSync(process.execPath, [join(machine.home.bin, 'hook.cjs'), 'claude-code', 'SessionStart'], {
      env: { ...machine.env, CLAUDE_CODE_OAUTH_TOKEN: 'a-secret' } as unknown as NodeJS.ProcessEnv,
      input: JSON.stringify({ hook_event_name: 'SessionStart', session_id: 'cccc', cwd: join(machine.folder, 'a') }),
    })
    expect(start.status).toBe(0)
    call('a', 4000, { session: 'cccc' })
    expect(await covered()).toEqual({ plan: '0.6', metered: '1', unknown: '0' })
    const table = (await history()).stdout
    expect(table).toContain('$0.60 covered by a plan, $1.00 paid by the call.')
    expect((await rowsBy('--by', 'covered')).rows).toMatchObject([
      { value: 'metered', cost: '1' },
      { value: 'plan', cost: '0.6' },
    ])
    await machine.type(['daemon', 'stop'], 'stop\n')
    const kept = readdirSync(machine.home.sessions).map(name => readFileSync(join(machine.home.sessions, name), 'utf8'))
    expect(kept.join()).toContain('"covered":"plan"')
    expect(kept.join()).not.toContain('a-secret')
  })

  it('is read by the daemon where one runs, and by nobody twice', async () => {
    call('a', 40_000)
    await history('--import')
    await machine.run(['daemon', 'start'])
    call('a', 40_000)
    const imported = await history('--import', '--json')
    expect(imported.json).toMatchObject({ by: 'daemon', problems: 0 })
    expect((await rowsBy()).total).toMatchObject({ calls: 2, cost: '2' })
    await machine.type(['daemon', 'stop'], 'stop\n')
  })
})
