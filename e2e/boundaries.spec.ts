import type { Page } from '@playwright/test'
import { publishRules } from './support/api.ts'
import { expect, test } from './support/console.ts'
import { foundOrganisation, type Organisation } from './support/organisation.ts'

/** An organisation's rules are written, proven, published, overtaken, rolled back and read. */
const OWNER = { name: 'Mara Field', email: 'mara@meadow.example' }
const ADMIN = { name: 'Noor Vale', email: 'noor@meadow.example', role: 'admin' as const }
const MEMBER = { name: 'Otto Brook', email: 'otto@meadow.example', role: 'member' as const }

const RULE = `# Agreed in the platform meeting.
boundaries:
  # A long session gets a second look.
  - name: second-look
    action: continue
    when: { session_cost_usd: ">= 20" } # list price
    require: approver:lead
    stage: enforce
`

test.describe.configure({ mode: 'serial' })

let org: Organisation
test.beforeAll(async ({ browser }) => {
  org = await foundOrganisation(browser, { slug: 'meadow', name: 'Meadow', owner: OWNER, colleagues: [ADMIN, MEMBER] })
})

const text = (page: Page) => page.getByLabel('Rule set, YAML')
const view = (page: Page, name: 'Form' | 'YAML') => page.getByRole('radio', { name, exact: true }).check()
const dialog = (page: Page) => page.getByRole('dialog')

async function openText(page: Page): Promise<void> {
  await page.goto('/meadow/boundaries')
  await view(page, 'YAML')
}

test('form and YAML are two views of one text; a mistake stands at its line', async ({ newContext }) => {
  const page = await (await newContext({ storageState: org.people[OWNER.email]! })).newPage()
  await openText(page)
  await text(page).fill(RULE)
  await view(page, 'Form')
  const amount = page.getByLabel('Value of session cost')
  await expect(amount).toHaveValue('20')
  await amount.fill('25')
  await page.getByLabel('Why the rule is there').fill('Above this, somebody looks.')
  await view(page, 'YAML')
  await expect(text(page)).toHaveValue(/">= 25"[\s\S]*note: "Above this, somebody looks\."/)
  const written = await text(page).inputValue()
  expect(written).toContain('# Agreed in the platform meeting.\n')
  expect(written).toContain('  # A long session gets a second look.\n')
  expect(written).toContain('">= 25"')
  expect(written).toContain('# list price')
  expect(written).toContain('note: "Above this, somebody looks."')

  await text(page).fill(written.replace('approver:lead', 'approver:chief'))
  const line = written.split('\n').findIndex(each => each.includes('require:')) + 1
  await expect(page.getByRole('button', { name: `Line ${line}` })).toBeVisible()
  await view(page, 'Form')
  await expect(page.getByText('1 mistake', { exact: true })).toBeVisible()
  await expect(page.getByRole('alert').filter({ hasText: 'chief' })).toBeVisible()

  await view(page, 'YAML')
  await text(page).fill('boundaries:\n  - name: [broken\n')
  await view(page, 'Form')
  await expect(page.getByText('The text cannot be read as YAML')).toBeVisible()
  await page.getByRole('button', { name: 'Show the text' }).click()
  await expect(text(page)).toHaveValue(/broken/)
})

test('a draft is still there after a reload, and can be discarded', async ({ newContext }) => {
  const page = await (await newContext({ storageState: org.people[OWNER.email]! })).newPage()
  await openText(page)
  await text(page).fill(RULE)
  await page.reload()
  await expect(page.getByText('Your draft is back.')).toBeVisible()
  await view(page, 'YAML')
  await expect(text(page)).toHaveValue(RULE)
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('button', { name: 'Discard the draft' }).click()
  await expect(text(page)).toHaveValue('')
  await page.reload()
  await expect(page.getByText('Your draft is back.')).toBeHidden()
})

test('it binds only with cases in both directions, and is published with a note and its diff', async ({
  newContext,
}) => {
  const page = await (await newContext({ storageState: org.people[OWNER.email]! })).newPage()
  await openText(page)
  await text(page).fill(RULE)
  await expect(page.getByText('lacks must stop and must pass')).toBeVisible()
  await page.keyboard.press('Alt+a')
  await expect(page.getByText('both directions hold')).toBeVisible()
  await expect(text(page)).toHaveValue(/tests:/)
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await expect(dialog(page).getByText('What changes against an empty set')).toBeVisible()
  await expect(dialog(page).locator('ins').filter({ hasText: 'second-look' }).first()).toBeVisible()
  await page.getByRole('button', { name: 'Sign and publish' }).click()
  await expect(dialog(page).getByText('Say why, for whoever reads the history.')).toBeVisible()
  await dialog(page).getByLabel('Note: why it is done').fill('Agreed on Monday')
  await page.getByRole('button', { name: 'Sign and publish' }).click()
  await expect(page.getByRole('heading', { name: 'Version 1 is signed' })).toBeVisible()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText('In force: version 1')).toBeVisible()
})

