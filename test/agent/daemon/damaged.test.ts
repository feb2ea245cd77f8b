import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup, told } from './world.ts'

/** Whatever a crash, another version or another program has left in the home: the daemon starts, and local rules hold. */
let machine: Machine
let org: Organisation
beforeEach(async () => {
  machine = new Machine()
  org = new Organisation()
  await org.listen()
  onCleanup(() => org.close())
  machine.join(org)
  org.publish(RULE('deny', 30))
  machine.config(RULE('deny', 20))
})

/** What breaks a careless reader of such a value soonest. */
const otherKind = (value: unknown) =>
  Array.isArray(value)
    ? [null]
    : value === null || typeof value !== 'object'
      ? typeof value === 'string'
        ? 7
        : 'x'
      : null
const WHOLE = ['', '{', 'null', '[]', '{}', '7', '"x"', '\u0000\u0001', '[null]']

/** A file in ways that it may be damaged: as a whole, cut short, and with each of its values replaced by another kind of thing. */
function* damages(text: string): Generator<[string, string]> {
  for (const whole of [...WHOLE, text.slice(0, -10)]) yield [JSON.stringify(whole).slice(0, 20), whole]
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return
  }
  for (const path of pathsOf(parsed)) {
    const copy = structuredClone(parsed) as Record<string, unknown>
    let at = copy
    for (const step of path.slice(0, -1)) at = at[step] as Record<string, unknown>
    const value = otherKind(at[path.at(-1)!])
    at[path.at(-1)!] = value
    yield [`${JSON.stringify(value)} at ${path.join('.')}`, JSON.stringify(copy)]
  }
}
function* pathsOf(value: unknown, above: string[] = []): Generator<string[]> {
  if (value === null || typeof value !== 'object' || above.length > 3) return
  for (const [key, below] of Object.entries(value)) {
    yield [...above, key]
    yield* pathsOf(below, [...above, key])
  }
}

const files = (folder: string) => readdirSync(folder).map(name => join(folder, name))

describe('damaged', () => {
  test.each<[string, () => string[]]>([
    ['counters', () => [machine.home.counters]],
    ['what was reported', () => [machine.home.sync]],
    ['the newest journal line kept apart', () => [machine.home.journalHigh]],
    ['sessions', () => files(machine.home.sessions)],
    ['judged calls', () => files(machine.home.judged)],
    ['port and tokens', () => [machine.home.tokens]],
    ['the running daemon’s address', () => [machine.home.daemon]],
    ['the version pin', () => [machine.home.pin]],
    ['whom it has joined', () => [machine.home.team]],
    ['the machine’s key', () => [machine.home.machineKey]],
    ['the roots', () => [machine.home.roots]],
    ['the equivocation on record', () => [machine.home.equivocation]],
  ])('%s', async (_, which) => {
    await machine.start()
    await machine.daemon.sync()
    machine.spend(21)
    expect(told(await machine.hook({ tool_use_id: 'toolu_0' })).decision).toBe('deny')
    await machine.daemon.tick()
    await machine.daemon.report()
    await machine.daemon.stop()
    for (const path of which()) {
      mkdirSync(dirname(path), { recursive: true })
      let good = '{}'
      try {
        good = readFileSync(path, 'utf8')
      } catch {
        // not there at a quiet end
      }
      for (const [how, text] of damages(good)) {
        writeFileSync(path, text)
        await machine.start().catch(error => {
          throw new Error(`${path} with ${how}: ${error.stack}`)
        })
        const call = told(await machine.hook({ tool_use_id: 'toolu_1' }))
        expect(call.decision, `${path} with ${how}: ${call.reason}`).toBe('deny')
        expect((await machine.ask('GET', '/api/status', { token: 'api' })).status, how).toBe(200)
        await machine.daemon.tick()
        await machine.daemon.report().catch(() => {})
        await machine.daemon.stop()
      }
      writeFileSync(path, good)
    }
  })

  const usage = (name: string) => join(machine.home.usage, name)
  test.each<[string, () => string[]]>([
    ['what was sent', () => [usage('upload.json')]],
    ['what rules said before', () => [usage('past-rules.json')]],
    ['the last good tags of repositories', () => [usage('tags.json')]],
    ['how far the fleet’s budgets are used', () => [usage('budgets.jws')]],
    ['how far the clients’ records were read', () => [usage('marks.jsonl')]],
    ['what telemetry has told', () => [usage('telemetry.json'), usage('telemetry.jsonl')]],
    ['the ledger’s days', () => files(usage('days'))],
  ])('of usage, %s: reading and sending go on, and what was counted is counted once', async (_, which) => {
    const lists = (...tenant: string[]) => ({ attribution: [{ tags: { tenant }, rules: [] }] })
    org.budgets = () => ({ budgets: [] })
    mkdirSync(machine.cwd, { recursive: true })
    writeFileSync(join(machine.cwd, '.holdpoint.yaml'), 'tags: { tenant: acme }\n')
    org.publish(RULE('deny', 30), lists('acme'))
    machine.spend(21)
    await machine.start()
    const sync = async () => (await machine.ask('POST', '/api/sync', { token: 'api', body: '{}' })).status
    const sent = () =>
      [...org.usage.values()].flatMap(({ sent }) => sent.buckets).map(({ calls, tags }) => [calls, tags])
    expect(await sync()).toBe(200)
    org.publish(RULE('deny', 30), lists('globex'))
    expect(await sync()).toBe(200)
    expect(sent()).toEqual([[1, { tenant: 'acme' }]])
    await machine.daemon.stop()
    for (const path of which()) {
      mkdirSync(dirname(path), { recursive: true })
      const good = existsSync(path) ? readFileSync(path, 'utf8') : '{}'
      for (const [how, text] of damages(good)) {
        writeFileSync(path, text)
        await machine.start().catch(error => {
          throw new Error(`${path} with ${how}: ${error.stack}`)
        })
        expect(told(await machine.hook({ tool_use_id: 'toolu_1' })).decision, how).toBe('deny')
        expect(await sync(), how).toBe(200)
        const { problem, upload } = (await machine.ask('GET', '/api/usage', { token: 'api' })).json
        expect([problem, upload.problem], how).toEqual([undefined, undefined])
        expect(
          sent().map(([calls]) => calls),
          how,
        ).toEqual([1])
        await machine.daemon.stop()
      }
      writeFileSync(path, good)
    }
    await machine.start()
    expect(await sync()).toBe(200)
    expect(sent()).toEqual([[1, { tenant: 'acme' }]])
  })
})
