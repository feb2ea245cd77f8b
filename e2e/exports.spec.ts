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
import { usageMachine } from './support/usage-machine.ts'

/** What leaves the control plane and what comes in: a program reads spend with a token, an invoice is compared and its difference borne. */
const N = process.env.TEST_WORKER_INDEX ?? '0'
const SLUG = `outflow-${N}`
const OWNER = { name: 'Noor Blum', email: `noor@${SLUG}.example` }
const AUDITOR = { name: 'Ada Frey', email: `ada@${SLUG}.example`, role: 'auditor' as const }
const DEV = { name: 'Sol Reyes', email: `sol@${SLUG}.example`, role: 'member' as const }
const ADDRESS = `http://localhost:${process.env.E2E_PORT}`
const MODEL = 'claude-opus-4-6'

/** The month that is over, by UTC days. */
const MONTH = (() => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7)
})()
const day = (number: number) => `${MONTH}-${String(number).padStart(2, '0')}`
let org: Organisation

test.beforeAll(async ({ browser }) => {
  org = await foundOrganisation(browser, { slug: SLUG, name: 'Outflow', owner: OWNER, colleagues: [AUDITOR, DEV] })
  const owner = await browser.newContext({ storageState: org.people[OWNER.email]! })
  for (const key of ['acme', 'globex']) await change(owner, 'tenant.add', { org: SLUG, key, name: key })
  await publishRules(owner, SLUG, 'boundaries: []\ntags:\n  tenant: [acme, globex]\n', 'Tenants')
  await (await usageMachine(owner, SLUG, 'noor-desk')).send([
    { day: day(5), quarter: 30, dollars: 10, tags: { tenant: 'acme' } },
    { day: day(6), quarter: 31, dollars: 5, tags: { tenant: 'globex' } },
    { day: day(20), quarter: 32, dollars: 2 },
    { day: day(20), quarter: 33, dollars: 40, covered: 'plan', tags: { tenant: 'acme' } },
    { day: day(21), quarter: 34, dollars: 3, covered: 'unknown', tags: { tenant: 'acme' } },
  ])
  await owner.close()
})

const pageOf = async (newContext: (options: object) => Promise<BrowserContext>, email: string): Promise<Page> =>
  (await newContext({ storageState: org.people[email]! })).newPage()

/** An invoice whose difference is spread, also where the stories before have left none. */
async function bringInvoice(newContext: (options: object) => Promise<BrowserContext>): Promise<void> {
  const owner = await newContext({ storageState: org.people[OWNER.email]! })
  const {
    items: [there],
  } = await query<{ items: { id: string }[] }>(owner, 'invoice.list', { org: SLUG })
  const invoice = { org: SLUG, provider: 'anthropic', month: MONTH, currency: 'USD', lines: [{ amount: '18' }] }
  const { id } = there ?? (await change<{ id: string }>(owner, 'invoice.enter', invoice))
  await change(owner, 'invoice.spread', { org: SLUG, id, rule: { kind: 'proportional' } })
}