test('whoever publishes second sees the other change and carries their own over', async ({ newContext, allowed }) => {
  allowed.push(/status of 412/)
  const page = await (await newContext({ storageState: org.people[OWNER.email]! })).newPage()
  const other = await (await newContext({ storageState: org.people[ADMIN.email]! })).newPage()
  for (const each of [page, other]) await openText(each)
  for (const each of [page, other]) await expect(text(each)).toHaveValue(/second-look[\s\S]*tests:/)
  const base = await text(page).inputValue()

  await text(page).fill(base.replace('# list price', '# list price, without tax'))
  await text(other).fill(
    `${base}  - { action: continue, figures: { session_cost_usd: 500 }, expect: "approver:lead" }\n`,
  )
  await other.getByRole('button', { name: 'Review and publish' }).click()
  await dialog(other).getByLabel('Note: why it is done').fill('A case far above')
  await other.getByRole('button', { name: 'Sign and publish' }).click()
  await expect(other.getByRole('heading', { name: 'Version 2 is signed' })).toBeVisible()

  await page.getByRole('button', { name: 'Review and publish' }).click()
  await dialog(page).getByLabel('Note: why it is done').fill('Say that tax is not in it')
  await page.getByRole('button', { name: 'Sign and publish' }).click()
  await expect(page.getByRole('heading', { name: 'Version 2 came first' })).toBeVisible()
  await expect(dialog(page).getByText('Noor Vale published it', { exact: false })).toBeVisible()
  await expect(dialog(page).getByText('“A case far above”', { exact: false })).toBeVisible()
  await expect(dialog(page).locator('ins').filter({ hasText: '500' })).toBeVisible()
  await expect(dialog(page).locator('ins').filter({ hasText: 'without tax' })).toBeVisible()
  await page.getByRole('button', { name: 'Put mine on top of theirs' }).click()
  await expect(text(page)).toHaveValue(/without tax[\s\S]*500/)
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await dialog(page).getByLabel('Note: why it is done').fill('Say that tax is not in it')
  await page.getByRole('button', { name: 'Sign and publish' }).click()
  await expect(page.getByRole('heading', { name: 'Version 3 is signed' })).toBeVisible()
})

test('the history shows every version with its change; rolling back makes a new one', async ({ newContext }) => {
  const page = await (await newContext({ storageState: org.people[ADMIN.email]! })).newPage()
  await page.goto('/meadow/boundaries/history')
  await expect(page.getByRole('row').filter({ hasText: 'Version 3' })).toContainText('Say that tax is not in it')
  await expect(page.getByRole('row').filter({ hasText: 'Version 2' })).toContainText('Noor Vale')
  await page.getByRole('link', { name: 'Version 1' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Version 1' })).toBeVisible()
  await expect(page.getByLabel('Text of version 1')).toContainText('# list price')
  const first = await page.getByLabel('Text of version 1').textContent()

  await page.getByRole('button', { name: 'Roll back to this' }).click()
  await expect(dialog(page).locator('del').filter({ hasText: 'without tax' })).toBeVisible()
  await page.getByRole('button', { name: 'Sign and roll back' }).click()
  await expect(dialog(page).getByText('Say why, for whoever reads the history.')).toBeVisible()
  await dialog(page).getByLabel('Note: why it is done').fill('The comment confused people')
  await page.getByRole('button', { name: 'Sign and roll back' }).click()
  await expect(page).toHaveURL('/meadow/boundaries/history/4')
  await expect(page.getByRole('heading', { level: 1, name: 'Version 4' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'the text of version 1' })).toBeVisible()
  await expect.poll(() => page.getByLabel('Text of version 4').textContent()).toBe(first)
  await page.goto('/meadow/boundaries/history/3')
  await expect(page.getByRole('heading', { level: 1, name: 'Version 3' }), 'nothing is taken away').toBeVisible()
})

test('somebody without the right reads it in words, and is told why they cannot change it', async ({ newContext }) => {
  const context = await newContext({ storageState: org.people[MEMBER.email]! })
  const page = await context.newPage()
  await page.goto('/meadow/boundaries')
  await expect(page.getByText('This takes the role admin or above; yours is member.')).toBeVisible()
  await expect(
    page
      .getByRole('main')
      .getByText(/session cost/)
      .first(),
  ).toBeVisible()
  await expect(page.getByRole('button', { name: 'Review and publish' })).toHaveCount(0)
  await page.goto('/meadow/boundaries/history/1')
  await expect(page.getByRole('button', { name: 'Roll back to this' })).toHaveCount(0)
  await expect(publishRules(context, 'meadow', RULE, 'Mine'), 'the API refuses too').rejects.toThrow('403')
})
