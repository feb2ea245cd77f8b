import type { BrowserContext, Page } from '@playwright/test'
import { change, publishRules, query } from './support/api.ts'
import { expect, test } from './support/console.ts'
import {
  faultsFor,
  jumped,
  reachByKeyboard,
  spills,
  sticksOut,
  stretchNames,
  WIDTHS,
  watchShifts,
} from './support/looks.ts'
import { foundOrganisation, type Organisation } from './support/organisation.ts'
import { daysBefore, usageMachine } from './support/usage-machine.ts'

/** Whose usage is whose: rules, tags and tenants, and who may see what one person spent. */
const N = process.env.TEST_WORKER_INDEX ?? '0'
const SLUG = `whose-${N}`
const OWNER = { name: 'Petra Lund', email: `petra@${SLUG}.example` }
const DEV = { name: 'Quinn Abel', email: `quinn@${SLUG}.example`, role: 'member' as const }
const LEAD = { name: 'Rosa Kemp', email: `rosa@${SLUG}.example`, role: 'lead' as const }
const TEXT = `# Whose is whose.
boundaries: []
tags:
  tenant: [northwind]
  project: [billing, search]
attribution:
  # everything of billing
  - when: { repository: "billing-*" }
    set: { tenant: northwind, project: billing }
`

let org: Organisation
const daysAgo = daysBefore(new Date())

test.beforeAll(async ({ browser }) => {
  org = await foundOrganisation(browser, { slug: SLUG, name: 'Whose', owner: OWNER, colleagues: [DEV, LEAD] })
  const owner = await browser.newContext({ storageState: org.people[OWNER.email]! })
  const dev = await browser.newContext({ storageState: org.people[DEV.email]! })
  await change(owner, 'tenant.add', { org: SLUG, key: 'northwind', name: 'Northwind Traders' })
  await publishRules(owner, SLUG, TEXT, 'Lists and rules')
  const usage = (of: number) => [
    { day: daysAgo(3), quarter: 30, dollars: 10 * of, tags: { tenant: 'northwind', project: 'billing' } },
    { day: daysAgo(2), quarter: 31, dollars: 4 * of },
  ]
  await (await usageMachine(owner, SLUG, 'petra-desk')).send(usage(1))
  await (await usageMachine(dev, SLUG, 'quinn-laptop')).send(usage(2))
  await Promise.all([owner.close(), dev.close()])
})

const pageOf = async (newContext: (options: object) => Promise<BrowserContext>, email: string): Promise<Page> =>
  (await newContext({ storageState: org.people[email]! })).newPage()

/** Signs what the open dialog shows. */
async function sign(page: Page, note: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Note: why it is done').fill(note)
  await dialog.getByRole('button', { name: /^Sign and/ }).click()
  await expect(dialog).toHaveCount(0)
}
const textInForce = async (page: Page) =>
  (await query<{ text: string }>(page.context(), 'boundary.current', { org: SLUG })).text

test('a rule is written, tried and put before another, in the signed text', async ({ newContext }) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend/attribution`)
  await page.getByRole('link', { name: 'Add a rule' }).click()
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await expect(page.getByText('To put right first:')).toBeVisible()
  await page.getByLabel('Repository').fill('billing-search')
  await page.getByLabel('Project').selectOption('search')
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await sign(page, 'The search of billing')
  await page.waitForURL(url => url.pathname.endsWith('/spend/attribution'))
  const trial = page.getByRole('form', { name: 'Try the rules' })
  const answer = page.getByRole('region', { name: 'What the rules say' })
  await trial.getByLabel('Repository').fill('github.com/acme/billing-search')
  await trial.getByRole('button', { name: 'Try' }).click()
  await expect(answer).toContainText(/Project\s*billing\s*by rule 1/)
  await expect(answer).toContainText('Rule 2 matched too')
  await page.getByRole('button', { name: 'Move rule 2 up' }).click()
  await sign(page, 'Search first')
  await expect(answer).toContainText(/Project\s*search\s*by rule 1/)
  await expect(answer).toContainText(/Tenant\s*northwind\s*by rule 2/)
  expect(await textInForce(page)).toContain('# everything of billing')
})

test('a dialog that is left with Escape gives focus back to the button that opened it', async ({ newContext }) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend/attribution`)
  for (const name of ['Add a tenant', 'Remove rule 1']) {
    const button = page.getByRole('button', { name })
    await button.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'))
    await expect(dialog).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(dialog).toHaveCount(0)
    await expect(button).toBeFocused()
  }
})

