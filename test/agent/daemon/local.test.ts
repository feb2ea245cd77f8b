import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { Organisation, RULE } from './organisation.ts'
import { type Typed, typedCommand } from './typed-command.ts'
import { attended, Machine, onCleanup, SESSION, told, until } from './world.ts'

let machine: Machine
beforeEach(() => {
  machine = new Machine()
})
const call = async (toolUse: string, headers: Record<string, string> = {}, fields: Record<string, unknown> = {}) =>
  told(await machine.hook({ tool_use_id: toolUse, ...fields }, headers))
const startSession = (at: '0' | '1') =>
  machine.hook({ hook_event_name: 'SessionStart', source: 'startup' }, { 'x-holdpoint-attended': at })

async function asking(rule = RULE('ask')) {
  machine.config(rule)
  await machine.start()
  machine.spend(20.1)
}

const approving = (handle: string) => typedCommand(machine, ['approve', handle])

/** What `holdpoint approve` leaves once the word was typed. */
function leaveAnswer(handle: string, { pid, tty }: Typed, more: Record<string, unknown> = {}): void {
  mkdirSync(machine.home.spool, { recursive: true })
  const answer = {
    kind: 'local_answer',
    handle,
    scope: 'step',
    how: 'cli',
    pid,
    tty,
    chain: [],
    at: new Date(machine.now()).toISOString(),
    ...more,
  }
  writeFileSync(join(machine.home.spool, `answer-${Math.random().toString(36).slice(2)}.json`), JSON.stringify(answer))
}
/** A process that no test of an ordinary user owns; as root, one is put to another user. */
function anothersProcess(): number {
  if (process.getuid?.() !== 0) return 1
  const child = spawn('sleep', ['30'], { uid: 65_534, gid: 65_534, stdio: 'ignore' })
  onCleanup(() => void child.kill())
  return child.pid!
}
const explain = async (handle: string) => (await machine.ask('GET', `/api/decisions/${handle}`, { token: 'api' })).json
const handleIn = (reason: string) => /bnd-[0-9a-f]{12}/.exec(reason)![0]

describe('ask, with somebody at the keyboard', () => {
  test('asks there; a yes is read back from the tool having run and holds for the session', async () => {
    await asking()
    await startSession('1')
    const first = await call('toolu_1')
    expect(first.decision).toBe('ask')
    expect(first.reason).toContain('$20.10')
    await machine.hook({ hook_event_name: 'PostToolUse', tool_use_id: 'toolu_1' })
    expect(machine.entries('local_answer')).toMatchObject([{ how: 'prompt', scope: 'session', toolUse: 'toolu_1' }])
    expect((await call('toolu_2')).decision).toBe('pass')
    const explained = await explain(handleIn(machine.entries('decision').at(-1)!.handle))
    expect(explained.grants).toMatchObject([{ scope: 'session', answeredHere: true }])
  })

  test('a no is read back from the transcript, is recorded, and the next call asks again', async () => {
    await asking()
    await startSession('1')
    machine.spend(0.01, { toolUses: ['toolu_1'] })
    await call('toolu_1')
    machine.result('toolu_1', 'declined')
    expect((await call('toolu_2')).decision).toBe('ask')
    expect(machine.entries('declined')).toMatchObject([{ toolUse: 'toolu_1' }])
    expect(machine.entries('local_answer')).toEqual([])
  })

  test('a no is told by the first look at the decision: no hook comes after it', async () => {
    await asking()
    await startSession('1')
    machine.spend(0.01, { toolUses: ['toolu_1'] })
    const { reason } = await call('toolu_1')
    machine.result('toolu_1', 'declined')
    const { history } = await explain(handleIn(reason))
    expect(history.map((entry: { kind: string }) => entry.kind)).toContain('declined')
  })

  test('a yes that the client writes down only after the next call’s hook has come is waited for', async () => {
    await asking()
    await startSession('1')
    machine.spend(0.01, { toolUses: ['toolu_1'] })
    expect((await call('toolu_1')).decision).toBe('ask')
    const next = call('toolu_2')
    setTimeout(() => {
      machine.result('toolu_1', 'ran')
      machine.spend(0.01, { toolUses: ['toolu_2'] })
    }, 60)
    expect((await next).decision).toBe('pass')
  })

  test('a yes that no hook told is found in the transcript', async () => {
    await asking()
    await startSession('1')
    await call('toolu_1')
    machine.result('toolu_1', 'ran')
    expect((await call('toolu_2')).decision).toBe('pass')
  })

  test('a yes ends after a day, and for another session it never held', async () => {
    await asking()
    await startSession('1')
    await call('toolu_1')
    await machine.hook({ hook_event_name: 'PostToolUse', tool_use_id: 'toolu_1' })
    machine.offset += 24 * 3600_000
    expect((await call('toolu_2')).decision).toBe('ask')
  })

  test('a rule with step: asks again once the figure has grown by it', async () => {
    await asking(RULE('ask', 20, '    step: 5\n'))
    await startSession('1')
    await call('toolu_1')
    await machine.hook({ hook_event_name: 'PostToolUse', tool_use_id: 'toolu_1' })
    machine.spend(4.9)
    expect((await call('toolu_2')).decision).toBe('pass')
    machine.spend(0.1)
    expect((await call('toolu_3')).decision).toBe('ask')
  })

  test('a local approver:<role> is asked here like ask; the organisation’s refuses even here', async () => {
    await asking(RULE('approver:admin'))
    await startSession('1')
    expect((await call('toolu_1')).decision).toBe('ask')
  })

  test('a headless call of an attended session is refused, not asked', async () => {
    await asking()
    await startSession('1')
    expect((await call('toolu_1', { 'x-holdpoint-entrypoint': 'sdk-cli' })).decision).toBe('deny')
  })
})

