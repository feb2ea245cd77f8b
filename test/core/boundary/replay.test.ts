import { describe, expect, it } from 'vitest'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { type Observation, replay } from '#core/boundary/replay.ts'
import { costReading, nameReading } from '#core/figure.ts'

const at = Date.parse('2026-11-01T00:00:00Z')

function seen(
  machine: string,
  sessionRef: string,
  costUsd: number,
  calls: number,
  more: Partial<Observation> = {},
): Observation {
  return {
    machine,
    sessionRef,
    at,
    action: 'continue',
    client: 'claude-code',
    figures: [costReading(costUsd * 1_000_000, at)],
    calls,
    ...more,
  }
}

describe('replay', () => {
  const { rules } = parseBoundaries(
    `boundaries:
  - { name: twenty, action: continue, when: { session_cost_usd: ">= 20" }, require: ask }
  - { name: fifty, action: continue, when: { session_cost_usd: ">= 50" }, require: deny }
  - { name: mark, action: continue, when: { session_cost_usd: ">= 1" }, require: allow }
  - { name: repo, action: continue, when: { session_cost_usd: ">= 1", agent_id: "== claude-code:web" }, require: ask }
  - { name: web, action: continue, when: { session_cost_usd: ">= 1" }, require: ask, for: { projects: [web] } }
`,
    { scope: 'organisation' },
  )
  const observations = [
    seen('m1', 's1', 10, 100, { attribution: { project: 'api' } }),
    seen('m1', 's1', 25, 30, { attribution: { project: 'api' } }),
    seen('m1', 's2', 60, 10, { attribution: { project: 'api' } }),
    seen('m2', 's1', 20, 1, { attribution: { project: 'web' } }),
    seen('m3', 's9', 99, 7, { action: 'subagent_model', figures: [nameReading('model_tier', 'opus', at)] }),
  ]

  it('counts the calls, sessions and machines that each draft rule would have held, shadow or not', () => {
    const result = replay(rules, observations)
    expect(result.rules).toEqual([
      { rule: 'twenty', calls: 41, sessions: 3, machines: 2, unjudgedCalls: 0 },
      { rule: 'fifty', calls: 10, sessions: 1, machines: 1, unjudgedCalls: 0 },
      { rule: 'mark', calls: 141, sessions: 3, machines: 2, unjudgedCalls: 0 },
      { rule: 'repo', calls: 0, sessions: 0, machines: 0, unjudgedCalls: 141 },
      { rule: 'web', calls: 1, sessions: 1, machines: 1, unjudgedCalls: 0 },
    ])
    expect(result.held).toEqual({ calls: 41, sessions: 3, machines: 2 })
  })

  it('of nothing is nothing', () => {
    expect(replay(rules, []).held).toEqual({ calls: 0, sessions: 0, machines: 0 })
    expect(replay([], observations)).toEqual({ rules: [], held: { calls: 0, sessions: 0, machines: 0 } })
  })
})
