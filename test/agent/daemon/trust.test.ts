import { readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { crypto, makeKey, signJws } from '#agent/crypto.ts'
import { remove } from '#agent/home.ts'
import { parseJws, payloadDigest } from '#core/jws.ts'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup, told } from './world.ts'

let org: Organisation
let machine: Machine

beforeEach(async () => {
  org = new Organisation()
  machine = new Machine()
  org.clock = machine.now
  await org.listen()
  onCleanup(() => org.close())
  machine.join(org)
  org.publish(RULE('deny'))
  await machine.start()
  await machine.daemon.sync()
  machine.spend(20.1)
})

const rulesOf = async () => (await machine.ask('GET', '/api/status', { token: 'api' })).json.team.rules
const isHeld = async () =>
  told(await machine.hook({ tool_use_id: `toolu_${Math.random().toString(36).slice(2)}` })).decision === 'deny'
/** What the control plane hands out next: anything signed. */
const serve = (rules: string | undefined, fresh: string | undefined = org.fresh()) => {
  org.serve.rules = () => ({
    status: rules === undefined ? 304 : 200,
    ...(rules === undefined ? {} : { body: rules }),
    fresh,
  })
}
async function refusalOf(): Promise<string> {
  await machine.daemon.sync().catch(() => {})
  const rules = await rulesOf()
  expect(await isHeld()).toBe(true)
  return rules.lastError?.code
}

describe('five refusals, each with its own reason; the good set stays in force', () => {
  test('the same version with other bytes', async () => {
    serve(org.makeRuleSet(RULE('allow'), { version: 1 }))
    expect(await refusalOf()).toBe('same_version_other_content')
    expect((await rulesOf()).digest).toBe(org.rulesetDigest)
  })

  test('a lower version', async () => {
    org.publish(RULE('deny'))
    await machine.daemon.sync()
    serve(org.makeRuleSet(RULE('allow'), { version: 1 }))
    expect(await refusalOf()).toBe('lower_version')
    expect((await rulesOf()).version).toBe(2)
  })

  test('an owner key that was not committed to', async () => {
    org.keys = { ...org.keys, owner: makeKey(), ruleset: makeKey() }
    org.addRoot({})
    org.ruleset = org.makeRuleSet(RULE('allow'), { version: 2 })
    org.version = 2
    serve(org.ruleset)
    expect(await refusalOf()).toBe('wrong_next_key')
    expect((await rulesOf()).rootSeq).toBe(1)
  })

  test('the old key after a rotation', async () => {
    const old = org.keys.ruleset
    org.rotate('ruleset')
    await machine.daemon.sync()
    expect(await rulesOf()).toMatchObject({ rootSeq: 2, version: 1 })
    serve(org.makeRuleSet(RULE('allow'), { version: 9, key: old }))
    expect(await refusalOf()).toBe('unknown_key')
    expect((await rulesOf()).version).toBe(1)
  })

  test('a sibling rotation: both are kept, neither is followed', async () => {
    const before = { keys: org.keys, roots: [...org.roots], root: org.root, digest: org.rootDigest }
    org.rotate('ruleset')
    await machine.daemon.sync()
    const followed = org.rootDigest
    Object.assign(org, { keys: before.keys, roots: before.roots, root: before.root, rootDigest: before.digest })
    org.rotate('ruleset')
    org.publish(RULE('allow'))
    expect(org.rootDigest).not.toBe(followed)
    expect(await refusalOf()).toBe('equivocation')
    expect(await rulesOf()).toMatchObject({ rootSeq: 2, version: 1, equivocation: true })
    expect(JSON.parse(readFileSync(machine.home.equivocation, 'utf8')).other).toContainEqual(org.roots[1])
    // and still after a restart
    await machine.daemon.stop()
    await machine.start()
    expect(await rulesOf()).toMatchObject({ rootSeq: 2, equivocation: true })
  })
})

