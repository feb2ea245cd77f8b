import { clip } from '#core/plain-text.ts'
import { isLadderRole } from '#core/role.ts'
import type { RuleContext } from './read-rule.ts'
import { ruleFromJson } from './rule.ts'
import type { Requirement, Rule, UnsupportedRule } from './shape.ts'

/**
 * Reads the rules of a verified set leniently: a rule that a newer control plane wrote and this reader
 * cannot read becomes `unsupported` instead of failing the set. What can be read of it is kept: it holds (or passes)
 * by its own `on_unknown`, on its own action, with its own requirement (`deny` when that is unreadable, because
 * nothing less is known to be enough), and not at all while it stands in shadow.
 */
export function readRules(
  values: readonly unknown[],
  context: RuleContext = { scope: 'organisation' },
): (Rule | UnsupportedRule)[] {
  const seen = new Set<string>()
  return values.map((value, index) => {
    const read = ruleFromJson(value, context)
    const duplicate = read.ok && seen.has(read.rule.name)
    const rule =
      read.ok && !duplicate
        ? read.rule
        : unsupportedRule(value, index, duplicate ? 'the name stands twice' : reasonOf(read))
    seen.add(rule.name)
    return rule
  })
}

function reasonOf(read: ReturnType<typeof ruleFromJson>): string {
  return read.ok ? '' : (read.findings[0]?.message ?? 'the rule cannot be read')
}

function unsupportedRule(value: unknown, index: number, reason: string): UnsupportedRule {
  const object =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
  const name = typeof object.name === 'string' && object.name !== '' ? clip(object.name) : `rule-${index + 1}`
  return {
    unsupported: true,
    name,
    ...(typeof object.action === 'string' ? { action: object.action } : {}),
    require: requirementOf(object.require),
    stage: object.stage === undefined || object.stage === 'shadow' ? 'shadow' : 'enforce',
    onUnknown: object.on_unknown === 'hold' ? 'hold' : 'pass',
    reason,
  }
}

function requirementOf(value: unknown): Requirement {
  if (value === 'allow' || value === 'ask') return { kind: value }
  const role = typeof value === 'string' && value.startsWith('approver:') ? value.slice('approver:'.length) : undefined
  return isLadderRole(role) ? { kind: 'approver', role } : { kind: 'deny' }
}
