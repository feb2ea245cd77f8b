import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { DISK } from '#agent/home.ts'
import { takeLedger } from '#agent/usage/ledger-lock.ts'
import type { UsageBucket } from '#core/usage/upload.ts'
import { Organisation } from '../daemon/organisation.ts'
import { Machine, onCleanup } from '../daemon/world.ts'

const DAY_MS = 24 * 3600_000
const RULES = 'boundaries: []\n'
const TAGS = { tenant: ['acme', 'globex'], project: ['billing-api'] }

let org: Organisation
let machine: Machine
beforeEach(async () => {
  org = new Organisation()
  machine = new Machine()
  // in the middle of a day, so that a few minutes to and fro stay in it
  machine.offset = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2 - Date.now()
  org.clock = machine.now
  await org.listen()
  onCleanup(() => org.close())
  machine.join(org)
})

const day = (from: number) => new Date(machine.now() + from * DAY_MS).toISOString().slice(0, 10)
const today = () => day(0)
const buckets = (day = today()): UsageBucket[] => org.usage.get(day)?.sent.buckets ?? []
const outputOf = (day?: string) => buckets(day).reduce((sum, { tokens }) => sum + tokens.output, 0)
const preview = () => machine.ask('POST', '/api/usage/preview', { token: 'api', body: '{}' })
const status = async () => (await machine.ask('GET', '/api/usage', { token: 'api' })).json
const sync = () => machine.ask('POST', '/api/sync', { token: 'api', body: '{}' })
const attribution = (rules: object[] = [], tags: object = TAGS) => ({ attribution: [{ tags, rules }] })

