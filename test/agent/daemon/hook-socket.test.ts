import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { claude } from '#agent/clients/claude/claude.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { proof } from '#agent/crypto.ts'
import { openHome } from '#agent/home.ts'
import { askLoopback, type LoopbackAnswer, type LoopbackRequest } from '#agent/hook/loopback.ts'
import { socketPlace } from '#agent/hook/socket-place.ts'
import { hookInstall } from '#agent/hook-programs.ts'
import { RULE } from './organisation.ts'
import { attended, Machine, onCleanup, until } from './world.ts'

let machine: Machine
beforeEach(() => {
  machine = new Machine()
  machine.config(RULE('deny', 0))
})
const place = () => socketPlace(machine.home.root)!
const ask = (more: Partial<LoopbackRequest> = {}) =>
  askLoopback({
    socket: place().path,
    method: 'POST',
    path: '/hook/claude-code',
    body: JSON.stringify(machine.payload()),
    timeoutMs: 5000,
    ...more,
  } as LoopbackRequest)
const asCommand = (headers: Record<string, string> = {}, fields: object = {}) =>
  ask({
    headers: { 'x-holdpoint-form': 'command', ...headers },
    body: JSON.stringify({ ...machine.payload(), ...fields }),
  })
const gave = ({ body }: LoopbackAnswer) => JSON.parse(body) as { exit: number; stdout: string; stderr: string }
const log = () => (existsSync(machine.home.log) ? readFileSync(machine.home.log, 'utf8') : '')

describe('the socket', () => {
  test('lies in a folder that is this user’s alone, and takes events without a token', async () => {
    await machine.start()
    expect(statSync(place().folder).mode & 0o777).toBe(0o700)
    expect(statSync(place().path).mode & 0o777).toBe(0o600)
    expect((await asCommand()).status).toBe(200)
    const n = 'ab'.repeat(16)
    const proved = await ask({ method: 'GET', path: `/prove?n=${n}`, body: '' })
    expect(proved).toEqual({ status: 200, body: proof(machine.daemon.runtime.secret, n) })
  })

  test('is no way to the API, whatever token one has, nor for a browser', async () => {
    await machine.start()
    const { apiToken } = JSON.parse(readFileSync(machine.home.tokens, 'utf8'))
    const headers = { Authorization: `Bearer ${apiToken}` }
    expect((await ask({ method: 'GET', path: '/api/status', headers, body: '' })).status).toBe(404)
    expect((await ask({ path: '/api/stop', headers, body: '{}' })).status).toBe(404)
    expect((await ask({ headers: { Origin: 'http://holdpoint' } })).status).toBe(403)
    expect(machine.entries('decision')).toEqual([])
  })

  test('that a killed daemon left is replaced', async () => {
    mkdirSync(place().folder, { recursive: true, mode: 0o700 })
    const dead = createServer()
    await new Promise<void>(resolve => dead.listen(place().path, resolve))
    onCleanup(() => new Promise<void>(resolve => dead.close(() => resolve())))
    const before = lstatSync(place().path).ino
    await machine.start()
    expect(lstatSync(place().path).ino).not.toBe(before)
    expect((await asCommand()).status).toBe(200)
  })

  test('is gone after the daemon’s end, and there again after its next start', async () => {
    await machine.start()
    await machine.daemon.stop()
    expect(existsSync(place().path)).toBe(false)
    await machine.start()
    expect((await asCommand()).status).toBe(200)
  })

  test('that somebody tidied away comes back by itself', async () => {
    await machine.start()
    rmSync(place().folder, { recursive: true })
    await until(() => existsSync(place().path))
    expect((await asCommand()).status).toBe(200)
  })

  test.skipIf(process.getuid?.() !== 0)('lets no other user in, although they may read the home', async () => {
    await machine.start()
    for (const folder of [machine.folder, machine.home.root]) chmodSync(folder, 0o755)
    const script = `require('node:net').connect(process.argv[1]).on('connect', () => process.exit(0)).on('error', e => {
      process.stdout.write(e.code); process.exit(1) })`
    const as = (uid: number) => spawnSync(process.execPath, ['-e', script, place().path], { uid, encoding: 'utf8' })
    expect(as(0).status).toBe(0)
    expect(as(65_534)).toMatchObject({ status: 1, stdout: 'EACCES' })
  })

  test.skipIf(process.getuid?.() !== 0)('is refused where its folder is another user’s', async () => {
    mkdirSync(place().folder, { recursive: true, mode: 0o700 })
    chownSync(place().folder, 65_534, 65_534)
    await machine.start()
    expect(log()).toContain('belongs to another user')
    expect(existsSync(place().path)).toBe(false)
  })

  describe('of a home with a very long name', () => {
    beforeEach(() => {
      const long = join(machine.folder, 'h'.repeat(90))
      mkdirSync(long, { mode: 0o700 })
      Object.assign(machine, { home: openHome(long) })
    })
    const removed = () => {
      const { folder } = place()
      onCleanup(() => rmSync(folder, { recursive: true, force: true }))
      return folder
    }

    test('lies in a short folder below /tmp, the same one after a restart', async () => {
      await machine.start()
      const folder = removed()
      expect(folder).toMatch(/^\/tmp\/holdpoint-\w{6}$/)
      expect((await asCommand()).status).toBe(200)
      await machine.daemon.stop()
      await machine.start()
      expect(place().folder).toBe(folder)
      expect((await asCommand()).status).toBe(200)
    })

    test.skipIf(process.getuid?.() !== 0)('lies in another one when that is another user’s meanwhile', async () => {
      await machine.start()
      const folder = removed()
      await machine.daemon.stop()
      chownSync(folder, 65_534, 65_534)
      await machine.start()
      expect(removed()).not.toBe(folder)
      expect((await asCommand()).status).toBe(200)
    })
  })

  test.each<[string, () => void]>([
    ['has the mode 755', () => chmodSync(place().folder, 0o755)],
    [
      'is not a folder',
      () => {
        rmSync(place().folder, { recursive: true })
        writeFileSync(place().folder, '')
      },
    ],
    ['is no socket', () => writeFileSync(place().path, 'kept')],
  ])('is refused where its place %s; the daemon works on, and says why once', async (why, spoil) => {
    mkdirSync(place().folder, { recursive: true, mode: 0o700 })
    spoil()
    await machine.start()
    expect(log().match(new RegExp(`command hooks cannot come in: .*${why}`, 'g'))).toHaveLength(1)
    expect((await machine.hook()).status).toBe(200)
    await expect(ask()).rejects.toThrow()
  })
})

