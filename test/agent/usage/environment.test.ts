/** Attribution by the environment that a session was started in: rules ask, the machine answers, and no value goes anywhere. */
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { environmentFile } from '#agent/hook/environment.ts'
import { ruleHolds } from '#core/usage/attribution.ts'
import { heldIn } from '#core/usage/environment.ts'
import { asksForSecret } from '#core/usage/secret-name.ts'
import { CommandMachine, PlaneWithDoors } from '../commands/machine.ts'
import { RULE } from '../daemon/organisation.ts'

const TAGS = { tenant: ['acme', 'globex'], project: ['nightly'] }
const attribution = (...rules: [string, Record<string, string>][]) => ({
  attribution: [{ tags: TAGS, rules: rules.map(([environment, set]) => ({ when: { environment }, set })) }],
})

let machine: CommandMachine
let plane: PlaneWithDoors
beforeEach(async () => {
  machine = new CommandMachine()
  plane = new PlaneWithDoors()
  await machine.install()
  await plane.listen()
  plane.org.publish(
    RULE('deny', 100),
    attribution(
      ['CUSTOMER=Globex*', { tenant: 'globex' }],
      ['CI_JOB=*', { project: 'nightly' }],
      ['ANTHROPIC_API_KEY=sk-a*', { tenant: 'acme' }],
    ),
  )
  await machine.run(['join', plane.line])
  await machine.run(['daemon', 'start'])
  await machine.run(['team', 'sync'])
})
afterEach(async () => {
  await plane.close()
  await machine.remove()
})

function hook(event: string, session: string, env: Record<string, string>): void {
  const ran = spawnSync(process.execPath, [join(machine.home.bin, 'hook.cjs'), 'claude-code', event], {
    env: { ...machine.env, ...env } as unknown as NodeJS.ProcessEnv,
    input: JSON.stringify({ hook_event_name: event, session_id: session, cwd: machine.folder }),
  })
  expect(ran.status).toBe(0)
}
let n = 0
function call(session: string, folder = `${session}.jsonl`, more: object = {}): void {
  const at = join(machine.folder, '.claude', 'projects', machine.folder.replace(/[^A-Za-z0-9]/g, '-'))
  mkdirSync(join(at, folder, '..'), { recursive: true })
  const usage = { input_tokens: 0, output_tokens: 40_000 }
  const message = { id: `msg_${n++}`, model: 'claude-opus-4-6', role: 'assistant', content: [], usage }
  const line = {
    type: 'assistant',
    sessionId: session,
    timestamp: new Date().toISOString(),
    cwd: machine.folder,
    message,
  }
  appendFileSync(join(at, folder), `${JSON.stringify({ ...line, ...more })}\n`)
}
/** What went up: dollars by the tags of their bucket. */
const sent = async () => {
  await machine.run(['team', 'sync'])
  const buckets = [...plane.org.usage.values()].flatMap(({ sent: day }) => day.buckets)
  return Object.fromEntries(buckets.map(({ tags, cost }) => [JSON.stringify(tags), cost]))
}

describe('attribution by environment', () => {
  it('holds for a session by what its client was started with, and no value of it is kept or sent', async () => {
    hook('SessionStart', 'one', {
      CUSTOMER: 'Globex International, secret-project-name',
      CI_JOB: 'a-number',
      OTHER: 'x',
    })
    hook('SessionStart', 'two', { CUSTOMER: 'Acme' })
    for (const session of ['one', 'two', 'three']) call(session)
    expect(await sent()).toEqual({ '{"project":"nightly","tenant":"globex"}': '1', '{}': '2' })
    await machine.endDaemon()
    const kept = readdirSync(machine.home.root, { recursive: true, encoding: 'utf8' })
      .map(name => join(machine.home.root, name))
      .filter(path => statSync(path).isFile() && !path.startsWith(machine.home.bin))
      .map(path => readFileSync(path, 'utf8'))
      .join('')
    expect(kept).toContain('CUSTOMER=Globex*')
    for (const value of ['International', 'secret-project-name', 'a-number']) {
      expect(kept, value).not.toContain(value)
      expect(JSON.stringify(plane.org.uploads), value).not.toContain(value)
    }
  })

  it('gives no rule an answer about a variable with a secret’s name, and says so', async () => {
    expect(readFileSync(environmentFile(machine.home.root), 'utf8')).not.toContain('ANTHROPIC_API_KEY')
    hook('SessionStart', 'one', { ANTHROPIC_API_KEY: 'sk-ant' })
    call('one')
    expect(await sent()).toEqual({ '{}': '1' })
    expect((await machine.run(['team', 'status'])).stdout).toContain(
      '1 attribution rule asks about a variable with a secret’s name: not looked at',
    )
  })

  it('is looked at again with a prompt, for rules that came meanwhile; what older rules asked is forgotten', async () => {
    hook('SessionStart', 'one', { CUSTOMER: 'Globex', REGION: 'eu' })
    plane.org.publish(RULE('deny', 100), attribution(['REGION=eu', { tenant: 'acme' }]))
    await machine.run(['team', 'sync'])
    call('one')
    expect(await sent()).toEqual({ '{}': '1' })
    hook('UserPromptSubmit', 'one', { CUSTOMER: 'Globex', REGION: 'eu' })
    call('one')
    expect((await sent())['{"tenant":"acme"}']).toBe('1')
    plane.org.publish(RULE('deny', 100))
    await machine.run(['team', 'sync'])
    expect(existsSync(environmentFile(machine.home.root))).toBe(false)
  })

  it('a subagent’s calls are attributed as its session’s are, wherever it works', async () => {
    hook('SessionStart', 'one', { CUSTOMER: 'Globex', HOLDPOINT_TAGS: 'project=nightly' })
    call('one')
    call('one', 'one/subagents/agent-a1.jsonl', { isSidechain: true, agentId: 'a1', cwd: '/elsewhere' })
    expect(await sent()).toEqual({ '{"project":"nightly","tenant":"globex"}': '2' })
  })
})

it('only variables that a pattern names are looked at, and the whole value has to match', () => {
  const looked: string[] = []
  const env = new Proxy({ A: 'one two', B: 'x' } as Record<string, string>, {
    get: (of, name) => {
      looked.push(String(name))
      return of[String(name)]
    },
  })
  expect(heldIn(['A=one*', 'A=one', 'A=*two', 'C=*', 'toString=*', 'nothing', '=x'], env)).toEqual(['A=one*', 'A=*two'])
  expect(new Set(looked)).toEqual(new Set(['A']))
  for (const name of ['MY_API_KEY', 'GITHUB_TOKEN', 'db_password', 'Authorization', 'SENTRY_DSN', 'CLIENT_SECRET'])
    expect(asksForSecret(`${name}=*`), name).toBe(true)
  for (const name of [
    'DATABASE_URL',
    'DB_URI',
    'REDISURL',
    'https_proxy',
    'SLACK_WEBHOOK',
    'DB_PWD',
    'GITHUB_PAT',
    'JWT',
  ])
    expect(asksForSecret(`${name}=*`), name).toBe(true)
  for (const name of ['CI_PROJECT_URL', 'PWD', 'PATH', 'COST_CENTRE', 'NO_PROXY_CHECK', 'DEPARTMENT'])
    expect(asksForSecret(`${name}=*`), name).toBe(false)
  expect(asksForSecret('TEAM=a-key')).toBe(false)
  expect(
    ruleHolds({ when: { environment: 'A_KEY=*' }, set: {} }, { environment: { A_KEY: 'x' }, held: ['A_KEY=*'] }),
  ).toBe(false)
})
