import { expect, type Page } from '@playwright/test'

/** Long for a page of ours on a slow machine; one that does not come in this time does not come. */
const GIVE_UP_MS = 60_000

/**
 * Waits until a page is here: everything that was streamed stands in its place, nothing says any more that it loads, and
 * every control has its handlers. The server's part is shown before that, and what is clicked then can be lost.
 */
export async function arrived(page: Page): Promise<void> {
  await expect
    .poll(() => lacks(page), { message: 'the page comes in', intervals: [20, 50, 100, 250], timeout: GIVE_UP_MS })
    .toBe('')
}

/** What is not there yet, in words; nothing when all is. Of a page that is not one of ours only its loading is waited for. */
async function lacks(page: Page): Promise<string> {
  try {
    return await page.evaluate(async () => {
      if (document.readyState !== 'complete') return `its document is ${document.readyState}`
      if (!document.querySelector('script[src*="/_next/"]')) return ''
      const busy = document.querySelector('[aria-busy=true]')
      if (busy) return `it loads still: ${busy.outerHTML.slice(0, 80)}`
      // React's own account of what stands there without its handlers, or has been streamed and is not shown yet.
      type Fiber = { child: Fiber | null; sibling: Fiber | null; memoizedState: unknown; stateNode: unknown }
      const held = document as unknown as Record<string, Fiber>
      const root = held[Object.keys(document).find(key => key.startsWith('__reactContainer$')) ?? '']
      if (!root) return 'its script has not begun'
      const { current } = root.stateNode as { current: Fiber }
      if ((current.memoizedState as { isDehydrated: boolean }).isDehydrated) return 'its frame has no handlers yet'
      for (const open: Fiber[] = [current]; open.length > 0; ) {
        const { child, sibling, memoizedState } = open.pop()!
        if ((memoizedState as { dehydrated?: unknown } | null)?.dehydrated) return 'a part of it has no handlers yet'
        if (child) open.push(child)
        if (sibling) open.push(sibling)
      }
      // Effects run after what they belong to is drawn.
      await new Promise(resolve => {
        requestAnimationFrame(() => setTimeout(resolve))
        setTimeout(resolve, 1000)
      })
      return ''
    })
  } catch (error) {
    // It leads on to another page; one that is closed stays away.
    if (page.isClosed()) throw error
    return String(error)
  }
}

/** Lets every way to a page end no sooner than the page is here. */
export function awaitArrivals(page: Page): void {
  const { goto, reload, goBack } = page
  page.goto = async (...to) => after(page, await goto.apply(page, to))
  page.reload = async (...how) => after(page, await reload.apply(page, how))
  page.goBack = async (...how) => after(page, await goBack.apply(page, how))
}

async function after<T>(page: Page, response: T): Promise<T> {
  await arrived(page)
  return response
}
