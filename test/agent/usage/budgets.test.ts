import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { FleetBudget } from '#core/budget/fleet.ts'
import { windowAt } from '#core/budget/window.ts'
import { Organisation } from '../daemon/organisation.ts'
import { Machine, onCleanup, told } from '../daemon/world.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

let org: Organisation
let machine: Machine
let n = 0
beforeEach(async () => {
  org = new Organisation()
  machine = new Machine()
  machine.offset = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2 - Date.now()
  org.clock = machine.now
  await org.listen()
  onCleanup(() => org.close())
})

const call = async (session?: string) =>
  told(await machine.hook({ tool_use_id: `toolu_${n++}`, ...(session ? { session_id: session } : {}) })).decision
const rule = (budget: string, over: string, more = '') =>
  `  - name: cap\n    action: spend\n    when: { budget_used_pct: "${over}", budget: ${budget} }\n    require: deny\n    stage: enforce\n${more}`

describe('the organisation’s budget', () => {
  const DEFINED = {
    name: 'monthly',
    amount: '100',
    currency: 'USD',
    window: 'monthly',
    zone: 'UTC',
    basis: 'equivalent',
    steps: [50],
    owners: ['role:admin'],
  }
  const { start, end } = windowAt({ kind: 'monthly' }, 'UTC', Date.now())
  const fleet = (used: string, own = '0', more: Partial<FleetBudget> = {}): FleetBudget => ({
    name: 'monthly',
    amount: '100',
    currency: 'USD',
    basis: 'equivalent',
    windowStart: new Date(start).toISOString(),
    windowEnd: new Date(end).toISOString(),
    zone: 'UTC',
    used,
    own,
    ownSeq: 0,
    ...more,
  })
  async function started(over = '>= 90', more = '', set: object = {}) {
    machine.join(org)
    org.publish(`boundaries:\n${rule('monthly', over, more)}`, { budgets: [DEFINED], ...set })
    await machine.start()
    await machine.daemon.sync()
  }

  test('holds by what the fleet has spent, and this machine since it was counted', async () => {
    org.budgets = () => ({ budgets: [fleet('80')] })
    await started()
    await machine.daemon.tick()
    expect(await call()).toBe('pass')
    // at once, with the next call, not at the next minute
    machine.spend(11)
    expect(await call()).toBe('deny')
    // what has been counted of it meanwhile is not counted again
    org.budgets = () => ({ budgets: [fleet('85', '5')] })
    await machine.daemon.tick()
    expect((await machine.ask('GET', '/api/budgets', { token: 'api' })).json.budgets).toMatchObject([
      { name: 'org:monthly', used: '91', left: '9', pct: '91.0', exhausted: false },
    ])
    expect(await call()).toBe('deny')
    org.budgets = () => ({ budgets: [fleet('85', '11')] })
    await machine.daemon.tick()
    expect(await call()).toBe('pass')
  })

  test('has nothing in it that this machine spent before it joined', async () => {
    machine.spend(50, { at: machine.now() - 3600_000 })
    org.budgets = () => ({ budgets: [fleet('80')] })
    await started()
    await machine.daemon.tick()
    expect(await call()).toBe('pass')
    machine.spend(9)
    await machine.daemon.tick()
    const [shown] = (await machine.ask('GET', '/api/budgets', { token: 'api' })).json.budgets
    expect(shown).toMatchObject({ used: '89' })
  })

  test('has nothing in it twice that this home spent as the machine it was, where it joined once more with its history', async () => {
    machine.spend(50)
    machine.join(org)
    const backfill = () => {
      const team = JSON.parse(readFileSync(machine.home.team, 'utf8'))
      writeFileSync(machine.home.team, JSON.stringify({ ...team, backfill: true }))
    }
    backfill()
    await machine.start()
    await machine.ask('POST', '/api/sync', { token: 'api', body: '{}' })
    expect(org.usage.size).toBe(1)
    await machine.daemon.stop()
    machine.offset += MINUTE_MS
    machine.spend(4)
    Object.assign(org, { machine: `mac_${'b'.repeat(16)}`, usage: new Map(), usageSeen: new Map() })
    machine.join(org)
    backfill()
    // the fleet has the fifty as the other machine's, and of this one nothing yet
    org.budgets = () => ({ budgets: [fleet('50')] })
    org.publish(`boundaries:\n${rule('monthly', '>= 90')}`, { budgets: [DEFINED] })
    await machine.start()
    await machine.daemon.sync()
    await machine.daemon.tick()
    const [shown] = (await machine.ask('GET', '/api/budgets', { token: 'api' })).json.budgets
    expect(shown).toMatchObject({ used: '54' })
  })

  test('counts as unread when it was counted more than five minutes ago', async () => {
    org.budgets = () => ({ budgets: [fleet('95')] })
    await started()
    await machine.daemon.tick()
    expect(await call()).toBe('deny')
    org.budgets = undefined
    machine.offset += 4 * MINUTE_MS
    await machine.daemon.tick()
    expect(await call()).toBe('deny')
    machine.offset += 2 * MINUTE_MS
    await machine.daemon.tick()
    expect(await call()).toBe('pass')
    const notes = async () => (await machine.ask('GET', '/api/status', { token: 'api' })).json.rules[0].notes.join()
    expect(await notes()).toContain('cannot be read')
    org.budgets = () => ({ budgets: [fleet('95')] })
    await machine.daemon.tick()
    expect(await notes()).toBe('')
  })

  test('is not believed of an older count, another machine, or another’s signature', async () => {
    org.budgets = () => ({ budgets: [fleet('95')] })
    await started()
    await machine.daemon.tick()
    const lies: (() => void)[] = [
      () => {
        org.budgets = () => ({ cut: new Date(machine.now() - MINUTE_MS).toISOString(), budgets: [fleet('1')] })
      },
      () => {
        org.budgets = () => ({ machine: 'mac_aaaaaaaaaaaaaaaa', budgets: [fleet('1')] })
      },
      () => {
        org.budgets = () => ({ budgets: [fleet('1')] })
        org.keys.fresh = org.keys.ruleset
      },
    ]
    for (const lie of lies) {
      lie()
      await machine.daemon.tick()
      expect(await call()).toBe('deny')
    }
  })

  test('of every tenant reads the call’s own tenant, whose spend may have begun here', async () => {
    const lists = { attribution: [{ tags: { tenant: ['acme', 'globex'] }, rules: [] }] }
    const each = { ...DEFINED, for: { tenant: '*' } }
    mkdirSync(machine.cwd, { recursive: true })
    writeFileSync(join(machine.cwd, '.holdpoint.yaml'), 'tags: { tenant: globex }\n')
    org.budgets = () => ({ budgets: [fleet('99', '0', { of: { key: 'tenant', value: 'acme' } })] })
    await started('>= 90', '', { budgets: [each], ...lists })
    await machine.daemon.tick()
    expect(await call()).toBe('pass')
    machine.spend(91)
    expect(await call()).toBe('deny')
  })

  test('of a tenant that was renamed counts the calls of whoever still says the old name', async () => {
    const renames = [{ key: 'tenant', from: 'acme', to: 'globex' }]
    const lists = { attribution: [{ tags: { tenant: ['acme', 'globex'] }, rules: [], renames }] }
    mkdirSync(machine.cwd, { recursive: true })
    writeFileSync(join(machine.cwd, '.holdpoint.yaml'), 'tags: { tenant: acme }\n')
    org.budgets = () => ({ budgets: [fleet('50', '0', { of: { key: 'tenant', value: 'globex' } })] })
    await started('>= 90', '', { budgets: [{ ...DEFINED, for: { tenant: '*' } }], ...lists })
    await machine.daemon.tick()
    expect(await call()).toBe('pass')
    machine.spend(41)
    expect(await call()).toBe('deny')
  })

  describe('in another currency', () => {
    const day = (back: number) => new Date(machine.now() - back * DAY_MS).toISOString().slice(0, 10)
    const euro = (used: string, own = '0') =>
      fleet(used, own, {
        currency: 'EUR',
        windowStart: new Date(machine.now() - 10 * DAY_MS).toISOString(),
        windowEnd: new Date(machine.now() + 10 * DAY_MS).toISOString(),
      })
    const shown = async () => (await machine.ask('GET', '/api/budgets', { token: 'api' })).json.budgets[0]

    test('adds what this machine has spent since, each day at the rate that the fleet was counted with', async () => {
      const exchange = [
        { currency: 'EUR', from: day(40), perUsd: '0.5' },
        { currency: 'EUR', from: day(0), perUsd: '0.9' },
      ]
      org.budgets = () => ({ budgets: [euro('80', '10')], exchange })
      await started('>= 90')
      machine.spend(10)
      await machine.daemon.tick()
      // 10 dollars of today are 9 euros, less than what was counted of it already
      expect(await shown()).toMatchObject({ currency: 'EUR', used: '80', left: '20' })
      expect(await call()).toBe('pass')
      // 22 dollars are 19.80 euros: 80 - 10 + 19.80
      machine.spend(12)
      expect(await call()).toBe('pass')
      expect(await shown()).toMatchObject({ used: '89.8', left: '10.2', leftUsd: '11.333333333333', notes: [] })
      machine.spend(1)
      await machine.daemon.tick()
      expect(await shown()).toMatchObject({ used: '90.7', pct: '90.7' })
      expect(await call()).toBe('deny')
      // a new day's rate moves what is spent then, and not what was spent before
      machine.offset += DAY_MS
      org.budgets = () => ({
        budgets: [euro('80', '10')],
        exchange: [...exchange, { currency: 'EUR', from: day(0), perUsd: '2' }],
      })
      await machine.daemon.tick()
      expect(await shown()).toMatchObject({ used: '90.7' })
      machine.spend(1)
      await machine.daemon.tick()
      expect(await shown()).toMatchObject({ used: '92.7' })
    })

    test('keeps to the fleet’s count where no rate of its days is told, and says so', async () => {
      for (const exchange of [undefined, [{ currency: 'EUR', from: day(9), perUsd: '0.5' }]]) {
        org.budgets = () => ({ budgets: [euro('80')], ...(exchange ? { exchange } : {}) })
        if (exchange === undefined) await started()
        machine.spend(50)
        await machine.daemon.tick()
        expect(await call()).toBe('pass')
        const budget = await shown()
        expect(budget).toMatchObject({ used: '80', notes: [expect.stringContaining('no rate of EUR')] })
        expect(budget).not.toHaveProperty('leftUsd')
      }
    })

    test('does not believe rates of a form that nobody sends', async () => {
      org.budgets = () => ({ budgets: [euro('95')], exchange: [{ currency: 'EUR', from: day(20), perUsd: '1' }] })
      await started('>= 90')
      await machine.daemon.tick()
      expect(await call()).toBe('deny')
      for (const bad of [{ perUsd: '0' }, { perUsd: '-1' }, { currency: 'eur' }, { from: 'ever' }, { fee: '1' }]) {
        const rate = { currency: 'EUR', from: day(20), perUsd: '1', ...bad }
        org.budgets = () => ({ budgets: [euro('1')], exchange: [rate] })
        await machine.daemon.tick()
        // the count of before stands until it is too old
        expect(await shown()).toMatchObject({ used: '95' })
      }
    })
  })
})

