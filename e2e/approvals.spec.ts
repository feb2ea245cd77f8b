import { type BrowserContext, expect as check, type Page } from '@playwright/test'
import { type AgentSession, agentSession } from './support/agent-session.ts'
import { publishRules, query } from './support/api.ts'
import { expect, test } from './support/console.ts'
import { emptyMachine, type Machine } from './support/machine.ts'
import { foundOrganisation, type Organisation } from './support/organisation.ts'
import { newestMail, signIn } from './support/people.ts'

/** Requests of a real machine, from the inbox to the end of a grant. */
const OWNER = { name: 'Ola Berg', email: 'ola@harbour.example' }
const LENA = { name: 'Lena Dock', email: 'lena@harbour.example', role: 'lead' as const }
const LOU = { name: 'Lou Crane', email: 'lou@harbour.example', role: 'lead' as const }
const DEV = { name: 'Devi Mole', email: 'devi@harbour.example', role: 'member' as const }

const rule = (name: string, more: string) => `  - name: ${name}
    action: continue
    when: { session_cost_usd: ">= 20" }
    require: approver:lead
    stage: enforce
    for: { projects: [${name}] }
${more}`
const cases = (
  name: string,
) => `  - { rule: ${name}, action: continue, project: ${name}, figures: { session_cost_usd: 20 }, expect: "approver:lead" }
  - { rule: ${name}, action: continue, project: ${name}, figures: { session_cost_usd: 19.99 }, expect: pass }
`
const RULES = `boundaries:
${rule('alone', '    expires: 30m\n    note: One person is enough.\n')}${rule('pair', '    approvals: 2\n')}tests:
${cases('alone')}${cases('pair')}`

test.describe.configure({ mode: 'serial' })

let org: Organisation
let machine: Machine
let sessions = 0

test.beforeAll(async ({ browser }) => {
  const colleagues = [LENA, LOU, DEV]
  org = await foundOrganisation(browser, { slug: 'harbour', name: 'Harbour', owner: OWNER, colleagues })
  const [owner, dev] = await Promise.all(
    [OWNER, DEV].map(({ email }) => browser.newContext({ storageState: org.people[email]! })),
  )
  await publishRules(owner!, 'harbour', RULES, 'Twenty dollars a session')
  machine = await emptyMachine()
  await machine.join(dev!, 'harbour')
  await check(async () => {
    check((await machine.holdpoint('team', 'status')).stdout).toContain('version 1')
  }).toPass({ timeout: 60_000 })
  await Promise.all([owner!.close(), dev!.close()])
})
test.afterAll(() => machine?.stop())

/** A session of the agent that has been held: its request is filed. */
async function held(project: 'alone' | 'pair'): Promise<{ session: AgentSession; handle: string }> {
  const id = `00000000-0000-4000-8000-${String(++sessions).padStart(12, '0')}`
  const session = agentSession(machine, id, project)
  session.spend(21)
  const told = await session.call()
  expect(told.refused, told.text).toBe(true)
  return { session, handle: told.handle! }
}

/** The machine files right after it has refused the call. */
async function open(page: Page, handle: string): Promise<void> {
  await expect(async () => {
    await page.goto(`/harbour/approvals/${handle}`)
    await expect(page.getByRole('heading', { level: 1 })).toContainText('has cost $21', { timeout: 2000 })
  }).toPass({ timeout: 60_000 })
}

const goesOn = (session: AgentSession, wanted: boolean) =>
  expect.poll(async () => !(await session.call()).refused, { timeout: 30_000 }).toBe(wanted)

const as = (open: (options: object) => Promise<BrowserContext>, { email }: { email: string }) =>
  open({ storageState: org.people[email]! })

test('a request appears in an open inbox by itself, with what is left of its wait', async ({ newContext }) => {
  const page = await (await as(newContext, LENA)).newPage()
  await page.goto('/harbour/approvals')
  await expect(page.getByText('Nothing waits')).toBeVisible()
  const { handle } = await held('alone')
  const row = page.getByRole('row').filter({ hasText: 'org:alone' })
  await expect(row).toBeVisible({ timeout: 60_000 })
  await expect(row).toContainText('Devi Mole')
  await expect(row).toContainText(/(29|30)\smin left/)
  await row.getByRole('link').click()
  await expect(page).toHaveURL(`/harbour/approvals/${handle}`)
  await expect(page.getByText('Why it exists: One person is enough.')).toBeVisible()
  await expect(page.getByText('Waits until')).toBeVisible()
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByRole('button', { name: 'Deny for a day' }).click()
  await expect(page.getByText('Denied by')).toBeVisible()
})

test('a quorum of two: the first approval counts and opens nothing, the second lets it go on', async ({
  newContext,
}) => {
  const { session, handle } = await held('pair')
  const lena = await (await as(newContext, LENA)).newPage()
  const lou = await (await as(newContext, LOU)).newPage()
  await open(lou, handle)
  await open(lena, handle)
  await expect(lena.getByText('It is stopped until 2 people with the role lead or above answer.')).toBeVisible()
  await lena.getByRole('button', { name: 'Let the session go on' }).click()
  await expect(lena.getByText('Your approval counts; 1 more is needed.')).toBeVisible()
  await goesOn(session, false)
  await lou.getByRole('button', { name: 'Let this step through' }).click()
  await expect(lou.getByText('exactly one held call of this session'), 'the narrowest scope').toBeVisible()
  await expect(lena.getByText('Lou Crane', { exact: true }), 'the other sees the end without a reload').toBeVisible()
  await goesOn(session, true)
  expect((await session.call()).refused, 'a step is one call').toBe(true)
})