describe('other documents that are refused', () => {
  test.each([
    ['a foreign signature', () => org.makeRuleSet(RULE('allow'), { version: 2, key: makeKey() }), 'unknown_key'],
    [
      'another organisation',
      () => org.makeRuleSet(RULE('allow'), { version: 2, org: 'org_bbbbbbbbbbbbbbbb' }),
      'other_organisation',
    ],
    ['a set of another form', () => org.makeRuleSet(RULE('allow'), { version: 2, maxAge: 'long' }), 'malformed'],
    ['no document at all', () => '<html>captive portal</html>', 'bad_signature'],
    [
      'bytes changed on the way',
      () => org.makeRuleSet(RULE('allow'), { version: 2 }).replace(/\.(.)/, (_, c) => (c === 'e' ? '.f' : '.e')),
      'bad_signature',
    ],
  ])('%s', async (_, make, code) => {
    serve(make())
    expect(await refusalOf()).toBe(code)
    expect(await rulesOf()).toMatchObject({ version: 1, digest: org.rulesetDigest })
  })

  test('the reason goes once the control plane is in order again', async () => {
    serve('nonsense')
    await refusalOf()
    org.serve = {}
    await machine.daemon.sync()
    expect((await rulesOf()).lastError).toBeUndefined()
  })
})

describe('the copy on disk', () => {
  test('is verified when it changes: rules edited on disk are no rules, and the last good stays', async () => {
    writeFileSync(machine.home.ruleset, org.makeRuleSet(RULE('allow'), { version: 2, key: makeKey() }))
    expect(await isHeld()).toBe(true)
    expect((await rulesOf()).lastError.code).toBe('unknown_key')
    // the next poll asks for the whole set and heals the copy
    await machine.daemon.sync()
    expect(readFileSync(machine.home.ruleset, 'utf8')).toBe(org.ruleset)
  })

  test('lets a second start work offline', async () => {
    await machine.daemon.stop()
    org.goDown()
    await machine.start()
    expect(await isHeld()).toBe(true)
    expect(await rulesOf()).toMatchObject({ version: 1, digest: org.rulesetDigest })
  })

  test('broken or gone does not keep the daemon from starting, and the version that was seen is still checked', async () => {
    org.publish(RULE('deny'))
    await machine.daemon.sync()
    await machine.daemon.stop()
    writeFileSync(machine.home.ruleset, 'torn')
    serve(org.makeRuleSet(RULE('allow'), { version: 1 }))
    await machine.start()
    expect(await rulesOf()).toMatchObject({ version: 0, highestSeen: 2 })
    await machine.daemon.sync().catch(() => {})
    expect((await rulesOf()).lastError.code).toBe('lower_version')
    org.serve = {}
    await machine.daemon.sync()
    expect((await rulesOf()).version).toBe(2)
    expect(await isHeld()).toBe(true)
  })

  test('of the roots, broken, is no reason to follow others', async () => {
    writeFileSync(machine.home.roots, JSON.stringify(new Organisation().roots))
    expect(await isHeld()).toBe(true)
    expect((await rulesOf()).rootSeq).toBe(1)
  })
})

