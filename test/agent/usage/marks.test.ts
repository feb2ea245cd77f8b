import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openHome } from '#agent/home.ts'
import { Marks } from '#agent/usage/marks.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-marks-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a long mark that changes with every call does not fill the disk, and the newest one is there afterwards', () => {
  const home = openHome(join(folder, 'home'))
  const marks = new Marks(home)
  const mark = (n: number) => ({ v: 1 as const, client: 'codex', n, files: 'x'.repeat(100_000) })
  marks.set('codex', 'other', mark(-1))
  for (let n = 0; n < 200; n++) marks.set('codex', 'swarm', mark(n))
  marks.noteWalked(77)
  expect(statSync(join(home.usage, 'marks.jsonl')).size).toBeLessThan(5 * 1024 * 1024)
  const again = new Marks(home)
  expect([again.get('codex', 'swarm'), again.get('codex', 'other'), again.walkedTo]).toEqual([mark(199), mark(-1), 77])
})