describe('ask, with nobody there', () => {
  test('refuses with one handle for all tries and the command; an unsaid attendance is nobody', async () => {
    await asking()
    const reasons = [await call('toolu_1'), await call('toolu_2')].map(reply => reply.reason)
    expect(reasons[0]).toContain(`holdpoint approve ${handleIn(reasons[0]!)}`)
    expect(reasons[0]).toContain('Do not retry')
    expect(handleIn(reasons[1]!)).toBe(handleIn(reasons[0]!))
    const waiting = (await machine.ask('GET', '/api/waiting', { token: 'api' })).json
    expect(waiting).toMatchObject([{ handle: handleIn(reasons[0]!), state: 'waiting here', rules: ['session-spend'] }])
  })

  test('holdpoint approve lets exactly the next call through', async () => {
    await asking()
    const handle = handleIn((await call('toolu_1')).reason)
    leaveAnswer(handle, await approving(handle))
    expect((await explain(handle)).history.map((entry: { kind: string }) => entry.kind)).toContain('local_answer')
    expect((await call('toolu_2')).decision).toBe('pass')
    expect((await call('toolu_2')).decision).toBe('pass')
    expect((await call('toolu_3')).decision).toBe('deny')
    expect(machine.entries('local_answer')[0]!.chain!.length).toBeGreaterThan(1)
  })

  test('holdpoint approve --session lets the rest of the session through, over a restart', async () => {
    await asking()
    const handle = handleIn((await call('toolu_1')).reason)
    leaveAnswer(handle, await approving(handle), { scope: 'session' })
    await until(() => machine.entries('local_answer').length === 1)
    await machine.crash()
    await machine.start()
    expect((await call('toolu_2')).decision).toBe('pass')
    expect((await call('toolu_3')).decision).toBe('pass')
  })

  test.each(['step', 'session'])(
    'an approval of the %s lifts the rule that was asked about, not what it became since',
    async scope => {
      await asking()
      const handle = handleIn((await call('toolu_1')).reason)
      leaveAnswer(handle, await approving(handle), { scope })
      await until(() => machine.entries('local_answer').length === 1)
      machine.config(RULE('ask', 10))
      expect((await call('toolu_2')).decision).toBe('deny')
      machine.config(RULE('ask'))
      expect((await call('toolu_3')).decision).toBe('pass')
    },
  )

  test.each<[string, string, (handle: string) => Promise<Typed> | Typed, Record<string, unknown>?]>([
    ['a process that is gone', 'gone', () => ({ pid: 2 ** 22 - 3, tty: '/dev/pts/3' })],
    ['a process of another user', 'another_user', () => ({ pid: anothersProcess(), tty: '/dev/pts/3' })],
    ['an answer from a while ago', 'given_too_long_ago', approving, { at: '2020-01-01T00:00:00.000Z' }],
    ['no time at all', 'not_a_claim', approving, { at: undefined }],
    ['another program', 'another_program', h => typedCommand(machine, ['approve', h], { interpreter: 'bash' })],
    [
      'a program of the same name elsewhere',
      'another_program',
      h => typedCommand(machine, ['approve', h], { program: join(machine.folder, 'copy', 'holdpoint.cjs') }),
    ],
    ['another command of ours', 'another_command', h => typedCommand(machine, ['explain', h])],
    ['an approval of something else', 'another_command', () => typedCommand(machine, ['approve', 'bnd-000000000000'])],
    ['another terminal', 'another_terminal', async h => ({ ...(await approving(h)), tty: '/dev/pts/4095' })],
    [
      'a command that an agent runs',
      'agent_environment',
      h => typedCommand(machine, ['approve', h], { env: { CLAUDECODE: '1' } }),
    ],
    [
      'a command below an agent',
      'seen_agent',
      async h => {
        const typed = await approving(h)
        mkdirSync(join(machine.home.root, 'agents'), { recursive: true })
        writeFileSync(join(machine.home.root, 'agents', String(typed.pid)), '')
        return typed
      },
    ],
  ])('a spool file that names %s approves nothing, with an alarm', async (_, why, claimed, more) => {
    await asking()
    const handle = handleIn((await call('toolu_1')).reason)
    leaveAnswer(handle, await claimed(handle), more)
    await until(() => machine.entries('guard_refused').length === 1)
    expect(machine.entries('guard_refused')).toMatchObject([{ handle, why }])
    expect((await call('toolu_2')).decision).toBe('deny')
    expect((await machine.ask('GET', '/api/status', { token: 'api' })).json.alarms).toMatchObject([
      { what: 'guard_refused' },
    ])
  })

  test('holdpoint deny stands for a day, also where somebody could be asked', async () => {
    await asking()
    const handle = handleIn((await call('toolu_1')).reason)
    expect((await machine.ask('POST', `/api/decisions/${handle}/deny`, { token: 'api', body: '{}' })).json).toEqual({
      handle,
      state: 'denied',
    })
    expect((await call('toolu_2', attended)).reason).toContain('denied on this machine')
    machine.offset += 24 * 3600_000 + 1
    expect((await call('toolu_3', attended)).decision).toBe('ask')
  })
})

