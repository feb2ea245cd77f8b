/** The rule set of the samples, as it was. */
export const BEFORE = `# Limits for every agent in Acme.
boundaries:
  - name: session-spend
    action: continue
    when: { session_cost_usd: ">= 20" }
    require: approver:lead
    stage: enforce
    note: Long sessions get a second pair of eyes.
  - name: big-subagents
    action: subagent_model
    when: { model_tier: "> sonnet" }
    require: ask
    stage: shadow
  - name: late-runs
    action: continue
    when: { plan_left_pct: "< 10" }
    require: deny
    stage: shadow
`

/** And as the draft has it. */
export const AFTER = BEFORE.replace('">= 20"', '">= 25"').replace(
  '    require: deny\n',
  '    require: approver:admin\n    note: |\n      The plan is nearly used up:\n      ask before the rest goes.\n',
)

/** With a fault in line 11. */
export const FAULTY = BEFORE.replace('model_tier', 'model_teir')
