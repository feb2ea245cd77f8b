import type { BrowserContext, Page } from '@playwright/test'
import { publishRules, query } from './support/api.ts'
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
import { daysBefore, type Usage, usageMachine } from './support/usage-machine.ts'

/** Who spent what, and the budgets: one total in every grouping, people's figures for themselves, and edits of the signed text. */
const N = process.env.TEST_WORKER_INDEX ?? '0'
const SLUG = `ledger-${N}`
const OWNER = { name: 'Ines Vale', email: `ines@${SLUG}.example` }
const DEV = { name: 'Jon Reed', email: `jon@${SLUG}.example`, role: 'member' as const }
const LONG_PROJECT = 'a-project-with-quite-a-long-name'
const TEXT = `# Limits and lists of Ledger.
boundaries: []
tags:
  project: [billing, search, web, batch, data, ${LONG_PROJECT}]
budgets:
  # Agreed with finance.
  - name: everything
    amount: "400"
    window: monthly
  - name: each-project
    amount: "60"
    window: monthly
    for: { project: "*" }
`

let org: Organisation
const daysAgo = daysBefore(new Date())

/** A fortnight; odd cents, so that rounding has something to do. */
function fortnight(of: number): Usage[] {
  const projects = ['billing', 'billing', 'search', 'web', 'batch', 'data', LONG_PROJECT, undefined]
  const fortnight = Array.from({ length: 14 }, (_, ago) =>
    projects.map(
      (project, i): Usage => ({
        day: daysAgo(ago + 1),
        quarter: 30 + i,
        dollars: 0.3333 + ((ago * 7 + i * 3 + of) % 11) / 9,
        calls: 3 + i,
        covered: i === 2 ? 'plan' : i === 3 && ago % 4 === 0 ? 'unknown' : 'metered',
        ...(project ? { tags: { project } } : {}),
        ...(i === 5 && ago % 5 === 0 ? { model: 'a-model-without-a-price' } : {}),
      }),
    ),
  ).flat()
  // On a month's first day all of that lies in the month before: something of this one's as well.
  return [...fortnight, { day: daysAgo(0), quarter: 0, dollars: 1.1111, tags: { project: 'search' } }]
}

test.beforeAll(async ({ browser }) => {
  org = await foundOrganisation(browser, { slug: SLUG, name: 'Ledger', owner: OWNER, colleagues: [DEV] })
  const owner = await browser.newContext({ storageState: org.people[OWNER.email]! })
  const dev = await browser.newContext({ storageState: org.people[DEV.email]! })
  await publishRules(owner, SLUG, TEXT, 'Lists and budgets')
  await (await usageMachine(owner, SLUG, 'ines-desk')).send(fortnight(0))
  await (await usageMachine(dev, SLUG, 'jon-laptop')).send(fortnight(4))
  await Promise.all([owner.close(), dev.close()])
})

const pageOf = async (newContext: (options: object) => Promise<BrowserContext>, email: string): Promise<Page> =>
  (await newContext({ storageState: org.people[email]! })).newPage()
/** Days that hold the fortnight, whichever month it lies in. */
const range = () => `from=${daysAgo(15)}&to=${daysAgo(0)}`
const table = (page: Page) => page.getByRole('table', { name: /^Spend by / })
const cents = (text: string): bigint => BigInt(text.replace(/[^0-9.]/g, '').replace('.', ''))

async function column(page: Page, head: string): Promise<{ parts: string[]; total: string }> {
  await expect(table(page).getByRole('columnheader', { name: head, exact: true })).toBeVisible()
  const cells = (await readTable(table(page))).map(row => row[head]!)
  return { parts: cells.slice(0, -1), total: cells.at(-1)! }
}

