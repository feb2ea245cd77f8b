import type { BrowserContext, Page } from '@playwright/test'
import { startProvider } from '../test/support/provider.ts'
import { change } from './support/api.ts'
import { arrived } from './support/arrival.ts'
import { expect, test } from './support/console.ts'
import { makeOrganisation, signInOnce } from './support/organisation.ts'
import { acceptInvitation, askForCode, codeFor, nextMail, signIn, typeCode } from './support/people.ts'

/** Signing in, in every way and with every slip; a person of the demo organisation and one of another. */
const ELI = 'eli@acme.example'
const DANA = 'dana@acme.example'
const OWNER = { name: 'Sol Quay', email: 'sol@quay.example' }

const sessionOf = async (context: BrowserContext) =>
  (await context.cookies()).find(cookie => cookie.name.endsWith('holdpoint-session'))?.value
const refusal = (page: Page, words: RegExp) => expect(page.getByRole('main').getByText(words)).toBeVisible()

/** The address that stands behind the newest sign-in mail's link. */
async function mailedLink(context: BrowserContext, email: string): Promise<string> {
  const mailbox = await context.newPage()
  await nextMail(mailbox, email, /sign-in code/)
  const address = await mailbox.getByRole('link', { name: /\/link\?a=/ }).getAttribute('href')
  await mailbox.close()
  return address!
}

