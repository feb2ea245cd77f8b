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
import { readTable } from './support/read-table.ts'
import { daysBefore, usageMachine } from './support/usage-machine.ts'

/** What tokens cost, and what has no price yet: from a bound beside the total to a price within it. */
const N = process.env.TEST_WORKER_INDEX ?? '0'
const SLUG = `priced-${N}`
const OWNER = { name: 'Mara Holt', email: `mara@${SLUG}.example` }
const DEV = { name: 'Nils Orr', email: `nils@${SLUG}.example`, role: 'member' as const }
const NEW_MODEL = 'claude-opus-9'
const TEXT = `# What Priced agreed on.
boundaries: []
tags:
  project: [billing, search]
# Prices of our contract.
rates:
  - { model: claude-sonnet-4-5, provider: anthropic, from: 2026-01-01, input: "2.5", output: "12" }
`

let org: Organisation
const daysAgo = daysBefore(new Date())

test.beforeAll(async ({ browser }) => {
  org = await foundOrganisation(browser, { slug: SLUG, name: 'Priced', owner: OWNER, colleagues: [DEV] })
  const owner = await browser.newContext({ storageState: org.people[OWNER.email]! })
  const dev = await browser.newContext({ storageState: org.people[DEV.email]! })
  await publishRules(owner, SLUG, TEXT, 'Prices of the contract')
  await (await usageMachine(owner, SLUG, 'mara-desk')).send([
    { day: daysAgo(3), quarter: 30, dollars: 10, tags: { project: 'billing' } },
    { day: daysAgo(3), quarter: 31, dollars: 4, tags: { project: 'search' }, model: NEW_MODEL, calls: 7 },
    { day: daysAgo(2), quarter: 32, dollars: 1, model: 'claude-opus-4.6', calls: 2 },
  ])
  await (await usageMachine(dev, SLUG, 'nils-laptop')).send([
    { day: daysAgo(2), quarter: 40, dollars: 2, tags: { project: 'billing' }, model: NEW_MODEL },
  ])
  await Promise.all([owner.close(), dev.close()])
})

const pageOf = async (newContext: (options: object) => Promise<BrowserContext>, email: string): Promise<Page> =>
  (await newContext({ storageState: org.people[email]! })).newPage()
const unpriced = (page: Page) => page.getByRole('table', { name: 'Models without a price' })
const range = () => `from=${daysAgo(5)}&to=${daysAgo(0)}`

/** The page says so much in the last row of the spend table. */
async function seesTotals(page: Page, spend: string, atMost: string): Promise<void> {
  await expect(async () => {
    const last = (await readTable(page.getByRole('table', { name: /^Spend by / }))).at(-1)
    expect(last).toMatchObject({ Spend: spend, 'Unpriced, at most': atMost })
  }).toPass({ timeout: 20_000 })
}

test('a model without a price is listed, priced, and moves from “at most” into the total', async ({ newContext }) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend?${range()}&by=model`)
  await seesTotals(page, '$10.00', '$21.00')
  await page.getByRole('navigation', { name: 'Spend' }).getByRole('link', { name: 'Rates' }).click()
  const row = unpriced(page).getByRole('row').filter({ hasText: NEW_MODEL })
  await expect(row).toContainText('8 calls on 2 machines')
  await expect(row).toContainText('at most $18.00')
  await expect(unpriced(page)).toContainText('Did you mean claude-opus-4-6?')
  await page.getByRole('link', { name: `Give ${NEW_MODEL} a price` }).click()
  const form = page.getByRole('form', { name: 'New price' })
  await expect(form.getByLabel('Model')).toHaveValue(NEW_MODEL)
  await expect(page.getByLabel('Holds from')).toHaveValue(daysAgo(3))
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await expect(page.getByText('To put right first:')).toBeVisible()
  await page.getByLabel('Input', { exact: true }).fill('5')
  await page.getByLabel('Output', { exact: true }).fill('50')
  await page.getByRole('button', { name: 'Review and publish' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText(`model: ${NEW_MODEL}`)
  await dialog.getByLabel('Note: why it is done').fill('The list has it since today')
  await dialog.getByRole('button', { name: 'Sign and publish' }).click()
  await page.waitForURL(url => url.pathname.endsWith('/spend/reprice'))
  await expect(page.getByText('The price is published.')).toBeVisible()
  const changes = page.getByRole('table', { name: 'What would change' })
  await expect(changes.getByRole('row').filter({ hasText: NEW_MODEL })).toContainText(/at most \$18\.00.*\$12\.00/s)
  await page.goto(`/${SLUG}/spend?${range()}&by=model`)
  await seesTotals(page, '$10.00', '$21.00')
  await page.goto(`/${SLUG}/spend/rates`)
  await expect(row).toContainText('has a price now')
  await page.getByRole('link', { name: `Reprice ${NEW_MODEL}` }).click()
  await page.getByRole('button', { name: `Reprice from ${daysAgo(3)}` }).click()
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: `Reprice from ${daysAgo(3)}` })
    .click()
  await page.waitForURL(url => url.pathname.endsWith('/spend/rates'))
  await expect(unpriced(page)).not.toContainText(NEW_MODEL)
  await page.goto(`/${SLUG}/spend?${range()}&by=model`)
  await seesTotals(page, '$22.00', '$3.00')
  const { text } = await query<{ text: string }>(page.context(), 'boundary.current', { org: SLUG })
  expect(text.startsWith(TEXT.trimEnd())).toBe(true)
  await page.goto(`/${SLUG}/audit?kind=usage`)
  await expect(page.getByRole('list', { name: 'Entries, newest first' })).toContainText('Usage priced anew')
})

test('a price is ended, the card’s follows, and nothing counts as nothing unless that is said', async ({
  newContext,
}) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend/rates`)
  await page.getByRole('link', { name: 'Change or end the price of claude-sonnet-4-5' }).click()
  await page.getByLabel('First day without it').fill('2025-01-01')
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await expect(page.getByText('until 2025-01-01 is not after from 2026-01-01')).toBeVisible()
  await page.getByLabel('First day without it').fill(daysAgo(-7))
  await page.getByRole('button', { name: 'Review and publish' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText(`until: "${daysAgo(-7)}"`)
  await dialog.getByLabel('Note: why it is done').fill('The contract ends')
  await dialog.getByRole('button', { name: 'Sign and publish' }).click()
  await page.waitForURL(url => !url.pathname.endsWith('/edit-rate'))
  await page.goto(`/${SLUG}/spend/rates?q=sonnet-4-5`)
  const card = page.getByRole('table', { name: 'Prices in force' })
  await card.getByText(/dated prices/).click()
  await expect(card).toContainText(`until ${daysAgo(-7)}, your price`)
  await page.goto(`/${SLUG}/spend/edit-unpriced`)
  await page.getByText('Nothing', { exact: true }).click()
  await expect(page.getByText('Weaker than the default.')).toBeVisible()
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await expect(dialog).toContainText('on_unpriced_model: zero')
  await dialog.getByRole('button', { name: 'Go back' }).click()
  await page.goto(`/${SLUG}/spend/rates`)
  await expect(page.getByText('It counts at the dearest price there is')).toBeVisible()
})

