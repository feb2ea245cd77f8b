import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { crypto } from '#agent/crypto.ts'
import { Journal } from '#agent/daemon/journal.ts'
import { DISK, type Disk, openHome } from '#agent/home.ts'
import { judgeHead, lineHash } from '#core/journal.ts'
import { type MountedDisk, mayMount, mountDisk } from '../../support/mounted-disk.ts'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup, told } from './world.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'holdpoint-journal-'))
  onCleanup(() => rmSync(made, { recursive: true, force: true }))
  return made
}
const open = (root: string, { disk = DISK, fileMax }: { disk?: Disk; fileMax?: number } = {}) =>
  new Journal(openHome(root, disk), () => 1_800_000_000_000, '1.0.0', fileMax)
const files = (root: string) =>
  readdirSync(join(root, 'journal'))
    .sort()
    .map(name => join(root, 'journal', name))
const lines = (root: string) => files(root).flatMap(file => readFileSync(file, 'utf8').split('\n').filter(Boolean))
const log = (n: number) => ({ kind: 'refused' as const, code: `code-${n}` })

describe('the journal', () => {
  test('is a chain that goes on over restarts and files', () => {
    const root = folder()
    for (let round = 0; round < 3; round++) {
      const journal = open(root, { fileMax: 400 })
      for (let i = 0; i < 5; i++) journal.append(log(i))
      journal.close()
    }
    expect(files(root).length).toBeGreaterThan(3)
    let prev = ''
    for (const [i, line] of lines(root).entries()) {
      expect(JSON.parse(line)).toMatchObject({ seq: i, prev })
      prev = lineHash(line, crypto.sha256)
    }
    const again = open(root)
    expect(again.troubles).toEqual([])
    expect(again.head).toEqual({ seq: 15, head: prev })
    expect(again.entries).toHaveLength(16)
  })

  test('loses a half-written last line with a word about it', () => {
    const root = folder()
    const journal = open(root)
    journal.append(log(1))
    journal.close()
    appendFileSync(files(root)[0]!, '{"seq":2,"prev":"abc","at":"20')
    const again = open(root)
    expect(again.troubles).toEqual([])
    expect(lines(root).map(line => JSON.parse(line).kind)).toEqual(['begun', 'refused', 'tail_cut'])
    again.close()
    expect(open(root).troubles).toEqual([])
  })

  test.each([
    [
      'a line rewritten',
      (root: string) =>
        writeFileSync(files(root)[0]!, readFileSync(files(root)[0]!, 'utf8').replace('code-2', 'code-9')),
    ],
    [
      'a line taken out',
      (root: string) =>
        writeFileSync(
          files(root)[0]!,
          `${lines(root)
            .filter((_, i) => i !== 2)
            .join('\n')}\n`,
        ),
    ],
    [
      'rubbish in the middle',
      (root: string) =>
        writeFileSync(
          files(root)[0]!,
          readFileSync(files(root)[0]!, 'utf8').replace('{"kind":"refused","code":"code-2"', '\u0000\u0000'),
        ),
    ],
  ])('with %s is kept aside, and a new one begins with journal_reset and a higher number', (_, damage) => {
    const root = folder()
    const journal = open(root)
    for (let i = 0; i < 5; i++) journal.append(log(i))
    journal.close()
    damage(root)
    const again = open(root)
    expect(again.troubles).toEqual(['journal_reset'])
    expect(JSON.parse(lines(root)[0]!)).toMatchObject({
      kind: 'journal_reset',
      why: 'broken',
      seq: 6,
      after: 5,
      prev: '',
    })
    expect(readdirSync(root).some(name => name.startsWith('journal.broken-'))).toBe(true)
  })

  test('whose files are gone never begins at 0 again', () => {
    const root = folder()
    const journal = open(root)
    for (let i = 0; i < 5; i++) journal.append(log(i))
    journal.close()
    rmSync(join(root, 'journal'), { recursive: true })
    const again = open(root)
    expect(again.troubles).toEqual(['journal_reset'])
    expect(again.head.seq).toBe(6)
  })

  test('that was shortened by whole lines is rolled back', () => {
    const root = folder()
    const journal = open(root)
    for (let i = 0; i < 5; i++) journal.append(log(i))
    journal.close()
    const file = files(root)[0]!
    const shorter = lines(root).slice(0, 3)
    truncateSync(file, Buffer.byteLength(`${shorter.join('\n')}\n`))
    const again = open(root)
    expect(again.troubles).toEqual(['journal_rolled_back'])
    expect(JSON.parse(lines(root).at(-1)!)).toMatchObject({ kind: 'journal_rolled_back', had: 5 })
  })

  test.each([
    ['as long as it was', 5],
    ['longer', 7],
  ])('whose lines were rewritten with fitting hashes, %s, is rolled back', (_, length) => {
    const root = folder()
    const journal = open(root)
    for (let i = 0; i < 5; i++) journal.append(log(i))
    journal.close()
    const elsewhere = folder()
    const forged = open(elsewhere)
    for (let i = 0; i < length; i++) forged.append(log(i + 100))
    forged.close()
    writeFileSync(files(root)[0]!, readFileSync(files(elsewhere)[0]!))
    expect(open(root).troubles).toEqual(['journal_rolled_back'])
    expect(JSON.parse(lines(root).at(-1)!)).toMatchObject({ kind: 'journal_rolled_back', had: 5 })
  })
})