describe('a stop', () => {
  const stop = (asked: object) =>
    machine.ask('POST', '/api/stop', { token: 'api', body: JSON.stringify({ ...asked, at: new Date().toISOString() }) })

  test('with the owner’s token alone stops nothing and is recorded', async () => {
    await asking()
    const other = await typedCommand(machine, ['daemon', 'status'])
    expect(await stop({})).toMatchObject({ status: 403, json: { error: { code: 'GUARD_REFUSED' } } })
    expect(await stop({ pid: process.pid, tty: '/dev/pts/1' })).toMatchObject({ status: 403 })
    expect(await stop(other)).toMatchObject({ status: 403 })
    expect((await call('toolu_1')).decision).toBe('deny')
    expect(machine.entries('guard_refused')).toMatchObject([
      { act: 'daemon stop', why: 'not_a_claim' },
      { act: 'daemon stop', why: 'another_program' },
      { act: 'daemon stop', why: 'another_command' },
    ])
  })

  test('asked for by `holdpoint daemon stop` at a terminal ends it', async () => {
    await asking()
    expect(await stop(await typedCommand(machine, ['daemon', 'stop']))).toMatchObject({ status: 200 })
    await machine.daemon.stopped
    expect(machine.entries('stopped')).toHaveLength(1)
  })
})