describe('a developer’s own budget', () => {
  const local = (scope: string, amount = 10) =>
    `budgets:\n  - { name: mine, amount: "${amount}", window: daily, zone: UTC, scope: ${scope} }\nboundaries:\n${rule('mine', '>= 100')}`

  test('of the machine counts all of its folders, of before the daemon too', async () => {
    machine.config(local('global'))
    machine.spend(6, { session: '00000000-0000-4000-8000-000000000002' })
    await machine.start()
    await machine.daemon.tick()
    expect(await call()).toBe('pass')
    machine.spend(5)
    expect(await call()).toBe('deny')
    await machine.daemon.tick()
    expect(await call()).toBe('deny')
    // a new day is a new window, from its first moment on: the count of a moment ago is of the one before
    machine.offset += DAY_MS / 2 - 2 * MINUTE_MS
    await machine.daemon.tick()
    expect(await call()).toBe('deny')
    machine.offset += 3 * MINUTE_MS
    expect(await call()).toBe('pass')
    await machine.daemon.tick()
    expect(await call()).toBe('pass')
  })

  test('of a workspace holds in that one only', async () => {
    machine.config(local('workspace'))
    machine.spend(11)
    await machine.start()
    await machine.daemon.tick()
    expect(await call()).toBe('deny')
    const elsewhere = join(machine.folder, 'dev', 'other')
    mkdirSync(elsewhere, { recursive: true })
    const reply = await machine.hook({
      session_id: '00000000-0000-4000-8000-000000000009',
      cwd: elsewhere,
      transcript_path: '',
      tool_use_id: 'toolu_other',
    })
    expect(told(reply).decision).toBe('pass')
  })

  test('of what is billed counts what is known to be paid for by the call, and that with the next call', async () => {
    const budget = local('global').replace('scope: global', 'scope: global, basis: billed')
    const covered = async (said: string) => {
      machine.config(`${budget}${said}`)
      await machine.daemon.tick()
    }
    machine.config(budget)
    machine.spend(11)
    await machine.start()
    for (const [said, decision] of [
      ['', 'pass'],
      ['covered: { claude-code: plan }\n', 'pass'],
      ['covered: { claude-code: metered }\n', 'deny'],
    ] as const) {
      await covered(said)
      expect(await call(), said).toBe(decision)
    }
    await covered('covered: { claude-code: plan }\n')
    machine.spend(11)
    expect(await call()).toBe('pass')
    machine.offset += DAY_MS
    await covered('covered: { claude-code: metered }\n')
    expect(await call()).toBe('pass')
    machine.spend(11)
    expect(await call()).toBe('deny')
  })

  test('of a tag counts each value by itself', async () => {
    machine.config(local('tag:mood'))
    writeFileSync(join(machine.cwd, '.holdpoint.yaml'), 'tags: { mood: good }\n')
    machine.spend(11)
    await machine.start()
    await machine.daemon.tick()
    expect(await call()).toBe('deny')
    expect((await machine.ask('GET', '/api/budgets', { token: 'api' })).json.budgets).toMatchObject([
      { name: 'mine', of: { key: 'mood', value: 'good' }, used: '11', left: '0', exhausted: true },
    ])
  })
})
