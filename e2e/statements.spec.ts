import type { BrowserContext, Page } from '@playwright/test'
import { query } from './support/api.ts'
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
import { newestMail } from './support/people.ts'
import { type Usage, type UsageMachine, usageMachine } from './support/usage-machine.ts'

/** A tenant's month from draft to bill: the rule of what is nobody's, the bound, closing, the mail, and what comes late. */
const N = process.env.TEST_WORKER_INDEX ?? '0'
const SLUG = `bills-${N}`
const OWNER = { name: 'Ines Vale', email: `ines@${SLUG}.example` }
const DEV = { name: 'Jon Reed', email: `jon@${SLUG}.example`, role: 'member' as const }
const CONTACT = `finance@northwind-${N}.example`

test.describe.configure({ mode: 'serial' })

let org: Organisation
let machine: UsageMachine
const monthAt = (back: number): string => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7)
}
const [THIS, LAST, BEFORE] = [monthAt(0), monthAt(1), monthAt(2)]
const nameOf = (month: string) =>
  new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const use = (day: string, dollars: number, tags: Record<string, string>, over: Partial<Usage> = {}): Usage => ({
  day,
  quarter: 30 + Object.keys(tags).length,
  dollars,
  tags,
  ...over,
})

test.beforeAll(async ({ browser }) => {
  org = await foundOrganisation(browser, { slug: SLUG, name: 'Bills Ltd', owner: OWNER, colleagues: [DEV] })
  const owner = await browser.newContext({ storageState: org.people[OWNER.email]! })
  machine = await usageMachine(owner, SLUG, 'ines-desk')
  await machine.send([
    use(`${BEFORE}-12`, 20.005, { tenant: 'northwind', project: 'web' }),
    use(`${BEFORE}-12`, 10, { tenant: 'contoso' }),
    use(`${LAST}-03`, 41.1234, { tenant: 'northwind', project: 'web' }, { calls: 12 }),
    use(`${LAST}-04`, 12.5, { tenant: 'northwind', project: 'search' }, { quarter: 40 }),
    use(
      `${LAST}-04`,
      3.3333,
      { tenant: 'northwind', project: 'web' },
      { model: 'a-model-without-a-price', quarter: 41 },
    ),
    use(`${LAST}-05`, 18, { tenant: 'contoso' }),
    use(`${LAST}-06`, 9.99, {}),
    // its first quarter hour: on that day itself a later one is not over
    use(`${THIS}-01`, 5, { tenant: 'northwind', project: 'web' }, { quarter: 0 }),
  ])
  await owner.close()
})

const pageOf = async (newContext: (options: object) => Promise<BrowserContext>, email: string): Promise<Page> =>
  (await newContext({ storageState: org.people[email]! })).newPage()
const card = (page: Page, month: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: nameOf(month) }) })
const statement = (tenant: string, month = LAST) => `/${SLUG}/spend/statements/${month}/${tenant}`
const cents = (text: string): bigint => BigInt(text.replace(/[^0-9.]/g, '').replace('.', ''))

