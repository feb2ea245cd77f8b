import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeKey } from '#agent/crypto.ts'
import { canonicalJson } from '#core/json.ts'
import { RULE } from '../daemon/organisation.ts'
import { CommandMachine, PlaneWithDoors, refuse } from './machine.ts'

let machine: CommandMachine
let plane: PlaneWithDoors
beforeEach(async () => {
  machine = new CommandMachine()
  plane = new PlaneWithDoors()
  await Promise.all([machine.install(), plane.listen()])
})
afterEach(async () => {
  await machine.remove()
  await plane.close()
})

const TEXT =
  'boundaries:\n  - name: stop\n    action: continue\n    when: { session_cost_usd: ">= 20" }\n    require: ask\n'

describe('team', () => {
  it('every command says that no organisation is joined', async () => {
    for (const name of ['status', 'sync', 'web', 'preview'])
      expect(await machine.run(['team', name, '--json'])).toMatchObject({
        code: 4,
        json: { error: { code: 'not_joined' } },
      })
  })

  it('status tells version, digest, age and pin, from the daemon or from the disk', async () => {
    plane.org.publish(RULE('deny'))
    await machine.run(['join', plane.line])
    const expected = {
      rules: { version: 1, digest: plane.org.rulesetDigest, rootSeq: 1, stale: false },
      pin: 'digest',
      rootDigest: plane.org.rootDigest,
    }
    expect((await machine.run(['team', 'status', '--json'])).json).toMatchObject({ ...expected, daemon: false })
    await machine.run(['daemon', 'start'])
    expect((await machine.run(['team', 'status', '--json'])).json).toMatchObject({ ...expected, daemon: true })
    const words = (await machine.run(['team', 'status'])).stdout
    expect(words).toContain(`version 1, digest ${plane.org.rulesetDigest}`)
    expect(words).toContain('checked against the digest of the join line')
  })

  it('rules edited on disk are not rules: the refusal stands in words', async () => {
    plane.org.publish(RULE('deny'))
    await machine.run(['join', plane.line])
    const jws = readFileSync(machine.home.ruleset, 'utf8').trim()
    const [head, , tail] = jws.split('.')
    const loosened = Buffer.from(JSON.stringify({ v: 1, org: plane.org.id, version: 2, boundaries: [] })).toString(
      'base64url',
    )
    writeFileSync(machine.home.ruleset, `${head}.${loosened}.${tail}`)
    expect((await machine.run(['team', 'status'])).stdout).toContain('the signature does not fit the bytes')
  })

  it('sync brings a publish at once, and tells why when it is refused', async () => {
    await machine.run(['join', plane.line])
    await machine.run(['daemon', 'start'])
    plane.org.publish(RULE('deny'))
    expect((await machine.run(['team', 'sync'])).stdout).toContain('Up to date: rules version 1.')
    plane.org.ruleset = plane.org.makeRuleSet(RULE('ask'), { version: 2, key: makeKey() })
    plane.org.version = 2
    const refused = await machine.run(['team', 'sync', '--json'])
    expect(refused.code).toBe(1)
    expect((await machine.run(['team', 'status'])).stdout).toContain(
      'signed by a key that the pinned root document does not list. What was in force before stays.',
    )
    expect((await machine.run(['team', 'status', '--json'])).json.rules.version).toBe(1)
  })

  it('a revoked machine says so in every command that meets it, with one way out', async () => {
    plane.org.publish(RULE('deny'))
    await machine.run(['join', plane.line])
    await machine.run(['daemon', 'start'])
    plane.org.revoked = true
    const REVOKED = 'This machine was revoked; ask an admin for a new line.'
    for (const command of [
      ['team', 'sync'],
      ['team', 'web', '--no-open'],
    ]) {
      expect(await machine.run([...command, '--json'])).toMatchObject({
        code: 1,
        json: { error: { code: 'revoked', message: REVOKED, remedy: expect.stringContaining('`holdpoint leave`') } },
      })
      expect((await machine.run(command)).stderr).toContain(REVOKED)
    }
    for (const command of [['team', 'status'], ['waiting'], ['boundaries', 'status'], ['daemon', 'status']])
      expect((await machine.run(command)).stdout, command.join(' ')).toContain(REVOKED)
    expect((await machine.run(['team', 'status', '--json'])).json.rules.lastError.code).toBe('revoked')
  })

  it('sync tells that the control plane cannot be reached by an exit code of its own', async () => {
    await machine.run(['join', plane.line])
    await machine.run(['daemon', 'start'])
    plane.org.goDown()
    const ran = await machine.run(['team', 'sync'])
    expect(ran).toMatchObject({ code: 5, stdout: '' })
    expect(ran.stderr).toMatch(
      /Not synchronised\. The control plane cannot be reached: .*\.\nWhat was in force|stays in force/,
    )
  })

  it('status tells what a pin rests on once the keys were rotated', async () => {
    plane.org.publish(RULE('deny'))
    const joinedWith = plane.org.rootDigest
    await machine.run(['join', plane.line])
    await machine.run(['daemon', 'start'])
    expect((await machine.run(['team', 'status'])).stdout).not.toContain('rotated')
    plane.org.rotate('ruleset')
    plane.org.publish(RULE('deny'))
    await machine.run(['team', 'sync'])
    const { stdout } = await machine.run(['team', 'status'])
    expect(stdout).toContain(`root document 2, digest ${plane.org.rootDigest}`)
    expect(stdout).toContain('each new document is signed by the keys of the one before')
    expect(stdout).toContain(
      `joined with root document 1, digest ${joinedWith}: checked against the digest of the join line`,
    )
  })

  it('web prints a look-only link and hands no other address to a browser', async () => {
    await machine.run(['join', plane.line])
    plane.routes['POST sign-in-links'] = () => ({
      url: `${plane.origin}/link#t=hpl_x`,
      expiresAt: '2026-10-12T16:02:00.000Z',
    })
    const ran = await machine.run(['team', 'web'])
    expect(ran.stdout).toBe(
      `${plane.origin}/link#t=hpl_x\nLook-only: it answers no request and changes nothing. Works once, until 2026-10-12 16:02 UTC.\n`,
    )
    expect(plane.calls.at(-1)!.headers.authorization).toBe(`Bearer ${plane.org.token}`)
  })

  it('preview prints the exact bytes of the next report, and no name of the machine’s', async () => {
    await machine.run(['join', plane.line])
    await machine.run(['daemon', 'start'])
    const { stdout } = await machine.run(['team', 'preview'])
    expect(JSON.parse(stdout)).toMatchObject({ v: 1, org: plane.org.id, machine: plane.org.machine })
    expect(stdout).toBe(canonicalJson(JSON.parse(stdout)))
    expect(stdout).not.toContain(machine.folder)
  })
})

