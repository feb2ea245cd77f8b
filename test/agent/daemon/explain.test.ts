import { describe, expect, test } from 'vitest'
import type { DecisionRecord } from '#agent/commands/decision.ts'
import { storyOf } from '#agent/commands/explain.ts'
import { outcomeWords } from '#agent/commands/outcome-words.ts'
import { record } from '#agent/daemon/runtime.ts'
import type { ApprovalRequest } from '#core/approval/request.ts'
import { makeId } from '#core/id.ts'
import { UNDATED_SIGN_IN } from '#core/permission.ts'
import { Organisation, RULE } from './organisation.ts'
import { attended, Machine, onCleanup, told } from './world.ts'

const HOUR = 3600_000

/** A machine with a call that a rule of the organisation, or of the developer's own, has held. */
class World {
  readonly org = new Organisation()
  readonly machine = new Machine()

  async begin({ own, organisation }: { own?: string; organisation?: string }): Promise<void> {
    this.org.clock = this.machine.now
    await this.org.listen()
    onCleanup(() => this.org.close())
    if (own) this.machine.config(own)
    if (organisation) {
      this.machine.join(this.org)
      this.org.publish(organisation)
    }
    await this.machine.start()
    if (organisation) await this.sync()
    this.machine.spend(20.1)
  }

  sync = () => this.machine.daemon.sync()
  call = async (toolUse: string, headers: Record<string, string> = {}) =>
    told(await this.machine.hook({ tool_use_id: toolUse }, headers))
  /** The handle of the newest decision. */
  newest = () => this.machine.entries('decision').at(-1)!.handle
  async held(): Promise<ApprovalRequest> {
    await this.call('toolu_0')
    await this.sync()
    return this.org.requests.at(-1)!
  }
  answerHere(handle: string, scope: 'step' | 'session'): void {
    record(
      this.machine.daemon.runtime,
      { kind: 'local_answer', handle, scope, how: 'cli', tty: '/dev/pts/1', chain: ['node', 'bash'] },
      { durable: true },
    )
  }
  explain = async (handle: string): Promise<DecisionRecord> =>
    (await this.machine.ask('GET', `/api/decisions/${handle}`, { token: 'api' })).json
  async told(handle: string): Promise<{ outcome: string; story: string }> {
    const record = await this.explain(handle)
    const now = this.machine.now()
    return { outcome: outcomeWords(record, now), story: storyOf(record, now).join('\n') }
  }
}

type Row = { when: string; outcome: string; story: RegExp; make: (world: World) => Promise<string> }