describe('an upload', () => {
  test('carries each call once, in the quarter hour of its UTC day, priced by its model', async () => {
    machine.spend(1, { id: 'msg_a' })
    machine.spend(2, { id: 'msg_b' })
    await machine.start()
    await sync()
    expect(buckets()).toHaveLength(1)
    expect(buckets()[0]).toMatchObject({
      quarter: 48,
      client: 'claude-code',
      provider: 'anthropic',
      model: 'claude-opus-4-6',
      covered: 'unknown',
      rate: 'card',
      tags: {},
      calls: 2,
      tokens: { output: 120_000 },
      cost: '3',
    })
  })

  test('is the bytes that preview showed, and nothing is due after it', async () => {
    machine.spend(1)
    await machine.start()
    const shown = (await preview()).body
    machine.spend(2)
    await sync()
    expect(org.uploads[0]!.text).toBe(shown)
    // what came after the preview follows in an upload of its own
    expect(org.uploads).toHaveLength(2)
    expect(outputOf()).toBe(120_000)
    expect((await preview()).body).toBe('')
    await sync()
    expect(org.uploads).toHaveLength(2)
  })

  test('leaves out what is from before this machine joined', async () => {
    machine.spend(5, { at: machine.now() - 1000 })
    machine.spend(7, { at: machine.now() - 3 * DAY_MS })
    machine.spend(1, { at: machine.now() + 1000 })
    await machine.start()
    await sync()
    expect([...org.usage.keys()]).toEqual([today()])
    expect(outputOf()).toBe(40_000)
  })

  test('of weeks without a control plane catches up with every day, once', async () => {
    const joined = machine.now()
    await machine.start()
    org.goDown()
    for (let day = 0; day < 60; day++) machine.spend(1, { at: joined + day * DAY_MS + 1000 })
    machine.offset += 60 * DAY_MS
    await machine.daemon.tick()
    expect(org.uploads).toHaveLength(0)
    org.down = false
    await sync()
    expect(org.uploads.map(({ upload }) => upload.days.length)).toEqual([40, 20])
    expect(org.usage.size).toBe(60)
    expect([...org.usage.values()].every(({ sent }) => sent.buckets[0]!.calls === 1)).toBe(true)
  })

  test('whose answer was lost is sent again byte for byte', async () => {
    machine.spend(1)
    await machine.start()
    await preview()
    const kept = readFileSync(join(machine.home.usage, 'upload.json'), 'utf8')
    await sync()
    await machine.daemon.stop()
    // as if the process had died between the control plane's answer and its own note of it
    writeFileSync(join(machine.home.usage, 'upload.json'), kept)
    await machine.start()
    machine.spend(2)
    await sync()
    expect(org.uploads.map(({ upload }) => upload.seq)).toEqual([1, 2])
    expect(outputOf()).toBe(120_000)
  })

  test('goes on above the numbers that were used when its own count was put back', async () => {
    await machine.start()
    for (let i = 0; i < 3; i++) {
      machine.spend(1)
      await sync()
    }
    await machine.daemon.stop()
    rmSync(join(machine.home.usage, 'upload.json'))
    await machine.start()
    machine.spend(1)
    await sync()
    expect(org.usage.get(today())!.seq).toBeGreaterThan(3)
    expect(outputOf()).toBe(160_000)
  })

  test('of a home that joins once more, with its history, has nothing in it that it sent as the machine it was', async () => {
    machine.spend(1, { at: machine.now() - 3 * DAY_MS })
    machine.spend(2, { at: machine.now() + 1000 })
    machine.offset += 60_000
    await machine.start()
    await sync()
    expect(outputOf()).toBe(80_000)
    machine.offset += 60_000
    // used after the newest upload, and never sent
    machine.spend(4)
    await machine.daemon.stop()
    machine.offset += 60_000
    Object.assign(org, { machine: `mac_${'b'.repeat(16)}`, usage: new Map(), usageSeen: new Map() })
    machine.join(org)
    const team = JSON.parse(readFileSync(machine.home.team, 'utf8'))
    writeFileSync(machine.home.team, JSON.stringify({ ...team, backfill: true }))
    for (let i = 0; i < 2; i++) {
      await machine.start()
      await sync()
      expect([...org.usage.keys()].sort()).toEqual([day(-3), today()])
      expect([outputOf(day(-3)), outputOf()]).toEqual([40_000, 160_000])
      await machine.daemon.stop()
    }
  })

  test('is sent each hour, and each minute while a budget is read', async () => {
    org.publish(RULES)
    await machine.start()
    await machine.daemon.sync()
    await machine.daemon.tick()
    machine.spend(1)
    machine.offset += 60_000
    await machine.daemon.tick()
    expect(outputOf()).toBe(0)
    const budget = {
      name: 'monthly',
      amount: '500',
      currency: 'USD',
      window: 'monthly',
      zone: 'UTC',
      basis: 'equivalent',
      steps: [50],
      owners: ['role:admin'],
    }
    org.publish(RULES, { budgets: [budget] })
    await machine.daemon.sync()
    await machine.daemon.tick()
    expect(outputOf()).toBe(40_000)
    org.publish(RULES)
    await machine.daemon.sync()
    machine.spend(1)
    await machine.daemon.tick()
    expect(outputOf()).toBe(40_000)
    machine.offset += 3600_000
    await machine.daemon.tick()
    expect(outputOf()).toBe(80_000)
  })

  test('is tried again a minute later where nobody answered, and five where it was refused', async () => {
    await machine.start()
    const later = async (minutes: number) => {
      machine.offset += minutes * 60_000
      await machine.daemon.tick()
      return outputOf()
    }
    org.goDown()
    machine.spend(1)
    expect(await later(60)).toBe(0)
    org.down = false
    expect(await later(1)).toBe(40_000)
    machine.spend(1)
    org.refuseUsage.push({ status: 429, code: 'RATE_LIMITED' })
    expect(await later(60)).toBe(40_000)
    expect(await later(4)).toBe(40_000)
    expect(await later(1)).toBe(80_000)
  })

  test('that was refused is tried again after a day, though nothing changed: what reads it may have learned more', async () => {
    await machine.start()
    machine.spend(1)
    const spentOn = today()
    org.refuseUsage.push({ status: 413, code: 'TOO_LARGE' })
    expect((await sync()).status).toBe(502)
    const later = async (hours: number) => {
      machine.offset += hours * 3600_000
      await machine.daemon.tick()
      return outputOf(spentOn)
    }
    expect(await later(23)).toBe(0)
    expect(await later(2)).toBe(40_000)
  })

  test('that is kept apart, refused or not taken at all says so in status, and holds nothing else up', async () => {
    await machine.start()
    machine.spend(1)
    const clock = org.clock
    org.clock = () => clock() - 3600_000
    await sync()
    expect((await status()).upload.quarantined).toEqual([today()])
    org.clock = clock
    machine.offset += 2 * 3600_000
    await machine.daemon.tick()
    expect(outputOf()).toBe(40_000)
    expect((await status()).upload.quarantined).toEqual([])
    machine.spend(1)
    org.refuseUsage.push({ status: 400, code: 'BAD_INPUT' })
    expect((await sync()).status).toBe(502)
    expect((await status()).upload).toMatchObject({ refused: [today()], problem: { code: 'BAD_INPUT' } })
    // what can never be taken is not sent again as it is
    const sent = org.uploads.length
    await sync()
    expect(org.uploads).toHaveLength(sent)
    machine.spend(1)
    expect((await sync()).status).toBe(200)
    expect((await status()).upload.refused).toEqual([])
    expect(outputOf()).toBe(120_000)
    org.refuseUsage.push({ status: 404, code: 'NOT_FOUND' })
    machine.spend(1)
    expect((await sync()).status).toBe(200)
    expect((await status()).upload.problem.code).toBe('NOT_FOUND')
  })
})

