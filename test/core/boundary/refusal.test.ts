import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CrossedFigure } from '#core/approval/request.ts'
import { crossedFigures, readingFromWire, wireFigure } from '#core/boundary/crossed.ts'
import { crossedBy, describeCrossing, describeRule } from '#core/boundary/describe.ts'
import { evaluate, mergeRules } from '#core/boundary/evaluate.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { adviceText, type RefusalState, refusalText } from '#core/boundary/refusal.ts'
import type { Action } from '#core/boundary/shape.ts'
import { costReading, type FigureReading, type Figures, nameReading, percentReading } from '#core/figure.ts'
import { anyFigures } from './any-rule.ts'
import { SEED_RULES } from './seed.ts'

const now = Date.parse('2026-11-30T12:00:00Z')

function matches(line: string, figures: Figures, action: Action = 'continue') {
  const { rules, errors } = parseBoundaries(`boundaries:\n  - ${line}\n`, { scope: 'organisation' })
  if (errors.length > 0) throw new Error(JSON.stringify(errors))
  return evaluate(mergeRules({ organisation: rules }), { action, figures, now }).decidedBy
}

const SPEND =
  '{ name: session-spend, action: continue, when: { session_cost_usd: ">= 20" }, require: approver:lead, stage: enforce, note: Long sessions get a second pair of eyes }'
const spent = matches(SPEND, [costReading(20_140_000, now)])

describe('describeCrossing', () => {
  it.each<[string, string, Action, FigureReading[], string, string | undefined]>([
    [
      'session_cost_usd: ">= 20"',
      '',
      'continue',
      [costReading(20_140_000, now)],
      'session cost is $20.14, the rule holds at $20.00 or more',
      '$0.14 over',
    ],
    [
      'session_cost_usd: ">= 20"',
      '',
      'continue',
      [costReading(20_000_000, now)],
      'session cost is $20.00, the rule holds at $20.00 or more',
      undefined,
    ],
    [
      'session_cost_usd: "> 1000.5"',
      '',
      'continue',
      [costReading(12_345_678_901, now)],
      'session cost is $12,345.68, the rule holds at more than $1,000.50',
      '$11,345.18 over',
    ],
    [
      'plan_left_pct: "< 5", window: week',
      '',
      'continue',
      [percentReading('plan_left_pct', 3.5, { qualifier: 'week', observedAt: now, source: 'daemon' })!],
      'plan left (week) is 3.5%, the rule holds at less than 5%',
      '1.5 points below',
    ],
    [
      'budget_used_pct: ">= 90", budget: monthly',
      '',
      'spend',
      [percentReading('budget_used_pct', 101, { qualifier: 'org:monthly', observedAt: now, source: 'fleet' })!],
      'budget used (monthly) is 101%, the rule holds at 90% or more',
      '11 points over',
    ],
    [
      'model_tier: "> sonnet"',
      '',
      'subagent_model',
      [nameReading('model_tier', 'opus', now)],
      'model tier is opus, the rule holds at above sonnet',
      undefined,
    ],
    [
      'destination: "== team"',
      '',
      'share',
      [nameReading('destination', 'team', now)],
      'figures would go to team',
      undefined,
    ],
    [
      'agent_id: "== claude-code:*"',
      '',
      'continue',
      [nameReading('agent_id', 'claude-code:secret-repo', now)],
      'agent matches claude-code:*',
      undefined,
    ],
    [
      'session_cost_usd: ">= 20"',
      ', on_unknown: hold',
      'continue',
      [],
      'session cost could not be read, and the rule holds then',
      undefined,
    ],
  ])('%s', (when, more, action, figures, words, by) => {
    const line = `{ name: r, action: ${action}, when: { ${when} }, require: deny, stage: enforce${more} }`
    const crossing = matches(line, figures, action)[0]!.crossed[0]!
    expect(describeCrossing(crossing)).toBe(words)
    expect(crossedBy(crossing)).toBe(by)
  })
})

describe('describeRule', () => {
  it('says what each rule of the first page does', () => {
    const { rules } = parseBoundaries(
      SEED_RULES.replaceAll(/require: .*/g, line => `${line}\n    stage: enforce`),
      { scope: 'local' },
    )
    expect(rules.map(describeRule)).toEqual([
      "Before the agent's next tool call, when session cost is $20.00 or more: ask a person.",
      'Before a subagent starts, when model tier is above sonnet: ask for the approval of an admin or above.',
      "Before the agent's next tool call, when plan left (week) is less than 5%: refuse.",
      "Before the agent's next tool call, judged by money, when budget used (monthly) is 90% or more: ask a person.",
      'Before a request moves to another model, when model tier is opus or above: ask a person.',
      'Before figures leave the machine, when destination is team: ask a person.',
    ])
  })
})