const ORGANISATION: Row[] = [
  {
    when: 'waits',
    outcome: 'refused; waits for a lead or above',
    story: /somebody with the role lead or above \(2 now\) can answer at http/,
    make: async world => (await world.held()).handle,
  },
  {
    when: 'was approved for a step that nobody has used',
    outcome: 'approved by the organisation for one step; not used yet',
    story: /Lea \(lead, in the web app, signed in with single sign-on .*\) let it go on for one step/,
    make: async world => {
      const { handle } = world.org.answer(await world.held())
      await world.sync()
      return handle
    },
  },
  {
    when: 'was approved by somebody whose provider does not date sign-ins',
    outcome: 'approved by the organisation for one step; not used yet',
    story: /signed in with single sign-on \(the provider does not say when\)\) let it go on/,
    make: async world => {
      const { handle } = world.org.answer(await world.held(), {
        approvers: [
          {
            memberId: makeId('member', new Uint8Array(12)),
            name: 'Lea',
            role: 'lead',
            method: 'oidc',
            how: 'web',
            authnAt: UNDATED_SIGN_IN.toISOString(),
          },
        ],
      })
      await world.sync()
      return handle
    },
  },
  {
    when: 'was approved for a step that was used',
    outcome: 'approved by the organisation, and used',
    story: /One call used the answer \(toolu_1\)[\s\S]*It is used up/,
    make: async world => {
      const { handle } = world.org.answer(await world.held())
      await world.sync()
      await world.call('toolu_1')
      return handle
    },
  },
  {
    when: 'is the call that used a step',
    outcome: 'went on; approved by the organisation, and used',
    story: /went on under an answer given before/,
    make: async world => {
      world.org.answer(await world.held())
      await world.sync()
      await world.call('toolu_1')
      return world.newest()
    },
  },
  {
    when: 'was approved for a step that lapsed',
    outcome: 'approved, and never used in time',
    story: /It lapsed unused/,
    make: async world => {
      const { handle } = world.org.answer(await world.held())
      await world.sync()
      world.machine.offset += 24 * HOUR + 1000
      await world.sync()
      return handle
    },
  },
  {
    when: 'was approved for the session',
    outcome: 'approved by the organisation for the rest of the session',
    story: /The answer holds for the rest of the session, until .* at the latest\.$/,
    make: async world => {
      const { handle } = world.org.answer(await world.held(), { scope: 'session' })
      await world.sync()
      return handle
    },
  },
  {
    when: 'was approved for a session whose day is over',
    outcome: 'approved; that time is over',
    story: /The answer held for the rest of the session.* That time is over/,
    make: async world => {
      const { handle } = world.org.answer(await world.held(), { scope: 'session' })
      await world.sync()
      world.machine.offset += 24 * HOUR + 1000
      await world.sync()
      return handle
    },
  },
  {
    when: 'was approved and then revoked',
    outcome: 'approved, then revoked',
    story: /The approval was revoked\.[\s\S]*It was revoked/,
    make: async world => {
      const { handle } = world.org.answer(await world.held(), { scope: 'session' })
      await world.sync()
      world.org.setState(handle, 'revoked')
      await world.sync()
      return handle
    },
  },
  {
    when: 'was denied',
    outcome: 'denied by the organisation',
    story: /Lea .* denied it\.[\s\S]*The denial stands until .*: retries are refused with it/,
    make: async world => {
      const { handle } = world.org.answer(await world.held(), { decision: 'deny' })
      await world.sync()
      return handle
    },
  },
  {
    when: 'met a denial that stood, which is over',
    outcome: 'denied by the organisation',
    story: /The denial stood until .*; a new try asks again/,
    make: async world => {
      world.org.answer(await world.held(), { decision: 'deny' })
      await world.sync()
      await world.call('toolu_1')
      const handle = world.newest()
      world.machine.offset += 24 * HOUR + 1000
      return handle
    },
  },
  {
    when: 'was answered in a way that is not accepted here',
    outcome: 'refused; an answer came and is not accepted here: a session of that kind cannot answer',
    story: /The answer was not accepted here: a session of that kind cannot answer/,
    make: async world => {
      const request = await world.held()
      world.org.answer(request, {
        approvers: [
          {
            memberId: makeId('member', new Uint8Array(12)),
            name: 'Lea',
            role: 'lead',
            method: 'device_link',
            how: 'web',
            authnAt: new Date(world.machine.now()).toISOString(),
          },
        ],
      })
      await world.sync()
      return request.handle
    },
  },
  {
    when: 'expired',
    outcome: 'refused; nobody answered in time',
    story: /Nobody answered in time: the request expired/,
    make: async world => {
      const { handle } = await world.held()
      world.machine.offset += 24 * HOUR + 1000
      await world.sync()
      return handle
    },
  },
  {
    when: 'was withdrawn at the control plane',
    outcome: 'refused; the request was withdrawn',
    story: /The request was withdrawn\.$/,
    make: async world => {
      const { handle } = await world.held()
      world.org.setState(handle, 'withdrawn')
      await world.sync()
      return handle
    },
  },
  {
    when: 'was denied by somebody on this machine',
    outcome: 'refused; the request was withdrawn: somebody denied it here',
    story: /The request ended here: somebody denied it here over the local API\.$/,
    make: async world => {
      const { handle } = await world.held()
      await world.machine.ask('POST', `/api/decisions/${handle}/deny`, { token: 'api', body: '{}' })
      await world.sync()
      world.org.setState(handle, 'withdrawn')
      await world.sync()
      return handle
    },
  },
  {
    when: 'ended with its session',
    outcome: 'refused; the request was withdrawn: the session had ended',
    story: /The request ended here: the session had ended/,
    make: async world => {
      const { handle } = await world.held()
      await world.machine.hook({ hook_event_name: 'SessionEnd', reason: 'logout' })
      await world.sync()
      return handle
    },
  },
  {
    when: 'was refused by a rule that denies',
    outcome: 'refused by the rule',
    story: /It was refused\./,
    make: async world => {
      world.org.publish(RULE('deny'))
      await world.sync()
      await world.call('toolu_0')
      return world.newest()
    },
  },
  {
    when: 'met a rule that only watches',
    outcome: 'shadow: nothing was held',
    story: /The rule watches only; enforced, it would have refused it and asked the role/,
    make: async world => {
      world.org.publish(RULE('approver:lead').replace('stage: enforce', 'stage: shadow'))
      await world.sync()
      await world.call('toolu_0')
      return world.newest()
    },
  },
  {
    when: 'was let through and recorded',
    outcome: 'let through',
    story: /It was let through/,
    make: async world => {
      world.org.publish(RULE('allow'))
      await world.sync()
      await world.call('toolu_0')
      return world.newest()
    },
  },
]

