import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { claude } from '#agent/clients/claude/claude.ts'
import { Failures, hookRoute } from '#agent/daemon/hook-route.ts'
import { runDaemon } from '#agent/daemon/main.ts'
import { openHome } from '#agent/home.ts'
import { root } from '#server/boot/environment.mjs'
import { spend, transcriptOf } from './connector.ts'
import { type Later, temporaryFolder } from './undo.ts'

const CALLS = 1500
const WARM_UP = 100
const SESSION = '00000000-0000-4000-8000-000000000001'

/** Rules of a developer's own, of several kinds, all enforced. */
export const LOCAL_RULES = `boundaries:
  - { name: session-spend, action: continue, when: { session_cost_usd: ">= 1000" }, require: deny, stage: enforce }
  - { name: big-subagents, action: subagent_model, when: { model_tier: "> opus" }, require: ask, stage: enforce }
  - { name: plan-floor, action: continue, when: { plan_left_pct: "< 5", window: week }, require: allow, stage: enforce }
  - { name: budget-floor, action: spend, when: { budget_used_pct: ">= 90", budget: monthly }, require: allow, stage: enforce }
budgets:
  - { name: monthly, amount: 500, window: monthly, scope: global }
`

/**
 * Milliseconds that each decision of the daemon takes in this process, on real files: hook body in, transcript read on,
 * rules looked at, judged and journalled, answer out. The session grows by a response before each call, which is not timed.
 * @param usd what the session has cost at the first call
 */
export async function timeDecisions(later: Later, usd: number): Promise<number[]> {
  const user = temporaryFolder(later)
  const home = openHome(join(user, '.holdpoint'))
  const cwd = join(user, 'project')
  for (const folder of [home.root, cwd]) mkdirSync(folder, { mode: 0o700 })
  writeFileSync(home.config, LOCAL_RULES)
  const daemon = await runDaemon({ home, clientHome: { homeDir: user, env: {} }, follow: false })
  later(() => daemon.stop())
  const { runtime } = daemon
  const route = hookRoute(runtime, new Failures(runtime), () => {})
  const match = route.path.exec(`/hook/${(claude as unknown as ClientAdapter).client}`)!
  const recorded = JSON.parse(
    readFileSync(join(root, 'test/clients/payloads/claude/PreToolUse.json'), 'utf8'),
  ) as object
  const transcript = transcriptOf(user, cwd, SESSION)
  const took: number[] = []
  let refused = 0
  for (let n = 0; n < WARM_UP + CALLS; n++) {
    spend(transcript, SESSION, n === 0 ? usd : 0.001, n)
    const fields = { session_id: SESSION, cwd, transcript_path: transcript, tool_use_id: `toolu_${n}` }
    const body = Buffer.from(JSON.stringify({ ...recorded, ...fields }))
    const began = performance.now()
    const reply = route.handle(
      { method: 'POST', path: match[0], query: new URLSearchParams(), headers: {}, body, arrivedMs: began },
      match,
    )
    const ended = performance.now()
    const { status, text } = await reply
    if (status !== 200) throw new Error(`the daemon answered ${status}`)
    if (text) refused++
    if (n >= WARM_UP) took.push(ended - began)
  }
  if (refused !== (usd >= 1000 ? WARM_UP + CALLS : 0)) throw new Error(`${refused} calls were refused`)
  return took
}