test('a journal that was closed takes nothing any more: another daemon may be writing', () => {
  const root = folder()
  const journal = open(root)
  journal.append(log(1))
  journal.close()
  const before = lines(root)
  expect(journal.append(log(2)).written).toBe(false)
  journal.flush()
  expect(lines(root)).toEqual(before)
  expect(open(root).troubles).toEqual([])
})

describe('a reported head beside the recorded one', () => {
  const grown = () => {
    const root = folder()
    const journal = open(root, { fileMax: 300 })
    for (let i = 0; i < 8; i++) journal.append(log(i))
    return { root, journal }
  }

  test('extends it while the journal only grows, over its files', () => {
    const { journal } = grown()
    const recorded = journal.head
    expect(judgeHead(recorded, journal.headBeside(recorded))).toBe('same')
    for (let i = 0; i < 9; i++) journal.append(log(i))
    expect(judgeHead(recorded, journal.headBeside(recorded))).toBe('extends')
  })

  test.each([
    ['its tail deleted', (root: string) => rmSync(files(root).at(-1)!), 'rolled_back'],
    ['everything deleted', (root: string) => rmSync(join(root, 'journal'), { recursive: true }), 'reset'],
    [
      'its hashes rewritten',
      (root: string) => {
        let prev = ''
        const text = lines(root).map(line => {
          const entry = { ...JSON.parse(line), code: 'other', prev }
          const changed = JSON.stringify(entry)
          prev = lineHash(changed, crypto.sha256)
          return changed
        })
        for (const file of files(root)) rmSync(file)
        writeFileSync(join(root, 'journal', '000000000000.jsonl'), `${text.join('\n')}\n`)
      },
      'rolled_back',
    ],
    [
      'its tail and the record of its height deleted',
      (root: string) => {
        rmSync(files(root).at(-1)!)
        rmSync(join(root, 'journal-high.json'))
      },
      'rolled_back',
    ],
  ])('%2$s after %0$s', (_, damage, expected) => {
    const { root, journal } = grown()
    const recorded = journal.head
    journal.close()
    damage(root)
    const again = open(root)
    expect(judgeHead(recorded, again.headBeside(recorded))).toBe(expected)
    for (let i = 0; i < 20; i++) again.append(log(i))
    expect(judgeHead(recorded, again.headBeside(recorded))).toBe(expected)
  })
})

describe('a disk that takes no more', () => {
  /** A real file system of 256 KiB; where none can be mounted, an edge that fails like one. */
  function smallDisk(root: string, { real = true } = {}): { fill(): void; free(): void; disk: Disk } {
    try {
      if (!real) throw new Error('an exact edge is wanted')
      const mounted = mountDisk(root, 256)
      onCleanup(mounted.unmount)
      return { disk: DISK, ...mounted }
    } catch {
      let full = false
      const failing = (): never => {
        throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
      }
      const disk: Disk = {
        ...DISK,
        open: (path, flags, mode) => (full && flags === 'wx' ? failing() : DISK.open(path, flags, mode)),
        write: (fd, bytes) => (full ? failing() : DISK.write(fd, bytes)),
      }
      const set = (is: boolean) => () => {
        full = is
      }
      return { disk, fill: set(true), free: set(false) }
    }
  }

  test('lets calls pass or refuses them as before, raises an alarm, and the chain goes on whole when there is room', async () => {
    const machine = new Machine()
    const small = smallDisk(machine.home.root)
    const full = Object.assign(machine, { home: openHome(machine.home.root, small.disk) })
    full.config(RULE('deny'))
    await full.start()
    full.spend(19)
    expect(told(await full.hook({ tool_use_id: 'toolu_1' })).decision).toBe('pass')
    small.fill()
    expect(told(await full.hook({ tool_use_id: 'toolu_2' })).decision).toBe('pass')
    full.spend(2)
    for (let i = 0; i < 5; i++) expect(told(await full.hook({ tool_use_id: `toolu_f${i}` })).decision).toBe('deny')
    await full.daemon.tick()
    const status = (await full.ask('GET', '/api/status', { token: 'api' })).json
    expect(status.journal.writable).toBe(false)
    expect(status.alarms.map((alarm: { what: string }) => alarm.what)).toContain('disk_full')
    small.free()
    expect(told(await full.hook({ tool_use_id: 'toolu_3' })).decision).toBe('deny')
    expect(full.entries('decision')).toHaveLength(6)
    await full.daemon.stop()
    await full.start()
    expect(full.daemon.runtime.journal.troubles).toEqual([])
  })

  test('for so long that memory is full loses the oldest lines with a word, and keeps its chain', () => {
    const root = folder()
    const small = smallDisk(root, { real: false })
    const journal = open(root, { disk: small.disk })
    small.fill()
    for (let i = 0; i < 6000; i++) journal.append(log(i))
    small.free()
    journal.append(log(6000))
    journal.close()
    const again = open(root)
    expect(again.troubles).toEqual([])
    const lost = again.entries.filter(entry => entry.kind === 'lines_lost')
    expect(lost).toHaveLength(1)
    expect(again.entries.filter(entry => entry.kind === 'refused').length).toBe(
      6001 - (lost[0] as { lines: number }).lines,
    )
    expect(again.entries.at(-1)).toMatchObject({ code: 'code-6000' })
  })

  test('spends no answer that it cannot keep', async () => {
    const org = new Organisation()
    await org.listen()
    onCleanup(() => org.close())
    const machine = new Machine()
    // a real disk may still have room for one line in the file's last block
    const small = smallDisk(machine.home.root, { real: false })
    Object.assign(machine, { home: openHome(machine.home.root, small.disk) })
    machine.join(org)
    org.publish(RULE('approver:lead'))
    await machine.start()
    await machine.daemon.sync()
    machine.spend(20.1)
    await machine.hook({ tool_use_id: 'toolu_1' })
    await machine.daemon.sync()
    org.answer(org.requests[0]!)
    await machine.daemon.sync()
    small.fill()
    const reply = told(await machine.hook({ tool_use_id: 'toolu_2' }))
    expect(reply.decision).toBe('deny')
    expect(reply.reason).toContain('cannot write to its disk')
    small.free()
    // the spend went out with the chain: it is that call's, and nobody else's
    expect(told(await machine.hook({ tool_use_id: 'toolu_2' })).decision).toBe('pass')
    expect(told(await machine.hook({ tool_use_id: 'toolu_3' })).decision).toBe('deny')
  })
})

