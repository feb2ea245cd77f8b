import { expect, test } from 'vitest'
import { readSources } from './sources.ts'

/** Playwright's answers about this one moment. `expect(locator)` and `expect.poll` ask until it is as it should be. */
const AT_ONCE =
  /\bexpect\([^\n]*\bawait\b[^\n]*\.(allInnerTexts|allTextContents|innerText|textContent|inputValue|getAttribute|count|is(Visible|Hidden|Enabled|Disabled|Checked))\(/

const lines = [...readSources()]
  .filter(([file]) => file.startsWith('e2e/'))
  .flatMap(([file, text]) => text.split('\n').map((line, i) => ({ at: `${file}:${i + 1}`, line: line.trim() })))

test('no story judges what a page shows at one moment: it may still be coming', () => {
  expect(lines.length).toBeGreaterThan(1000)
  expect(lines.filter(({ line }) => AT_ONCE.test(line))).toEqual([])
})

test('every story goes by the test that waits for its pages', () => {
  const own = lines.filter(({ line }) => /^import .*\btest\b.* from '@playwright\/test'/.test(line))
  // what starts and stops has no page
  expect(own.map(({ at }) => at.replace(/:\d+$/, '')).filter(file => !file.startsWith('e2e/support/'))).toEqual([
    'e2e/start-and-stop.spec.ts',
  ])
})
