/** One document with every section, as an organisation would write it. */
export const DOCUMENT = `# Rules of the organisation
boundaries:
  - name: acme-month
    action: spend
    when: { budget_used_pct: ">= 90", budget: acme }
    require: approver:lead
    for: { tenants: [acme] }
tests:
  - { rule: acme-month, action: spend, figures: { budget_used_pct: 95, budget: acme }, tenant: acme, expect: approver:lead }

tags:
  tenant: [globex, acme]
  project: [billing-api]
  team: [platform, data]

attribution:
  # the billing repositories
  - when: { repository: "billing-*" }
    set: { tenant: acme, project: billing-api }
  - when: { environment: "CI_TEAM=data-*", machine: "build-*" }
    set: { team: data }

budgets:
  - name: monthly
    amount: "500.00"   # agreed in May
    window: monthly
  - name: acme
    amount: 12.5
    currency: EUR
    window: 1w
    zone: Europe/Amsterdam
    for: { tenant: acme }
    basis: billed
    steps: [90, 50]
    owners: [role:owner, member:mem_a1]
  - { name: each-team, amount: 20, window: rolling 30d, for: { team: "*" } }

rates:
  - { model: claude-opus-4-6, provider: anthropic, from: 2026-12-01, until: 2027-12-01, input: "4.50", output: 22, cache_read: "0.45", aliases: [opus-ours] }
  - model: claude-opus-4-6
    provider: anthropic
    input: "5"
    output: "25"
    web_search: "0.01"
    long: { above: 200000, input: "10", output: "37.5" }

unpriced: { on_unpriced_model: max_rate, providers: [openai, anthropic] }

exchange:
  - { currency: EUR, from: 2026-01-01, per_usd: "0.920" }   # the bank's, each month
  - { currency: EUR, from: 2026-12-01, per_usd: "0.95" }

renames:
  - { key: team, from: infra, to: platform }
`
