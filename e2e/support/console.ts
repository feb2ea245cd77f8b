import { type BrowserContext, type BrowserContextOptions, test as base, expect } from '@playwright/test'
import { awaitArrivals } from './arrival.ts'

/** What a page said that it should not have: errors in its console, uncaught errors, refusals of the content policy. */
type Complaint = string

type Fixtures = {
  /** Words of complaints that a test expects; everything else fails it. */
  allowed: RegExp[]
  complaints: Complaint[]
  /** A second person's browser, as quiet as the first's; closed after the test. */
  newContext: (options?: BrowserContextOptions) => Promise<BrowserContext>
  quiet: undefined
}

/**
 * Playwright's `test`, in which any error in a page's console, any uncaught error and any violation of the content
 * security policy fails the test, on every page of `context` and of contexts made with `newContext`. Going to a page there
 * ends when the page is here: streamed to its end, and its controls with their handlers.
 * @example test('…', async ({ page, allowed }) => { allowed.push(/status of 412/) })
 */
export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from this pattern which fixtures to make
  allowed: async ({}, use) => use([]),
  // biome-ignore lint/correctness/noEmptyPattern: as above
  complaints: async ({}, use) => use([]),
  context: async ({ context, complaints }, use) => {
    listen(context, complaints)
    await use(context)
  },
  newContext: async ({ browser, complaints }, use) => {
    const opened: BrowserContext[] = []
    await use(async options => {
      const context = await browser.newContext(options)
      opened.push(context)
      listen(context, complaints)
      return context
    })
    await Promise.all(opened.map(context => context.close()))
  },
  quiet: [
    async ({ complaints, allowed }, use) => {
      await use(undefined)
      expect(complaints.filter(words => !allowed.some(pattern => pattern.test(words)))).toEqual([])
    },
    { auto: true },
  ],
})

/** Chromium writes a policy's violation into the console as an error, so it needs no listener of its own. */
function listen(context: BrowserContext, complaints: Complaint[]): void {
  context.on('page', awaitArrivals)
  context.on('weberror', failure => {
    complaints.push(`${failure.page()?.url()}: uncaught ${failure.error().message}`)
  })
  context.on('console', message => {
    if (message.type() === 'error') complaints.push(`${message.location().url}: ${message.text()}`)
  })
}

export { expect }
