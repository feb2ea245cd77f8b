import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Home, readBytes, readJson, readKeptText } from '#agent/home.ts'
import { Organisation, RULE } from './daemon/organisation.ts'
import { Machine, onCleanup, told } from './daemon/world.ts'

let machine: Machine
beforeEach(() => {
  machine = new Machine()
})

/** A pipe in place of a file. Somebody opens its other end after a while, so that a reader that waits for that is late, not lost. */
function pipe(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  execFileSync('mkfifo', [path])
  const opener = spawn('sh', ['-c', 'sleep 4; exec 3<> "$1"; sleep 4', 'sh', path], { stdio: 'ignore' })
  onCleanup(() => void opener.kill())
}
const SOON_MS = 3000

describe.skipIf(process.platform === 'win32')('what somebody else has put in place of a file of the home', () => {
  test('a pipe, a link, a folder and a file too large are read as nothing', () => {
    const { home } = machine
    pipe(home.pin)
    writeFileSync(join(machine.folder, 'other.json'), '{}')
    symlinkSync(join(machine.folder, 'other.json'), home.team)
    mkdirSync(home.sync)
    writeFileSync(home.counters, '0123456789')
    const began = performance.now()
    expect([home.pin, home.team, home.sync].map(path => readJson(path))).toEqual([undefined, undefined, undefined])
    expect(readBytes(home.counters, 9)).toBeUndefined()
    expect(readBytes(home.counters, 10)?.toString()).toBe('0123456789')
    expect(performance.now() - began).toBeLessThan(SOON_MS)
  })

  test.skipIf(process.getuid?.() !== 0)('another user’s file is read as nothing', () => {
    writeFileSync(machine.home.counters, '{}')
    expect(readJson(machine.home.counters)).toEqual({})
    execFileSync('chown', ['65534', machine.home.counters])
    expect(readJson(machine.home.counters)).toBeUndefined()
  })

  test.each<keyof Home>([
    'roots',
    'ruleset',
    'nextRuleset',
    'fresh',
    'pin',
    'equivocation',
    'team',
    'localGood',
    'sync',
    'counters',
    'journalHigh',
    'log',
    'config',
  ])('a pipe at %s does not keep the daemon from judging', async key => {
    const org = new Organisation()
    await org.listen()
    onCleanup(() => org.close())
    machine.join(org)
    org.publish(RULE('deny'))
    const path = machine.home[key] as string
    await machine.start()
    await machine.daemon.sync()
    machine.spend(20.1)
    pipe(path)
    // the documents are looked at anew when their file has changed
    if (key !== 'roots') writeFileSync(machine.home.roots, `${readFileSync(machine.home.roots, 'utf8')}\n`)
    const began = performance.now()
    expect(told(await machine.hook({ tool_use_id: 'toolu_1' })).decision).toBe('deny')
    await machine.daemon.tick()
    expect(performance.now() - began).toBeLessThan(SOON_MS)
    await machine.daemon.stop()
    const again = performance.now()
    await machine.start()
    expect(performance.now() - again).toBeLessThan(SOON_MS)
  })

  test('a pipe or a link among the journal’s files is no journal: it is set aside, whole, and told', async () => {
    await machine.start()
    await machine.daemon.stop()
    const [first] = readdirSync(machine.home.journal)
    pipe(join(machine.home.journal, first!))
    const began = performance.now()
    await machine.start()
    expect(performance.now() - began).toBeLessThan(SOON_MS)
    expect(machine.entries('journal_reset')).toMatchObject([{ why: 'broken' }])
    expect(machine.daemon.runtime.journal.writable).toBe(true)
  })

  test('the log is not written through a link', async () => {
    const target = join(machine.folder, 'precious')
    writeFileSync(target, 'kept')
    symlinkSync(target, machine.home.log)
    await machine.start()
    machine.daemon.runtime.log('a line')
    expect(readFileSync(target, 'utf8')).toBe('kept')
  })
})

test('config.yaml alone may be a link: people keep it in a repository', async () => {
  const kept = join(machine.folder, 'dotfiles.yaml')
  writeFileSync(kept, RULE('deny'))
  symlinkSync(kept, machine.home.config)
  expect(readKeptText(machine.home.config)).toBe(RULE('deny'))
  await machine.start()
  machine.spend(20.1)
  expect(told(await machine.hook({ tool_use_id: 'toolu_1' })).decision).toBe('deny')
  writeFileSync(kept, RULE('deny', 50))
  utimesSync(kept, new Date(), new Date(Date.now() + 5000))
  expect(told(await machine.hook({ tool_use_id: 'toolu_2' })).decision).toBe('pass')
  expect(existsSync(machine.home.localGood)).toBe(true)
})