describe('following', () => {
  test('a rotation takes force as a pair, and not while the rules cannot be had', async () => {
    org.rotate('ruleset')
    const good = org.ruleset!
    org.ruleset = undefined
    org.serve.rules = () => ({ status: 500, fresh: org.fresh() })
    await machine.daemon.sync().catch(() => {})
    expect((await rulesOf()).rootSeq).toBe(1)
    expect(await isHeld()).toBe(true)
    org.serve = {}
    org.ruleset = good
    await machine.daemon.sync()
    expect(await rulesOf()).toMatchObject({ rootSeq: 2, version: 1 })
    expect((await rulesOf()).lastError).toBeUndefined()
    await machine.daemon.stop()
    await machine.start()
    expect(await rulesOf()).toMatchObject({ rootSeq: 2, version: 1 })
  })

  test('a death between writing the root and the rules leaves a pair that verifies', async () => {
    const oldRules = readFileSync(machine.home.ruleset, 'utf8')
    org.rotate('ruleset')
    await machine.daemon.sync()
    const newRules = readFileSync(machine.home.ruleset, 'utf8')
    await machine.daemon.stop()
    // as the disk stands after the second of the three writes
    writeFileSync(machine.home.ruleset, oldRules)
    writeFileSync(machine.home.nextRuleset, newRules)
    await machine.start()
    expect(await rulesOf()).toMatchObject({ rootSeq: 2, version: 1 })
    expect(readFileSync(machine.home.ruleset, 'utf8')).toBe(newRules)
  })

  test('every other role is rotated without new rules', async () => {
    for (const role of ['answer', 'fresh', 'ledger'] as const) {
      org.rotate(role)
      await machine.daemon.sync()
      expect((await rulesOf()).rootSeq).toBe(org.roots.length)
    }
  })

  test('the committed next owner key may follow, signed by it and by the one before', async () => {
    const before = org.keys.owner
    org.keys = { ...org.keys, owner: org.keys.nextOwner, nextOwner: makeKey() }
    org.addRoot({ signWith: [before, org.keys.owner] })
    org.publish(RULE('deny'))
    await machine.daemon.sync()
    expect(await rulesOf()).toMatchObject({ rootSeq: 2, version: 2 })
  })

  test('a roll back of the organisation, as a higher version, reaches the machine in one fetch whatever is cached', async () => {
    org.publish(RULE('allow'))
    await machine.daemon.sync()
    expect(await isHeld()).toBe(false)
    org.publish(RULE('deny'))
    await machine.daemon.sync()
    expect(await isHeld()).toBe(true)
  })

  test('a malformed answer is not asked for again in a loop, and calls are judged meanwhile', async () => {
    await machine.daemon.stop()
    const asked: number[] = []
    org.serve.rules = () => {
      asked.push(performance.now())
      return { status: 200, body: 'not a document', fresh: org.fresh() }
    }
    await machine.start({ follow: true })
    expect(await isHeld()).toBe(true)
    // one look by each of the two loops at the start, then the first wait between tries
    await expect.poll(() => asked.length).toBeGreaterThan(2)
    expect(asked[2]! - asked[1]!).toBeGreaterThan(450)
  })

  test('the long poll brings a publish and an answer long before the next minute', async () => {
    await machine.daemon.stop()
    await machine.start({ follow: true })
    await expect.poll(() => org.calls.filter(call => call === 'GET wait').length).toBeGreaterThan(0)
    org.publish(RULE('approver:lead'))
    await expect.poll(async () => (await rulesOf()).version).toBe(2)
    expect(await isHeld()).toBe(true)
    await expect.poll(() => org.requests.length).toBe(1)
    org.answer(org.requests[0]!)
    await expect.poll(isHeld, { interval: 100 }).toBe(false)
  })

  test('new rules are reported at once when they come into force, not with the next minute', async () => {
    await machine.daemon.stop()
    await machine.start({ follow: true })
    await expect.poll(() => org.calls.filter(call => call === 'GET wait').length).toBeGreaterThan(0)
    org.publish(RULE('approver:lead'))
    await expect.poll(() => org.reports.at(-1)?.rules.version, { interval: 50 }).toBe(2)
    const sent = org.reports.length
    // and once: the next report is of the next version
    org.publish(RULE('approver:admin'))
    await expect.poll(() => org.reports.at(-1)?.rules.version, { interval: 50 }).toBe(3)
    expect(org.reports).toHaveLength(sent + 1)
  })

  test('leaving forgets the organisation’s rules; its own stay', async () => {
    machine.config(RULE('deny', 50).replace('session-spend', 'own'))
    expect(await isHeld()).toBe(true)
    for (const path of [
      machine.home.team,
      machine.home.roots,
      machine.home.ruleset,
      machine.home.fresh,
      machine.home.pin,
    ])
      remove(path)
    await machine.daemon.tick()
    expect((await machine.ask('GET', '/api/status', { token: 'api' })).json.team).toBeNull()
    expect(await isHeld()).toBe(false)
    machine.spend(40)
    expect(await isHeld()).toBe(true)
  })

  test('a revoked machine says so and keeps what is in force', async () => {
    org.revoked = true
    await machine.daemon.sync().catch(() => {})
    expect((await rulesOf()).lastError.code).toBe('revoked')
    expect(await isHeld()).toBe(true)
  })
})

