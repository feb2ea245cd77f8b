import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type MountedDisk, mayMount, mountDisk } from '../../support/mounted-disk.ts'
import { RULE } from '../daemon/organisation.ts'
import { CommandMachine, PlaneWithDoors } from './machine.ts'

/** The commands on a disk that takes nothing: they say so, spend nothing and leave everything as it was. */
describe.skipIf(!mayMount)('a disk that takes nothing', () => {
  let machine: CommandMachine
  let plane: PlaneWithDoors
  let disk: MountedDisk
  beforeEach(async () => {
    machine = new CommandMachine()
    plane = new PlaneWithDoors()
    disk = mountDisk(machine.home.root, 6 * 1024)
    await Promise.all([machine.install(), plane.listen()])
    plane.org.publish(RULE('deny'))
  })
  afterEach(async () => {
    disk.readOnly(false)
    await machine.endDaemon()
    disk.unmount()
    await Promise.all([machine.remove(), plane.close()])
  })

  const kinds: [string, RegExp, () => void, () => void][] = [
    ['read-only', /cannot be written|read-only/i, () => disk.readOnly(true), () => disk.readOnly(false)],
    ['full', /disk is full|cannot be written/, () => disk.fill(), () => disk.free()],
  ]

  it.each(kinds)(
    '%s: join says so before the line is spent, and the same line joins once there is room',
    async (_, words, spoil, mend) => {
      spoil()
      const ran = await machine.run(['join', plane.line])
      expect(ran.code).toBe(1)
      expect(ran.stderr).toMatch(words)
      expect(ran.stderr).not.toMatch(/ at .*\.(cjs|ts):\d/)
      expect(plane.calls).toEqual([])
      mend()
      const { team, machineKey, roots, pin } = machine.home
      expect([team, machineKey, roots, pin].filter(file => existsSync(file))).toEqual([])
      expect((await machine.run(['join', plane.line, '--json'])).json).toMatchObject({ rulesVersion: 1 })
    },
  )

  it.each(kinds)('%s: installing again keeps the programs that are there', async (_, words, spoil) => {
    const program = readFileSync(join(machine.home.bin, 'hook.cjs'), 'utf8')
    spoil()
    const ran = await machine.run(['install'])
    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(words)
    expect(readFileSync(join(machine.home.bin, 'hook.cjs'), 'utf8')).toBe(program)
    expect((await machine.run(['version', '--json'])).code).toBe(0)
  })

  it.each(kinds)('%s: a first start of the daemon that cannot keep its secret says so', async (_, words, spoil) => {
    spoil()
    const ran = await machine.run(['daemon'])
    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(words)
  })

  it('no hook is installed for a daemon that cannot start', async () => {
    disk.readOnly(true)
    expect((await machine.run(['hooks', 'install'])).code).not.toBe(0)
    expect(existsSync(join(machine.folder, '.claude', 'settings.json'))).toBe(false)
  })

  it.each(kinds)('%s: what is in force is still told', async (_, _words, spoil) => {
    await machine.run(['join', plane.line])
    spoil()
    expect((await machine.run(['team', 'status', '--json'])).json).toMatchObject({ rules: { version: 1 } })
  })
})

describe.skipIf(!mayMount)('a full disk below the client’s settings', () => {
  it('install changes nothing, leaves no piece of a file behind, and says why', async () => {
    const machine = new CommandMachine()
    await machine.install()
    const folder = join(machine.folder, '.claude')
    const disk = mountDisk(folder, 64)
    try {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'settings.json'), '{ "theme": "dark" }\n', { mode: 0o600 })
      await machine.run(['daemon', 'start'])
      disk.fill()
      const ran = await machine.run(['hooks', 'install'])
      expect(ran.code).toBe(1)
      expect(ran.stderr).toContain('disk is full')
      expect(readFileSync(join(folder, 'settings.json'), 'utf8')).toBe('{ "theme": "dark" }\n')
      expect(readdirSync(folder).sort()).toEqual(['ballast', 'settings.json'])
      disk.free()
      expect((await machine.run(['hooks', 'install'])).code).toBe(0)
    } finally {
      await machine.endDaemon()
      disk.unmount()
      await machine.remove()
    }
  })
})
