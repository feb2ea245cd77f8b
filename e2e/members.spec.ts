import type { Locator, Page } from '@playwright/test'
import { query } from './support/api.ts'
import { expect, test } from './support/console.ts'
import { emptyMachine, type Machine } from './support/machine.ts'
import { foundOrganisation, type Organisation } from './support/organisation.ts'
import { acceptInvitation, codeFor, newestMail, signIn, typeCode } from './support/people.ts'

/** Who belongs to an organisation, from the invitation to the lost laptop. */
const OWNER = { name: 'Pia Orchard', email: 'pia@orchard.example' }
const ADMIN = { name: 'Quinn Ash', email: 'quinn@orchard.example', role: 'admin' as const }
const NEW = { name: 'Rui Pear', email: 'rui@orchard.example' }

test.describe.configure({ mode: 'serial' })

let org: Organisation
let machine: Machine
test.beforeAll(async ({ browser }) => {
  org = await foundOrganisation(browser, { slug: 'orchard', name: 'Orchard', owner: OWNER, colleagues: [ADMIN] })
  machine = await emptyMachine()
})
test.afterAll(() => machine?.stop())

const row = (page: Page, name: string): Locator => page.getByRole('row').filter({ hasText: name })

async function choose(page: Page, name: string, act: string): Promise<Locator> {
  await page.getByRole('button', { name: `More about ${name}` }).click()
  await page.getByRole('menuitem', { name: act }).click()
  return page.getByRole('alertdialog')
}

test('an invitation is only read by whoever fetches it, and accepted by signing in as the invited address', async ({
  newContext,
}) => {
  const page = await (await newContext({ storageState: org.people[ADMIN.email]! })).newPage()
  await page.goto('/orchard/members')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  await page.getByLabel('E-mail address').fill(NEW.email)
  await page.getByLabel('Name', { exact: true }).fill(NEW.name)
  await expect(page.getByRole('radio', { name: /^Owner/ }), 'nobody invites above their own role').toBeDisabled()
  await page.getByRole('dialog').getByText('Lead', { exact: true }).click()
  await page.getByRole('button', { name: 'Send the invitation' }).click()
  await expect(page.getByRole('table', { name: 'Open invitations' }).getByText(NEW.email)).toBeVisible()

  const invited = await newContext()
  const mail = await invited.newPage()
  await newestMail(mail, NEW.email, /invites you/)
  const address = (await mail.getByRole('link', { name: /\/invitation/ }).getAttribute('href'))!
  for (const method of ['get', 'head', 'get'] as const) {
    const looked = await invited.request[method](address)
    expect(looked.status()).toBe(200)
    expect(looked.headers()['set-cookie']).toBeUndefined()
  }
  const { members } = await query<{ members: { email: string }[] }>(page.context(), 'member.list', {
    org: 'orchard',
  })
  expect(members.map(member => member.email)).not.toContain(NEW.email)

  await mail.goto(address)
  await expect(mail.getByRole('heading', { level: 1 })).toContainText('Quinn Ash invites you to Orchard')
  await mail.getByRole('button', { name: 'Accept: send me a code' }).click()
  await typeCode(mail, await codeFor(invited, NEW.email))
  await expect(mail).toHaveURL('/orchard')
  await mail.goto('/orchard/members')
  await expect(row(mail, NEW.name).getByText('lead', { exact: true })).toBeVisible()
  await expect(mail.getByRole('button', { name: 'Invite', exact: true })).toHaveCount(0)
  org.people[NEW.email] = await invited.storageState()

  await mail.goto(address)
  await expect(mail.getByText('This invitation is not open')).toBeVisible()
})

test('a role that changes holds from the next click', async ({ newContext }) => {
  const page = await (await newContext({ storageState: org.people[OWNER.email]! })).newPage()
  const theirs = await (await newContext({ storageState: org.people[NEW.email]! })).newPage()
  await theirs.goto('/orchard/boundaries')
  await expect(theirs.getByText('yours is lead', { exact: false })).toBeVisible()

  await page.goto('/orchard/members')
  const dialog = await choose(page, NEW.name, 'Change role…')
  await dialog.getByText('Admin', { exact: true }).click()
  await dialog.getByRole('button', { name: 'Make them admin' }).click()
  await expect(page.getByText('Rui Pear is admin now')).toBeVisible()

  await theirs.getByRole('link', { name: 'Members' }).click()
  await expect(theirs.getByRole('button', { name: 'Invite', exact: true })).toBeVisible()
})

