import { type BrowserContext, expect, type Page } from '@playwright/test'

/** The address of the server under test, for browsers that were opened without one. */
const ADDRESS = `http://localhost:${process.env.E2E_PORT}`

/** Signs in with the code from the demo mailbox, as a person would. An address may do so five times an hour. */
export async function signIn(page: Page, email: string, next?: string): Promise<void> {
  await askForCode(page, email, next)
  await typeCode(page, await codeFor(page.context(), email))
  await page.waitForURL(url => !url.pathname.startsWith('/sign-in'))
}

export async function askForCode(page: Page, email: string, next?: string): Promise<void> {
  await page.goto(`${ADDRESS}/sign-in${next ? `?next=${encodeURIComponent(next)}` : ''}`)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible()
}

export async function typeCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code').fill(code)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Opens the invitation from its mail, accepts it and signs in as the invited address. */
export async function acceptInvitation(page: Page, email: string): Promise<void> {
  await newestMail(page, email, /invites you/)
  await page.getByRole('link', { name: /\/invitation/ }).click()
  await page.getByRole('button', { name: 'Accept: send me a code' }).click()
  await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible()
  await typeCode(page, await codeFor(page.context(), email))
  await page.waitForURL(url => !/^\/(sign-in|invitation|mailbox)/.test(url.pathname))
}

/** Mails whose code was taken already: an address that signs in again waits for its next one. */
const taken = new Set<string>()

/** The newest sign-in code that the demo mailbox holds for an address; each is given once. */
export async function codeFor(context: BrowserContext, email: string): Promise<string> {
  const mailbox = await context.newPage()
  try {
    const text = await newestMail(mailbox, email, /sign-in code/, taken)
    taken.add(new URL(mailbox.url()).pathname)
    return /\b(\d{3})\s?(\d{3})\b/.exec(text)!.slice(1).join('')
  } finally {
    await mailbox.close()
  }
}

/** Opens the newest mail to an address whose subject matches and returns its words; waits for it to arrive. */
export async function newestMail(
  page: Page,
  to: string,
  subject: RegExp,
  except: ReadonlySet<string> = new Set(),
): Promise<string> {
  const link = page.getByRole('link', { name: subject }).first()
  await expect(async () => {
    await page.goto(`${ADDRESS}/mailbox?to=${encodeURIComponent(to)}`)
    await expect(link).toBeVisible({ timeout: 500 })
    expect(except.has((await link.getAttribute('href'))!)).toBe(false)
  }).toPass({ timeout: 20_000 })
  await link.click()
  await page.waitForURL(/\/mailbox\/.+/)
  return page.getByRole('main').innerText()
}
