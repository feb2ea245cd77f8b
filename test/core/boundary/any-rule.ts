import fc from 'fast-check'
import {
  ACTIONS,
  type Action,
  COMPARATORS,
  type Condition,
  conditionsFor,
  type Rule,
  type Scope,
} from '#core/boundary/shape.ts'
import { DESTINATIONS, FIGURES, type FigureName, type FigureReading, PLAN_WINDOWS } from '#core/figure.ts'
import { TIERS } from '#core/model-tier.ts'
import { ROLES, roleAtLeast } from '#core/role.ts'

const name = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,12}$/)
const word = fc.stringMatching(/^[A-Za-z0-9:._*-]{1,12}$/)
const amount = (max: number) =>
  fc.oneof(
    fc.integer({ min: 0, max: max * 1_000_000 }),
    fc.integer({ min: 0, max }).map(n => n * 1_000_000),
  )

function condition(figure: FigureName): fc.Arbitrary<Condition> {
  const comparator = fc.constantFrom(...COMPARATORS)
  switch (figure) {
    case 'session_cost_usd':
      return fc.record({ figure: fc.constant(figure), op: comparator, value: amount(1000) })
    case 'plan_left_pct':
      return fc.record(
        {
          figure: fc.constant(figure),
          op: comparator,
          value: amount(100),
          qualifier: fc.constantFrom(...PLAN_WINDOWS),
        },
        { requiredKeys: ['figure', 'op', 'value'] },
      )
    case 'budget_used_pct':
      return fc.record(
        {
          figure: fc.constant(figure),
          op: comparator,
          value: amount(1000),
          qualifier: fc.constantFrom('monthly', 'daily'),
        },
        { requiredKeys: ['figure', 'op', 'value'] },
      )
    case 'model_tier':
      return fc.record({ figure: fc.constant(figure), op: comparator, value: fc.constantFrom(...TIERS) })
    case 'destination':
      return fc.record({
        figure: fc.constant(figure),
        op: fc.constant('==' as const),
        value: fc.constantFrom(...DESTINATIONS),
      })
    case 'workflow_id':
    case 'agent_id':
      return fc.record({ figure: fc.constant(figure), op: fc.constant('==' as const), value: word })
  }
}

function conditions(action: Action): fc.Arbitrary<Condition[]> {
  const possible = conditionsFor(action)
  return fc
    .subarray(possible, { minLength: 1 })
    .chain(figures => fc.tuple(...figures.map(condition)) as fc.Arbitrary<Condition[]>)
}

const requirement = fc.oneof(
  fc.constantFrom({ kind: 'allow' } as const, { kind: 'ask' } as const, { kind: 'deny' } as const),
  fc.constantFrom(...ROLES).map(role => ({ kind: 'approver', role }) as const),
)

const names = fc.uniqueArray(word, { minLength: 1, maxLength: 3 }).map(list => list.sort())

/** Any rule the grammar has, in the form the parser gives it. */
export function anyRule(scope: Scope): fc.Arbitrary<Rule> {
  return fc.constantFrom(...ACTIONS).chain(action =>
    fc.record({ when: conditions(action), require: requirement }).chain(({ when, require }) => {
      const asks = require.kind === 'ask' || require.kind === 'approver'
      const sent = require.kind === 'approver' && scope === 'organisation'
      const grows = when.some(c => c.figure === 'session_cost_usd' || c.figure === 'budget_used_pct')
      const optional = <T>(arbitrary: fc.Arbitrary<T>, allowed = true) =>
        allowed ? fc.option(arbitrary, { nil: undefined }) : fc.constant(undefined)
      const fallback = fc.record({ role: fc.constantFrom(...ROLES), afterSeconds: fc.integer({ min: 60, max: 299 }) })
      return fc
        .record({
          name,
          action: fc.constant(action),
          when: fc.constant(when),
          require: fc.constant(require),
          stage: fc.constantFrom('shadow' as const, 'enforce' as const),
          onUnknown: fc.constantFrom('pass' as const, 'hold' as const),
          note: optional(fc.stringMatching(/^[!-~][ -~]{0,40}[!-~]$/)),
          approvals: optional(fc.integer({ min: 2, max: 5 }), sent),
          expires: optional(fc.integer({ min: 300, max: 86_400 }), asks),
          step: optional(fc.integer({ min: 1, max: 500_000_000 }), asks && grows),
          for: optional(
            fc.record({ tenants: names, projects: names, machines: names }, { requiredKeys: ['projects'] }),
          ),
          signed: optional(fc.constant(true as const), sent),
          self: optional(fc.constantFrom('never' as const, 'account' as const, 'key' as const), sent),
          fallback: optional(fallback, sent),
        })
        .map(rule => withoutUndefined(withLoosens(rule as Rule)))
    }),
  )
}

function withLoosens(rule: Rule): Rule {
  if (rule.fallback === undefined || rule.require.kind !== 'approver') return rule
  const below = !roleAtLeast(rule.fallback.role, rule.require.role)
  return below ? { ...rule, fallback: { ...rule.fallback, loosens: true } } : rule
}

function withoutUndefined(rule: Rule): Rule {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined)) as unknown as Rule
}

/** Readings of any figures, sometimes none, sometimes several of one, some of them old. `now` is 10^12. */
export const anyFigures: fc.Arbitrary<FigureReading[]> = fc.array(
  fc
    .constantFrom<FigureName>(
      'session_cost_usd',
      'plan_left_pct',
      'budget_used_pct',
      'model_tier',
      'destination',
      'workflow_id',
      'agent_id',
    )
    .chain(figure =>
      fc.record({
        name: fc.constant(figure),
        qualifier: qualifierOf(figure),
        value: valueFor(figure),
        unit: fc.constant(FIGURES[figure].unit),
        cut: fc.constantFrom(undefined, true as const),
        observedAt: fc.constantFrom(1e12, 1e12 - 200_000, 1e12 - 1_000_000, 1e12 - 4_000_000),
        source: fc.constantFrom('event' as const, 'status_line' as const, 'daemon' as const, 'fleet' as const),
      }),
    ),
  { maxLength: 8 },
)

function qualifierOf(figure: FigureName): fc.Arbitrary<string | undefined> {
  if (figure === 'plan_left_pct') return fc.constantFrom(undefined, ...PLAN_WINDOWS)
  if (figure === 'budget_used_pct') return fc.constantFrom(undefined, 'monthly', 'org:monthly', 'org:daily')
  return fc.constant(undefined)
}

function valueFor(figure: FigureName): fc.Arbitrary<number | string> {
  switch (figure) {
    case 'session_cost_usd':
      return amount(1000)
    case 'plan_left_pct':
      return amount(100)
    case 'budget_used_pct':
      return amount(1000)
    case 'model_tier':
      return fc.constantFrom(...TIERS, 'unknown')
    case 'destination':
      return fc.constantFrom(...DESTINATIONS)
    case 'workflow_id':
    case 'agent_id':
      return fc.oneof(fc.constantFrom('claude-code:web', 'claude-code:web:1'), word)
  }
}