test('is held back by a rule on sharing with the team, and fills the gap once when the rule is gone', async () => {
  const share = `boundaries:\n  - name: at-home\n    action: share\n    when: { destination: "== team" }\n    require: deny\n    stage: enforce\n`
  org.publish(share)
  await machine.start()
  await machine.daemon.sync()
  for (let day = 0; day < 3; day++) {
    machine.spend(1)
    await sync()
    await machine.daemon.tick()
    machine.offset += DAY_MS
  }
  expect(org.uploads).toEqual([])
  expect((await status()).heldBy).toEqual(['org:at-home'])
  const [rule] = (await machine.ask('GET', '/api/status', { token: 'api' })).json.rules
  expect(rule).toMatchObject({ name: 'org:at-home', levels: [] })
  expect(rule.notes.join()).toContain('obeyed by this machine’s daemon, which its user can stop')
  org.publish(RULES)
  await machine.daemon.sync()
  await sync()
  await sync()
  expect(org.uploads).toHaveLength(1)
  expect([...org.usage.values()].map(({ sent }) => sent.buckets.map(({ calls }) => calls))).toEqual([[1], [1], [1]])
})

test('a rule on sharing is obeyed by nobody where nothing would go to that destination', async () => {
  const rules = (destination: string) =>
    `boundaries:\n  - { name: s, action: share, when: { destination: "== ${destination}" }, require: deny, stage: enforce }\n`
  const rule = async () => {
    const [one] = (await machine.ask('GET', '/api/status', { token: 'api' })).json.rules
    // one level, whichever the client
    return { ...one, levels: [...new Set(one.levels.map(({ level }: { level: string }) => level))] }
  }
  org.publish(rules('otel'))
  await machine.start()
  await machine.daemon.sync()
  expect(await rule()).toMatchObject({
    levels: ['idle'],
    notes: ['nothing goes to that destination from here'],
  })
  await machine.daemon.stop()
  rmSync(machine.home.team)
  machine.config(rules('team'))
  await machine.start()
  expect(await rule()).toMatchObject({
    levels: ['idle'],
    notes: [expect.stringContaining('joined no organisation')],
  })
})

