import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApprovalRequest } from '#core/approval/request.ts'
import { ALARM_KINDS, HOOK_OFF, REPORTED_REFUSALS, Report } from '#core/protocol.ts'
import { PROSE, type Schema, textsOf } from '#test/support/schema-texts.ts'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup, SESSION, told } from './world.ts'

/**
 * Fields whose pattern a single made-up word could fit. Each stands here with who sets it, so that a new one is a decision.
 * Rule and budget names come from the organisation's signed set; routes from the lists of providers and models.
 */
const NAMED: Record<string, string> = {
  'request.rules[].name': 'the organisation’s rule',
  'request.figures[].qualifier': 'a plan window, or the organisation’s budget',
  'request.subject.provider': 'a list of providers',
  'request.subject.from': 'a list of models',
  'request.subject.to': 'a list of models',
  'request.org': 'made by the control plane',
  'request.machine': 'made by the control plane',
  'request.member': 'made by the control plane',
  'request.nonce': 'random',
  'request.sessionRef': 'an HMAC',
  'request.rules[].digest': 'a digest',
  'request.ruleset.digest': 'a digest',
  'report.org': 'made by the control plane',
  'report.machine': 'made by the control plane',
  'report.connector': 'this build’s version',
  'report.hooks[].version': 'the client’s version',
  'report.hooks[].off[]': 'this build’s list (HOOK_OFF)',
  'report.hooks[].rules[].rule': 'the organisation’s rule',
  'report.alarms[].what': 'this build’s list (ALARM_KINDS)',
  'report.rules.lastError.code': 'this build’s list (REPORTED_REFUSALS)',
  'report.rules.unsupported[]': 'the organisation’s rule',
  'report.rules.digest': 'a digest',
  'report.rules.rootDigest': 'a digest',
  'report.journal.head': 'a digest',
  'report.journal.anchor.head': 'a digest',
  'report.unguarded[].sessionRef': 'an HMAC',
  'report.outcomes[].rule': 'the organisation’s rule',
  'report.outcomes[].sessionRef': 'an HMAC',
  'report.outcomes[].figures[].qualifier': 'a plan window, or the organisation’s budget',
  'report.counts[].sessionRef': 'an HMAC',
  'report.counts[].figures[].qualifier': 'a plan window, or the organisation’s budget',
  'report.grants[].answerId': 'random, made by the control plane',
}
/** Told about in the report: the two that the protocol leaves open are ids that this machine was given when it joined. */
const OPEN = ['report.org', 'report.machine']

