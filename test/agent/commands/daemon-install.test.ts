import { spawn } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../daemon/world.ts'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
let calls: string
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
  calls = join(machine.folder, 'calls')
})
afterEach(() => machine.remove())

/** A systemctl that writes down what it is asked, and says no to what `fails` matches. */
function putSystemctl(fails = 'nothing'): void {
  const bin = machine.makeFolder('programs')
  const path = join(bin, 'systemctl')
  writeFileSync(
    path,
    `#!/bin/sh\necho "$*" >> '${calls}'\ncase "$*" in *${fails}*) echo 'no medium' >&2; exit 1;; esac\n`,
  )
  chmodSync(path, 0o755)
  machine.env.PATH = `${bin}:${machine.env.PATH}`
  writeFileSync(join(machine.folder, '.profile'), `PATH='${bin}':$PATH\n`)
}
const asked = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [])
const unit = () => join(machine.folder, '.config', 'systemd', 'user', 'holdpoint.service')

describe.runIf(process.platform === 'linux')('daemon install', () => {
  it('writes nothing where no service manager answers, and says so', async () => {
    putSystemctl('show-environment')
    const ran = await machine.run(['daemon', 'install', '--json'])
    expect(ran).toMatchObject({ code: 4, json: { error: { code: 'no_service_manager' } } })
    expect(ran.json.error.message).toContain('no medium')
    expect(existsSync(unit())).toBe(false)
  })

  it('shows first, installs once, leaves a running daemon alone, and is taken away by a person only', async () => {
    putSystemctl()
    const shown = await machine.run(['daemon', 'install', '--dry-run'])
    expect(shown.stdout).toContain('systemctl --user enable holdpoint.service')
    expect(existsSync(unit())).toBe(false)
    const first = await machine.run(['daemon', 'install', '--json'])
    expect(first.json).toMatchObject({ kind: 'systemd user unit', file: unit(), changed: true, started: true })
    expect(asked().slice(1)).toEqual([
      '--user daemon-reload',
      '--user enable holdpoint.service',
      '--user start holdpoint.service',
    ])
    expect(readFileSync(unit(), 'utf8')).toContain(join(machine.home.bin, 'holdpoint.cjs'))
    await machine.run(['daemon', 'start'])
    const again = await machine.run(['daemon', 'install', '--json'])
    expect(again.json).toMatchObject({ changed: false, started: false })
    expect(asked().filter(line => line.includes(' start '))).toHaveLength(1)

    expect((await machine.run(['daemon', 'uninstall'])).code).toBe(1)
    expect(existsSync(unit())).toBe(true)
    const { screen, code } = await machine.type(['daemon', 'uninstall'], 'uninstall\n')
    expect(screen).toContain('calls run unjudged')
    expect({ code, screen: screen.includes('The daemon has stopped') }).toEqual({ code: 0, screen: true })
    expect(existsSync(unit())).toBe(false)
    expect(asked().at(-1)).toBe('--user disable --now holdpoint.service')
    expect((await machine.run(['daemon', 'status'])).code).toBe(4)
  })
})

it('daemon restart is a person’s, and brings another process of the same door', async () => {
  await machine.run(['daemon', 'start'])
  const before = JSON.parse(readFileSync(machine.home.daemon, 'utf8'))
  expect((await machine.run(['daemon', 'restart'])).code).toBe(1)
  expect((await machine.run(['daemon', 'status', '--json'])).json.pid).toBe(before.pid)
  const { screen, code } = await machine.type(['daemon', 'restart'], 'restart\n')
  expect({ code, screen: screen.includes('The daemon runs (process') }).toEqual({ code: 0, screen: true })
  const after = JSON.parse(readFileSync(machine.home.daemon, 'utf8'))
  expect(after.pid).not.toBe(before.pid)
  expect(after.port).toBe(before.port)
})

describe('daemon logs', () => {
  it('prints the newest lines, cleaned, as many as asked for', async () => {
    expect((await machine.run(['daemon', 'logs'])).code).toBe(4)
    writeFileSync(
      machine.home.log,
      `${Array.from({ length: 60 }, (_, i) => `line ${i}`).join('\n')}\nred \u001b[31mtext\n`,
    )
    const all = (await machine.run(['daemon', 'logs'])).stdout.trim().split('\n')
    expect([all.length, all[0], all.at(-1)]).toEqual([50, 'line 11', 'red text'])
    expect((await machine.run(['daemon', 'logs', '-n', '2', '--json'])).json.lines).toEqual(['line 59', 'red text'])
    expect((await machine.run(['daemon', 'logs', '-n', 'x'])).code).toBe(2)
  })

  it('follows what is added, over a log that begins anew', async () => {
    writeFileSync(machine.home.log, 'first\n')
    const child = spawn(
      process.execPath,
      [join(machine.home.bin, 'holdpoint.cjs'), 'daemon', 'logs', '-f', '-n', '1'],
      {
        env: machine.env as unknown as NodeJS.ProcessEnv,
      },
    )
    let said = ''
    child.stdout.on('data', part => {
      said += part
    })
    try {
      await until(() => said.includes('first\n'))
      appendFileSync(machine.home.log, 'second is longer\nhal')
      await until(() => said.includes('second is longer\n'))
      expect(said).not.toContain('hal')
      writeFileSync(machine.home.log, 'new\n')
      await until(() => said.includes('new\n'))
      expect(said).toBe('first\nsecond is longer\nnew\n')
    } finally {
      child.kill()
    }
  })
})