describe('a call over it', () => {
  const spent = async () => {
    await machine.start()
    machine.spend(1)
  }

  test('is refused as a command refuses: exit 2 and the reason', async () => {
    await spent()
    const { exit, stdout, stderr } = gave(await asCommand())
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toContain('session-spend')
    expect(machine.entries('decision')).toMatchObject([{ did: 'refused' }])
  })

  test('goes on by silence', async () => {
    await machine.start()
    expect(gave(await asCommand())).toEqual({ exit: 0, stdout: '', stderr: '' })
  })

  test('is asked where its own process knows that somebody is at the keyboard, or the session’s start said so', async () => {
    machine.config(RULE('ask', 0))
    await spent()
    expect(gave(await asCommand()).exit).toBe(2)
    const asked = gave(await asCommand(attended, { tool_use_id: 'toolu_2' }))
    expect(asked.exit).toBe(0)
    expect(JSON.parse(asked.stdout).hookSpecificOutput.permissionDecision).toBe('ask')
    await asCommand(attended, { hook_event_name: 'SessionStart', source: 'startup' })
    expect(gave(await asCommand({}, { tool_use_id: 'toolu_3' })).stdout).toContain('"ask"')
    expect(gave(await asCommand({ 'x-holdpoint-attended': '0' }, { tool_use_id: 'toolu_4' })).exit).toBe(2)
  })

  test('waits for the response that asks for it', async () => {
    await machine.start()
    const answer = asCommand()
    setTimeout(() => machine.spend(21, { toolUses: ['toolu_1'] }), 60)
    expect(gave(await answer).stderr).toContain('$21')
  })

  test('counts as judged: only what no hook announced is unguarded', async () => {
    await machine.start()
    await asCommand()
    machine.spend(1, { toolUses: ['toolu_1', 'toolu_2'] })
    machine.result('toolu_1', 'ran')
    machine.result('toolu_2', 'ran')
    await machine.daemon.tick()
    expect((await machine.ask('GET', '/api/status', { token: 'api' })).json).toMatchObject({ unguarded: 1 })
  })

  test('that had waited two seconds before this process saw it has gone on: nothing is held or spent any more', async () => {
    await spent()
    const late = await asCommand({ 'x-holdpoint-sent': String(Date.now() - 2100) })
    expect(late.status).toBe(500)
    expect(gave(late)).toMatchObject({ exit: 1, stdout: '' })
    expect(machine.entries('decision')).toMatchObject([{ did: 'passed', why: 'late' }])
    expect(machine.entries('failure')).toMatchObject([{ what: 'over_time', toolUse: 'toolu_1' }])
  })

  test.each(['', 'soon', '99999999999999', '-1'])('that claims to have been sent at "%s" is judged now', async sent => {
    await spent()
    expect(gave(await asCommand({ 'x-holdpoint-sent': sent })).exit).toBe(2)
  })

  test('whose input is unreadable is our failure: exit 1, chained', async () => {
    await machine.start()
    const odd = await ask({ headers: { 'x-holdpoint-form': 'command' }, body: '{' })
    expect(gave(odd)).toMatchObject({ exit: 1, stdout: '' })
    expect(machine.entries('failure')).toMatchObject([{ what: 'unreadable_input' }])
  })
})