const OWN: Row[] = [
  {
    when: 'waits for an answer here',
    outcome: 'refused; waits for an answer here',
    story: /It was refused/,
    make: async world => {
      await world.call('toolu_0')
      return world.newest()
    },
  },
  {
    when: 'was approved here for a step that nobody has used',
    outcome: 'approved on this machine for one step; not used yet',
    story: /let it go on for one step, with the command at \/dev\/pts\/1 \(node < bash\)/,
    make: async world => {
      await world.call('toolu_0')
      const handle = world.newest()
      world.answerHere(handle, 'step')
      return handle
    },
  },
  {
    when: 'was approved here for a step whose day is over',
    outcome: 'approved on this machine for one step; that time is over',
    story: /That time is over/,
    make: async world => {
      await world.call('toolu_0')
      const handle = world.newest()
      world.answerHere(handle, 'step')
      world.machine.offset += 24 * HOUR + 1000
      return handle
    },
  },
  {
    when: 'was approved here for a step that was used',
    outcome: 'approved on this machine, and used',
    story: /It is used up/,
    make: async world => {
      await world.call('toolu_0')
      const handle = world.newest()
      world.answerHere(handle, 'step')
      await world.call('toolu_1')
      return handle
    },
  },
  {
    when: 'was approved here for the session',
    outcome: 'approved on this machine for the rest of the session',
    story: /The answer holds for the rest of the session/,
    make: async world => {
      await world.call('toolu_0')
      const handle = world.newest()
      world.answerHere(handle, 'session')
      return handle
    },
  },
  {
    when: 'was denied here',
    outcome: 'denied on this machine',
    story: /It was denied on this machine over the local API; that stands until/,
    make: async world => {
      await world.call('toolu_0')
      const handle = world.newest()
      await world.machine.ask('POST', `/api/decisions/${handle}/deny`, { token: 'api', body: '{}' })
      return handle
    },
  },
  {
    when: 'was asked at the prompt, without an answer so far',
    outcome: 'asked at the agent’s own prompt; no answer was seen',
    story: /It was put to the person at the agent’s own prompt/,
    make: async world => {
      await world.call('toolu_0', attended)
      return world.newest()
    },
  },
  {
    when: 'was declined at the prompt',
    outcome: 'declined at the agent’s own prompt',
    story: /The person declined at the agent’s own prompt/,
    make: async world => {
      world.machine.spend(0.01, { toolUses: ['toolu_0'] })
      await world.call('toolu_0', attended)
      world.machine.result('toolu_0', 'declined')
      return world.newest()
    },
  },
  {
    when: 'was allowed at the prompt',
    outcome: 'approved on this machine for the rest of the session',
    story: /let it go on for the rest of the session, at the agent’s own prompt/,
    make: async world => {
      await world.call('toolu_0', attended)
      await world.machine.hook({ hook_event_name: 'PostToolUse', tool_use_id: 'toolu_0' })
      return world.newest()
    },
  },
]

describe.each([
  ['of the organisation', { organisation: RULE('approver:lead') }, ORGANISATION],
  ['of one’s own', { own: RULE('ask') }, OWN],
] as const)('a decision of a rule %s', (_, rules, rows) => {
  test.each(rows)('that $when is told so', async ({ outcome, story, make }) => {
    const world = new World()
    await world.begin(rules)
    const handle = await make(world)
    const said = await world.told(handle)
    expect(said.outcome).toBe(outcome)
    expect(said.story).toMatch(story)
    // each thing once, whoever tells it
    const told = said.story.split('\n').map(line => line.replace(/^\S+ \S+ UTC /, ''))
    expect(new Set(told).size).toBe(told.length)
    // the same from the journal alone, as after a restart
    await world.machine.daemon.stop()
    await world.machine.start()
    expect((await world.told(handle)).outcome).toBe(outcome)
  })
})

describe('a rule that is another one now', () => {
  const SHADOW = RULE('approver:lead').replace('stage: enforce', 'stage: shadow')

  test('in shadow: what it did then stands, and today it would hold nothing; its request is taken back', async () => {
    const world = new World()
    await world.begin({ organisation: RULE('approver:lead') })
    const { handle } = await world.held()
    expect((await world.told(handle)).story).not.toContain('today')
    world.org.publish(SHADOW)
    await world.sync()
    await world.sync()
    const { outcome, story } = await world.told(handle)
    expect(outcome).toBe('refused; the request was withdrawn: its rule was changed, removed or put in shadow')
    expect(story).toContain('It was refused.')
    expect(story).toContain(
      'org:session-spend has stage shadow now: today the same call would be let through and only recorded (shadow).',
    )
    expect(world.org.withdrawn).toMatchObject([{ handle, body: { why: 'rule_gone' } }])
    expect((await world.call('toolu_1')).decision).toBe('pass')
  })

  test('enforced: a decision in shadow says what the same call would meet now', async () => {
    const world = new World()
    await world.begin({ organisation: SHADOW })
    await world.call('toolu_0')
    const handle = world.newest()
    world.org.publish(RULE('approver:lead'))
    await world.sync()
    const { outcome, story } = await world.told(handle)
    expect(outcome).toBe('shadow: nothing was held')
    expect(story).toContain(
      'org:session-spend has stage enforce now: today the same call would be refused, and the role asked.',
    )
  })

  test.each([
    [
      'changed',
      RULE('ask', 10),
      'session-spend has changed since; today a call that crosses it would be put to the person',
    ],
    ['gone', 'boundaries: []\n', 'session-spend is no longer in force: today it would hold nothing.'],
  ])('%s: it says so, and an open question here waits no longer', async (_, text, words) => {
    const world = new World()
    await world.begin({ own: RULE('ask') })
    await world.call('toolu_0')
    const handle = world.newest()
    const waiting = async () => (await world.machine.ask('GET', '/api/waiting', { token: 'api' })).json
    expect(await waiting()).toHaveLength(1)
    world.machine.config(text)
    expect(await waiting()).toEqual([])
    expect((await world.told(handle)).story).toContain(words)
  })
})
