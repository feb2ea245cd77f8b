import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { agentSession } from './support/agent-session.ts'
import { publishRules } from './support/api.ts'
import { expect, test } from './support/console.ts'
import { emptyMachine, type Machine } from './support/machine.ts'
import { foundOrganisation, type Organisation } from './support/organisation.ts'
import { daysBefore, usageMachine } from './support/usage-machine.ts'

/** A budget stops the fleet, not one laptop: from the signed text to a transcript's line, the page, and the next tool call. */
const SLUG = `fleet-${process.env.TEST_WORKER_INDEX ?? '0'}`
const OWNER = { name: 'Ute Lang', email: `ute@${SLUG}.example` }
/** One whose midnight is far from now: no month turns while the story lasts. */
const ZONE = new Date().getUTCHours() < 3 || new Date().getUTCHours() > 20 ? 'Pacific/Honolulu' : 'UTC'
const TEXT = `tags:
  project: [billing, search]
attribution:
  - when: { repository: billing }
    set: { project: billing }
  - when: { repository: search }
    set: { project: search }
budgets:
  - name: billing-month
    amount: "100"
    window: monthly
    zone: ${ZONE}
    for: { project: billing }
boundaries:
  - name: billing-cap
    action: spend
    when: { budget_used_pct: ">= 90", budget: billing-month }
    require: deny
    stage: enforce
tests:
  - { action: spend, figures: { budget_used_pct: 90, budget: billing-month }, expect: deny }
  - { action: spend, figures: { budget_used_pct: 89, budget: billing-month }, expect: pass }
`

let org: Organisation
let machine: Machine
test.beforeAll(async ({ browser }) => {
  org = await foundOrganisation(browser, { slug: SLUG, name: 'Fleet', owner: OWNER, colleagues: [] })
  machine = await emptyMachine()
})
test.afterAll(() => machine?.stop())

test('what two machines spend together fills the page’s budget, stops the next call and ends the next run', async ({
  newContext,
}) => {
  const context = await newContext({ storageState: org.people[OWNER.email]! })
  const page = await context.newPage()
  const now = new Date()
  const day = daysBefore(now)
  const quarter = now.getUTCHours() * 4 + Math.floor(now.getUTCMinutes() / 15)
  await publishRules(context, SLUG, 'tags:\n  project: [billing]\n', 'A list of projects')
  const desk = await usageMachine(context, SLUG, 'ute-desk')
  await desk.send([{ day: day(0), quarter, dollars: 60, tags: { project: 'billing' } }])
  // counted anew with the version that has the budget; later uploads of others are in the next minute's count
  await publishRules(context, SLUG, TEXT, 'A month of billing')
  await machine.join(context, SLUG)
  for (const name of ['billing', 'search']) mkdirSync(path.join(machine.home, 'dev', name, '.git'), { recursive: true })
  const billing = agentSession(machine, 'fleet-billing', 'billing')
  const search = agentSession(machine, 'fleet-search', 'search')

  await test.step('with the $60 of another machine, this one’s first $29 of the $100 are 89 %', async () => {
    billing.spend(29)
    await expect.poll(async () => (await machine.holdpoint('team', 'sync')).stdout).toContain('Usage: sent')
    expect((await billing.call()).refused).toBe(false)
    await expect.poll(budget).toMatchObject({ exit: 0, billing: { pct: 89, used: '89' } })
  })

  await test.step('four dollars more, sent at once, are 93 % on the page', async () => {
    billing.spend(4)
    await expect(async () => {
      await machine.holdpoint('team', 'sync')
      await page.goto(`/${SLUG}/spend/budgets`)
      const row = page.getByRole('row').filter({ hasText: 'billing-month' })
      await expect(row).toContainText('$93.00', { timeout: 2000 })
      await expect(row).toContainText(/93\.0\s%/, { timeout: 2000 })
    }).toPass({ timeout: 60_000 })
    await page.goto(`/${SLUG}/spend?from=${day(0)}&to=${day(-1)}&by=project`)
    const row = page
      .getByRole('table', { name: /^Spend by / })
      .getByRole('row')
      .filter({ hasText: 'billing' })
    await expect(row).toContainText('$93.00')
  })

  await test.step('the next call in that project is refused with what was crossed; in another work goes on', async () => {
    const told = await billing.call()
    expect(told).toMatchObject({ refused: true })
    expect(told.text).toContain('org:billing-cap')
    expect(told.text).toContain('93')
    expect((await search.call()).refused).toBe(false)
  })

  await test.step('what is spent past the limit counts here before any upload, and ends the next run with exit 3', async () => {
    billing.spend(8)
    await expect.poll(budget).toMatchObject({ exit: 3, billing: { pct: 101, exhausted: true } })
    expect((await machine.shell('cd dev/search && ~/.holdpoint/bin/holdpoint budget')).exit).toBe(0)
    const history = async () => JSON.parse((await machine.holdpoint('history', '--by', 'project', '--json')).stdout)
    await expect.poll(history).toMatchObject({
      rows: [
        { value: 'billing', cost: '41' },
        { value: null, cost: '0' },
      ],
      total: { cost: '41' },
    })
  })

  /** As a script in the project’s folder is told. */
  async function budget() {
    const { exit, stdout } = await machine.shell('cd dev/billing && ~/.holdpoint/bin/holdpoint budget --json')
    const { budgets } = JSON.parse(stdout) as { budgets: { name: string; pct: string }[] }
    const found = budgets.find(({ name }) => name.startsWith('org:billing-month'))!
    return { exit, billing: { ...found, pct: Number(found.pct) } }
  }
})
