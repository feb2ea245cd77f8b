import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clientPlaceFile } from '#agent/hook/client-place.ts'
import { socketPlace } from '#agent/hook/socket-place.ts'
import { chooseForm, readAccounts } from '#agent/hook-form.ts'
import { RULE } from '../daemon/organisation.ts'
import { CommandMachine, PlaneWithDoors } from './machine.ts'

let machine: CommandMachine
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
})
afterEach(() => machine.remove())

const claudeFolder = () => join(machine.folder, '.claude')
const writeSettings = (value: unknown) => {
  mkdirSync(claudeFolder(), { recursive: true })
  writeFileSync(
    join(claudeFolder(), 'settings.json'),
    typeof value === 'string' ? value : JSON.stringify(value, null, 2),
  )
}

describe('the daemon', () => {
  it('starts, tells of itself, and is stopped by a person only', async () => {
    expect((await machine.run(['daemon', 'status'])).code).toBe(4)
    expect(await machine.run(['daemon', 'start', '--json'])).toMatchObject({ code: 0, json: { started: true } })
    expect(await machine.run(['daemon', 'start', '--json'])).toMatchObject({ code: 0, json: { started: false } })
    expect(await machine.run(['daemon', 'status', '--json'])).toMatchObject({
      code: 0,
      json: { running: true, team: null },
    })
    expect(await machine.run(['daemon', 'stop', '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'no_terminal' } },
    })
    expect(await machine.type(['daemon', 'stop'], 'stop\n', { CLAUDECODE: '1' })).toMatchObject({ code: 1 })
    expect((await machine.run(['daemon', 'status'])).code).toBe(0)
    expect(await machine.type(['daemon', 'stop'], 'stop\n')).toMatchObject({ code: 0 })
    expect((await machine.run(['daemon', 'status'])).code).toBe(4)
  })

  it('refuses to run twice', async () => {
    await machine.run(['daemon', 'start'])
    expect(await machine.run(['daemon', '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'already_running' } },
    })
  })

  it('a command that needs it says so, with the way out', async () => {
    for (const args of [['waiting'], ['figures'], ['boundaries', 'status'], ['explain', 'bnd-000000000000']]) {
      const ran = await machine.run([...args, '--json'])
      expect(ran).toMatchObject({
        code: 4,
        json: { error: { code: 'daemon_missing', remedy: expect.stringContaining('holdpoint daemon start') } },
      })
    }
  })
})

describe('hooks install', () => {
  it('shows what it would do and writes nothing on a dry run', async () => {
    expect((await machine.run(['hooks', 'install', '--dry-run'])).code).toBe(4)
    await machine.run(['daemon', 'start'])
    const ran = await machine.run(['hooks', 'install', '--dry-run'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('"PreToolUse"')
    expect(existsSync(claudeFolder())).toBe(false)
  })

  it('keeps what is there, starts the daemon, proves itself, shows no token, and changes nothing the second time', async () => {
    const own = {
      permissions: { allow: ['Read'] },
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'mine' }] }] },
    }
    writeSettings(own)
    const ran = await machine.run(['hooks', 'install', '--form', 'http'])
    expect(ran.stderr).toBe('')
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('Proved:')
    expect(ran.stdout).toContain('It stops holding when')
    // what a later start of the daemon by a hook goes by
    expect(JSON.parse(readFileSync(clientPlaceFile(machine.home.root), 'utf8'))).toMatchObject({ HOME: machine.folder })
    const { hookToken, port } = JSON.parse(readFileSync(machine.home.daemon, 'utf8')) as {
      hookToken: string
      port: number
    }
    expect(ran.stdout).not.toContain(hookToken)
    const { text, json } = machine.settings()
    expect(text).toContain(hookToken)
    expect(text).toContain(`http://127.0.0.1:${port}/`)
    expect(json.permissions).toEqual(own.permissions)
    expect(json.hooks.PreToolUse[0]).toEqual(own.hooks.PreToolUse[0])
    expect(json.hooks.SessionStart[0].hooks[0].args).toEqual([
      join(machine.home.bin, 'hook.cjs'),
      'claude-code',
      'SessionStart',
    ])
    expect(readdirSync(claudeFolder()).some(name => name.endsWith('.bak'))).toBe(true)
    const again = await machine.run(['hooks', 'install', '--form', 'http', '--json'])
    expect(again).toMatchObject({ code: 0, json: [{ changes: [], canary: { ok: true }, level: 'user-hook' }] })
    expect(machine.settings().text).toBe(text)
  })

  it('takes the fail-closed form where the organisation’s rules want it', async () => {
    const plane = new PlaneWithDoors()
    await plane.listen()
    try {
      plane.org.publish(RULE('deny'), { whenBroken: 'block' })
      await machine.run(['join', plane.line])
      await machine.run(['hooks', 'install'])
      expect(machine.settings().json.hooks.PreToolUse[0].hooks[0].onFailure).toBe('block')
      await machine.run(['hooks', 'install', '--when-broken', 'pass'])
      expect(machine.settings().json.hooks.PreToolUse[0].hooks[0]).not.toHaveProperty('onFailure')
    } finally {
      await plane.close()
    }
  })

  it.each(['http', 'command'])('in the %s form survives a restart of the daemon', async form => {
    await machine.run(['hooks', 'install', '--form', form])
    await machine.endDaemon()
    expect(await machine.run(['hooks', 'status', '--json'])).toMatchObject({
      code: 1,
      json: [{ canary: { ok: false, code: 'daemon_down' } }],
    })
    await machine.run(['daemon', 'start'])
    expect(await machine.run(['hooks', 'status', '--json'])).toMatchObject({
      code: 0,
      json: [{ canary: { ok: true }, outdated: false }],
    })
  })

  it('a proxy in the environment does not divert the hook, because NO_PROXY came with it; without that the canary fails', async () => {
    const env = { HTTP_PROXY: 'http://127.0.0.1:9', https_proxy: 'http://user:pw@127.0.0.1:9' }
    expect(await machine.run(['hooks', 'install', '--form', 'http', '--json'], { env })).toMatchObject({
      code: 0,
      json: [{ canary: { ok: true } }],
    })
    const { json } = machine.settings()
    delete json.env
    writeSettings(json)
    const ran = await machine.run(['hooks', 'status', '--json'], { env })
    expect(ran).toMatchObject({
      code: 1,
      json: [{ level: 'broken', canary: { ok: false, code: 'proxy_diverts_hook' } }],
    })
    expect(ran.stdout).not.toContain('pw@')
  })

  it('a project that empties NO_PROXY is told, with the file', async () => {
    await machine.run(['hooks', 'install', '--form', 'http'])
    const project = machine.makeFolder('project/.claude')
    writeFileSync(
      join(project, 'settings.json'),
      JSON.stringify({ env: { HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: '', no_proxy: '' } }),
    )
    const ran = await machine.run(['hooks', 'status', '--json'], { cwd: join(project, '..') })
    expect(ran.code).toBe(1)
    expect(
      ran.json[0].findings.some(
        (one: { code: string; file: string }) => one.code === 'no_proxy_emptied' && one.file.includes('project'),
      ),
    ).toBe(true)
  })

  it('refuses settings that it cannot read, and writes nothing', async () => {
    writeSettings('{ "hooks": oops }')
    const ran = await machine.run(['hooks', 'install', '--json'])
    expect(ran).toMatchObject({ code: 1, json: { error: { code: 'unparsable' } } })
    expect(readFileSync(join(claudeFolder(), 'settings.json'), 'utf8')).toBe('{ "hooks": oops }')
  })

  it('a squatter on the daemon’s port is not taken for it', async () => {
    await machine.run(['hooks', 'install', '--form', 'http'])
    const door = JSON.parse(readFileSync(machine.home.daemon, 'utf8')) as { port: number; pid: number }
    const { port } = door
    await machine.endDaemon()
    const seen: string[] = []
    const squatter: Server = createServer(socket => {
      socket.on('error', () => {})
      socket.on('data', chunk => {
        seen.push(String(chunk))
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      })
    })
    await new Promise<void>(resolve => squatter.listen(port, '127.0.0.1', resolve))
    try {
      expect(await machine.run(['hooks', 'status', '--json'])).toMatchObject({
        code: 1,
        json: [{ canary: { ok: false, code: 'impostor' } }],
      })
      writeFileSync(machine.home.daemon, JSON.stringify(door))
      expect(await machine.run(['daemon', 'status', '--json'])).toMatchObject({
        code: 1,
        json: { error: { code: 'daemon_impostor' } },
      })
      expect(seen.join('')).not.toContain('Bearer')
    } finally {
      await new Promise(resolve => squatter.close(resolve))
      rmSync(machine.home.daemon, { force: true })
    }
  })

  it('names the client that was meant', async () => {
    expect(await machine.run(['hooks', 'install', '--client', 'claude-cod'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--client claude-code'),
    })
  })
})