/** Anthropic's answer for the month: what we have, sixty cents more for one tenant's model, and searches that no machine reported. */
const REPORT = JSON.stringify({
  data: [
    { on: 5, results: [{ model: MODEL, amount: '1000' }] },
    { on: 6, results: [{ model: MODEL, amount: '560' }] },
    {
      on: 20,
      results: [
        { model: MODEL, amount: '200' },
        { model: null, amount: '40', description: 'Web Search Usage' },
      ],
    },
  ].map(({ on, results }) => ({
    starting_at: `${day(on)}T00:00:00Z`,
    ending_at: `${day(on + 1)}T00:00:00Z`,
    results: results.map(result => ({ currency: 'USD', cost_type: 'tokens', ...result })),
  })),
  has_more: false,
})
const file = (name: string, text: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
const cents = (text: string): bigint => BigInt(text.replace(/[^0-9.]/g, '').replace('.', ''))

test('a program reads spend with a token that is shown once, and no more when it has ended', async ({ newContext }) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/settings#tokens`)
  await page.getByRole('button', { name: 'Make a token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('What it is for').fill('Import into the warehouse')
  await dialog.getByRole('button', { name: 'Make the token' }).click()
  const token = (await dialog.getByText(/^hpt_[a-z2-7]{59}$/).innerText()).trim()
  await expect(dialog).toContainText(`curl -fH "Authorization: Bearer $HOLDPOINT_TOKEN" "${ADDRESS}/api/v1/spend`)
  await dialog.getByRole('button', { name: 'I have it' }).click()
  const tokens = page.getByRole('table', { name: 'Tokens in force' })
  await expect(tokens).toContainText('Import into the warehouse')
  await expect(dialog).toHaveCount(0)
  await expect.poll(() => page.content()).not.toContain(token)

  const get = (path: string, bearer = token) =>
    fetch(`${ADDRESS}/api/v1/${path}`, { headers: { authorization: `Bearer ${bearer}` } })
  await page.goto(`/${SLUG}/spend?month=${MONTH}`)
  const total = page
    .getByRole('table', { name: /^Spend by / })
    .locator('tbody tr')
    .last()
  await expect(total).toContainText('$60.00')
  const report = (await (await get(`spend?from=${MONTH}-01&to=${MONTH}-28&by=tenant`)).json()) as {
    total: { priced: Record<string, string> }
  }
  expect(report.total.priced).toEqual({ metered: '17', plan: '40', unknown: '3' })
  const focus = await get(`focus?month=${MONTH}&format=jsonl`)
  const rows = (await focus.text())
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, string>)
  expect(rows.reduce((sum, row) => sum + Number(row.ListCost), 0)).toBeCloseTo(60, 9)
  expect(rows.reduce((sum, row) => sum + Number(row.BilledCost), 0)).toBeCloseTo(17, 9)
  expect(JSON.stringify(rows)).not.toMatch(/Noor|noor-desk/)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'FOCUS' }).click(),
  ])
  expect(download.suggestedFilename()).toBe(`${SLUG}-focus-${MONTH}.csv`)
  expect((await (await download.createReadStream()).toArray()).join('')).toBe(
    await (await get(`focus?month=${MONTH}`)).text(),
  )

  await page.goto(`/${SLUG}/settings#tokens`)
  await expect(tokens).toContainText('just now')
  await tokens.getByRole('button', { name: 'End the token' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'End the token' }).click()
  await expect(page.getByText('No program has a token')).toBeVisible()
  expect((await get('spend')).status).toBe(401)
  await page.goto(`/${SLUG}/audit?kind=token`)
  await expect(page.getByRole('list', { name: 'Entries, newest first' })).toContainText('Token for programs ended')
  await expect(page.locator('main')).toContainText(`${token.slice(0, 8)}…`)
})