const refuse = (): never => {
  throw Object.assign(new Error('EROFS'), { code: 'EROFS' })
}
const SPOILT: [string, (machine: Machine, disk?: MountedDisk) => void][] = [
  [
    'whose writes fail',
    machine => {
      Object.assign(machine, { home: openHome(machine.home.root, { ...DISK, open: refuse, rename: refuse }) })
    },
  ],
]
if (mayMount) SPOILT.push(['on a read-only file system', (_, disk) => disk!.readOnly(true)])
test.each(SPOILT)(
  'a home %s: what was there is used, calls are judged, and the daemon says what it cannot do',
  async (_, spoil) => {
    const machine = new Machine()
    const disk = mayMount ? mountDisk(machine.home.root, 2048) : undefined
    if (disk) onCleanup(disk.unmount)
    machine.config(RULE('deny'))
    await machine.start()
    await machine.daemon.stop()
    spoil(machine, disk)
    await machine.start()
    machine.spend(19)
    expect(told(await machine.hook({ tool_use_id: 'toolu_1' })).decision).toBe('pass')
    machine.spend(2)
    expect(told(await machine.hook({ tool_use_id: 'toolu_2' })).decision).toBe('deny')
    await machine.daemon.tick()
    const status = (await machine.ask('GET', '/api/status', { token: 'api' })).json
    expect(status.alarms.map((alarm: { what: string }) => alarm.what)).toContain('disk_full')
    const explained = await machine.ask('GET', '/api/waiting', { token: 'api' })
    expect(explained.status).toBe(200)
    // without a lock the port keeps a second one away
    await expect(machine.start()).rejects.toMatchObject({ code: expect.stringMatching(/already_running|port_taken/) })
  },
)

test('a corrupted journal does not keep the daemon from starting, and a spent answer stays spent', async () => {
  const org = new Organisation()
  await org.listen()
  onCleanup(() => org.close())
  const machine = new Machine()
  machine.join(org)
  org.publish(RULE('approver:lead'))
  await machine.start()
  await machine.daemon.sync()
  machine.spend(20.1)
  await machine.hook({ tool_use_id: 'toolu_1' })
  await machine.daemon.sync()
  org.answer(org.requests[0]!)
  await machine.daemon.sync()
  expect(told(await machine.hook({ tool_use_id: 'toolu_2' })).decision).toBe('pass')
  await machine.daemon.report()
  await machine.daemon.report()
  expect(org.recorded).toBeDefined()
  await machine.daemon.stop()
  const file = join(machine.home.journal, readdirSync(machine.home.journal)[0]!)
  const text = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, [...text.slice(0, -3), 'torn', ...text.slice(-2)].join('\n'))
  await machine.start()
  expect(told(await machine.hook({ tool_use_id: 'toolu_3' })).decision).toBe('deny')
  expect(machine.journal()[0]).toMatchObject({ kind: 'journal_reset', why: 'broken' })
  await machine.daemon.report()
  const last = org.reports.at(-1)!
  expect(last.alarms.map(alarm => alarm.what)).toContain('journal_reset')
  expect(last.journal!.anchor).toBeUndefined()
})
