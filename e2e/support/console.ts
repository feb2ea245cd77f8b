import { test as base, expect, type Page } from '@playwright/test'

/** What a page said that it should not have: errors in its console, uncaught errors, refusals of the content policy. */
type Complaint = string

/** Words of a complaint that a test expects; everything else fails it. */
type Fixtures = { allowed: RegExp[]; complaints: Complaint[] }

/**
 * Playwright's `test`, in which any error in any page's console, any uncaught error and any violation of the content
 * security policy fails the test, also on pages that the test opens itself.
 * @example test('…', async ({ page, allowed }) => { allowed.push(/status of 412/) })
 */
export const test = base.extend<Fixtures & { quiet: void }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures it is to make from this pattern
  allowed: async ({}, use) => use([]),
  // biome-ignore lint/correctness/noEmptyPattern: as above
  complaints: async ({}, use) => use([]),
  context: async ({ context, complaints }, use) => {
    await context.addInitScript(() => {
      addEventListener('securitypolicyviolation', event => {
        console.error(
          `content security policy: ${event.violatedDirective} refused ${event.blockedURI} (${event.sourceFile}:${event.lineNumber})`,
        )
      })
    })
    for (const page of context.pages()) listen(page, complaints)
    context.on('page', page => listen(page, complaints))
    await use(context)
  },
  quiet: [
    async ({ complaints, allowed }, use) => {
      await use()
      expect(complaints.filter(words => !allowed.some(pattern => pattern.test(words)))).toEqual([])
    },
    { auto: true },
  ],
})

function listen(page: Page, complaints: Complaint[]): void {
  page.on('pageerror', error => complaints.push(`${page.url()}: uncaught ${error.message}`))
  page.on('console', message => {
    if (message.type() === 'error') complaints.push(`${page.url()}: ${message.text()} (${message.location().url})`)
  })
}

export { expect }