describe('refusalText', () => {
  const states: RefusalState[] = [
    { kind: 'rule_denies' },
    { kind: 'waiting_here', command: 'holdpoint approve bnd-1a2b3c4d5e6f' },
    { kind: 'waiting', role: 'lead', url: 'https://h.example/o/acme/approvals/bnd-1a2b3c4d5e6f' },
    { kind: 'denied', until: '2026-12-01T12:00:00Z', url: 'https://h.example/acme/approvals/bnd-1a2b3c4d5e6f' },
    { kind: 'denied_here', until: '2026-12-01T23:59:59.999Z' },
    { kind: 'expired' },
    { kind: 'withdrawn' },
    { kind: 'unreachable', role: 'admin', url: 'https://h.example/acme/approvals/bnd-1a2b3c4d5e6f' },
    { kind: 'revoked' },
    { kind: 'stale' },
  ]

  it('says what was crossed, by how much, why, not to retry, and who can let it go on', () => {
    expect(refusalText({ matches: spent, state: states[2]!, handle: 'bnd-1a2b3c4d5e6f' })).toBe(
      'Stopped by the boundary org:session-spend (decision bnd-1a2b3c4d5e6f): session cost is $20.14 ($0.14 over), the rule holds at $20.00 or more. ' +
        'Why: Long sessions get a second pair of eyes. ' +
        'Do not retry: the same call will be refused again. Stop here and tell the user. ' +
        'A request is waiting for a lead or above, who can let it go on at https://h.example/o/acme/approvals/bnd-1a2b3c4d5e6f; it cannot be approved from this machine.',
    )
  })

  it('leaves an amount of thousands whole', () => {
    const matched = matches(SPEND, [costReading(1_520_010_000, now)])
    expect(refusalText({ matches: matched, state: states[0]! })).toContain(
      'session cost is $1,520.01 ($1,500.01 over), the rule holds at $20.00 or more.',
    )
  })

  it('has words of its own for every state, one paragraph each, always stop and never retry', () => {
    const texts = states.map(state => refusalText({ matches: spent, state }))
    expect(new Set(texts).size).toBe(states.length)
    for (const text of texts) {
      expect(text).not.toContain('\n')
      expect(text.length).toBeLessThan(600)
      expect(text).toMatch(/Stop here and tell the user/)
      expect(text).toMatch(/Do not retry/)
    }
    const words = states.map(adviceText)
    const own = [
      'denies',
      'holdpoint approve',
      'waiting for',
      'denied by a person',
      'denied on this machine',
      'expired',
      'withdrawn',
      'cannot be reached',
      'was revoked',
      'too long',
    ]
    for (const [i, word] of own.entries())
      expect(words.flatMap((text, j) => (text.includes(word) ? [j] : []))).toEqual([i])
  })

  it('says times as people read them, with their zone, and where a request can be answered or looked at', () => {
    for (const state of states) {
      const text = adviceText(state)
      expect(text).not.toMatch(/\dT\d|\dZ/)
      if ('until' in state) expect(text).toMatch(/until \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
      if ('url' in state) expect(text).toContain(state.url)
    }
    // cut, never rounded up to a minute in which it no longer stands
    expect(adviceText({ kind: 'denied_here', until: '2026-12-01T23:59:59.999Z' })).toContain('2026-12-01 23:59 UTC')
  })
})

describe('crossedFigures', () => {
  it("sends numbers and fixed names only, in the request's own form", () => {
    const figures = [costReading(20_140_001, now), nameReading('agent_id', 'claude-code:secret-repo', now)]
    const line =
      '{ name: r, action: continue, when: { session_cost_usd: ">= 20", agent_id: "== claude-code:*", plan_left_pct: "< 5" }, require: approver:lead, stage: enforce, on_unknown: hold }'
    const crossed = crossedFigures(matches(line, figures))
    expect(crossed).toEqual([
      { name: 'session_cost_usd', value: '20.140001', unit: 'usd', observedAt: '2026-11-30T12:00:00.000Z' },
      { name: 'plan_left_pct', value: 'unread', unit: 'pct' },
      { name: 'agent_id', value: 'matched', unit: 'match', observedAt: '2026-11-30T12:00:00.000Z' },
    ])
    for (const figure of crossed) expect(CrossedFigure.safeParse(figure).success).toBe(true)
  })

  it("keeps a developer's own budget at home, and fits the schema whatever is read", () => {
    const own = percentReading('budget_used_pct', 99, { qualifier: 'mine', observedAt: now, source: 'daemon' })!
    expect(wireFigure(own)).toBeUndefined()
    expect(wireFigure({ ...own, qualifier: 'org:monthly' })).toMatchObject({ qualifier: 'monthly', value: '99' })
    fc.assert(
      fc.property(anyFigures, figures => {
        for (const figure of figures.flatMap(reading => wireFigure(reading) ?? [])) {
          expect(CrossedFigure.safeParse(figure).success, JSON.stringify(figure)).toBe(true)
        }
      }),
    )
  })

  it('comes back as the reading it was, rounded toward holding', () => {
    const cut = percentReading('budget_used_pct', '89.9999999', {
      qualifier: 'org:monthly',
      observedAt: now,
      source: 'fleet',
    })!
    expect(cut).toMatchObject({ value: 89_999_999, cut: true })
    expect(readingFromWire(wireFigure(cut)!, now)).toMatchObject({ value: 90_000_000, qualifier: 'org:monthly' })
    const left = percentReading('plan_left_pct', '5.0000001', { qualifier: 'week', observedAt: now, source: 'daemon' })!
    expect(readingFromWire(wireFigure(left)!, now)).toMatchObject({ value: 5_000_000, qualifier: 'week' })
    expect(readingFromWire({ name: 'session_cost_usd', value: 'unread', unit: 'usd' }, now)).toBeUndefined()
  })
})
