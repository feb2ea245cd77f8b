import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeKey } from '#agent/crypto.ts'
import { readPin } from '#agent/trust/pin.ts'
import { readTeam } from '#agent/trust/team.ts'
import { RULE } from '../daemon/organisation.ts'
import { CommandMachine, PlaneWithDoors, refuse } from './machine.ts'

let machine: CommandMachine
let plane: PlaneWithDoors
beforeEach(async () => {
  machine = new CommandMachine()
  plane = new PlaneWithDoors()
  await Promise.all([machine.install(), plane.listen()])
})
afterEach(() => Promise.all([machine.remove(), plane.close()]))

const nothingKept = () => {
  const { team, machineKey, roots, ruleset, pin } = machine.home
  expect([team, machineKey, roots, ruleset, pin].filter(file => existsSync(file))).toEqual([])
}

describe('install', () => {
  it('puts the programs into the home, private, and says how to call them', async () => {
    const { bin, root } = machine.home
    expect(statSync(root).mode & 0o777).toBe(0o700)
    for (const name of ['holdpoint', 'holdpoint.cjs', 'hook.cjs'])
      expect(statSync(join(bin, name)).mode & 0o777).toBe(0o755)
    expect((await machine.run(['version', '--json'])).json.version).toMatch(/^\d+\.\d+\.\d+$/)
    const again = await machine.run(['install'])
    expect(again).toMatchObject({ code: 0 })
    expect(again.stdout).toContain(`export PATH="$HOME/.holdpoint/bin:$PATH"`)
    expect((await machine.run(['install'], { env: { PATH: `${bin}:${machine.env.PATH}` } })).stdout).not.toContain(
      'export PATH',
    )
  })

  it('joins at once with --join', async () => {
    plane.org.publish(RULE('deny'))
    const ran = await machine.run(['install', '--join', plane.line, '--json'])
    expect(ran).toMatchObject({ code: 0, json: { joined: { pin: 'digest', rulesVersion: 1 } } })
  })

  it('takes the line of --join from standard input too', async () => {
    const ran = await machine.run(['install', '--join', '-', '--json'], { input: `${plane.line}\n` })
    expect(ran).toMatchObject({ code: 0, json: { joined: { pin: 'digest' } } })
  })

  it.each([[['install', '--join']], [['join']]])('%j joins under the name that --label gives', async command => {
    const ran = await machine.run([...command, plane.line, '--label', 'build-1', '--json'])
    expect(ran.code).toBe(0)
    expect(plane.calls.find(call => call.route === 'POST join')!.body.label).toBe('build-1')
    expect(JSON.stringify(ran.json)).toContain('"label":"build-1"')
    expect((await machine.run(['team', 'status'])).stdout).toMatch(/^machine +build-1, mac_/m)
  })

  it.each(['two words', '-x', 'a'.repeat(64), 'ü', '$(id)'])(
    'refuses the name %j before anything is sent',
    async label => {
      expect(await machine.run(['join', plane.line, `--label=${label}`, '--json'])).toMatchObject({
        code: 2,
        json: { error: { code: 'label' } },
      })
      expect(plane.calls).toEqual([])
      nothingKept()
    },
  )
})