describe.each([
  ['request', ApprovalRequest],
  ['report', Report],
] as const)('no field of a %s', (name, schema) => {
  const texts = textsOf(schema as unknown as Schema, name)

  test('can carry free text', () => {
    expect(texts.length).toBeGreaterThan(5)
    for (const { path, schema: field } of texts) {
      if (OPEN.includes(path)) continue
      // a word alone may fit where a name from a list belongs; prose, a path or an address of a page never does
      const words = NAMED[path] === undefined ? PROSE : PROSE.filter(text => /[\s/\\"]/.test(text))
      for (const text of words)
        expect(field.safeParse(text).success, `${path} takes ${JSON.stringify(text)}`).toBe(false)
    }
  })

  test('takes even one made-up word, unless it is known here who sets it', () => {
    for (const { path, schema: field } of texts) {
      const takesWord = [
        PROSE[0]!.split(' ')[1]!,
        'x'.repeat(43),
        'y'.repeat(22),
        'org_aaaaaaaaaaaaaaaa',
        'mac_aaaaaaaaaaaaaaaa',
        'mem_aaaaaaaaaaaaaaaa',
        'opus4',
      ].some(word => field.safeParse(word).success)
      if (takesWord) expect(Object.keys(NAMED), path).toContain(path)
    }
  })

  test('takes a text with white space, whatever it is', () => {
    for (const { path, schema: field } of texts) {
      if (OPEN.includes(path)) continue
      fc.assert(
        fc.property(
          fc.string({ minLength: 1 }),
          fc.string({ minLength: 1 }),
          (a, b) => !field.safeParse(`${a} ${b}`).success,
        ),
        { numRuns: 50 },
      )
    }
  })
})

test('the walk itself finds a field that could carry text', async () => {
  const z = await import('zod/mini')
  expect(() => textsOf(z.looseObject({}) as unknown as Schema, 'x')).toThrow('unknown members')
  expect(
    textsOf(z.strictObject({ why: z.optional(z.array(z.string())) }) as unknown as Schema, 'x').map(t => t.path),
  ).toEqual(['x.why[]'])
  expect(() => textsOf(z.strictObject({ any: z.unknown() }) as unknown as Schema, 'x')).toThrow('does not know')
})

test('a machine full of secrets files requests and reports with none of them', async () => {
  const org = new Organisation()
  await org.listen()
  onCleanup(() => org.close())
  const machine = new Machine()
  const canaries: string[] = []
  const canary = () => {
    canaries.push(`canary${canaries.length}x${Math.random().toString(36).slice(2, 10)}`)
    return canaries.at(-1)!
  }
  const cwd = join(machine.folder, 'dev', canary())
  mkdirSync(join(cwd, '.git'), { recursive: true })
  writeFileSync(join(cwd, '.git', 'config'), `[remote "origin"]\n\turl = git@${canary()}:team/${canary()}.git\n`)
  Object.assign(machine, { cwd })
  machine.join(org)
  const env = { ANTHROPIC_API_KEY: canary(), HTTP_PROXY: `http://${canary()}:1` }
  // local rules have names and notes of the developer's own; the organisation's rule reads what carries names
  machine.config(
    `${RULE('ask', 5, `    note: ${canary()}\n`).replace('session-spend', canary())}  - name: ${canary()}\n    action: continue\n    when: { agent_id: "== *" }\n    require: ask\n`,
  )
  org.publish(
    `${RULE('approver:lead')}  - name: any-workflow\n    action: continue\n    when: { workflow_id: "== *", session_cost_usd: ">= 1" }\n    require: approver:lead\n    stage: enforce\n  - name: seen\n    action: continue\n    when: { agent_id: "== claude-code:*" }\n    require: ask\n  - name: tiers\n    action: subagent_model\n    when: { model_tier: ">= haiku" }\n    require: deny\n    stage: enforce\n`,
  )
  await machine.start({ clientHome: { homeDir: join(machine.folder, 'dev'), env } })
  await machine.daemon.sync()
  machine.spend(30)
  machine.line({ type: 'user', sessionId: SESSION, message: { role: 'user', content: canary() } })
  machine.line({
    type: 'assistant',
    sessionId: SESSION,
    requestId: canary(),
    timestamp: new Date().toISOString(),
    message: {
      id: canary(),
      model: canary(),
      role: 'assistant',
      content: [{ type: 'tool_use', id: `toolu_${canary()}`, name: canary(), input: { command: canary() } }],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  })
  const secret = {
    tool_name: canary(),
    tool_input: { command: canary(), prompt: canary() },
    prompt: canary(),
    agent_id: canary(),
    agent_type: canary(),
    permission_mode: canary(),
    unknown: canary(),
  }
  const { decision } = told(
    await machine.hook({ ...secret, tool_use_id: `toolu_${canary()}` }, { 'x-holdpoint-entrypoint': canary() }),
  )
  expect(decision).toBe('deny')
  expect(
    told(
      await machine.hook({
        ...secret,
        tool_name: 'Agent',
        tool_use_id: 'toolu_a',
        tool_input: { model: canary(), prompt: canary() },
      }),
    ).decision,
  ).toBe('deny')
  await machine.hook({ hook_event_name: 'UserPromptSubmit', prompt: canary() })
  await machine.hook({ hook_event_name: 'SessionEnd', reason: canary() })
  await machine.hook({}, {})
  await machine.ask('POST', '/hook/claude-code', { token: 'hook', body: `{"session_id": "${canary()}` })
  machine.result(`toolu_${canary()}`, 'ran')
  await machine.daemon.tick()
  await machine.daemon.tick()
  expect(org.requests.length).toBeGreaterThan(0)
  expect(org.reports.length).toBeGreaterThan(1)
  expect(org.reports.flatMap(report => report.outcomes).length).toBeGreaterThan(2)
  // the words that a reader takes by their form alone are of this build's own lists
  for (const { alarms, hooks, rules } of org.reports) {
    expect(ALARM_KINDS).toEqual(expect.arrayContaining(alarms.map(alarm => alarm.what)))
    expect(HOOK_OFF).toEqual(expect.arrayContaining(hooks.flatMap(hook => hook.off)))
    expect(REPORTED_REFUSALS).toEqual(expect.arrayContaining(rules.lastError ? [rules.lastError.code] : []))
  }
  const sent = JSON.stringify([org.requests, org.reports])
  for (const word of [...canaries, hostname().length > 3 ? hostname() : 'no-host', SESSION, cwd, machine.folder])
    expect(sent, word).not.toContain(word)
  expect(JSON.stringify(org.requests)).not.toContain(userInfo().username === 'root' ? 'no-user' : userInfo().username)
  expect(sent).toContain('matched')
  // what the developer typed or the model wrote is not even on this machine's own disk twice
  const journal = JSON.stringify(machine.journal())
  for (const word of [
    secret.tool_input.command,
    secret.tool_input.prompt,
    secret.prompt,
    secret.unknown,
    env.ANTHROPIC_API_KEY,
  ])
    expect(journal).not.toContain(word)
  expect(readFileSync(machine.home.tokens, 'utf8')).not.toBe('')
})
