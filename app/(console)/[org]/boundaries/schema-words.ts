import type { SECTIONS } from '#core/boundary/parse.ts'
import type { CASE_KEYS } from '#core/boundary/read-case.ts'
import type { FALLBACK_KEYS, FOR_KEYS } from '#core/boundary/read-extras.ts'
import type { RuleKey } from '#core/boundary/read-rule.ts'
import type { Action } from '#core/boundary/shape.ts'
import type { FigureName } from '#core/figure.ts'

/** What each word of a rule set means, for the help beneath the text and the suggestions in it. */
export const SECTION_HELP: Record<(typeof SECTIONS)[number], string> = {
  boundaries: 'The rules, one to a dash.',
  tests: 'Cases that prove them: a call, and what the rules must say of it.',
}

export const ACTION_HELP: Record<Action, string> = {
  continue: 'The agent’s next tool call, at the pause point.',
  spend: 'The agent’s next tool call, judged by budgets and money.',
  subagent_model: 'The model that a subagent is about to run on.',
  model_route: 'The local router moves a request to another model. Idle where a machine’s router is off.',
  share: 'Figures are about to leave the machine: an upload to the team, an OpenTelemetry export.',
}

export const FIGURE_HELP: Record<FigureName, string> = {
  session_cost_usd: 'What the session has cost so far, at list prices, in dollars.',
  plan_left_pct: 'What is left of the plan window, in percent. window: 5h or week; the tightest when left out.',
  budget_used_pct: 'How much of a budget is used, in percent. budget: its name; the fullest when left out.',
  model_tier: 'haiku < sonnet < opus. A model without a tier satisfies no comparison.',
  destination: 'Where figures would go: team or otel.',
  workflow_id: 'client:project:session, * being the wildcard.',
  agent_id: 'client:project, * being the wildcard.',
}

export const RULE_KEY_HELP: Record<RuleKey, { takes: string; help: string }> = {
  name: { takes: 'lower-case letters, digits, - and _', help: 'What people and agents read: org:<name>.' },
  action: { takes: 'one of the actions', help: 'The moment that the rule judges.' },
  when: { takes: 'conditions, all of which must hold', help: 'session_cost_usd: ">= 20"' },
  require: { takes: 'allow, ask, approver:<role> or deny', help: 'What it demands when they hold.' },
  stage: { takes: 'shadow or enforce', help: 'Shadow, the default, records and changes nothing.' },
  note: { takes: 'a sentence', help: 'Why the rule is there. Shown to the agent and to approvers.' },
  approvals: { takes: '1 to 5', help: 'How many different people must approve.' },
  expires: { takes: '5m to 24h', help: 'How long a request waits. One hour when left out.' },
  step: { takes: 'an amount', help: 'An answer holds until the figure has grown by this much.' },
  for: { takes: 'tenants, projects, machines', help: 'Whom it applies to. What is unknown applies.' },
  on_unknown: { takes: 'pass or hold', help: 'What happens when a figure cannot be read.' },
  signed: {
    takes: 'true',
    help: 'An approval needs the approver’s own key. No key can be registered yet, so nobody could answer.',
  },
  self: { takes: 'never, account or key', help: 'Whether one may answer one’s own request, and with what.' },
  fallback: { takes: 'role and after', help: 'Who may answer when nobody has for a while.' },
}

export const FOR_KEY_HELP: Record<(typeof FOR_KEYS)[number], string> = {
  tenants: 'Tenants it applies to, * being the wildcard.',
  projects: 'Projects it applies to, * being the wildcard.',
  machines: 'Machines it applies to, * being the wildcard.',
}

export const FALLBACK_KEY_HELP: Record<(typeof FALLBACK_KEYS)[number], string> = {
  role: 'Who may answer then.',
  after: 'After how long, such as 30m.',
  loosens: 'true, where that role stands below the one that the rule names.',
}

export const CASE_KEY_HELP: Record<(typeof CASE_KEYS)[number], string> = {
  name: 'What the case is called.',
  rule: 'The one rule that it is about; all of them when left out.',
  action: 'The moment that it tries.',
  figures: 'What is known at that moment, such as session_cost_usd: 20.',
  tenant: 'The tenant that it happens for.',
  project: 'The project that it happens in.',
  machine: 'The machine that it happens on.',
  expect: 'What the rules must say: pass, allow, ask, approver:<role> or deny.',
}

/** Values whose word alone does not say what they do. */
export const VALUE_HELP: Readonly<Record<string, string>> = {
  allow: 'It goes on, and is recorded.',
  ask: 'Whoever is at the keyboard is asked; nobody there, it is refused.',
  deny: 'It is refused.',
  pass: 'No rule stops it.',
  shadow: 'Recorded only; nobody is stopped. The default.',
  enforce: 'It binds. Takes a case in each direction under tests:.',
  never: 'Nobody answers their own request.',
  account: 'With a sign-in of one’s own.',
  key: 'With one’s own approval key. None can be registered yet, so until then nobody answers their own request.',
  '5h': 'The five-hour window of the plan.',
  week: 'The weekly window of the plan.',
}

export const COMPARATOR_HELP: Readonly<Record<string, string>> = {
  '>=': 'at or above',
  '>': 'above',
  '<=': 'at or below',
  '<': 'below',
  '==': 'is exactly',
}