describe('a call whose hook gave up', () => {
  const leave = (why: string, id: string) => {
    const { tool_input: _, ...body }: Record<string, unknown> = { ...machine.payload(), tool_use_id: id }
    const entry = { kind: 'hook_event', client: 'claude-code', event: 'PreToolUse', at: '', why, headers: {}, body }
    mkdirSync(machine.home.spool, { recursive: true })
    writeFileSync(join(machine.home.spool, `event-${id}.json`), JSON.stringify(entry))
  }

  test('is chained as let through, unless it was judged after all or no daemon was there to hear it', async () => {
    await machine.start()
    await asCommand({}, { tool_use_id: 'toolu_judged' })
    leave('slow', 'toolu_judged')
    leave('slow', 'toolu_slow')
    leave('odd', 'toolu_odd')
    leave('down', 'toolu_down')
    await machine.daemon.tick()
    expect(machine.entries('failure').map(({ what, toolUse }) => [what, toolUse])).toEqual(
      expect.arrayContaining([
        ['over_time', 'toolu_slow'],
        ['error', 'toolu_odd'],
      ]),
    )
    expect(machine.entries('failure')).toHaveLength(2)
    expect(machine.entries('decision')).toEqual([])
  })
})

describe('where all hooks come in by the socket', () => {
  let developer: ClientHome
  const install = (form: 'http' | 'command') => {
    const door = JSON.parse(readFileSync(machine.home.tokens, 'utf8'))
    claude.hooks.install(developer, hookInstall(machine.home, claude, door, { whenBroken: 'pass', form }), {
      dryRun: false,
    })
  }
  /** Another program sits on the daemon's port. */
  const squat = async () => {
    const { port } = machine.daemon
    await machine.daemon.stop()
    const squatter = createServer(socket => socket.destroy())
    await new Promise<void>(resolve => squatter.listen(port, '127.0.0.1', resolve))
    onCleanup(() => new Promise<void>(resolve => squatter.close(() => resolve())))
  }
  beforeEach(async () => {
    developer = { homeDir: join(machine.folder, 'dev'), env: {} }
    await machine.start()
  })

  test('another program on the port does not keep the daemon from starting: it takes another, and says so', async () => {
    install('command')
    const before = machine.daemon.port
    await squat()
    await machine.start()
    expect(machine.daemon.port).not.toBe(before)
    expect(JSON.parse(readFileSync(machine.home.tokens, 'utf8')).port).toBe(machine.daemon.port)
    expect(machine.entries('alarm')).toMatchObject([{ what: 'daemon_impostor' }])
    expect((await asCommand()).status).toBe(200)
  })

  test('with an http hook it does: the hook points at that port', async () => {
    install('http')
    await squat()
    await expect(machine.start()).rejects.toMatchObject({ code: 'port_taken' })
  })

  test('a socket that cannot be opened is told in the level', async () => {
    install('command')
    const level = async () => (await machine.ask('GET', '/api/status', { token: 'api' })).json.rules[0].levels[0]
    // the programs are not installed in this world
    mkdirSync(machine.home.bin, { recursive: true })
    for (const name of ['hook.cjs', 'holdpoint-hook.cjs']) writeFileSync(join(machine.home.bin, name), '')
    expect(await level()).toEqual({ client: 'claude-code', level: 'user-hook', off: [] })
    chmodSync(place().folder, 0o750)
    expect(await level()).toMatchObject({
      level: 'broken',
      off: ['canary_failed'],
      remedy: expect.stringContaining('has the mode 750'),
    })
  })
})