test('of a machine full of secrets holds none of them', async () => {
  const canaries: string[] = []
  const canary = () => {
    canaries.push(`canary${canaries.length}x${Math.random().toString(36).slice(2, 10)}`)
    return canaries.at(-1)!
  }
  const cwd = join(machine.folder, 'dev', canary())
  mkdirSync(join(cwd, '.git'), { recursive: true })
  writeFileSync(
    join(cwd, '.git', 'config'),
    `[remote "origin"]\n\turl = https://${canary()}:${canary()}@${canary()}.example/${canary()}/${canary()}.git\n`,
  )
  writeFileSync(
    join(cwd, '.holdpoint.yaml'),
    `tags: { tenant: ${canary()}, ${canary()}: ${canary()} }\n# ${canary()}\n`,
  )
  const session = canary()
  const line = (model: string) => ({
    type: 'assistant',
    sessionId: session,
    requestId: canary(),
    timestamp: new Date(machine.now()).toISOString(),
    cwd,
    gitBranch: canary(),
    [canary()]: canary(),
    message: {
      id: canary(),
      model,
      role: 'assistant',
      content: [
        { type: 'text', text: canary() },
        { type: 'tool_use', id: canary(), name: canary(), input: { command: canary() } },
      ],
      usage: { input_tokens: 3, output_tokens: 4, service_tier: canary() },
    },
  })
  // a name with a space is no model's id; what a client calls its model is otherwise told
  machine.line(line('claude-opus-4-6'), session)
  machine.line(line(`my model ${canary()}`), session)
  machine.line({ type: 'user', sessionId: session, cwd, message: { role: 'user', content: canary() } }, session)
  org.publish(RULES, attribution([{ when: { repository: '*' }, set: { project: 'billing-api' } }]))
  await machine.start()
  await machine.daemon.sync()
  await machine.hook(
    { hook_event_name: 'SessionStart', source: 'startup', session_id: session, cwd },
    { 'x-holdpoint-tags': `tenant=${canary()},${canary()}=${canary()}` },
  )
  const shown = (await preview()).body
  await sync()
  const sent = org.uploads.map(({ text }) => text).join('')
  expect(sent).toBe(shown)
  expect(buckets().map(({ model, tags }) => [model, tags])).toEqual([
    ['claude-opus-4-6', { project: 'billing-api' }],
    ['unknown', { project: 'billing-api' }],
  ])
  expect(canaries.length).toBeGreaterThan(20)
  for (const word of [...canaries, machine.folder, machine.cwd, 'Dev']) expect(sent).not.toContain(word)
})

