import { type BrowserContext, expect, type Page } from '@playwright/test'

/** Signs in as somebody of the demo organisation with the code from the demo mailbox, as a person would. */
export async function signIn(page: Page, email: string, next?: string): Promise<void> {
  await page.goto(next ? `/sign-in?next=${encodeURIComponent(next)}` : '/sign-in')
  await page.getByLabel('E-mail address').fill(email)
  await page.getByRole('button', { name: 'Send me a code' }).click()
  await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible()
  const code = await codeFor(page.context(), email)
  await page.getByLabel('Code').fill(code)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(url => !url.pathname.startsWith('/sign-in'))
}

/** The newest sign-in code that the demo mailbox holds for an address. */
async function codeFor(context: BrowserContext, email: string): Promise<string> {
  const mailbox = await context.newPage()
  try {
    const text = await newestMail(mailbox, email, /code/i)
    return /\b(\d{3})\s?(\d{3})\b/.exec(text)!.slice(1).join('')
  } finally {
    await mailbox.close()
  }
}

/** Opens the newest mail to an address whose subject matches and returns its words; waits for it to arrive. */
export async function newestMail(page: Page, to: string, subject: RegExp): Promise<string> {
  const link = page.getByRole('link', { name: subject }).first()
  await expect(async () => {
    await page.goto(`/mailbox?to=${encodeURIComponent(to)}`)
    await expect(link).toBeVisible({ timeout: 500 })
  }).toPass({ timeout: 20_000 })
  await link.click()
  await page.waitForURL(/\/mailbox\/.+/)
  return page.getByRole('main').innerText()
}