test('what is unattributed is shared by a rule that is seen before it is set', async ({ newContext }) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend/statements`)
  await expect(card(page, LAST)).toContainText('on nobody’s statement (unattributed $9.99)')
  await page.getByRole('button', { name: 'Change unattributed' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('In equal parts', { exact: true }).click()
  await dialog.getByLabel('Month of the preview').selectOption(LAST)
  const rows = dialog.getByRole('table', { name: 'What each tenant would take' }).locator('tbody tr')
  await expect(rows.last()).toContainText('$9.99')
  await expect(async () => {
    const taken = (await rows.locator('td:last-child').allInnerTexts()).map(cents)
    expect(taken.length).toBeGreaterThan(1)
    expect(taken.slice(0, -1).reduce((sum, part) => sum + part, 0n)).toBe(taken.at(-1))
  }).toPass({ timeout: 20_000 })
  expect(await faultsFor(page)).toEqual([])
  await page.screenshot({ path: 'test-results/pages/statements-allocation.png' })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toBeHidden()
  await expect(page.getByText('in equal parts')).toBeVisible()
  await expect(card(page, LAST)).not.toContainText('(unattributed')
})

test('a month closes in its order, what has no price by an owner’s word, and is mailed with every line', async ({
  newContext,
}) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(`/${SLUG}/spend/statements`)
  const northwind = card(page, LAST).getByRole('row', { name: /northwind/ })
  await expect(northwind).toContainText(`${nameOf(BEFORE)} is still open`)
  await expect(northwind).toContainText('no price of a-model-without-a-price')
  await card(page, BEFORE).getByRole('button', { name: 'Close 2 statements' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Close 2 statements' }).click()
  await expect(page.getByText(`2 statements of ${nameOf(BEFORE)} closed`)).toBeVisible()
  await expect(card(page, BEFORE)).toContainText('all closed')
  await northwind.getByRole('link').click()
  await page.getByRole('button', { name: 'Set a contact: tenant northwind' }).click()
  await page.getByLabel('Name on statements').fill('Northwind Traders')
  await page.getByLabel('Mail statements to').fill(CONTACT)
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Northwind Traders, ${nameOf(LAST)}`)
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  const dialog = page.getByRole('dialog')
  const close = dialog.getByRole('button', { name: 'Close and mail it' })
  await expect(close).toBeDisabled()
  await dialog.getByRole('checkbox', { name: /at the dearest/ }).check()
  expect(await faultsFor(page)).toEqual([])
  await page.screenshot({ path: 'test-results/pages/statement-close.png' })
  await expect(dialog.getByRole('heading')).toContainText(/\$[\d.,]+/)
  const total = (await dialog.getByRole('heading').innerText()).match(/\$[\d.,]+/)![0]
  await close.click()
  await expect(page.getByText('closed', { exact: true }).first()).toBeVisible()
  await expect(page.getByLabel('Total', { exact: true })).toContainText(total)
  const digest = await page
    .locator('dd code')
    .filter({ hasText: /^[\w-]{43}$/ })
    .innerText()
  const mail = await newestMail(page, CONTACT, /^Statement of Northwind Traders/)
  expect(mail).toContain(`Total: ${total}`)
  expect(mail).toContain(`Digest: ${digest}`)
  await page.getByText(`${SLUG}-northwind-${LAST}.csv`).last().click()
  await expect(page.locator('pre')).toBeVisible()
  const file = await page.locator('pre').innerText()
  const lines = file
    .trim()
    .split(/\r?\n/)
    .map(line => line.split(','))
  const at = lines[0]!.indexOf('amount_shown')
  expect(
    lines
      .slice(1)
      .reduce((sum, cells) => sum + Number(cells[at]), 0)
      .toFixed(2),
  ).toBe(total.slice(1))
  await page.goto(`/${SLUG}/audit?kind=statement.closed`)
  await expect(page.getByText(`${LAST} of tenant northwind: ${Number(total.slice(1))} USD`)).toBeVisible()
})

test('what comes late leaves the bill as it was and stands on the next one', async ({ newContext }) => {
  const page = await pageOf(newContext, OWNER.email)
  await page.goto(statement('northwind'))
  const total = page.getByLabel('Total', { exact: true })
  // seen first: of what is not shown yet another text is read
  await expect(total).toBeVisible()
  const before = await total.innerText()
  await machine.send([use(`${LAST}-20`, 7, { tenant: 'northwind', project: 'web' })])
  await page.reload()
  await expect(total).toHaveText(before, { useInnerText: true })
  await page.getByRole('link', { name: `$7.00 on the draft of ${nameOf(THIS)}` }).click()
  await expect(page.getByRole('row', { name: new RegExp(`${nameOf(LAST)}, project web`) })).toContainText('$7.00')
  // A month that has ended since the story began could be closed.
  if (monthAt(0) === THIS) await expect(page.getByText('It cannot be closed yet:')).toBeVisible()
})

