/** Rules of an organisation that hold a session at twenty dollars until a lead lets it go on. */
export const RULES = `boundaries:
  - name: session-spend
    action: continue
    when: { session_cost_usd: ">= 20" }
    require: approver:lead
    stage: enforce
  - name: big-subagents
    action: subagent_model
    when: { model_tier: "> opus" }
    require: deny
    stage: shadow
tests:
  - { action: continue, figures: { session_cost_usd: "20" }, expect: "approver:lead" }
  - { action: continue, figures: { session_cost_usd: "19.99" }, expect: pass }
`