describe('the form of the hooks', () => {
  const hookOf = () => machine.settings().json.hooks.PreToolUse.at(-1).hooks[0]

  it('is the one that suits the machine, said with the reason, at the install and in status', async () => {
    const suits = chooseForm(readAccounts())
    const ran = await machine.run(['hooks', 'install'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain(`the hook has the ${suits.form} form, because ${suits.why}.`)
    expect(ran.stdout).toContain(`an event through the installed ${suits.form} hook reached the daemon`)
    expect(hookOf().type).toBe(suits.form)
    expect((await machine.run(['hooks', 'status'])).stdout).toContain(
      `It is the ${suits.form} form, because ${suits.why}.`,
    )
  })

  it('is changed cleanly by --form, proved in each, and the way back to the former bytes is kept', async () => {
    const before = '{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]}]}}'
    writeSettings(before)
    for (const form of ['http', 'command', 'command', 'http', 'command']) {
      const changed =
        !existsSync(join(claudeFolder(), 'settings.json')) || hookOf().type !== form || hookOf().command === 'mine'
      const ran = await machine.run(['hooks', 'install', '--form', form, '--json'])
      expect(ran).toMatchObject({ code: 0, json: [{ form, canary: { ok: true, form }, level: 'user-hook' }] })
      expect(ran.json[0].changes.length > 0).toBe(changed)
      expect(machine.settings().json.hooks.PreToolUse).toHaveLength(2)
      expect(hookOf().type).toBe(form)
      const { hookToken } = JSON.parse(readFileSync(machine.home.tokens, 'utf8')) as { hookToken: string }
      expect(machine.settings().text.includes(hookToken)).toBe(form === 'http')
      expect(await machine.run(['hooks', 'status', '--json'])).toMatchObject({
        code: 0,
        json: [{ form, outdated: false, canary: { ok: true, form } }],
      })
    }
    expect((await machine.type(['hooks', 'uninstall'], 'uninstall\n')).code).toBe(0)
    expect(machine.settings().text).toBe(before)
  })

  it('is one of two', async () => {
    expect(await machine.run(['hooks', 'install', '--form', 'pipe'])).toMatchObject({ code: 2 })
    expect(existsSync(claudeFolder())).toBe(false)
  })

  it('command is not proved by a program that answers for ours, by a folder open to others, or by a killed daemon', async () => {
    await machine.run(['hooks', 'install', '--form', 'command'])
    const { folder } = socketPlace(machine.home.root)!
    const status = async () => {
      const { code, json } = await machine.run(['hooks', 'status', '--json'])
      expect(code).toBe(1)
      return json[0].canary
    }
    const { json } = machine.settings()
    hookTo(json, { ...hookOf(), command: '/bin/true' })
    expect(await status()).toMatchObject({ ok: false, why: expect.stringContaining('not by the daemon') })
    await machine.run(['hooks', 'install', '--form', 'command'])
    chmodSync(folder, 0o755)
    expect(await status()).toMatchObject({ ok: false, code: 'refused', why: expect.stringContaining('mode 755') })
    chmodSync(folder, 0o700)
    await machine.endDaemon('SIGKILL')
    expect(await status()).toMatchObject({ ok: false, code: 'daemon_down' })
  })

  it('command with a module that a project loads into it is told, with the file', async () => {
    await machine.run(['hooks', 'install', '--form', 'command'])
    const project = machine.makeFolder('project/.claude')
    writeFileSync(join(project, 'settings.json'), JSON.stringify({ env: { NODE_OPTIONS: '--require ./x.cjs' } }))
    const ran = await machine.run(['hooks', 'status'], { cwd: join(project, '..') })
    expect(ran.stdout).toMatch(/risk .*NODE_OPTIONS in .*project/)
  })
})

const hookTo = (settings: { hooks: { PreToolUse: { hooks: unknown[] }[] } }, hook: unknown) => {
  settings.hooks.PreToolUse.at(-1)!.hooks[0] = hook
  writeSettings(settings)
}

describe('hooks uninstall', () => {
  it('shows nothing of the settings to whoever it refuses', async () => {
    await machine.run(['hooks', 'install'])
    const { text } = machine.settings()
    const ran = await machine.run(['hooks', 'uninstall'])
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    const agent = await machine.type(['hooks', 'uninstall'], 'uninstall\n', { CLAUDECODE: '1' })
    expect(agent.code).toBe(1)
    expect(agent.screen).not.toContain('PreToolUse')
    expect(machine.settings().text).toBe(text)
    expect((await machine.run(['hooks', 'uninstall', '--dry-run'])).stdout).toContain('removed the PreToolUse hook')
  })

  it('gives the former bytes back once a person typed the word', async () => {
    const before = '{\n  "permissions": { "allow": [ "Read" ] }\n}\n'
    writeSettings(before)
    await machine.run(['hooks', 'install'])
    expect(await machine.run(['hooks', 'uninstall', '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'no_terminal' } },
    })
    expect(machine.settings().text).toContain('PreToolUse')
    expect((await machine.type(['hooks', 'uninstall'], 'uninstall\n')).code).toBe(0)
    expect(machine.settings().text).toBe(before)
    expect(await machine.run(['hooks', 'status', '--json'])).toMatchObject({
      code: 4,
      json: [{ level: 'not-installed' }],
    })
  })
})
