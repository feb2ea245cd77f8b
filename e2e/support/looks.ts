import AxeBuilder from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'
import { arrived } from './arrival.ts'

export const WIDTHS = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } } as const
export type Width = keyof typeof WIDTHS

/** Counts what moves while a page loads; before any page of the context is opened. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen = window as unknown as { shifts: number; moved: string[] }
    seen.shifts = 0
    seen.moved = []
    new PerformanceObserver(list => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number
        hadRecentInput: boolean
        sources?: { node?: Node }[]
      })[]) {
        if (entry.hadRecentInput) continue
        seen.shifts += entry.value
        for (const source of entry.sources ?? [])
          seen.moved.push(source.node instanceof Element ? source.node.outerHTML.slice(0, 120) : String(source.node))
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

/** Long enough for what is still drawn; a fault of the page that stands does not go away. */
const LOOK_AGAIN_MS = 5_000

/** The faults that a look finds, and goes on to find: what a page shows on its way to what it will be is not judged. */
async function lasting(look: () => Promise<string[]>): Promise<string[]> {
  for (const began = performance.now(); ; ) {
    const faults = await look()
    if (faults.length === 0 || performance.now() - began > LOOK_AGAIN_MS) return faults
  }
}

/** What jumped while the page came in; nothing when it stood still. */
export async function jumped(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { shifts, moved } = window as unknown as { shifts: number; moved: string[] }
    return shifts < 0.01 ? [] : [`moved by ${shifts.toFixed(3)} while loading: ${moved.slice(0, 3).join(' ; ')}`]
  })
}

const LONG = `${'W'.repeat(90)}${'שלום'.repeat(15)}${'\u{1f9d1}\u200d\u{1f680}'.repeat(10)}`

/** Puts a name of two hundred characters, without a blank, from right to left and with emoji, wherever one of these stands. */
export async function stretchNames(page: Page, names: readonly string[]): Promise<void> {
  await page.evaluate(
    ([long, names]) => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
        const within = node.parentElement?.closest('script, style, textarea, option, .code-under')
        for (const name of names) if (!within && node.data.includes(name)) node.data = node.data.replaceAll(name, long)
      }
    },
    [LONG, names] as const,
  )
}

/** Words that come out of their card or button, tables that must be pushed sideways, bars that scroll by a hair, and words cut for good. */
export function spills(page: Page): Promise<string[]> {
  return lasting(() => spillsNow(page))
}

function spillsNow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = []
    const said = (what: string, at: Element) => faults.push(`${what}: ${at.outerHTML.slice(0, 160)}`)
    const scrolls = (at: Element) => getComputedStyle(at).overflowX !== 'visible'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement
      if (!node.nodeValue?.trim() || !parent || parent.closest('.sr-only, script, style')) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      const right = Math.max(...[...range.getClientRects()].map(rect => rect.right))
      for (let box: Element | null = parent; box && box !== document.body; box = box.parentElement) {
        if (scrolls(box)) break
        if (!box.matches('section, button, a[class*=border], [role=dialog], main > *')) continue
        if (right > box.getBoundingClientRect().right + 1) said('comes out', parent)
        break
      }
    }
    for (const at of document.querySelectorAll('main *, [role=dialog] *, header *')) {
      const below = at.scrollHeight - at.clientHeight
      if (below > 0 && below < 5 && /auto|scroll/.test(getComputedStyle(at).overflowY)) said('scrolls by a hair', at)
      if (at.scrollWidth <= at.clientWidth + 1 || !scrolls(at)) continue
      if (at.querySelector('table')) said('pushed sideways', at)
      const { textOverflow } = getComputedStyle(at)
      if (textOverflow === 'ellipsis' && !at.closest('[title], select, input')) said('cut for good', at)
    }
    return faults.slice(0, 5)
  })
}

/** Something serious or critical that a person with a screen reader, a keyboard or weak eyes would meet; each with its place. */
export async function faultsFor(page: Page): Promise<string[]> {
  await arrived(page)
  return lasting(() => faultsNow(page))
}

async function faultsNow(page: Page): Promise<string[]> {
  // The other mode opens a page of its own for every look; it is for frames of other origins, and no page of ours has one.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const { violations } = await axe.analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(node => `${id} (${help}): ${node.html.slice(0, 160)}`))
}

/** What sticks out to the right of the page, or of its open dialog; nothing when all fits. */
export async function sticksOut(page: Page): Promise<string[]> {
  await arrived(page)
  return lasting(() => sticksOutNow(page))
}

function sticksOutNow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const dialog = document.querySelector('[role=dialog]')
    const edge = dialog?.getBoundingClientRect().right ?? 0
    const cut = [...(dialog?.querySelectorAll('input, textarea, select, button') ?? [])].filter(
      control => control.getBoundingClientRect().right > edge,
    )
    if (cut.length > 0) return cut.map(control => `out of the dialog: ${control.outerHTML.slice(0, 160)}`)
    const width = document.documentElement.clientWidth
    if (document.documentElement.scrollWidth <= width) return []
    const wide = [...document.querySelectorAll('body *')].filter(each => each.getBoundingClientRect().right > width + 1)
    return [
      `${document.documentElement.scrollWidth} of ${width}`,
      ...wide.slice(0, 3).map(each => each.outerHTML.slice(0, 160)),
    ]
  })
}

/** Goes through the page with Tab alone until the named control has the focus, and sees that it shows. */
export async function reachByKeyboard(page: Page, name: string): Promise<void> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  const met: string[] = []
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const at = document.activeElement
      if (!at || at === document.body) return undefined
      const label = at.getAttribute('aria-label') ?? at.closest('label')?.textContent ?? at.textContent ?? ''
      const field = at.id ? document.querySelector(`label[for="${CSS.escape(at.id)}"]`)?.textContent : ''
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at)
      return {
        label: (label || field || '').trim(),
        field: field?.trim() ?? '',
        shown: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none',
      }
    })
    if (!focused) continue
    met.push(focused.label)
    if (!focused.label.startsWith(name) && !focused.field.startsWith(name)) continue
    return
  }
  expect(met, `Tab never comes to “${name}”`).toContain(name)
}
