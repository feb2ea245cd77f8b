import type { MemberActor } from '#core/actor.ts'
import { readRules } from '#core/boundary/read-rules.ts'
import { requirementText } from '#core/boundary/shape.ts'
import type { RuleSet } from '#core/rule-set.ts'
import { storedPayload } from '../keys/stored.ts'
import { listApprovals } from './approval/read.ts'
import { listEvidence } from './audit.ts'
import type { FeatureContext } from './context.ts'
import { listMachines } from './machine-list.ts'
import { currentRuleSet } from './rule-set-history.ts'

/** What a rule of the set in force did in the last seven days, from what machines reported. */
export type Bite = { rule: string; require: string; stage: string; calls: number; sessions: number; machines: number }

const BITE_DAYS_MS = 7 * 24 * 3600_000
const RECENT = 8

/** The first page: what waits, how the machines stand, what is in force and what it does. */
export async function getOverview(ctx: FeatureContext<MemberActor>) {
  const { orgId } = ctx.actor
  const [waiting, machines, current, bite, evidence, members, organisation] = await Promise.all([
    listApprovals(ctx, { state: 'waiting' }),
    listMachines(ctx),
    currentRuleSet(ctx),
    bites(ctx),
    listEvidence(ctx, {}),
    ctx.db.member.count({ where: { orgId, removedAt: null } }),
    ctx.db.organisation.findUniqueOrThrow({ where: { id: orgId }, select: { restoredAt: true, selfAnswer: true } }),
  ])
  const count = (...states: string[]) => machines.filter(machine => states.includes(machine.state)).length
  const here = machines.length - count('left', 'revoked')
  return {
    waiting: waiting.items,
    machines: {
      total: here,
      current: count('current'),
      behind: count('behind'),
      silent: count('silent'),
      alarm: count('alarm'),
      left: count('left', 'revoked'),
      lost: machines.filter(
        ({ state, hooks }) => state !== 'left' && state !== 'revoked' && hooks.some(hook => hook.lost),
      ).length,
    },
    ruleSet:
      current.version === 0
        ? null
        : {
            version: current.version,
            publishedAt: current.publishedAt!,
            publishedBy: current.publishedBy,
            digest: current.digest!,
          },
    bite,
    recent: evidence.items.slice(0, RECENT),
    setup: {
      hasMachine: here > 0,
      // A set with budgets alone has no rule yet.
      hasRules: bite.length > 0,
      hasMembers: members > 1,
      selfAnswer: organisation.selfAnswer,
    },
    restoredAt: organisation.restoredAt,
  }
}

async function bites(ctx: FeatureContext): Promise<Bite[]> {
  const { orgId } = ctx.actor
  const newest = await ctx.db.ruleSetVersion.findFirst({
    where: { orgId },
    orderBy: { version: 'desc' },
    select: { jws: true },
  })
  if (!newest) return []
  const { boundaries } = storedPayload<RuleSet>(newest.jws)
  const since = new Date(ctx.now.getTime() - BITE_DAYS_MS)
  const counted = await ctx.db.$queryRaw<{ rule: string; calls: number; sessions: number; machines: number }[]>`
    select rule, count(*)::int as calls, count(distinct ("machineId", "sessionRef"))::int as sessions, count(distinct "machineId")::int as machines
    from "RuleOutcome" where "orgId" = ${orgId} and at >= ${since} group by rule`
  const found = new Map(counted.map(row => [row.rule, row]))
  return readRules(boundaries)
    .map(rule => {
      const { calls = 0, sessions = 0, machines = 0 } = found.get(rule.name) ?? {}
      return { rule: rule.name, require: requirementText(rule.require), stage: rule.stage, calls, sessions, machines }
    })
    .sort((a, b) => b.calls - a.calls)
}