describe('rules side by side', () => {
  test('an organisation’s request can never be approved on the machine', async () => {
    const org = new Organisation()
    await org.listen()
    onCleanup(() => org.close())
    machine.join(org)
    org.publish(RULE('approver:lead'))
    await machine.start()
    await machine.daemon.sync()
    machine.spend(20.1)
    const handle = handleIn((await call('toolu_1', attended)).reason)
    leaveAnswer(handle, await approving(handle), { scope: 'session' })
    await until(() => machine.entries('guard_refused').length === 1)
    expect((await call('toolu_2', attended)).decision).toBe('deny')
  })

  test('the strictest wins, and shadow changes nothing but is counted on every call and recorded once per session and rule', async () => {
    await asking(`${RULE('deny').replace('stage: enforce', 'stage: shadow')}`)
    for (let i = 0; i < 5; i++) expect((await call(`toolu_${i}`)).decision).toBe('pass')
    expect(machine.entries('decision')).toMatchObject([{ stage: 'shadow', did: 'passed', outcome: 'deny' }])
    const status = (await machine.ask('GET', '/api/status', { token: 'api' })).json
    expect(status.rules).toMatchObject([{ name: 'session-spend', fired: 5, sessions: 1, stage: 'shadow' }])
    await machine.crash()
    await machine.start()
    await call('toolu_9')
    expect(machine.entries('decision')).toHaveLength(1)
  })

  test('a subagent’s model is judged by its tier, the session’s where it inherits', async () => {
    machine.config(
      'boundaries:\n  - name: big-subagents\n    action: subagent_model\n    when: { model_tier: "> sonnet" }\n    require: deny\n    stage: enforce\n',
    )
    await machine.start()
    const agent = (model?: string) =>
      call(
        `toolu_${Math.random()}`.replace('.', ''),
        {},
        { tool_name: 'Agent', tool_input: { prompt: 'x', ...(model ? { model } : {}) } },
      )
    expect((await agent('opus')).decision).toBe('deny')
    expect((await agent('sonnet')).decision).toBe('pass')
    expect((await agent()).decision).toBe('pass')
    machine.spend(0.01)
    expect((await agent()).decision).toBe('deny')
    expect((await call('toolu_b', {}, { tool_name: 'Bash', tool_input: { model: 'opus' } })).decision).toBe('pass')
  })

  test('workflow and agent are read from the client, the repository and the session', async () => {
    mkdirSync(join(machine.cwd, '.git'))
    writeFileSync(join(machine.cwd, '.git', 'config'), '[remote "origin"]\n\turl = git@host.example:team/my-repo.git\n')
    machine.config(
      `boundaries:\n  - name: one-repo\n    action: continue\n    when: { workflow_id: "== claude-code:my-repo:${SESSION}" }\n    require: deny\n    stage: enforce\n`,
    )
    await machine.start()
    expect((await call('toolu_1', {}, { cwd: join(machine.cwd, 'src') })).decision).toBe('deny')
  })
})

describe('config.yaml, edited while a session runs', () => {
  test('takes force at the next call', async () => {
    await asking(RULE('deny', 50))
    expect((await call('toolu_1')).decision).toBe('pass')
    machine.config(RULE('deny', 20))
    expect((await call('toolu_2')).decision).toBe('deny')
  })

  test.each([
    ['broken', 'boundaries: [unclosed'],
    ['with an unknown condition', RULE('deny').replace('session_cost_usd', 'phase_of_moon')],
    ['with a key twice', `${RULE('deny')}boundaries: []\n`],
    ['an alias bomb', 'boundaries: &a [x, x]\ntests: [*a, *a]\n'],
    ['ten megabytes', `# ${'x'.repeat(10_000_000)}\n`],
    ['no text', '\u0000\u0001'],
  ])('%s: the last good rules stay, over a restart too, and status says where the mistake is', async (_, text) => {
    await asking(RULE('deny'))
    expect((await call('toolu_1')).decision).toBe('deny')
    machine.config(text)
    expect((await call('toolu_2')).decision).toBe('deny')
    await machine.daemon.stop()
    await machine.start()
    expect((await call('toolu_3')).decision).toBe('deny')
    const { local, alarms } = (await machine.ask('GET', '/api/status', { token: 'api' })).json
    expect(local.source).toBe('last-good')
    expect(local.errors.length).toBeGreaterThan(0)
    expect(alarms.map((alarm: { what: string }) => alarm.what)).toContain('local_rules_broken')
  })

  test('deleted has no rules and is no error', async () => {
    await asking(RULE('deny'))
    rmSync(machine.home.config)
    expect((await call('toolu_1')).decision).toBe('pass')
  })
})
