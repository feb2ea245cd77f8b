/** How far each rule binds in each client: the hook's own level, or why this rule does not reach so far. */
import type { Plan } from '#agent/figures/plan-window.ts'
import { plansOf } from '#agent/figures/windows.ts'
import { routesHere } from '#agent/proxy/standing.ts'
import type { ScopedRule } from '#core/boundary/compile.ts'
import { isUnsupported } from '#core/boundary/shape.ts'
import type { Level } from '#core/client.ts'
import type { FigureName } from '#core/figure.ts'
import type { Report } from '#core/protocol.ts'
import { type HookState, hookStates } from './hook-levels.ts'
import type { Runtime } from './runtime.ts'

const HOLDING: readonly Level[] = ['managed', 'managed-hook-user-daemon', 'user-hook']
/** What one report may say of one client. */
const RULES_MAX = 64

export type RuleLevel = Pick<HookState, 'client' | 'level' | 'off' | 'remedy'>

/** A rule's level in each client. None where the daemon itself obeys it: no client's hook has a part in that. */
export function ruleLevels(runtime: Runtime, scoped: ScopedRule, hooks: readonly HookState[]): RuleLevel[] {
  const binding = bindingOf(runtime, scoped.rule)
  if (binding === 'obeyed') return []
  return hooks.map(({ client, level, off, remedy }) => ({
    client,
    level: binding === 'idle' ? 'idle' : HOLDING.includes(level) ? heldLevel(runtime, scoped, client, level) : level,
    off,
    ...(remedy === undefined ? {} : { remedy }),
  }))
}

function heldLevel(runtime: Runtime, scoped: ScopedRule, client: string, level: Level): Level {
  const { rule } = scoped
  const holds = runtime.adapters.get(client)?.holds as readonly string[] | undefined
  if (!isUnsupported(rule) && holds && !holds.includes(rule.action)) return 'advice-only'
  const isUnread = isCostUnread(runtime, rule, client) || unreadIn(runtime, scoped, plansOf({ client })).length > 0
  return isUnread ? 'figure-unread' : level
}

/** The levels as the report carries them, each with the organisation's rules that do not reach so far there. */
export function reportedHooks(runtime: Runtime): Report['hooks'] {
  const hooks = hookStates(runtime)
  const perRule = runtime.rules
    .inForce()
    .rules.filter(({ scope, key }) => scope !== 'local' && key.startsWith('org:'))
    .map(scoped => ({ rule: scoped.key.slice('org:'.length), levels: ruleLevels(runtime, scoped, hooks) }))
    .filter(({ rule }) => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(rule))
  return hooks.map(({ client, version, level, off }) => {
    const rules = perRule.flatMap(({ rule, levels }) => {
      const own = levels.find(one => one.client === client)?.level
      return own === undefined || own === level ? [] : [{ rule, level: own }]
    })
    return {
      client,
      ...(version === undefined ? {} : { version }),
      level,
      off,
      ...(rules.length === 0 ? {} : { rules: rules.slice(0, RULES_MAX) }),
    }
  })
}

/** By whom a rule is obeyed: by clients' hooks, by this daemon, or by nobody here. */
function bindingOf(runtime: Runtime, rule: ScopedRule['rule']): 'hooks' | 'obeyed' | 'idle' {
  if (rule.action === 'model_route') return routesHere(runtime.home, runtime.rules.inForce().local.routing).binding
  if (rule.action !== 'share') return 'hooks'
  return runtime.membership && mayHoldTeam(rule) ? 'obeyed' : 'idle'
}

/** Uploads to the organisation are the one thing that leaves this machine: a rule about another destination has nothing to hold. */
export const mayHoldTeam = (rule: ScopedRule['rule']): boolean =>
  !isUnsupported(rule) && rule.when.every(({ figure, value }) => figure !== 'destination' || value === 'team')

/** The figures of a rule's conditions that nobody on this machine has told, or not lately; of a plan only where it is one of these. */
export function unreadIn(runtime: Runtime, { scope, rule }: ScopedRule, plans?: readonly Plan[]): FigureName[] {
  if (isUnsupported(rule)) return []
  const unread = rule.when.filter(({ figure, qualifier }) => {
    if (figure === 'plan_left_pct') return !runtime.planWindows.isRead(qualifier, plans)
    if (figure !== 'budget_used_pct') return false
    // in an organisation's rule a plain name is the organisation's
    const isPlain = qualifier !== undefined && scope !== 'local' && !qualifier.startsWith('org:')
    return !runtime.isBudgetRead(isPlain ? `org:${qualifier}` : qualifier)
  })
  return [...new Set(unread.map(({ figure }) => figure))]
}

/** Whether a rule asks what a session costs, and nothing reads that of a client. */
const isCostUnread = ({ sources }: Runtime, rule: ScopedRule['rule'], client: string): boolean =>
  !isUnsupported(rule) &&
  rule.when.some(({ figure }) => figure === 'session_cost_usd') &&
  !sources.some(source => source.client === client)