test('where usage without a tenant comes from is said, and a tenant is added, listed and renamed', async ({
  newContext,
}) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend/attribution`)
  const why = page.getByRole('table', { name: 'Usage without a tenant' })
  await expect(why).toContainText('petra-desk')
  await expect(why).toContainText('Others')
  await expect(why).toContainText('$12.00')
  await page.getByRole('button', { name: 'Add a tenant' }).click()
  await page.getByRole('alertdialog').getByLabel('Name').fill('Northwind Europe')
  await page.getByRole('alertdialog').getByLabel('Key').fill('northwind-eu')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Add the tenant' }).click()
  await expect(page.getByRole('table', { name: 'Tenants' })).toContainText('not listed yet')
  await page.getByRole('button', { name: 'tenant northwind', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Rename…' }).click()
  await page.getByRole('dialog').getByLabel('New tenant').fill('northwind-eu')
  await page.getByRole('dialog').getByRole('button', { name: 'Review' }).click()
  await expect(page.getByRole('dialog')).toContainText('renames:')
  await sign(page, 'They moved')
  await expect(page.getByRole('list', { name: 'Values of tenant' })).toContainText('now northwind-eu')
  await page.goto(`/${SLUG}/spend?from=${daysAgo(5)}&to=${daysAgo(0)}`)
  const table = page.getByRole('table', { name: /^Spend by / })
  await expect(table.getByRole('row').filter({ hasText: 'Northwind Europe' })).toContainText('$30.00')
  await expect(table).not.toContainText('Northwind Traders')
  await expect(table.locator('tbody tr').last()).toContainText('$42.00')
})

test('who may see a person’s figures is an owner’s word, which that person reads and its holder loses', async ({
  newContext,
  allowed,
}) => {
  allowed.push(/status of 400/)
  const owner = await pageOf(newContext, OWNER.email)
  const lead = await pageOf(newContext, LEAD.email)
  const dev = await pageOf(newContext, DEV.email)
  const byMember = `/${SLUG}/spend?from=${daysAgo(5)}&to=${daysAgo(0)}&by=member`
  const table = (page: Page) => page.getByRole('table', { name: /^Spend by / })
  await lead.goto(byMember)
  await expect(table(lead)).not.toContainText(DEV.name)
  await owner.goto(`/${SLUG}/spend/who-may-see`)
  await owner.getByRole('button', { name: 'Let somebody see' }).click()
  const dialog = owner.getByRole('alertdialog')
  await dialog.getByLabel('Who may see').selectOption({ label: LEAD.name })
  await dialog.getByLabel('Whose figures').selectOption({ label: DEV.name })
  await dialog.getByRole('button', { name: 'Let them see' }).click()
  await expect(dialog.getByText(/A grant needs a reason/)).toBeVisible()
  await dialog.getByLabel('Why').fill('To plan the next quarter together')
  await dialog.getByRole('button', { name: 'Let them see' }).click()
  await expect(owner.getByRole('table', { name: 'Who may see figures' })).toContainText(DEV.name)
  await lead.reload()
  await expect(table(lead)).toContainText(DEV.name)
  await dev.goto(byMember)
  await expect(dev.getByText(`${LEAD.name} may see your own figures.`)).toBeVisible()
  await dev.getByRole('link', { name: 'Who may see figures' }).click()
  await expect(dev.getByRole('table', { name: 'Who may see figures' })).toContainText(
    'To plan the next quarter together',
  )
  await owner.getByRole('button', { name: `End what ${LEAD.name} may see` }).click()
  await owner.getByRole('alertdialog').getByRole('button', { name: 'End it' }).click()
  await expect(owner.getByRole('table', { name: 'Who may see figures' })).toContainText('ended')
  await lead.reload()
  await expect(table(lead)).not.toContainText(DEV.name)
})

const VISITS = () => [
  {
    name: 'attribution',
    path: `/${SLUG}/spend/attribution?repository=billing-search&machine=none`,
    reach: 'Add a rule',
  },
  { name: 'attribution-rule', path: `/${SLUG}/spend/edit-attribution?index=0`, reach: 'Cancel' },
  { name: 'who-may-see', path: `/${SLUG}/spend/who-may-see`, reach: 'Let somebody see' },
]

test('the pages of attribution fit on a phone and a desk, by keyboard, in both themes and with names of any length', async ({
  newContext,
}) => {
  test.setTimeout(600_000)
  const context = await newContext({ storageState: org.people[OWNER.email]! })
  const page = await context.newPage()
  await watchShifts(page)
  const faults: string[] = []
  for (const { name, path, reach } of VISITS())
    for (const width of ['phone', 'desk'] as const) {
      await page.setViewportSize(WIDTHS[width])
      await page.emulateMedia({ colorScheme: width === 'desk' ? 'light' : 'dark', reducedMotion: 'reduce' })
      await page.goto(path)
      await page.evaluate(() => document.fonts.ready)
      const found = await jumped(page)
      if (width === 'desk') await reachByKeyboard(page, reach)
      found.push(...(await sticksOut(page)), ...(await spills(page)), ...(await faultsFor(page)))
      await page.screenshot({ path: `test-results/pages/${name}-${width}.png`, fullPage: true, animations: 'disabled' })
      await stretchNames(page, [OWNER.name, DEV.name, LEAD.name, 'northwind', 'petra-desk', 'search'])
      found.push(...[...(await sticksOut(page)), ...(await spills(page))].map(fault => `with long names ${fault}`))
      faults.push(...found.map(fault => `${name} ${width}: ${fault}`))
    }
  expect(faults).toEqual([])
})