test('a member reads every total and changes nothing; nobody of elsewhere finds it', async ({
  newContext,
  allowed,
}) => {
  const page = await pageOf(newContext, DEV.email)
  await page.goto(`/${SLUG}/spend/statements`)
  await expect(card(page, LAST).getByRole('row', { name: /Northwind Traders/ })).toContainText('$')
  await expect(page.getByRole('button', { name: /Close|Change|Share/ })).toHaveCount(0)
  await page.goto(statement('contoso'))
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`contoso, ${nameOf(LAST)}`)
  await expect(page.getByRole('button', { name: /^(Close|Set a contact)/ })).toHaveCount(0)
  allowed.push(/status of 404/)
  await page.goto(statement('nobody'))
  await expect(page).toHaveTitle(/^Not found/)
})

const VISITS = () => [
  { name: 'statements', path: `/${SLUG}/spend/statements`, reach: 'contoso' },
  { name: 'statement-draft', path: statement('contoso'), reach: 'Close' },
  { name: 'statement-closed', path: statement('northwind'), reach: 'Mail again' },
  { name: 'statement-next', path: statement('northwind', THIS), reach: 'Print' },
]

test('the pages fit on a phone and a desk, by keyboard, in both themes and with names of any length; and on paper', async ({
  newContext,
}) => {
  test.setTimeout(600_000)
  const context = await newContext({ storageState: org.people[OWNER.email]! })
  const page = await context.newPage()
  await watchShifts(page)
  const faults: string[] = []
  for (const { name, path, reach } of VISITS()) {
    for (const width of ['phone', 'desk'] as const) {
      await page.setViewportSize(WIDTHS[width])
      await page.emulateMedia({ colorScheme: width === 'desk' ? 'light' : 'dark', reducedMotion: 'reduce' })
      await page.goto(path)
      await page.evaluate(() => document.fonts.ready)
      const found = await jumped(page)
      if (width === 'desk') await reachByKeyboard(page, reach)
      found.push(...(await sticksOut(page)), ...(await spills(page)), ...(await faultsFor(page)))
      await page.screenshot({ path: `test-results/pages/${name}-${width}.png`, fullPage: true, animations: 'disabled' })
      await stretchNames(page, [OWNER.name, 'Northwind Traders', 'contoso', 'web', CONTACT, 'a-model-without-a-price'])
      found.push(...[...(await sticksOut(page)), ...(await spills(page))].map(fault => `with long names ${fault}`))
      faults.push(...found.map(fault => `${name} ${width}: ${fault}`))
    }
    if (!name.startsWith('statement-')) continue
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Print' })).toBeHidden()
    await expect(page.getByRole('banner').first()).toBeHidden()
    await expect(page.locator('body')).toHaveCSS('color', 'rgb(28, 25, 23)')
    await page.setViewportSize({ width: 718, height: 1000 })
    await page.screenshot({ path: `test-results/pages/${name}-paper.png`, fullPage: true })
    await page.pdf({ path: `test-results/pages/${name}.pdf`, format: 'A4' })
    await page.emulateMedia({ media: 'screen' })
  }
  expect(faults).toEqual([])
})

test('the digest that people see is the one of the statement’s bytes in the evidence', async ({ newContext }) => {
  const context = await newContext({ storageState: org.people[OWNER.email]! })
  const { bill } = await query<{ bill: { state: string; digest: string; evidenceSeq: number } }>(
    context,
    'statement.get',
    { org: SLUG, tenant: 'northwind', month: LAST },
  )
  const { items } = await query<{ items: { seq: number; data: { digest?: string } }[] }>(context, 'evidence.list', {
    org: SLUG,
    kind: 'statement.closed',
  })
  expect(items.find(({ seq }) => seq === bill.evidenceSeq)?.data.digest).toBe(bill.digest)
})