test('the last owner stays', async ({ newContext, allowed }) => {
  allowed.push(/status of 4\d\d/)
  const page = await (await newContext({ storageState: org.people[OWNER.email]! })).newPage()
  await page.goto('/orchard/members')
  const dialog = await choose(page, OWNER.name, 'Change role…')
  await dialog.getByText('Member', { exact: true }).click()
  await dialog.getByRole('button', { name: 'Make me member' }).click()
  await expect(dialog.getByText(/last owner/i)).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(row(page, OWNER.name).getByText('owner', { exact: true })).toBeVisible()
  const leaving = await choose(page, OWNER.name, 'Remove…')
  await leaving.getByRole('textbox').fill(OWNER.email)
  await leaving.getByRole('button', { name: 'Leave' }).click()
  await expect(leaving.getByText(/last owner/i)).toBeVisible()
})

test('a lost laptop: one act ends the machine and every session of that person', async ({ newContext }) => {
  const page = await (await newContext({ storageState: org.people[OWNER.email]! })).newPage()
  const rui = await newContext({ storageState: org.people[NEW.email]! })
  await machine.join(rui, 'orchard')
  await expect.poll(async () => (await machine.holdpoint('team', 'status')).stdout).toContain('Orchard')
  const theirs = await rui.newPage()
  await theirs.goto('/orchard')

  await page.goto('/orchard/members')
  await expect(row(page, NEW.name).getByRole('link', { name: /^1 of Rui Pear/ })).toBeVisible()
  const dialog = await choose(page, NEW.name, 'Laptop lost…')
  await expect(dialog.getByText('The one machine of Rui Pear is revoked.', { exact: false })).toBeVisible()
  await dialog.getByRole('textbox').fill(NEW.email)
  await dialog.getByRole('button', { name: 'End all of it now' }).click()
  await expect(page.getByText('What a finder could use has ended')).toBeVisible()

  await theirs.getByRole('link', { name: 'Machines', exact: true }).click()
  await expect(theirs, 'the session is over at the next click').toHaveURL(/\/sign-in/)
  await page.goto('/orchard/machines')
  await expect(page.getByText('revoked').first()).toBeVisible()
  await machine.holdpoint('team', 'sync')
  await expect(async () => {
    const status = await machine.holdpoint('team', 'status')
    expect(status.stdout + status.stderr).toMatch(/revoked|no longer|not accepted/i)
  }).toPass({ timeout: 60_000 })

  await signIn(theirs, NEW.email, '/orchard/members')
  await expect(theirs.getByRole('heading', { level: 1, name: 'Members' })).toBeVisible()
  org.people[NEW.email] = await rui.storageState()
})

test('whoever is removed is out at once, and comes back only by a new invitation', async ({ newContext }) => {
  const page = await (await newContext({ storageState: org.people[OWNER.email]! })).newPage()
  const theirs = await (await newContext({ storageState: org.people[NEW.email]! })).newPage()
  await theirs.goto('/orchard')
  await page.goto('/orchard/members')
  const dialog = await choose(page, NEW.name, 'Remove…')
  const confirm = dialog.getByRole('button', { name: 'Remove Rui Pear' })
  await expect(confirm).toBeDisabled()
  await dialog.getByRole('textbox').fill(NEW.email)
  await confirm.click()
  await expect(page.getByText('Rui Pear is removed')).toBeVisible()
  await page.getByText('1 former member').click()
  await expect(page.getByRole('table', { name: 'Former members' }).getByText(NEW.email)).toBeVisible()
  await theirs.getByRole('link', { name: 'Audit' }).click()
  await expect(theirs).toHaveURL(/\/sign-in/)

  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  await page.getByLabel('E-mail address').fill(NEW.email)
  await page.getByLabel('Name', { exact: true }).fill(NEW.name)
  await page.getByRole('button', { name: 'Send the invitation' }).click()
  const again = await (await newContext()).newPage()
  await acceptInvitation(again, NEW.email)
  await again.goto('/orchard/members')
  await expect(row(again, `${NEW.name} (you)`).getByText('member', { exact: true })).toBeVisible()
})