describe('attribution', () => {
  const repo = () => join(machine.cwd)
  const git = (url: string) => {
    mkdirSync(join(repo(), '.git'), { recursive: true })
    writeFileSync(join(repo(), '.git', 'config'), `[remote "origin"]\n\turl = ${url}\n`)
  }
  const tagsSent = async () => {
    machine.spend(1)
    await sync()
    return buckets().map(({ tags }) => tags)
  }

  test.each([
    ['repository', 'billing-*'],
    ['repository', 'github.com/acme/*'],
    ['directory', '*/dev/project'],
    ['directory', '~/project'],
    ['machine', () => org.machine],
    ['member', () => org.member],
  ])('follows the organisation’s rule by %s %s', async (condition, pattern) => {
    git('https://dev:secret@github.com/acme/billing-api.git')
    const value = typeof pattern === 'string' ? pattern : pattern()
    org.publish(RULES, attribution([{ when: { [condition]: value }, set: { tenant: 'acme' } }]))
    await machine.start()
    await machine.daemon.sync()
    expect(await tagsSent()).toEqual([{ tenant: 'acme' }])
  })

  test('follows the repository’s own file before the rules, and the run before both', async () => {
    git('git@github.com:acme/billing-api.git')
    writeFileSync(join(repo(), '.holdpoint.yaml'), 'tags: { tenant: globex, project: billing-api }\n')
    org.publish(RULES, attribution([{ when: { repository: '*' }, set: { tenant: 'acme' } }]))
    await machine.start()
    await machine.daemon.sync()
    expect(await tagsSent()).toEqual([{ project: 'billing-api', tenant: 'globex' }])
    await machine.hook({ hook_event_name: 'SessionStart', source: 'startup' }, { 'x-holdpoint-tags': 'tenant=acme,?' })
    machine.offset += 16 * 60_000
    expect(await tagsSent()).toEqual([
      { project: 'billing-api', tenant: 'globex' },
      { project: 'billing-api', tenant: 'acme' },
    ])
  })

  test('sends a value that was renamed by its new name, whoever still says the old one', async () => {
    git('git@github.com:acme/billing-api.git')
    writeFileSync(join(repo(), '.holdpoint.yaml'), 'tags: { tenant: acme }\n')
    const {
      attribution: [said],
    } = attribution() as { attribution: [object] }
    const renames = [{ key: 'tenant', from: 'acme', to: 'globex' }]
    org.publish(RULES, { attribution: [{ ...said, renames }] })
    await machine.start()
    await machine.daemon.sync()
    expect(await tagsSent()).toEqual([{ tenant: 'globex' }])
    expect(org.usage.get(today())!.sent.unlisted).toBeUndefined()
  })

  test('sends no value that is on no list, and says how much that is', async () => {
    writeFileSync(join(repo(), '.holdpoint.yaml'), 'tags: { tenant: secret-client, mood: fine }\n')
    org.publish(RULES, attribution())
    await machine.start()
    await machine.daemon.sync()
    expect(await tagsSent()).toEqual([{}])
    expect(org.uploads.at(-1)!.text).not.toContain('secret-client')
    expect(org.uploads.at(-1)!.text).not.toContain('mood')
    expect(org.usage.get(today())!.sent.unlisted).toEqual({ tenant: '1' })
    expect((await status()).upload.unlisted).toEqual({ tenant: 100 })
  })

  test('tells an error of the repository’s file with its line, and takes nothing of it', async () => {
    writeFileSync(join(repo(), '.holdpoint.yaml'), 'tags:\n  tenant: acme\n  project: Billing API\n')
    org.publish(RULES, attribution())
    await machine.start()
    await machine.daemon.sync()
    expect(await tagsSent()).toEqual([{}])
    expect((await status()).tagProblems).toMatchObject([{ file: join(repo(), '.holdpoint.yaml'), line: 3 }])
  })

  test('is changed for what was sent when the rules change', async () => {
    git('git@github.com:acme/billing-api.git')
    org.publish(RULES, attribution())
    await machine.start()
    await machine.daemon.sync()
    expect(await tagsSent()).toEqual([{}])
    org.publish(RULES, attribution([{ when: { repository: 'billing-api' }, set: { tenant: 'acme' } }]))
    await machine.daemon.sync()
    await sync()
    expect(buckets().map(({ tags }) => tags)).toEqual([{ tenant: 'acme' }])
  })

  test('is changed for every day that was sent, in uploads of forty, and by no other publish', async () => {
    git('git@github.com:acme/billing-api.git')
    const joined = machine.now()
    org.publish(RULES, attribution())
    await machine.start()
    await machine.daemon.sync()
    for (let day = 0; day < 60; day++) machine.spend(1, { at: joined + day * DAY_MS + 1000 })
    machine.offset += 60 * DAY_MS
    await sync()
    const before = org.uploads.length
    org.publish(`${RULES}tests: []\n`, attribution())
    await machine.daemon.sync()
    await sync()
    expect(org.uploads).toHaveLength(before)
    org.publish(RULES, attribution([{ when: { repository: 'billing-api' }, set: { tenant: 'acme' } }]))
    await machine.daemon.sync()
    await sync()
    expect(org.uploads.slice(before).map(({ upload }) => upload.days.length)).toEqual([40, 20])
    expect([...org.usage.values()].every(({ sent }) => sent.buckets[0]!.tags.tenant === 'acme')).toBe(true)
    // the newest first: budgets wait for today
    expect(org.uploads[before]!.upload.days.at(-1)!.day).toBe([...org.usage.keys()].sort().at(-1))
  })

  test('keeps the last good tags of a broken file over a restart, and of one that was deleted none', async () => {
    const file = join(repo(), '.holdpoint.yaml')
    writeFileSync(file, 'tags: { tenant: acme }\n')
    org.publish(RULES, attribution())
    await machine.start()
    await machine.daemon.sync()
    expect(await tagsSent()).toEqual([{ tenant: 'acme' }])
    writeFileSync(file, 'tags: { tenant: [\n')
    await machine.daemon.stop()
    await machine.start()
    expect(await tagsSent()).toEqual([{ tenant: 'acme' }])
    rmSync(file)
    await machine.daemon.stop()
    await machine.start()
    machine.offset += 16 * 60_000
    expect(await tagsSent()).toEqual([{ tenant: 'acme' }, {}])
    writeFileSync(file, 'tags: { tenant: [\n')
    await machine.daemon.stop()
    await machine.start()
    machine.offset += 16 * 60_000
    expect((await tagsSent()).at(-1)).toEqual({})
  })

  test('stays as it was when a rule or a value goes: what is used after that belongs to nobody', async () => {
    git('git@github.com:acme/billing-api.git')
    writeFileSync(join(repo(), '.holdpoint.yaml'), 'tags: { project: billing-api, team: core }\n')
    const rules = [{ when: { repository: 'billing-api' }, set: { tenant: 'acme' } }]
    org.publish(RULES, attribution(rules, { ...TAGS, team: ['core'] }))
    await machine.start()
    await machine.daemon.sync()
    const before = { project: 'billing-api', team: 'core', tenant: 'acme' }
    expect(await tagsSent()).toEqual([before])
    const joined = machine.now()
    machine.offset += 20 * 60_000
    // the tenant left: its rule goes, its value too; and a tag goes altogether
    org.publish(RULES, attribution([], { ...TAGS, tenant: ['globex'], project: [] }))
    await machine.daemon.sync()
    expect(await tagsSent()).toEqual([before, {}])
    expect(org.usage.get(today())!.sent.unlisted).toEqual({ project: '1' })
    // over a restart too, and for what was used then and is seen only now
    await machine.daemon.stop()
    await machine.start()
    machine.spend(1, { at: joined + 1000 })
    await machine.daemon.sync()
    await sync()
    expect(buckets().map(({ tags, calls }) => [tags, calls])).toEqual([
      [before, 2],
      [{}, 1],
    ])
    // whoever says otherwise now is heard, for what was used before as well
    org.publish(RULES, attribution([{ when: { repository: '*' }, set: { tenant: 'globex' } }]))
    await machine.daemon.sync()
    await sync()
    expect(buckets().map(({ tags }) => tags)).toEqual([
      { project: 'billing-api', team: 'core', tenant: 'globex' },
      { project: 'billing-api', tenant: 'globex' },
    ])
  })

  test('decides which rules are for a session: another tenant’s holds nobody', async () => {
    const rule = (name: string, tenant: string) =>
      `  - name: ${name}\n    action: continue\n    when: { session_cost_usd: ">= 1" }\n    require: deny\n    stage: enforce\n    for: { tenants: [${tenant}] }\n`
    writeFileSync(join(repo(), '.holdpoint.yaml'), 'tags: { tenant: acme }\n')
    org.publish(`boundaries:\n${rule('theirs', 'globex')}`, attribution())
    await machine.start()
    await machine.daemon.sync()
    machine.spend(2)
    expect((await machine.hook({ tool_use_id: 'toolu_a' })).body).toBe('')
    org.publish(`boundaries:\n${rule('theirs', 'globex')}${rule('ours', 'acme')}`, attribution())
    await machine.daemon.sync()
    expect((await machine.hook({ tool_use_id: 'toolu_b' })).body).toContain('ours')
  })
})