test('everybody reads the rates, and only who publishes changes them', async ({ newContext }) => {
  const page = await pageOf(newContext, DEV.email)
  await page.goto(`/${SLUG}/spend/rates`)
  await expect(page.getByRole('table', { name: 'Prices in force' })).toContainText('claude')
  await expect(page.getByRole('link', { name: 'Add a price' })).toHaveCount(0)
  await page.goto(`/${SLUG}/spend/edit-rate`)
  await expect(page.getByText('You can read prices, not change them.')).toBeVisible()
  await page.goto(`/${SLUG}/spend/reprice?from=${daysAgo(3)}`)
  await expect(page.getByText('You cannot price usage anew.')).toBeVisible()
})

const VISITS = () => [
  { name: 'rates', path: `/${SLUG}/spend/rates`, reach: 'Add a price', open: true },
  { name: 'rates-nothing', path: `/${SLUG}/spend/rates?q=no-such-model&days=30`, reach: 'Clear' },
  { name: 'rate-form', path: `/${SLUG}/spend/edit-rate?index=0`, reach: 'Remove this price' },
  { name: 'unpriced-form', path: `/${SLUG}/spend/edit-unpriced`, reach: 'Cancel' },
  { name: 'reprice', path: `/${SLUG}/spend/reprice?from=${daysAgo(5)}`, reach: 'Show what would change' },
]

test('the pages of prices fit on a phone and a desk, by keyboard, in both themes and with names of any length', async ({
  newContext,
}) => {
  test.setTimeout(600_000)
  const context = await newContext({ storageState: org.people[OWNER.email]! })
  const page = await context.newPage()
  const { etag } = await query<{ etag: string }>(context, 'boundary.current', { org: SLUG })
  const rate = { model: 'claude-opus-4.6', provider: 'anthropic', input: '5', output: '25' }
  await change(context, 'spend.edit', { org: SLUG, edit: { kind: 'put_rate', rate }, note: 'A slip of a name', etag })
  await watchShifts(page)
  const faults: string[] = []
  for (const { name, path, reach, open } of VISITS())
    for (const width of ['phone', 'desk'] as const) {
      await page.setViewportSize(WIDTHS[width])
      await page.emulateMedia({ colorScheme: width === 'desk' ? 'light' : 'dark', reducedMotion: 'reduce' })
      await page.goto(path)
      await page.evaluate(() => document.fonts.ready)
      const found = await jumped(page)
      if (width === 'desk' && reach) await reachByKeyboard(page, reach)
      if (open) for (const summary of (await page.locator('main summary').all()).slice(0, 3)) await summary.click()
      found.push(...(await sticksOut(page)), ...(await spills(page)), ...(await faultsFor(page)))
      await page.screenshot({ path: `test-results/pages/${name}-${width}.png`, fullPage: true, animations: 'disabled' })
      await stretchNames(page, [OWNER.name, DEV.name, NEW_MODEL, 'claude-opus-4.6'])
      found.push(...[...(await sticksOut(page)), ...(await spills(page))].map(fault => `with long names ${fault}`))
      faults.push(...found.map(fault => `${name} ${width}: ${fault}`))
    }
  expect(faults).toEqual([])
})