describe('age', () => {
  test('304 for a day without freshness: the rules are stale, still refuse, and release nothing', async () => {
    org.publish(RULE('approver:lead'))
    await machine.daemon.sync()
    org.serve.rules = () => ({ status: 304, fresh: undefined })
    machine.offset += 24 * 3600_000 - 60_000
    expect(await isHeld()).toBe(true)
    await machine.daemon.sync()
    expect((await rulesOf()).stale).toBe(false)
    const request = org.requests.at(-1)!
    machine.offset += 120_000
    await machine.daemon.sync()
    expect(await rulesOf()).toMatchObject({ stale: true, version: 2 })
    // an answer with nothing wrong in it: it waits for younger rules, and is good once they come
    org.answer(request)
    await machine.daemon.sync()
    const refused = told(await machine.hook({ tool_use_id: 'toolu_stale' }))
    expect(refused.decision).toBe('deny')
    expect(refused.reason).toContain('has not heard from the control plane for too long')
    org.serve = {}
    await machine.daemon.sync()
    expect(await isHeld()).toBe(false)
  })

  test('stale rules that deny go on denying', async () => {
    org.serve.rules = () => ({ status: 304, fresh: undefined })
    machine.offset += 10 * 24 * 3600_000
    await machine.daemon.sync()
    expect(await rulesOf()).toMatchObject({ stale: true, version: 1 })
    expect(await isHeld()).toBe(true)
  })

  test('a freshness for another version does not make these rules young', async () => {
    const before = (await rulesOf()).freshAt
    machine.offset += 60_000
    serve(undefined, org.fresh({ version: 5, digest: 'x' }))
    await machine.daemon.sync()
    expect((await rulesOf()).freshAt).toBe(before)
    serve(undefined, org.fresh({ version: 1, digest: 'another' }))
    expect(await refusalOf()).toBe('same_version_other_content')
  })

  test('a day without the control plane changes nothing and says why', async () => {
    org.goDown()
    machine.offset += 24 * 3600_000
    expect(await refusalOf()).toBe('unreachable')
    expect(await rulesOf()).toMatchObject({ version: 1 })
    expect((await rulesOf()).ageS).toBeGreaterThanOrEqual(24 * 3600)
    org.down = false
    await machine.daemon.sync()
    expect((await rulesOf()).lastError).toBeUndefined()
  })
})

describe('clocks', () => {
  test.each([
    ['six seconds ahead', 6000, undefined],
    ['six seconds behind', -6000, undefined],
    ['an hour ahead', 3600_000, 'expired'],
    ['an hour behind', -3600_000, 'from_the_future'],
  ])('%s: %s', async (_, offset, code) => {
    org.clock = () => Date.now()
    machine.offset = offset
    org.publish(RULE('deny', 10))
    await machine.daemon.sync().catch(() => {})
    const rules = await rulesOf()
    // the rules are taken by their version whatever the clock says
    expect(rules.version).toBe(2)
    expect(rules.lastError?.code).toBe(code)
    expect(machine.entries('alarm').some(entry => entry.what === 'clock_off')).toBe(code !== undefined)
  })

  test('one that ran a year ahead comes back by what the control plane has signed', async () => {
    machine.offset += 365 * 24 * 3600_000
    await machine.daemon.tick()
    machine.offset = 0
    org.clock = () => Date.now()
    await machine.daemon.sync()
    expect((await rulesOf()).ageS).toBeLessThan(5)
    expect(machine.daemon.runtime.membership!.trust.clock()).toBeLessThan(Date.now() + 60_000)
  })
})