test('while another process writes the ledger the daemon runs, says so, and reads when it is free', async () => {
  const free = takeLedger(machine.home)
  machine.spend(1)
  await machine.start()
  await machine.daemon.tick()
  expect((await machine.hook()).status).toBe(200)
  expect((await status()).problem).toContain('another process')
  expect(outputOf()).toBe(0)
  free()
  await sync()
  expect((await status()).problem).toBeUndefined()
  expect(outputOf()).toBe(40_000)
  expect(() => takeLedger(machine.home)).toThrow('another process')
})

test('a disk that fills up in the middle of a line costs no call and counts none twice', async () => {
  let isFull = false
  machine = new Machine({
    ...DISK,
    write(fd, bytes) {
      if (!isFull) return DISK.write(fd, bytes)
      if (bytes.length > 20) return DISK.write(fd, bytes.subarray(0, 20))
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    },
  })
  machine.offset = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2 - Date.now()
  org.clock = machine.now
  machine.join(org)
  await machine.start()
  machine.spend(1)
  await machine.daemon.tick()
  isFull = true
  machine.spend(2)
  await machine.daemon.tick()
  expect((await machine.hook()).status).toBe(200)
  expect((await status()).problem).toContain('no space')
  isFull = false
  machine.spend(4)
  await sync()
  expect((await status()).problem).toBeUndefined()
  expect(buckets().map(({ calls, cost }) => [calls, cost])).toEqual([[3, '7']])
})

test('a home that was never joined sends and shows nothing', async () => {
  rmSync(machine.home.team)
  machine.spend(1)
  await machine.start()
  await machine.daemon.tick()
  expect(org.calls).toEqual([])
  expect(existsSync(join(machine.home.usage, 'days', `${today()}.jsonl`))).toBe(true)
})