test('every grouping has the same total to the cent, on the page, in its chart’s table and in the file', async ({
  newContext,
}) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend?${range()}`)
  const totals = new Set<string>()
  for (const key of ['Tenant', 'Project', 'Model', 'Client', 'Machine', 'Member']) {
    await page.getByRole('navigation', { name: 'Group by' }).getByRole('link', { name: key, exact: true }).click()
    await expect(table(page).getByRole('columnheader', { name: key, exact: true })).toBeVisible()
    for (const head of ['Spend', 'Unpriced, at most']) {
      const { parts, total } = await column(page, head)
      const added = parts.filter(part => part !== '–').reduce((sum, part) => sum + cents(part), 0n)
      expect(added, `${head} by ${key}`).toBe(cents(total))
      totals.add(`${head} ${total}`)
    }
    const chart = page.getByRole('table', { name: /^Spend for each day/ })
    // Once open it stays so from key to key.
    await expect(async () => {
      if (!(await chart.isVisible())) await page.getByText('The same as a table').click()
      await expect(chart).toBeVisible({ timeout: 1000 })
    }).toPass({ timeout: 20_000 })
    await expect(chart.locator('tbody tr').last()).toContainText((await column(page, 'Spend')).total)
  }
  expect([...totals]).toHaveLength(2)
  const [spend, unpriced] = [...totals].map(words => words.replace(/^.*\$/, ''))
  await page.goto(`/${SLUG}/spend?${range()}&by=project`)
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()])
  const lines = (await (await file.createReadStream()).toArray()).join('').trim().split(/\r?\n/)
  const heads = lines[0]!.split(',')
  const sumOf = (prefix: string) =>
    lines
      .slice(1)
      .map(line => line.split(','))
      .reduce(
        (sum, cells) => sum + heads.reduce((s, head, i) => s + (head.startsWith(prefix) ? Number(cells[i]) : 0), 0),
        0,
      )
  expect(sumOf('priced_').toFixed(2)).toBe(spend)
  expect(sumOf('unpriced_').toFixed(2)).toBe(unpriced)
})

test('what is billed, what a plan covers and what nobody knows are never one figure', async ({ newContext }) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend?${range()}&by=project`)
  const list = cents((await column(page, 'Spend')).total)
  await page.getByRole('navigation', { name: 'Basis' }).getByRole('link', { name: 'Billed' }).click()
  await expect(table(page).getByRole('columnheader', { name: 'Billed' })).toBeVisible()
  const billed = cents((await column(page, 'Billed')).total)
  const unknown = cents((await column(page, 'Cover unknown')).total)
  const underPlan = /Under a flat plan\s*\$([\d.,]+)/
  await expect(page.locator('main')).toContainText(underPlan)
  const plan = underPlan.exec((await page.locator('main').textContent())!)![1]!
  expect(billed < list && unknown > 0n).toBe(true)
  const off = billed + unknown + cents(plan) - list
  expect(off >= -2n && off <= 2n, `${billed} + ${unknown} + ${plan} is ${list}, each rounded by itself`).toBe(true)
  await expect(page.getByText('self-reported', { exact: false }).first()).toBeVisible()
})

test('a row leads down, its address is the same view for somebody else, and unattributed says why', async ({
  newContext,
}) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend?${range()}&by=project`)
  await table(page).getByRole('link', { name: 'billing' }).click()
  const filters = page.getByRole('list', { name: 'Filters' })
  await expect(filters).toContainText('billing')
  const { total } = await column(page, 'Spend')
  const other = await pageOf(newContext, DEV.email)
  await other.goto(page.url())
  await expect(other.getByRole('list', { name: 'Filters' })).toContainText('billing')
  expect((await column(other, 'Spend')).total).toBe(total)
  await page.getByRole('link', { name: 'Leave out the filter by Project' }).click()
  await expect(filters).toHaveCount(0)
  await page.goto(`/${SLUG}/spend?${range()}&by=project`)
  await expect(table(page).getByText('unattributed')).toBeVisible()
  const why = page.getByRole('table', { name: 'Where usage without a project comes from' })
  await expect(why).toContainText('ines-desk')
  const none = (await column(page, 'Spend')).parts.at(-1)!
  for (const kind of ['Machine', 'Client']) {
    const rows = (await readTable(why)).map(row => Object.values(row).join(' ')).filter(row => row.includes(kind))
    expect(
      rows.reduce((sum, row) => sum + cents(/\$[\d.,]+/.exec(row)![0]), 0n),
      `by ${kind}`,
    ).toBe(cents(none))
  }
  await expect(page.getByText('No rule matches the repository, folder, machine or person')).toBeVisible()
})

test('people see everybody’s total and nobody’s own figures but theirs', async ({ newContext, allowed }) => {
  allowed.push(/status of 403/)
  const page = await pageOf(newContext, DEV.email)
  await page.goto(`/${SLUG}/spend?${range()}&by=member`)
  await expect(table(page)).toContainText(DEV.name)
  await expect(table(page)).toContainText('Others')
  await expect(table(page)).not.toContainText(OWNER.name)
  await expect(page.getByText('Others stand together.')).toBeVisible()
  const { total } = await column(page, 'Spend')
  await page.goto(`/${SLUG}/spend?${range()}&by=machine`)
  await expect(table(page)).not.toContainText('ines-desk')
  expect((await column(page, 'Spend')).total).toBe(total)
  const { members } = await query<{ members: { id: string; name: string }[] }>(page.context(), 'member.list', {
    org: SLUG,
  })
  const ines = members.find(({ name }) => name === OWNER.name)!.id
  await page.goto(`/${SLUG}/spend?${range()}&filter=member:${ines}`)
  await expect(page.getByRole('heading', { name: 'This cannot be shown' })).toBeVisible()
  await page.goto(`/${SLUG}/spend/edit-budget`)
  await expect(page.getByText('You can read budgets, not change them.')).toBeVisible()
})

test('a budget is changed in the signed text, after its diff was seen, and an edit made meanwhile is not lost', async ({
  newContext,
  allowed,
}) => {
  allowed.push(/status of 412|status of 409/)
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend/budgets`)
  await expect(page.getByRole('table', { name: 'Budgets in force' })).toContainText('each-project')
  await page.getByRole('link', { name: 'everything' }).click()
  await expect(page.getByRole('img', { name: /^What is left of budget everything/ })).toBeVisible()
  await page.getByRole('link', { name: 'Change' }).click()
  await page.getByLabel('Amount').fill('much')
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await expect(page.getByText('To put right first:')).toBeVisible()
  await page.getByLabel('Amount').fill('450')
  await page.getByRole('button', { name: 'Review and publish' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('amount: "450"')
  await publishRules(page.context(), SLUG, TEXT.replace('"60"', '"75"'), 'Each project gets more')
  await dialog.getByLabel('Note: why it is done').fill('Finance agreed to more')
  await dialog.getByRole('button', { name: 'Sign and publish' }).click()
  await expect(dialog).toContainText('was published meanwhile')
  await dialog.getByRole('button', { name: 'Sign and publish' }).click()
  await page.waitForURL(url => url.pathname.endsWith('/spend/budgets/everything'))
  await expect(page.getByText('% of $450.00')).toBeVisible()
  const { text } = await query<{ text: string }>(page.context(), 'boundary.current', { org: SLUG })
  expect(text).toBe(TEXT.replace('"60"', '"75"').replace('"400"', '"450"'))
})

