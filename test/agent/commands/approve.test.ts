import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Entry } from '#agent/daemon/entry.ts'
import { CommandMachine, PlaneWithDoors } from './machine.ts'

const RULE = (name: string, require: string, stage = 'enforce') =>
  `  - name: ${name}\n    action: continue\n    when: { agent_id: "== claude-code:*" }\n    require: ${require}\n    stage: ${stage}\n    note: "look first"\n`
const SESSION = '00000000-0000-4000-8000-00000000000a'

let machine: CommandMachine
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
})
afterEach(() => machine.remove())

const config = (text: string) => writeFileSync(machine.home.config, text)

/** What Claude Code does before each tool call, nobody at the keyboard: posts it to the hook's address. */
async function call(
  toolUse: string,
  session = SESSION,
  entrypoint = 'sdk-cli',
): Promise<{ refused: boolean; text: string; handle?: string }> {
  const { port, hookToken } = JSON.parse(readFileSync(machine.home.daemon, 'utf8')) as {
    port: number
    hookToken: string
  }
  const body = JSON.stringify({
    session_id: session,
    hook_event_name: 'PreToolUse',
    cwd: machine.folder,
    transcript_path: '',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: toolUse,
  })
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request(
      {
        port,
        host: '127.0.0.1',
        path: '/hook/claude-code',
        method: 'POST',
        headers: {
          authorization: `Bearer ${hookToken}`,
          'content-type': 'application/json',
          'x-holdpoint-entrypoint': entrypoint,
        },
      },
      response => {
        let read = ''
        response.on('data', chunk => {
          read += String(chunk)
        })
        response.on('end', () => resolve(read))
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
  return { refused: text.includes('"deny"'), text, handle: /bnd-[0-9a-f]{12}/.exec(text)?.[0] }
}

const journal = (): Entry[] =>
  readdirSync(machine.home.journal)
    .sort()
    .flatMap(name => readFileSync(join(machine.home.journal, name), 'utf8').trim().split('\n'))
    .map(line => JSON.parse(line) as Entry)

async function hold(require: string): Promise<string> {
  config(`boundaries:\n${RULE('stop-here', require)}`)
  await machine.run(['daemon', 'start'])
  const { handle, refused } = await call('toolu_1')
  expect(refused).toBe(true)
  return handle!
}

describe('approve', () => {
  it('lets exactly the next step go on, and the journal tells who, how and under which rule', async () => {
    const handle = await hold('ask')
    expect((await machine.run(['waiting', '--json'])).json).toMatchObject([
      { handle, state: 'waiting here', rules: ['stop-here'] },
    ])
    const ran = await machine.type(['approve', handle, '--confirm'], 'approve\n')
    expect(ran.screen).toContain('stop-here → ask: look first')
    expect(ran.screen).toContain('Approved: the next step goes through')
    expect(ran.code).toBe(0)
    expect(journal().filter(entry => entry.kind === 'local_answer')).toMatchObject([
      {
        handle,
        scope: 'step',
        how: 'cli',
        tty: expect.stringMatching(/^\/dev\/pts\//),
        chain: expect.arrayContaining(['bash']),
      },
    ])
    expect((await call('toolu_2')).refused).toBe(false)
    expect((await call('toolu_3')).refused).toBe(true)
    const told = await machine.run(['explain', handle])
    expect(told.stdout).toMatch(/^bnd-[0-9a-f]{12} {2}approved on this machine, and used/)
    expect(told.stdout).toContain('under stop-here → ask')
    expect(told.stdout).toMatch(/let it go on for one step, with the command at \/dev\/pts\/\d+ \(node < bash/)
    expect(told.stdout).toContain('UTC')
  })

  it('holds for the session with --session, and not for another session', async () => {
    const handle = await hold('ask')
    expect((await machine.type(['approve', handle, '--session'], 'approve\n')).code).toBe(0)
    for (const use of ['toolu_2', 'toolu_3', 'toolu_4']) expect((await call(use)).refused).toBe(false)
    expect((await call('toolu_5', SESSION.replace('a', 'b'))).refused).toBe(true)
    expect((await machine.type(['approve', handle], 'approve\n')).screen).toContain('answered already')
  })

  it.each([
    ['without a terminal', (handle: string) => machine.run(['approve', handle])],
    ['with another word', (handle: string) => machine.type(['approve', handle], 'yes\n')],
    [
      'in an agent’s environment',
      (handle: string) => machine.type(['approve', handle], 'approve\n', { CLAUDECODE: '1' }),
    ],
  ])('is refused %s, and nothing is let through', async (_, attempt) => {
    const handle = await hold('ask')
    expect((await attempt(handle)).code).toBe(1)
    expect((await call('toolu_2')).refused).toBe(true)
    expect(journal().some(entry => entry.kind === 'local_answer')).toBe(false)
  })

  it('a file in the spool that names a process without a terminal behind it approves nothing and is recorded', async () => {
    const handle = await hold('ask')
    const answer = {
      kind: 'local_answer',
      handle,
      scope: 'session',
      how: 'cli',
      pid: 2 ** 22 + 77,
      tty: '/dev/pts/9',
      chain: ['bash'],
      at: new Date().toISOString(),
    }
    mkdirSync(machine.home.spool, { recursive: true })
    writeFileSync(join(machine.home.spool, 'answer-abcdef.json'), JSON.stringify(answer))
    const told = await machine.run(['explain', handle])
    expect(told.stdout).toContain('An approval on this machine was refused: the process that asked is no longer there')
    expect((await call('toolu_2')).refused).toBe(true)
  })

  it('says that a deny rule is lifted by no answer', async () => {
    config(`boundaries:\n${RULE('never', 'deny')}`)
    await machine.run(['daemon', 'start'])
    const { handle } = await call('toolu_1')
    const ran = await machine.run([
      'approve',
      handle ?? journal().flatMap(e => (e.kind === 'decision' ? [e.handle] : []))[0]!,
      '--json',
    ])
    expect(ran).toMatchObject({ code: 1, json: { error: { code: 'denied_by_rule' } } })
  })

  it('refuses what an organisation’s rule sent to a role, with who can answer and where', async () => {
    const plane = new PlaneWithDoors()
    await plane.listen()
    try {
      plane.org.publish(`boundaries:\n${RULE('org-stop', 'approver:lead')}`)
      await machine.run(['join', plane.line])
      await machine.run(['daemon', 'start'])
      const { handle, refused } = await call('toolu_1')
      expect(refused).toBe(true)
      for (let i = 0; i < 50 && plane.org.requests.length === 0; i++)
        await new Promise(resolve => setTimeout(resolve, 100))
      expect(plane.org.requests).toHaveLength(1)
      const ran = await machine.type(['approve', handle!], 'approve\n')
      expect(ran.code).toBe(1)
      expect(ran.screen).toContain(
        'cannot be approved on this machine. Somebody with the role lead or above can answer it.',
      )
      expect(ran.screen).toMatch(/It waits at http:\/\/127\.0\.0\.1:\d+\/acme\/approvals\/bnd-/)
      expect((await machine.run(['explain', handle!])).stdout).toContain('refused; waits for a lead or above')
      plane.org.answer(plane.org.requests[0]!, {
        until: [{ figure: 'session_cost_usd', op: '<', value: '40' }],
        scope: 'session',
      })
      await machine.run(['team', 'sync'])
      const told = await machine.run(['explain', handle!])
      expect(told.stdout).toContain('approved by the organisation for the rest of the session')
      expect(told.stdout).toContain('Lea (lead, in the web app, signed in with single sign-on')
      expect(told.stdout).toContain('while session cost is below $40.00')
      expect(told.stdout).toContain('version 1 of the organisation’s rules')
    } finally {
      await plane.close()
    }
  })
})

describe('a session that begins while the daemon is down', () => {
  it('starts it, and who is at the keyboard is known when the first call comes', async () => {
    config(`boundaries:\n${RULE('stop-here', 'ask')}`)
    await machine.run(['hooks', 'install'])
    await machine.endDaemon('SIGKILL')
    const { command, args } = machine.settings().json.hooks.SessionStart[0].hooks[0] as {
      command: string
      args: string[]
    }
    const input = JSON.stringify({
      session_id: SESSION,
      hook_event_name: 'SessionStart',
      source: 'startup',
      cwd: machine.folder,
      transcript_path: '',
    })
    const env = {
      ...machine.env,
      CLAUDE_CODE_SESSION_ATTENDED: '1',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
    } as unknown as NodeJS.ProcessEnv
    expect(spawnSync(command, args, { input, env, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    })
    for (let i = 0; i < 100 && (await machine.run(['daemon', 'status'])).code !== 0; i++) await sleep(50)
    const status = (await machine.run(['daemon', 'status', '--json'])).json
    expect(journal().some(entry => entry.kind === 'started' && entry.downFrom !== undefined)).toBe(true)
    expect(status.sessions.find((one: { session: string }) => one.session === SESSION)).toMatchObject({
      attended: true,
    })
    const asked = await call('toolu_1', SESSION, 'cli')
    expect(asked.text).toContain('"ask"')
    expect(
      (await machine.run(['explain', journal().flatMap(e => (e.kind === 'decision' ? [e.handle] : []))[0]!])).stdout,
    ).toContain('asked at the agent’s own prompt; no answer was seen')
  })
})

describe('deny', () => {
  it('may be said by anybody, stands, and reads otherwise than a refusal', async () => {
    const handle = await hold('ask')
    expect((await machine.run(['explain', handle])).stdout).toContain('refused; waits for an answer here')
    expect(await machine.run(['deny', handle, '--json'])).toMatchObject({ code: 0, json: { state: 'denied' } })
    expect((await machine.run(['explain', handle])).stdout).toContain('denied on this machine')
    expect((await call('toolu_2')).refused).toBe(true)
    expect((await machine.run(['waiting', '--json'])).json).toEqual([])
    expect((await machine.run(['deny', handle])).code).toBe(1)
  })

  it('knows no decision that never was, and no id that is none', async () => {
    await machine.run(['daemon', 'start'])
    expect((await machine.run(['deny', 'bnd-0123456789ab', '--json'])).json.error.code).toBe('no_such_decision')
    expect(await machine.run(['explain', 'nonsense', '--json'])).toMatchObject({
      code: 2,
      json: { error: { code: 'bad_handle' } },
    })
  })
})

describe('boundaries', () => {
  it('status tells what a shadow rule would have done; promote makes it bind; only a person demotes it', async () => {
    const text = `# my rules\nboundaries:\n${RULE('watch', 'ask', 'shadow # yet')}`
    config(text)
    await machine.run(['daemon', 'start'])
    expect((await call('toolu_1')).refused).toBe(false)
    const before = await machine.run(['boundaries', 'status'])
    expect(before.stdout).toContain('watch  continue → ask  [shadow]\n  would have fired 1 time in 1 session, last 20')
    expect(before.stdout).toMatch(/Claude Code.* NOT judged: no hook is installed; run `holdpoint hooks install`/)
    expect(before.stdout).toContain('`holdpoint boundaries promote watch` makes it bind')
    expect((await machine.run(['boundaries', 'promote', 'watch'])).code).toBe(0)
    expect(readFileSync(machine.home.config, 'utf8')).toBe(text.replace('stage: shadow', 'stage: enforce'))
    expect((await call('toolu_2')).refused).toBe(true)
    expect((await machine.run(['boundaries', 'status'])).stdout).toContain('[enforce]')
    expect(await machine.run(['boundaries', 'demote', 'watch', '--json'])).toMatchObject({
      code: 1,
      json: { error: { code: 'no_terminal' } },
    })
    expect((await call('toolu_3')).refused).toBe(true)
    expect((await machine.type(['boundaries', 'demote', 'watch'], 'demote\n')).code).toBe(0)
    expect(readFileSync(machine.home.config, 'utf8')).toBe(text)
    expect((await call('toolu_4')).refused).toBe(false)
  })

  it('refuses the organisation’s rules and names the rule that was meant', async () => {
    config(`boundaries:\n${RULE('watch', 'ask')}`)
    expect(await machine.run(['boundaries', 'promote', 'org:watch', '--json'])).toMatchObject({
      code: 1,
      json: {
        error: {
          code: 'organisation_rule',
          message: "`org:watch` is the organisation's: its stage is set in the web app.",
        },
      },
    })
    expect(await machine.run(['boundaries', 'promote', 'wtach', '--json'])).toMatchObject({
      code: 4,
      json: { error: { code: 'no_such_rule', remedy: 'Did you mean `watch`?' } },
    })
  })

  it('promote without a file of one’s own names its place and a rule that then works as it stands', async () => {
    const ran = await machine.run(['boundaries', 'promote', 'my-limit', '--json'])
    expect(ran).toMatchObject({ code: 4, json: { error: { code: 'no_config' } } })
    const { message, remedy } = ran.json.error as { message: string; remedy: string }
    expect(message).toContain(machine.home.config)
    config(`${/boundaries: .*/.exec(remedy)![0]}\n`)
    expect(await machine.run(['boundaries', 'promote', 'my-limit', '--json'])).toMatchObject({
      code: 0,
      json: { rule: 'my-limit', stage: 'enforce', changed: true },
    })
    await machine.run(['daemon', 'start'])
    expect((await machine.run(['boundaries', 'status', '--json'])).json.rules).toMatchObject([
      { name: 'my-limit', stage: 'enforce' },
    ])
  })

  it('promote says of a file that is there and cannot be read that it is there', async () => {
    mkdirSync(machine.home.config)
    expect((await machine.run(['boundaries', 'promote', 'x', '--json'])).json.error.code).toBe('config_unreadable')
  })

  it('shows a broken file with its line, and what stays in force', async () => {
    config('boundaries:\n  - name: x\n    action: fly\n')
    await machine.run(['daemon', 'start'])
    const ran = await machine.run(['boundaries', 'status'])
    expect(ran.stdout).toContain('none of its rules is in force')
    expect(ran.stdout).toMatch(/ 3:\d+ {2}x: /)
  })
})