test('unknown sections are listed, an unreadable rule is reported and held by its own word', async () => {
  const set = JSON.parse(Buffer.from(org.ruleset!.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>
  const newer = {
    name: 'newer',
    action: 'continue',
    when: { phase_of_moon: '>= 1' },
    require: 'deny',
    stage: 'enforce',
    on_unknown: 'hold',
  }
  org.ruleset = signJws('holdpoint-ruleset+jws', org.keys.ruleset, {
    ...set,
    version: 2,
    boundaries: [newer],
    sooner: [],
  })
  org.version = 2
  org.rulesetDigest = payloadDigest(parseJws(org.ruleset).payload, crypto.sha256)
  await machine.daemon.sync()
  expect(await rulesOf()).toMatchObject({ version: 2, unsupported: ['newer'], unknownSections: ['sooner'] })
  expect(await isHeld()).toBe(true)
})

test('what this machine has joined is not left by a file that cannot be read', async () => {
  const team = readFileSync(machine.home.team)
  writeFileSync(machine.home.team, 'torn')
  remove(machine.home.machineKey)
  await machine.daemon.tick()
  expect(await isHeld()).toBe(true)
  writeFileSync(machine.home.team, team)
  await machine.daemon.stop()
  await machine.start()
  expect(await isHeld()).toBe(true)
})

test('an equivocation stays told after polls that went well', async () => {
  const before = { keys: org.keys, roots: [...org.roots], root: org.root, rootDigest: org.rootDigest }
  org.rotate('ledger')
  await machine.daemon.sync()
  const followed = { keys: org.keys, roots: [...org.roots], root: org.root, rootDigest: org.rootDigest }
  Object.assign(org, before)
  org.rotate('ledger')
  org.serve.roots = () => org.roots
  machine.offset += 3600_001
  await machine.daemon.sync().catch(() => {})
  Object.assign(org, followed)
  org.serve = {}
  await machine.daemon.sync()
  expect((await rulesOf()).lastError.code).toBe('equivocation')
  await machine.daemon.report()
  expect(org.reports.at(-1)!.rules.lastError!.code).toBe('equivocation')
})

describe('a pin that was deleted or put back', () => {
  const oldDocuments = () =>
    [machine.home.ruleset, machine.home.pin, machine.home.fresh].map(path => [path, readFileSync(path)] as const)

  test.each([
    ['deleted', false],
    ['put back to what it was', true],
  ])('%s: the journal knows which version was in force, and no earlier rules come back', async (_, putBack) => {
    const old = oldDocuments()
    expect(await isHeld()).toBe(true)
    org.publish(RULE('deny', 15))
    await machine.daemon.sync()
    expect((await rulesOf()).version).toBe(2)
    await machine.daemon.stop()
    for (const [path, bytes] of old) if (putBack || path !== machine.home.pin) writeFileSync(path, bytes)
    if (!putBack) remove(machine.home.pin)
    await machine.start()
    expect(await rulesOf()).toMatchObject({ version: 0, highestSeen: 2, lastError: { code: 'lower_version' } })
    await machine.daemon.sync()
    expect((await rulesOf()).version).toBe(2)
    expect(await isHeld()).toBe(true)
  })

  test('another machine’s versions are not held against one that joins anew', async () => {
    org.publish(RULE('deny', 15))
    await machine.daemon.sync()
    await machine.daemon.stop()
    const other = new Organisation()
    other.clock = machine.now
    await other.listen()
    onCleanup(() => other.close())
    machine.join(other)
    for (const path of [machine.home.ruleset, machine.home.fresh]) remove(path)
    other.publish(RULE('deny', 20))
    await machine.start()
    await machine.daemon.sync()
    expect((await rulesOf()).version).toBe(1)
  })
})