test('whoever asked may withdraw and not answer', async ({ newContext }) => {
  const { session, handle } = await held('alone')
  const page = await (await as(newContext, DEV)).newPage()
  await open(page, handle)
  await expect(page.getByText('This takes the role lead or above; yours is member.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Let this step through' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Withdraw the request' }).click()
  await expect(page.getByText('the requester')).toBeVisible()
  const next = await session.call()
  expect(next.refused).toBe(true)
})

test('a grant for the session ends on the machine when it is taken back', async ({ newContext }) => {
  const { session, handle } = await held('alone')
  const page = await (await as(newContext, LENA)).newPage()
  await open(page, handle)
  await page.getByRole('button', { name: 'Let the session go on' }).click()
  await expect(page.getByText('the rest of this session')).toBeVisible()
  await goesOn(session, true)
  await page.getByRole('button', { name: 'End the grant' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'End the grant' }).click()
  await expect(page.getByRole('button', { name: 'End the grant' })).toHaveCount(0)
  await goesOn(session, false)
  await expect.poll(async () => (await machine.holdpoint('explain', handle)).stdout).toContain('revoked')
})

test('links in mail have no power: a scanner that opens every one of them changes nothing', async ({ newContext }) => {
  const { handle } = await held('alone')
  const scanner = await newContext()
  const reader = await scanner.newPage()
  const addresses: string[] = []
  const take = async (to: string, subject: RegExp) => {
    await newestMail(reader, to, subject)
    for (const link of await reader.getByRole('main').getByRole('link', { name: /^http/ }).all())
      addresses.push((await link.getAttribute('href'))!)
  }
  await take(LENA.email, new RegExp(handle))
  await take(DEV.email, /(Approved|Denied|Ended|Expired): /) // how an earlier request of theirs ended
  await take(LENA.email, /sign-in code/)
  await take(LENA.email, /invites you/)
  expect(addresses, 'the sign-in mail names the address of this place, too').toHaveLength(5)

  const lena = await as(newContext, LENA)
  // The machine's own segments go on meanwhile; nothing about people or requests may be added.
  const recorded = () =>
    Promise.all(
      ['approval', 'member', 'invitation'].map(kind =>
        query<{ items: { seq: number }[] }>(lena, 'evidence.list', { org: 'harbour', kind }).then(
          list => list.items[0]?.seq,
        ),
      ),
    )
  const before = await recorded()
  for (const context of [scanner, lena]) {
    for (const address of addresses) {
      for (const method of ['get', 'head'] as const) {
        const seen = await context.request[method](address, { maxRedirects: 0 })
        expect(seen.status(), `${method} ${address}`).toBeLessThan(400)
        expect(seen.headers()['set-cookie'], `${method} ${address}`).toBeUndefined()
      }
    }
  }
  expect(await recorded(), 'nothing was recorded, because nothing happened').toEqual(before)
  const request = await query<{ state: string }>(lena, 'approval.get', { org: 'harbour', handle })
  expect(request.state).toBe('pending')
  expect(await scanner.cookies()).toEqual([])
})

test('a link that was forwarded shows a stranger nothing, and another member what they may see', async ({
  newContext,
  allowed,
}) => {
  allowed.push(/status of 404/)
  const { handle } = await held('alone')
  const lena = await (await as(newContext, LENA)).newPage()
  await open(lena, handle)
  const stranger = await newContext()
  const page = await stranger.newPage()
  await signIn(page, 'chris@acme.example', '/acme')
  const seen = await page.goto(`/harbour/approvals/${handle}`)
  expect(seen!.status()).toBe(404)
  await expect(page.getByText('Devi Mole')).toHaveCount(0)
  await page.goto(`/acme/approvals/${handle}`)
  await expect(page.getByText('Devi Mole'), 'nor below their own organisation').toHaveCount(0)
  await lena.getByRole('button', { name: 'Deny' }).click()
  await lena.getByRole('button', { name: 'Deny for a day' }).click()
  await expect(lena.getByText('Denied by')).toBeVisible()
})

test('what one is writing stays while others answer, and the end is said and has the focus', async ({ newContext }) => {
  const { session, handle } = await held('pair')
  const lena = await (await as(newContext, LENA)).newPage()
  const lou = await (await as(newContext, LOU)).newPage()
  const ola = await (await as(newContext, OWNER)).newPage()
  for (const page of [lena, lou, ola]) await open(page, handle)
  const reason = lou.getByRole('textbox', { name: 'Reason, for the record' })
  await reason.fill('It is nearly')
  await lena.getByRole('button', { name: 'Let this step through' }).click()
  await expect(lou.getByText('1 of 2 so far: Lena Dock.'), 'without a reload').toBeVisible()
  await expect(reason).toHaveValue('It is nearly')
  await expect(reason).toBeFocused()

  await ola.getByRole('button', { name: 'Let the session go on' }).click()
  await expect(ola.getByRole('status').filter({ hasText: 'Approved for one step' })).toHaveText(
    'Approved for one step by Lena Dock and Ola Berg.',
  )
  await expect(ola.getByRole('group', { name: 'Answer' }), 'the button is gone; the focus is not').toBeFocused()
  await expect(lou.getByText('It was settled while you were writing.')).toBeVisible()
  await expect(lou.getByText('Your reason was not sent: “It is nearly”')).toBeVisible()
  await expect(lou.getByRole('group', { name: 'Answer' })).toBeFocused()
  await expect(ola.getByText('It was settled while you were writing.')).toHaveCount(0)
  await goesOn(session, true)
})
