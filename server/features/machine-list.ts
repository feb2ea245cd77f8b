import type { CrossedFigure } from '#core/approval/request.ts'
import type { Machine, MachineHook } from '#generated/prisma/client.ts'
import { type FeatureContext, notFound } from './context.ts'
import { isLost } from './report/hooks.ts'

/** `alarm`: something happened on it that an owner should look at; `silent`: not heard of for three polls. */
export type MachineState = 'current' | 'behind' | 'silent' | 'left' | 'revoked' | 'alarm'

export type MachineHookRow = {
  client: string
  version: string | null
  level: string
  off: string[]
  /** The organisation's rules whose level is another there. */
  rules: { rule: string; level: string }[]
  /** It holds less than it did, which owners are told of. */
  lost: boolean
  changedAt: Date
}

export type MachineRow = {
  id: string
  label: string
  member: { id: string; name: string }
  platform: string
  connector: string
  state: MachineState
  rulesVersion: number
  joinedAt: Date
  lastSeenAt: Date | null
  freshAt: Date | null
  lastError: string | null
  lastErrorAt: Date | null
  hooks: MachineHookRow[]
  firstUsePin: boolean
  /** Tool uses of the last seven days that no hook had judged. */
  unguarded7d: number
}

/** Three polls of five minutes. */
const SILENT_MS = 15 * 60_000
const ALARM_DAYS_MS = 7 * 24 * 3600_000
/** What an owner should look at; the rest is shown on the machine's own page only. */
const SERIOUS_ALARMS = [
  'daemon_impostor',
  'journal_reset',
  'journal_rolled_back',
  'machine_cloned',
  'ruleset_equivocation',
  'root_unknown',
  'version_unproven',
  'second_use_of_answer',
  'local_answer_without_journal',
  'clock_moved_back',
  // one of a newer connector: what it is, is not known here, so it is looked at
  'other',
]

/** The organisation's machines with what each has in force, those that need a look first. */
export async function listMachines(ctx: FeatureContext): Promise<MachineRow[]> {
  return loadRows(ctx)
}

async function loadRows(ctx: FeatureContext, id?: string): Promise<MachineRow[]> {
  const { orgId } = ctx.actor
  const one = id === undefined ? {} : { id }
  const [machines, newest, unguarded, alarms] = await Promise.all([
    ctx.db.machine.findMany({
      where: { orgId, ...one },
      include: { hooks: { orderBy: { client: 'asc' } }, member: { select: { id: true, name: true } } },
      orderBy: [{ label: 'asc' }, { id: 'asc' }],
    }),
    ctx.db.ruleSetVersion.findFirst({
      where: { orgId },
      orderBy: { version: 'desc' },
      select: { version: true, digest: true },
    }),
    ctx.db.unguardedCalls.groupBy({
      by: ['machineId'],
      where: { orgId, day: { gte: new Date(ctx.now.getTime() - ALARM_DAYS_MS) } },
      _sum: { calls: true },
    }),
    ctx.db.machineAlarm.findMany({
      where: { orgId, what: { in: SERIOUS_ALARMS }, at: { gte: new Date(ctx.now.getTime() - ALARM_DAYS_MS) } },
      distinct: ['machineId'],
      select: { machineId: true },
    }),
  ])
  const calls = new Map(unguarded.map(row => [row.machineId, row._sum.calls ?? 0]))
  const alarmed = new Set(alarms.map(alarm => alarm.machineId))
  const rows = machines.map(
    (machine): MachineRow => ({
      id: machine.id,
      label: machine.label,
      member: machine.member,
      platform: machine.platform,
      connector: machine.connector,
      state: stateOf(machine, newest, alarmed.has(machine.id) || hasJustLost(machine.hooks, ctx.now), ctx.now),
      rulesVersion: machine.rulesVersion,
      joinedAt: machine.joinedAt,
      lastSeenAt: machine.lastSeenAt,
      freshAt: machine.freshAt,
      lastError: machine.lastError,
      lastErrorAt: machine.lastErrorAt,
      hooks: machine.hooks.map(asHook),
      firstUsePin: machine.firstUsePin,
      unguarded7d: calls.get(machine.id) ?? 0,
    }),
  )
  const order: MachineState[] = ['alarm', 'silent', 'behind', 'current', 'left', 'revoked']
  return rows.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
}

const hasJustLost = (hooks: readonly MachineHook[], now: Date): boolean =>
  hooks.some(hook => isLost(hook) && now.getTime() - hook.changedAt.getTime() < ALARM_DAYS_MS)

const asHook = (hook: MachineHook): MachineHookRow => {
  const { client, version, level, off, rules, changedAt } = hook
  return { client, version, level, off, rules: rules as MachineHookRow['rules'], lost: isLost(hook), changedAt }
}

/** One word for how a machine is, the worst that is true of it. */
export function stateOf(
  machine: Pick<
    Machine,
    'leftAt' | 'revokedAt' | 'clonedAt' | 'lastSeenAt' | 'joinedAt' | 'rulesVersion' | 'rulesDigest'
  >,
  newest: { version: number; digest: string } | null,
  alarmed: boolean,
  now: Date,
): MachineState {
  if (machine.revokedAt) return 'revoked'
  if (machine.leftAt) return 'left'
  if (alarmed || (machine.clonedAt && now.getTime() - machine.clonedAt.getTime() < ALARM_DAYS_MS)) return 'alarm'
  const seen = (machine.lastSeenAt ?? machine.joinedAt).getTime()
  if (now.getTime() - seen > SILENT_MS) return 'silent'
  if (newest && (machine.rulesVersion !== newest.version || machine.rulesDigest !== newest.digest)) return 'behind'
  return 'current'
}

/** One machine whole. Figures of single calls are an individual's: shown to the machine's own member only. */
export async function getMachine(ctx: FeatureContext, input: { id: string }) {
  const [row] = await loadRows(ctx, input.id)
  if (!row) throw notFound('machine')
  const where = { machineId: row.id, orgId: ctx.actor.orgId }
  const machine = await ctx.db.machine.findUniqueOrThrow({ where: { id: row.id } })
  const [alarms, outcomes, unguarded] = await Promise.all([
    ctx.db.machineAlarm.findMany({
      where,
      orderBy: { at: 'desc' },
      take: 100,
      select: { what: true, at: true, count: true },
    }),
    ctx.db.ruleOutcome.findMany({ where, orderBy: { at: 'desc' }, take: 100 }),
    ctx.db.unguardedCalls.findMany({
      where,
      orderBy: [{ day: 'desc' }, { calls: 'desc' }],
      take: 100,
      select: { client: true, day: true, calls: true },
    }),
  ])
  const own = ctx.actor.kind === 'member' && ctx.actor.memberId === row.member.id
  return {
    ...row,
    alarms: alarms.map(alarm => ({ ...alarm, serious: SERIOUS_ALARMS.includes(alarm.what) })),
    outcomes: outcomes.map(({ handle, rule, client, action, stage, outcome, did, at, figures }) => ({
      handle,
      rule,
      client,
      action,
      stage,
      outcome,
      did,
      at,
      figures: own ? (figures as CrossedFigure[]) : null,
    })),
    unguarded,
    journal: machine.journalHead === null ? null : { seq: machine.journalSeq, head: machine.journalHead },
    rulesDigest: machine.rulesDigest,
    rootSeq: machine.rootSeq,
    rootDigest: machine.rootDigest,
    unsupported: machine.unsupported,
    clonedAt: machine.clonedAt,
    equivocation: alarms.some(alarm => alarm.what === 'ruleset_equivocation' || alarm.what === 'root_unknown'),
    own,
  }
}