test('a code: six wrong ones end it, the right one works once, and signing out ends the session', async ({
  page,
  context,
}) => {
  await askForCode(page, ELI)
  const code = await codeFor(context, ELI)
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0')
  for (let i = 0; i < 4; i++) {
    await typeCode(page, wrong)
    await refusal(page, /That is not the code/)
  }
  await typeCode(page, wrong)
  await refusal(page, /Five wrong codes were typed/)
  await page.goBack()
  await page.getByLabel('Code').fill(code)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await refusal(page, /Five wrong codes were typed/)
  expect(await sessionOf(context)).toBeUndefined()

  await page.getByRole('link', { name: 'Ask for a new code' }).click()
  await askForCode(page, ELI)
  const codePage = page.url()
  const second = await codeFor(context, ELI)
  await typeCode(page, `${second.slice(0, 3)} ${second.slice(3)}`)
  await expect(page).toHaveURL('/acme')
  const begun = await sessionOf(context)
  expect(begun).toBeTruthy()

  await page.goto(codePage)
  await typeCode(page, second)
  await refusal(page, /not asked for in this browser|used already/)
  await page.goto('/acme')
  await page.getByRole('button', { name: /your account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()
  await context.addCookies([{ name: 'holdpoint-session', value: begun!, url: page.url() }])
  await page.goto('/acme')
  await expect(page, 'the old cookie opens nothing').toHaveURL(/\/sign-in/)
})

test('a link: fetching it changes nothing, another browser is refused, the one that asked signs in', async ({
  page,
  context,
  newContext,
}) => {
  await askForCode(page, ELI, '/acme/audit')
  const link = await mailedLink(context, ELI)
  const elsewhere = await newContext()
  for (const method of ['get', 'head', 'get'] as const) {
    const seen = await elsewhere.request[method](link)
    expect(seen.headers()['set-cookie']).toBeUndefined()
  }
  const other = await elsewhere.newPage()
  await other.goto(link)
  await other.getByRole('button', { name: 'Sign in' }).click()
  await refusal(other, /not asked for in this browser/)
  expect(await sessionOf(elsewhere)).toBeUndefined()

  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL('/acme/audit')
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await refusal(page, /used already|not asked for in this browser/)
})

test('two tabs: the second code leaves the first tab usable, and a first visit has no cookie', async ({
  page,
  context,
}) => {
  await page.goto('/sign-in')
  expect(await context.cookies()).toEqual([])
  const second = await context.newPage()
  await askForCode(page, DANA)
  const first = await codeFor(context, DANA)
  await askForCode(second, DANA)
  await codeFor(context, DANA)
  await typeCode(page, first)
  await expect(page).toHaveURL('/acme')
  await second.goto('/acme/machines')
  await expect(second.getByRole('heading', { level: 1, name: 'Machines' })).toBeVisible()
})

for (const next of ['//evil.example/x', 'https://evil.example', '/\\evil.example', '/acme/../..//evil.example']) {
  test(`no open redirect: ${next}`, async ({ page, baseURL }) => {
    await page.goto(`/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByLabel('E-mail address').fill('nobody@quay.example')
    await page.getByRole('button', { name: 'Send me a code' }).click()
    await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible()
    expect(page.url().startsWith(`${baseURL}/sign-in/code`)).toBe(true)
    expect(new URL(page.url()).searchParams.get('next') ?? '/').toMatch(/^\/(?![/\\])/)
  })
}

test('whoever asks for a sixth code in an hour is told so, and a stranger learns nothing', async ({ page }) => {
  const stranger = 'stranger@quay.example'
  for (let i = 0; i < 5; i++) await askForCode(page, stranger)
  await page.goto('/sign-in')
  await page.getByLabel('E-mail address').fill(stranger)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await refusal(page, /Too many tries/)
  await page.goto(`/mailbox?to=${stranger}`)
  await expect(page.getByRole('link', { name: /sign-in code/ }), 'no mail goes to who is no member').toHaveCount(0)
})

test('single sign-on: an owner connects a provider, and its people sign in through it and see one organisation', async ({
  page,
  context,
  newContext,
  allowed,
}) => {
  allowed.push(/status of 40[03]/)
  const provider = await startProvider()
  try {
    await signInOnce(page, await makeOrganisation('quay', 'Quay', OWNER))
    await change(context, 'member.invite', {
      org: 'quay',
      name: 'Tess Pier',
      email: 'tess@quay.example',
      role: 'member',
    })
    await acceptInvitation(await (await newContext()).newPage(), 'tess@quay.example')

    await page.goto('/quay/settings')
    await page.getByRole('button', { name: 'Connect a provider' }).click()
    await page.getByLabel('Name', { exact: true }).last().fill('Quay login')
    await page.getByLabel('Issuer').fill(`${provider.issuer}/wrong`)
    await page.getByLabel('Client id').fill(provider.clientId)
    await page.getByLabel('Client secret').fill(provider.clientSecret)
    await page.getByRole('button', { name: 'Check and connect' }).click()
    await expect(page.getByRole('dialog').getByRole('alert'), 'a slip shows at once').toBeVisible()
    await page.getByLabel('Issuer').fill(provider.issuer)
    await page.getByRole('button', { name: 'Check and connect' }).click()
    await expect(page.getByRole('heading', { level: 3, name: 'Quay login' })).toBeVisible()
    const redirect = await page.locator('code').filter({ hasText: '/api/auth/callback/' }).textContent()
    provider.allow(redirect!)

    const theirs = await newContext()
    const tab = await theirs.newPage()
    await tab.goto('/sign-in')
    await tab.getByText('Your organisation has single sign-on?').click()
    await tab.getByLabel('Organisation’s short name').fill('quay')
    await tab.getByRole('button', { name: 'Look it up' }).click()
    const go = tab.getByRole('button', { name: 'Go on with Quay login' })
    provider.person = { sub: 'tess-1', email: 'tess@quay.example', email_verified: 'true', name: 'Tess Pier' }
    await go.click()
    await refusal(tab, /does not say that it has verified your e-mail address/)
    expect(await sessionOf(theirs)).toBeUndefined()

    provider.person = { sub: 'eli-1', email: ELI, email_verified: true, name: 'Eli Novak' }
    await tab.goto('/sign-in?org=quay')
    await go.click()
    await refusal(tab, /belongs to no organisation here|did not let you in/)

    provider.person = { sub: 'tess-1', email: 'tess@quay.example', email_verified: true, name: 'Tess Pier' }
    await tab.goto('/sign-in?org=quay&next=/quay/members')
    await go.click()
    await expect(tab).toHaveURL('/quay/members')
    await arrived(tab)
    await tab.getByRole('button', { name: /your account/ }).click()
    await expect(tab.getByText(/Signed in with/)).toBeVisible()
    const foreign = await theirs.request.get('/acme')
    expect(foreign.status()).toBe(404)

    // The owner through the same provider, which need not say when it asked: too little for the highest power.
    const owners = await (await newContext()).newPage()
    provider.person = { sub: 'owner-1', email: OWNER.email, email_verified: true, name: OWNER.name }
    await owners.goto('/sign-in?org=quay&next=/quay/settings')
    await owners.getByRole('button', { name: 'Go on with Quay login' }).click()
    await expect(owners).toHaveURL('/quay/settings')
    await rotateFreshness(owners)
    await expect(owners.getByRole('alertdialog').getByRole('alert')).toContainText('does not say when it last asked')
    await owners.getByRole('button', { name: 'Cancel' }).click()
    await owners.getByRole('link', { name: 'Sign in again' }).click()
    await owners.getByRole('button', { name: 'Go on with Quay login' }).click()
    await expect(owners).toHaveURL('/quay/settings')
    await arrived(owners)
    await expect(owners.getByRole('link', { name: 'Sign in again' })).toHaveCount(0)
    await rotateFreshness(owners)
    await expect(owners.getByText('The key is rotated: root document 2')).toBeVisible()
    await owners.goto('/quay/audit?kind=key')
    await expect(owners.getByText(/Freshness: .{8}… → .{8}…/)).toBeVisible()
  } finally {
    await provider.close()
  }
})

async function rotateFreshness(page: Page): Promise<void> {
  await arrived(page)
  await page.getByRole('button', { name: 'Rotate the key Freshness' }).click()
  await page.getByRole('alertdialog').getByRole('textbox').fill('rotate')
  await page.getByRole('button', { name: 'Rotate the key', exact: true }).click()
}

test('an address that was opened signed out is where signing in leads', async ({ page }) => {
  await page.goto('/acme/boundaries/history')
  await expect(page.getByText('Sign in to go on to the page you opened.')).toBeVisible()
  await signIn(page, DANA, '/acme/boundaries/history')
  await expect(page).toHaveURL('/acme/boundaries/history')
})