test('a rate of the euro makes budgets in euros, and an owner bills in euros: half as many at half a euro a dollar', async ({
  newContext,
}) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend?${range()}&by=project`)
  const dollars = cents((await column(page, 'Spend')).total)
  await page.getByRole('navigation', { name: 'Spend' }).getByRole('link', { name: 'Currency' }).click()
  await expect(page.getByRole('heading', { name: 'Everything is in US dollars' })).toBeVisible()
  await page.getByRole('link', { name: 'Add a rate' }).click()
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await expect(page.getByText('No currency is chosen')).toBeVisible()
  await page.getByLabel('Currency').selectOption('EUR')
  await page.getByLabel('Holds from').fill(daysAgo(60))
  await page.getByLabel('One US dollar is').fill('0.5')
  await signAs(page, 'The bank of September', 'per_usd: "0.5"')
  const rates = page.getByRole('table', { name: 'Exchange rates' })
  await expect(rates.getByRole('row').filter({ hasText: 'Euro' })).toContainText('in force')

  await page.goto(`/${SLUG}/spend/edit-budget`)
  await page.getByLabel('Name').fill('euros')
  await page.getByLabel('Amount').fill('1000')
  await page.getByLabel('Currency').selectOption('EUR')
  await page.getByLabel('Owners', { exact: true }).selectOption('role:lead')
  await expect(page.getByRole('list', { name: 'Owners of the budget' }).getByRole('listitem')).toHaveCount(2)
  await signAs(page, 'The branch in Lyon', 'currency: EUR')
  await page.goto(`/${SLUG}/spend/budgets/euros`)
  await expect(page.getByText('% of €1,000.00')).toBeVisible()
  await expect(page.getByText('at the exchange rate of that day')).toBeVisible()
  type Listed = { budgets: { name: string; currency: string; shares: { used: string }[] }[] }
  await expect(async () => {
    const { budgets } = await query<Listed>(page.context(), 'budget.list', { org: SLUG })
    const used = (name: string) => Number(budgets.find(one => one.name === name)!.shares[0]!.used)
    expect(used('everything')).toBeGreaterThan(0)
    expect(used('euros')).toBeCloseTo(used('everything') / 2, 9)
  }).toPass({ timeout: 20_000 })

  await page.goto(`/${SLUG}/settings`)
  await page.getByLabel('Reports and statements are in').selectOption('EUR')
  await page.getByRole('button', { name: 'Change the currency' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Bill in EUR' }).click()
  await expect(page.getByText('Billed in EUR from now on')).toBeVisible()
  await page.goto(`/${SLUG}/spend?${range()}&by=project`)
  const { parts, total } = await column(page, 'Spend')
  expect(total).toMatch(/^€/)
  expect(parts.filter(part => part !== '–').every(part => part.includes('€'))).toBe(true)
  const off = cents(total) * 2n - dollars
  expect(off >= -1n && off <= 1n, `${total} is half of ${dollars} cents`).toBe(true)
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()])
  const [heads] = (await (await file.createReadStream()).toArray()).join('').split(/\r?\n/)
  expect(heads).toContain('priced_metered_eur')
  expect(heads).not.toContain('usd')
  // Budgets that named no currency keep the dollar, and say so now.
  const { text } = await query<{ text: string }>(page.context(), 'boundary.current', { org: SLUG })
  expect(text).toMatch(/name: everything\n\s+amount: "4[05]0"\n\s+currency: USD/)
})

test('whom a budget has stopped stands on its page: oneself by name, others as a number', async ({ newContext }) => {
  const dev = await pageOf(newContext, DEV.email)
  await (await usageMachine(dev.context(), SLUG, 'jon-desk')).refused('cap', 'everything', '92.5')
  await dev.goto(`/${SLUG}/spend/budgets/everything`)
  const row = dev.getByRole('table', { name: 'Who was stopped by this budget' }).getByRole('row').last()
  await expect(row).toContainText(`${DEV.name} (you)`)
  await expect(row).toContainText('Claude Code was refused by cap')
  await expect(row).toContainText('92.5 %')
  await dev.screenshot({ path: 'test-results/pages/budget-stopped.png', fullPage: true })
  expect(await faultsFor(dev)).toEqual([])
  const owner = await pageOf(newContext, OWNER.email)
  await owner.goto(`/${SLUG}/spend/budgets/everything`)
  await expect(owner.getByText('1 person whose figures you do not see was stopped.')).toBeVisible()
  await expect(owner.locator('main')).not.toContainText(DEV.name)
})

/** Reviews an edit of the signed text, sees what it writes, and publishes it. */
async function signAs(page: Page, note: string, written: string): Promise<void> {
  await page.getByRole('button', { name: 'Review and publish' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText(written)
  await dialog.getByLabel('Note: why it is done').fill(note)
  await dialog.getByRole('button', { name: 'Sign and publish' }).click()
  await page.waitForURL(url => !/\/edit-/.test(url.pathname))
  await expect(dialog).toBeHidden()
}

const VISITS = () => [
  { name: 'spend', path: `/${SLUG}/spend?${range()}&by=project`, reach: 'billing', open: true },
  { name: 'spend-billed', path: `/${SLUG}/spend?${range()}&by=project&basis=billed&filter=model:claude-opus-4-6` },
  { name: 'spend-nothing', path: `/${SLUG}/spend?month=2020-01`, reach: 'Show this month' },
  { name: 'budgets', path: `/${SLUG}/spend/budgets`, reach: 'each-project' },
  { name: 'budget', path: `/${SLUG}/spend/budgets/each-project?value=search`, reach: 'Change', open: true },
  { name: 'currency', path: `/${SLUG}/spend/currency`, reach: 'Add a rate' },
  { name: 'exchange-form', path: `/${SLUG}/spend/edit-exchange`, reach: 'One US dollar is' },
  { name: 'budget-form', path: `/${SLUG}/spend/edit-budget?name=each-project`, reach: 'Which project' },
]

test('the pages of spend fit on a phone and a desk, by keyboard, in both themes and with names of any length', async ({
  newContext,
}) => {
  test.setTimeout(600_000)
  const context = await newContext({ storageState: org.people[OWNER.email]! })
  const page = await context.newPage()
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
      if (open) for (const summary of await page.locator('main summary').all()) await summary.click()
      found.push(...(await sticksOut(page)), ...(await spills(page)), ...(await faultsFor(page)))
      await page.screenshot({ path: `test-results/pages/${name}-${width}.png`, fullPage: true, animations: 'disabled' })
      await stretchNames(page, [OWNER.name, DEV.name, LONG_PROJECT, 'each-project', 'ines-desk', 'jon-laptop'])
      found.push(...[...(await sticksOut(page)), ...(await spills(page))].map(fault => `with long names ${fault}`))
      faults.push(...found.map(fault => `${name} ${width}: ${fault}`))
    }
  expect(faults).toEqual([])
})