describe('team admin', () => {
  const at = () => ['--at', plane.origin, '--org', 'acme']
  const current = { text: TEXT, etag: '"3.abc"', version: 3, digest: 'abc' }

  async function signIn(): Promise<void> {
    let polls = 0
    plane.routes['POST admin/login'] = () => ({
      deviceCode: 'device',
      userCode: 'BCDF-GHJK',
      url: `${plane.origin}/device`,
      interval: 0.2,
      expiresAt: new Date(Date.now() + 60_000).toISOString(),
    })
    plane.routes['POST admin/token'] = () =>
      polls++ < 1
        ? { pending: true }
        : {
            token: plane.adminToken,
            expiresAt: new Date(Date.now() + 3600_000).toISOString(),
            member: { id: 'mem_x', name: 'Ada', role: 'admin' },
          }
    plane.routes['GET admin/boundaries'] = () => current
    const ran = await machine.run(['team', 'admin', 'login', ...at()])
    expect(ran.code).toBe(0)
    expect(ran.stderr).toContain('allow the code BCDF-GHJK there')
    expect(ran.stdout).toContain('Signed in as Ada until')
  }

  it('login waits for the browser and keeps the credential private', async () => {
    await signIn()
    const file = join(machine.home.root, 'team-admin.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ token: plane.adminToken, origin: plane.origin })
    plane.routes['DELETE admin/token'] = () => undefined
    expect((await machine.run(['team', 'admin', 'logout'])).code).toBe(0)
    expect(await machine.run(['team', 'admin', 'boundaries', '--get', '--json'])).toMatchObject({
      code: 4,
      json: { error: { code: 'not_signed_in' } },
    })
  })

  it('a refused sign-in says so', async () => {
    plane.routes['POST admin/login'] = () => ({
      deviceCode: 'device',
      userCode: 'X',
      url: plane.origin,
      interval: 0.2,
      expiresAt: new Date(Date.now() + 60_000).toISOString(),
    })
    plane.routes['POST admin/token'] = (_, __, response) => refuse(response, 403, 'FORBIDDEN')
    expect(await machine.run(['team', 'admin', 'login', '--json', ...at()])).toMatchObject({
      code: 1,
      json: { error: { code: 'FORBIDDEN' } },
    })
  })

  it('get prints the text byte for byte; set publishes it as an edit of what was read', async () => {
    await signIn()
    expect((await machine.run(['team', 'admin', 'boundaries', '--get'])).stdout).toBe(TEXT)
    const file = join(machine.folder, 'org.yaml')
    writeFileSync(file, TEXT.replace('20', '30'))
    plane.routes['PUT admin/boundaries'] = () => ({ version: 4, digest: 'd', etag: '"4.d"', warnings: [], behind: [] })
    expect(await machine.run(['team', 'admin', 'boundaries', '--set', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--note'),
    })
    const ran = await machine.run(['team', 'admin', 'boundaries', '--set', file, '--note', 'ask later'])
    expect(ran.stdout).toContain('Published as version 4')
    expect(ran.stdout).toContain('+    when: { session_cost_usd: ">= 30" }')
    const put = plane.calls.find(call => call.route === 'PUT admin/boundaries')!
    expect(put.body).toEqual({ text: TEXT.replace('20', '30'), note: 'ask later' })
    expect(put.headers['if-match']).toBe('"3.abc"')
    expect(put.headers.authorization).toBe(`Bearer ${plane.adminToken}`)
  })

  it('refuses to overwrite what somebody published since the last read', async () => {
    await signIn()
    await machine.run(['team', 'admin', 'boundaries', '--get'])
    plane.routes['GET admin/boundaries'] = () => ({ ...current, text: `${TEXT}# theirs\n`, etag: '"4.d"', version: 4 })
    plane.routes['PUT admin/boundaries'] = (incoming, _, response) =>
      incoming.headers['if-match'] === '"4.d"'
        ? { version: 5 }
        : refuse(response, 412, 'STALE_EDIT', { current: { version: 4, text: 'theirs', publishedBy: 'Bo' } })
    const file = join(machine.folder, 'org.yaml')
    writeFileSync(file, TEXT.replace('20', '30'))
    const stale = await machine.run(['team', 'admin', 'boundaries', '--set', file, '--note', 'mine', '--json'])
    expect(stale).toMatchObject({
      code: 1,
      json: {
        error: {
          code: 'STALE_EDIT',
          message: expect.stringContaining('Version 4 was published since you read version 3'),
        },
      },
    })
    await machine.run(['team', 'admin', 'boundaries', '--get'])
    expect(
      (await machine.run(['team', 'admin', 'boundaries', '--set', file, '--note', 'mine', '--json'])).json,
    ).toEqual({ version: 5, changed: true })
  })

  it('finds mistakes before anything is sent, with line and column', async () => {
    await signIn()
    const ran = await machine.run(['team', 'admin', 'boundaries', '--set', '-', '--note', 'x', '--json'], {
      input: TEXT.replace('continue', 'fly'),
    })
    expect(ran).toMatchObject({
      code: 1,
      json: { error: { code: 'mistakes', message: expect.stringMatching(/line 3, column \d+: stop: /) } },
    })
    expect(plane.calls.some(call => call.route === 'PUT admin/boundaries')).toBe(false)
  })

  it('answers another member’s request, with a ceiling and a reason; never for an agent', async () => {
    await signIn()
    const handle = 'bnd-0123456789ab'
    plane.routes['GET admin/approvals'] = () => ({
      items: [
        {
          handle,
          state: 'pending',
          client: 'claude-code',
          action: 'continue',
          rules: ['stop'],
          role: 'lead',
          member: { id: 'm', name: 'Dev\u202e' },
          createdAt: '2026-10-12T16:02:00.000Z',
          expiresAt: '2026-10-12T17:02:00.000Z',
        },
      ],
    })
    plane.routes[`POST admin/approvals/${handle}/answer`] = () => ({
      handle,
      state: 'approved',
      votes: 1,
      approvals: 1,
      settled: true,
      missing: 0,
    })
    const list = await machine.run(['team', 'admin', 'approve'])
    expect(list.stdout).toContain(`${handle}  stop  Claude Code, continue  Dev  until 2026-10-12 17:02 UTC`)
    expect((await machine.run(['team', 'admin', 'approve', handle], { env: { CLAUDECODE: '1' } })).code).toBe(1)
    expect(plane.calls.some(call => call.route.includes('answer'))).toBe(false)
    expect((await machine.run(['team', 'admin', 'approve', handle, '--until', 'forty'])).code).toBe(2)
    expect(
      (
        await machine.run([
          'team',
          'admin',
          'approve',
          handle,
          '--session',
          '--until',
          'session_cost_usd<40',
          '--reason',
          'fine',
        ])
      ).stdout,
    ).toContain('Approved')
    expect(plane.calls.at(-1)!.body).toEqual({
      decision: 'approve',
      scope: 'session',
      until: [{ figure: 'session_cost_usd', op: '<', value: '40' }],
      reason: 'fine',
    })
    plane.routes[`POST admin/approvals/${handle}/answer`] = (_, __, response) => refuse(response, 403, 'OWN_REQUEST')
    expect(await machine.run(['team', 'admin', 'deny', handle, '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'OWN_REQUEST' } },
    })
  })

  it('takes the credential from the environment, and no token of another kind', async () => {
    plane.routes['GET admin/boundaries'] = () => current
    const env = { HOLDPOINT_TEAM_ADMIN_TOKEN: plane.adminToken }
    expect((await machine.run(['team', 'admin', 'boundaries', '--get', ...at()], { env })).stdout).toBe(TEXT)
    const wrong = { HOLDPOINT_TEAM_ADMIN_TOKEN: plane.org.token }
    expect(
      await machine.run(['team', 'admin', 'boundaries', '--get', '--json', ...at()], { env: wrong }),
    ).toMatchObject({ code: 2, json: { error: { code: 'not_an_admin_token' } } })
    expect(
      await machine.run(
        ['team', 'admin', 'boundaries', '--get', '--at', 'http://holdpoint.example.com', '--org', 'acme'],
        { env },
      ),
    ).toMatchObject({ code: 2 })
  })
})
