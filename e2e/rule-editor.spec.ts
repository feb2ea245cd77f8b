import type { BrowserContext, Page } from '@playwright/test'
import { expect, test } from './support/console.ts'
import { faultsFor } from './support/looks.ts'
import { makeOrganisation, type SignedIn, signInOnce } from './support/organisation.ts'

/** Writing rules as text, by keyboard alone: what is suggested, how it is taken, and that mistakes stay at their line. */
const N = process.env.TEST_WORKER_INDEX ?? '0'
const SLUG = `orchard-${N}`

const list = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' })
const option = (page: Page, name: RegExp) => list(page).getByRole('option', { name })
/** What a screen reader is told to be on comes to be this; `null`: on nothing. */
const isTold = (page: Page, words: string | null, why?: string) =>
  expect
    .poll(
      () =>
        page.getByRole('textbox', { name: 'Rule set, YAML' }).evaluate(box => {
          const id = box.getAttribute('aria-activedescendant')
          return id === null ? null : (document.getElementById(id)?.firstElementChild?.textContent ?? 'nothing there')
        }),
      why,
    )
    .toBe(words)

let owner: SignedIn
test.beforeAll(async ({ browser }) => {
  const context = await browser.newContext()
  const address = await makeOrganisation(SLUG, 'Orchard', { name: 'Olga Pear', email: `olga@${SLUG}.example` })
  await signInOnce(await context.newPage(), address)
  owner = await context.storageState()
  await context.close()
})

/** The editor with nothing in it, as text, with the focus in it. */
async function emptyEditor(newContext: (options: object) => Promise<BrowserContext>): Promise<Page> {
  const page = await (await newContext({ storageState: owner })).newPage()
  await page.goto(`/${SLUG}/boundaries`)
  await page.getByRole('radio', { name: 'YAML', exact: true }).check()
  await page.getByRole('textbox', { name: 'Rule set, YAML' }).focus()
  return page
}

test('a whole rule is written from suggestions, with Tab and Enter alone, and is without a mistake', async ({
  newContext,
}) => {
  const page = await emptyEditor(newContext)
  const box = page.getByRole('textbox', { name: 'Rule set, YAML' })
  await page.keyboard.type('bo')
  await expect(list(page)).toBeVisible()
  await isTold(page, 'boundaries')
  await page.keyboard.press('Tab')
  await expect(box).toHaveValue('boundaries:\n  - ')
  await expect(option(page, /^name/), 'what can follow is offered at once').toBeVisible()
  await page.keyboard.press('Tab')
  await page.keyboard.type('long-sessions')
  await expect(list(page)).toHaveCount(0)
  await page.keyboard.press('Enter')
  await page.keyboard.type('ac')
  await isTold(page, 'action')
  await page.keyboard.press('Enter')
  await expect(option(page, /^continue/)).toBeVisible()
  await page.keyboard.type('cont')
  await isTold(page, 'continue')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.keyboard.type('wh')
  await isTold(page, 'when')
  await page.keyboard.press('Tab')
  await expect(option(page, /^budget_used_pct/), 'the action is not judged by it').toHaveCount(0)
  await page.keyboard.type('cost')
  await isTold(page, 'session_cost_usd')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await expect(box, 'the amount is selected').toHaveValue(/when: \{ session_cost_usd: ">= 20" \}$/)
  await page.keyboard.type('35')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.keyboard.type('re')
  await isTold(page, 'require')
  await page.keyboard.press('Tab')
  await expect(option(page, /^deny/)).toBeVisible()
  await page.keyboard.press('ArrowUp')
  await isTold(page, 'deny', 'Up goes round to the last')
  await page.keyboard.type('lead')
  await isTold(page, 'approver:lead')
  await page.keyboard.press('Enter')
  await expect(box).toHaveValue(
    'boundaries:\n  - name: long-sessions\n    action: continue\n    when: { session_cost_usd: ">= 35" }\n    require: approver:lead',
  )
  await expect(page.getByRole('button', { name: /^Line \d/ })).toHaveCount(0)
  await expect(page.getByText('ask for the approval of a lead or above')).toBeVisible()
})

test('nothing is in the way: Escape closes, Enter ends a line, Undo takes back, a press takes, and mistakes stay', async ({
  newContext,
}) => {
  const page = await emptyEditor(newContext)
  const box = page.getByRole('textbox', { name: 'Rule set, YAML' })
  await page.keyboard.type('bo')
  await expect(list(page)).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(list(page)).toHaveCount(0)
  await page.keyboard.press('Tab')
  await expect(box, 'Tab indents again').toHaveValue('bo  ')
  await box.fill('boundaries:\n  - name: a\n    stage: ')
  await page.keyboard.press('Control+End')
  await page.keyboard.press('Control+Space')
  await expect(list(page).getByRole('option')).toHaveCount(2)
  await isTold(page, null, 'nothing is marked before anything is begun')
  await page.keyboard.press('Enter')
  await expect(box, 'so Enter makes a line').toHaveValue(/stage: \n {6}$/)
  await page.keyboard.press('Control+z')
  await page.keyboard.press('Control+Space')
  await option(page, /^enforce/).click()
  await expect(box).toHaveValue(/stage: enforce$/)
  await expect(box).toBeFocused()
  await page.keyboard.press('Control+z')
  await expect(box).toHaveValue(/stage: $/)
  await page.keyboard.type('enf')
  await expect(list(page)).toBeVisible()
  await expect(page.getByRole('status').filter({ hasText: 'suggestion' })).toHaveText(/^1\ssuggestion, Down to choose$/)
  await expect(
    page.getByRole('button', { name: 'Line 3' }),
    'beside the list the mistake stands at its line',
  ).toBeVisible()
  expect(await faultsFor(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect(list(page)).toHaveCount(0)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await expect(box, 'Escape and Tab leave').not.toBeFocused()
})
