import { type BrowserContext, expect, type Page } from '@playwright/test'
import { arrived } from './arrival.ts'

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
  await arrived(page)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible()
}

/** Sends a code, and waits for the page that it leads to: the one that is left may show what is waited for next. */
export async function typeCode(page: Page, code: string): Promise<void> {
  await arrived(page)
  await page.getByLabel('Code').fill(code)
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Sign in' }).click()])
  await arrived(page)
}

/** Opens the invitation from its mail, accepts it and signs in as the invited address. */
export async function acceptInvitation(page: Page, email: string): Promise<void> {
  await nextMail(page, email, /invites you/)
  await page.getByRole('link', { name: /\/invitation/ }).click()
  await page.waitForURL(/\/invitation/)
  await arrived(page)
  await page.getByRole('button', { name: 'Accept: send me a code' }).click()
  await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible()
  await typeCode(page, await codeFor(page.context(), email))
  await page.waitForURL(url => !/^\/(sign-in|invitation|mailbox)/.test(url.pathname))
}

/** Paths of the mails that were read already: an address that is written to again waits for its next one. */
const read = new Set<string>()

/** The newest sign-in code that the demo mailbox holds for an address; each is given once. */
export async function codeFor(context: BrowserContext, email: string): Promise<string> {
  const mailbox = await context.newPage()
  try {
    const text = await nextMail(mailbox, email, /sign-in code/)
    return /\b(\d{3})\s?(\d{3})\b/.exec(text)!.slice(1).join('')
  } finally {
    await mailbox.close()
  }
}

/** The same of a mail that was not read before: where an older one of its kind lies there already. */
export const nextMail = (page: Page, to: string, subject: RegExp): Promise<string> =>
  newestMail(page, to, subject, read)

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
    await arrived(page)
    const address = await link.getAttribute('href', { timeout: 500 })
    expect(except.has(address!)).toBe(false)
    await page.goto(`${ADDRESS}${address}`)
    await arrived(page)
  }).toPass({ timeout: 60_000 })
  read.add(new URL(page.url()).pathname)
  return page.getByRole('main').innerText()
}