test('an invoice is compared by day and model, and its difference stands on the statements by the rule that was stated', async ({
  newContext,
  allowed,
}) => {
  allowed.push(/status of 400|status of 409/)
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend/invoices`)
  await page.getByRole('button', { name: 'Add an invoice' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Month').selectOption(MONTH)
  await dialog.getByLabel('File').setInputFiles(file('costs.json', REPORT.replace('"560"', '"a lot"')))
  await dialog.getByRole('button', { name: 'Read and compare' }).click()
  await expect(dialog).toContainText('data[1].results[0].amount: an amount is a decimal text.')
  await dialog.getByLabel('File').setInputFiles(file('costs.json', REPORT))
  await dialog.getByRole('button', { name: 'Read and compare' }).click()
  await page.waitForURL(/\/spend\/invoices\/ivc_/)
  await expect(page.locator('main')).toContainText('Not in what was reported: $3.00 of usage')
  const models = page.getByRole('table', { name: 'Asked for and reported, by model' })
  await expect(models.getByRole('row').filter({ hasText: MODEL })).toContainText('$17.60')
  await expect(models.getByRole('row').filter({ hasText: MODEL })).toContainText('+$0.60')
  await expect(models.getByRole('row').filter({ hasText: 'without a day or model' })).toContainText('+$0.40')
  await expect(models.getByRole('row').last()).toContainText('+$1.00')
  await page.getByText('The same as a table').click()
  const days = page.getByRole('table', { name: 'Asked for and reported, by day' })
  await expect(days).toBeVisible()
  await expect(async () => {
    const cells = await days.locator('tbody tr td:nth-child(2)').allInnerTexts()
    expect(cells.length).toBeGreaterThan(1)
    expect(cells.slice(0, -1).reduce((sum, cell) => sum + cents(cell), 0n)).toBe(cents(cells.at(-1)!))
  }).toPass({ timeout: 20_000 })

  await page.getByRole('button', { name: 'Spread it' }).click()
  await expect(dialog.getByRole('table')).toContainText('acme')
  await expect(dialog, 'usage of unknown cover stands on statements at list prices').toContainText('charged twice')
  await dialog.getByRole('button', { name: 'Put it on the statements' }).click()
  const borne = page.getByRole('table', { name: 'Who takes which part of the difference' })
  await expect(borne.getByRole('row').filter({ hasText: 'acme' })).toContainText('$0.67')
  await expect(borne.getByRole('row').filter({ hasText: 'globex' })).toContainText('$0.33')
  await expect(borne.getByRole('row').last()).toContainText('$1.00')
  await page.goto(`/${SLUG}/spend/statements/${MONTH}/globex`)
  await expect(page.locator('main')).toContainText(`Invoice difference, ${MONTH}`)
  await expect(page.locator('main')).toContainText('$5.33')

  await page.goto(`/${SLUG}/spend/invoices`)
  await page.getByRole('button', { name: 'Add an invoice' }).click()
  await dialog.getByRole('radio', { name: 'By hand' }).check()
  await dialog.getByLabel('Month').selectOption(MONTH)
  await dialog.getByLabel('Amount of line 1').fill('17')
  await dialog.getByRole('button', { name: 'Read and compare' }).click()
  await expect(dialog).toContainText('There is an invoice of anthropic')
  await dialog.getByRole('button', { name: 'Replace it' }).click()
  await page.waitForURL(/\/spend\/invoices\/ivc_/)
  await expect(page.getByText('It tells no days and no models.')).toBeVisible()
  await page.goto(`/${SLUG}/spend/statements/${MONTH}/globex`)
  await expect(page.locator('main')).not.toContainText('Invoice difference')
})

test('auditors read invoices and change none, others do not see them', async ({ newContext, allowed }) => {
  allowed.push(/status of 404/)
  await bringInvoice(newContext)
  const auditor = await pageOf(newContext, AUDITOR.email)
  await auditor.goto(`/${SLUG}/spend/invoices`)
  await auditor.getByRole('link', { name: /^Anthropic, / }).click()
  await expect(auditor.getByText('Who bears the difference')).toBeVisible()
  await expect(auditor.getByRole('button', { name: 'Remove' })).toHaveCount(0)
  const address = auditor.url()
  const dev = await pageOf(newContext, DEV.email)
  await dev.goto(`/${SLUG}/spend/invoices`)
  await expect(dev.getByText('Invoices are not shown to you')).toBeVisible()
  await dev.goto(address)
  await expect(dev.getByRole('heading', { level: 1 })).not.toContainText('Anthropic')
})

test('the pages fit on a phone and a desk, by keyboard, in both themes and with names of any length', async ({
  newContext,
}) => {
  test.setTimeout(600_000)
  const context = await newContext({ storageState: org.people[OWNER.email]! })
  const page = await context.newPage()
  await watchShifts(page)
  await bringInvoice(newContext)
  await page.goto(`/${SLUG}/settings`)
  await page.getByRole('button', { name: 'Make a token' }).click()
  await page.getByLabel('What it is for').fill('For the picture')
  await page.getByRole('button', { name: 'Make the token' }).click()
  await page.getByRole('button', { name: 'I have it' }).click()
  await page.goto(`/${SLUG}/spend/invoices`)
  await page.getByRole('link', { name: /^Anthropic, / }).click()
  await page.getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('dialog').getByLabel('File').setInputFiles(file('costs.json', REPORT))
  await page.getByRole('dialog').getByLabel('Invoice number').fill('INV-2026-0042')
  await page.getByRole('button', { name: 'Read and replace' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.locator('main')).toContainText('INV-2026-0042')
  await expect(page.getByRole('heading', { name: 'Each day' })).toBeVisible()
  const detail = new URL(page.url()).pathname
  const visits = [
    { name: 'invoices', path: `/${SLUG}/spend/invoices`, reach: 'Add an invoice' },
    { name: 'invoice', path: detail, reach: 'Change', open: true },
    { name: 'invoice-spread', path: detail, press: 'Change' },
    { name: 'invoice-add', path: `/${SLUG}/spend/invoices`, press: 'Add an invoice' },
    { name: 'settings-tokens', path: `/${SLUG}/settings`, reach: 'End the token' },
  ]
  const faults: string[] = []
  for (const { name, path, reach, open, press } of visits)
    for (const width of ['phone', 'desk'] as const) {
      await page.setViewportSize(WIDTHS[width])
      await page.emulateMedia({ colorScheme: width === 'desk' ? 'light' : 'dark', reducedMotion: 'reduce' })
      await page.goto(path)
      await page.evaluate(() => document.fonts.ready)
      const found = await jumped(page)
      if (width === 'desk' && reach) await reachByKeyboard(page, reach)
      if (open) for (const summary of await page.locator('main summary').all()) await summary.click()
      if (press) {
        await page.getByRole('button', { name: press, exact: true }).click()
        await expect(page.getByRole('dialog')).toBeVisible()
      }
      if (name === 'invoice-spread') await expect(page.getByRole('dialog').getByRole('table')).toBeVisible()
      if (name === 'invoice-add' && width === 'desk')
        await page.getByRole('dialog').getByRole('radio', { name: 'By hand' }).check()
      found.push(...(await sticksOut(page)), ...(await spills(page)), ...(await faultsFor(page)))
      await page.screenshot({
        path: `test-results/pages/${name}-${width}.png`,
        fullPage: !press,
        animations: 'disabled',
      })
      if (!press) {
        await stretchNames(page, [OWNER.name, 'acme', 'globex', 'For the picture', 'INV-2026-0042', MODEL])
        found.push(...[...(await sticksOut(page)), ...(await spills(page))].map(fault => `with long names ${fault}`))
      }
      faults.push(...found.map(fault => `${name} ${width}: ${fault}`))
    }
  expect(faults).toEqual([])
})