describe('join', () => {
  it('pins the root by the digest of the line and has the rules in force before it says joined', async () => {
    plane.org.publish(RULE('deny'))
    const ran = await machine.run(['join', plane.line])
    expect(ran.stderr).toBe('')
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('Joined Acme')
    expect(ran.stdout).toContain(plane.org.rootDigest)
    expect(ran.stdout).toContain('checked against the digest in the join line')
    expect(ran.stdout).toContain('version 1, signature checked')
    expect(readTeam(machine.home)).toMatchObject({ firstUse: false, token: plane.org.token, origin: plane.origin })
    expect(readPin(machine.home)).toMatchObject({ version: 1, rootDigest: plane.org.rootDigest })
    for (const file of [machine.home.team, machine.home.machineKey, machine.home.secret])
      expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(machine.home.ruleset, 'utf8').trim()).toBe(plane.org.ruleset)
  })

  it('takes the line from standard input, so that no list of processes shows it', async () => {
    const ran = await machine.run(['join', '--json', '--label', 'desk-1'], { input: `${plane.line}\n` })
    expect(ran).toMatchObject({ code: 0, json: { pin: 'digest', rulesVersion: 0 } })
    expect(plane.calls[0]!.body).toMatchObject({ label: 'desk-1', pinned: true })
  })

  it('takes the whole command that the page shows, and the name in it', async () => {
    const command = `sh -c 'curl -fsSL "https://x.example/holdpoint.cjs" -o "$f" && node "$f" install --join "${plane.line}" --label build-1'`
    const ran = await machine.run(['join', '--json'], { input: `${command}\n` })
    expect(ran).toMatchObject({ code: 0, json: { pin: 'digest', label: 'build-1' } })
  })

  it('says that nothing is published yet rather than that rules hold', async () => {
    expect((await machine.run(['join', plane.line])).stdout).toContain(
      'none; the organisation has published nothing yet',
    )
  })

  it('refuses a control plane whose keys have another digest, keeps nothing, and takes the machine back', async () => {
    const other = plane.line.replace(/r=.*/, `r=${'A'.repeat(43)}`)
    const ran = await machine.run(['join', other, '--json'])
    expect(ran).toMatchObject({ code: 1, json: { error: { code: 'not_the_pinned_root' } } })
    expect(plane.left).toBe(true)
    nothingKept()
  })

  it('refuses a rule set that another key signed, before anything is in force', async () => {
    plane.org.ruleset = plane.org.makeRuleSet(RULE('deny'), { key: makeKey() })
    const ran = await machine.run(['join', plane.line, '--json'])
    expect(ran).toMatchObject({ code: 1, json: { error: { code: 'unknown_key' } } })
    nothingKept()
  })

  it.each([
    ['behind', 3600_000, 'from_the_future'],
    ['ahead', -3600_000, 'expired'],
  ])(
    'with a clock an hour %s it says that the clock is off, keeps nothing, and takes the machine back',
    async (_, off, code) => {
      plane.org.clock = () => Date.now() + off
      plane.org.publish(RULE('deny'))
      const ran = await machine.run(['join', plane.line, '--json'])
      expect(ran).toMatchObject({ code: 1, json: { error: { code } } })
      expect(ran.json.error.message).toContain('set the clock right')
      expect(plane.left).toBe(true)
      nothingKept()
    },
  )

  it('refuses rules without the signed time that says how old they are', async () => {
    plane.org.serve.rules = () => ({ status: 204 })
    expect(await machine.run(['join', plane.line, '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'no_freshness' } },
    })
    nothingKept()
  })

  it('wants a digest, unless told to trust whoever answers first, and then says so', async () => {
    const line = plane.line.replace(/&r=.*/, '')
    expect(await machine.run(['join', line, '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'no_root_digest' } },
    })
    expect(plane.calls).toEqual([])
    const ran = await machine.run(['join', line, '--trust-on-first-use'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('NOT checked against anything')
    expect(plane.calls[0]!.body.pinned).toBe(false)
    expect((await machine.run(['team', 'status', '--json'])).json.pin).toBe('first use')
  })

  it.each([
    ['plain http to another host', 'http://holdpoint.example.com/o/acme#e=hpj_aaaa'],
    ['no line at all', 'acme'],
    ['a token of another kind', `https://holdpoint.example.com/o/acme#e=hpm_${'a'.repeat(52)}`],
    ['nothing', ''],
  ])('refuses %s as a mistake in writing', async (_, line) => {
    expect(await machine.run(['join', line, '--json'])).toMatchObject({
      code: 2,
      json: { error: { code: 'bad_join_line' } },
    })
  })

  it('refuses a second organisation until the first was left', async () => {
    await machine.run(['join', plane.line])
    expect(await machine.run(['join', plane.line, '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'already_joined' } },
    })
  })

  it('tells an unreachable control plane from one that refuses', async () => {
    const nowhere = plane.line.replace(plane.origin, 'http://127.0.0.1:9')
    expect(await machine.run(['join', nowhere, '--json'])).toMatchObject({
      code: 5,
      json: { error: { code: 'unreachable' } },
    })
    plane.routes['POST join'] = (_, __, response) => refuse(response, 410, 'EXPIRED')
    expect(await machine.run(['join', plane.line, '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'EXPIRED' } },
    })
  })

  it('prints no control or direction characters that came over the network', async () => {
    plane.routes['POST join'] = (_, __, response) => {
      response
        .writeHead(403, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { code: 'FORBIDDEN', message: 'no\u001b[2Jthing\u202e here\nsecond' } }))
    }
    const { stderr } = await machine.run(['join', plane.line])
    expect(stderr).toContain('nothing here second')
    expect(stderr).not.toMatch(/[\u001b\u202e]/)
  })
})

describe('leave', () => {
  it('is refused where no person can be seen, and changes nothing', async () => {
    await machine.run(['join', plane.line])
    expect(await machine.run(['leave', '--json'])).toMatchObject({ code: 1, json: { error: { code: 'no_terminal' } } })
    expect(plane.left).toBe(false)
    expect(readTeam(machine.home)).toBeDefined()
  })

  it('revokes the machine and forgets rules, pin and token once a person typed the word', async () => {
    plane.org.publish(RULE('deny'))
    await machine.run(['join', plane.line])
    const wrong = await machine.type(['leave'], 'no\n')
    expect(wrong.code).toBe(1)
    expect(readTeam(machine.home)).toBeDefined()
    const ran = await machine.type(['leave'], 'leave\n')
    expect(ran.screen).toContain('Left Acme')
    expect(ran.screen).toContain('holdpoint hooks uninstall')
    expect(ran.code).toBe(0)
    expect(plane.left).toBe(true)
    nothingKept()
    expect(await machine.run(['leave', '--json'])).toMatchObject({ code: 4, json: { error: { code: 'not_joined' } } })
  })

  it('a running daemon has the rules when join says so, and none when leave does', async () => {
    await machine.run(['daemon', 'start'])
    plane.org.publish(RULE('deny'))
    await machine.run(['join', plane.line])
    const rules = async () =>
      (await machine.run(['boundaries', 'status', '--json'])).json.rules.map((rule: { name: string }) => rule.name)
    expect(await rules()).toEqual(['org:session-spend'])
    expect((await machine.type(['leave'], 'leave\n')).code).toBe(0)
    expect(await rules()).toEqual([])
    nothingKept()
  })

  it('keeps everything when the control plane cannot be told, unless forced', async () => {
    await machine.run(['join', plane.line])
    await plane.close()
    expect((await machine.type(['leave'], 'leave\n')).code).toBe(5)
    expect(readTeam(machine.home)).toBeDefined()
    const forced = await machine.type(['leave', '--force'], 'leave\n')
    expect(forced.screen).toContain('could not be told')
    expect(forced.code).toBe(0)
    nothingKept()
  })
})
