import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { openHome } from '#agent/home.ts'
import type { Telemetry } from '#agent/otlp/telemetry.ts'
import { takeOutbox } from '#agent/proxy/outbox.ts'

const root = mkdtempSync(join(tmpdir(), 'holdpoint-outbox-'))
const home = openHome(root)
const folder = join(home.usage, 'proxy')
const take = vi.fn()
const telemetry = { take } as unknown as Telemetry

afterEach(() => rmSync(root, { recursive: true, force: true }))

test('nothing left is no problem; what cannot be read stays where it is, is told, and holds up nothing else', () => {
  expect(takeOutbox(home, telemetry)).toBeUndefined()
  mkdirSync(folder, { recursive: true })
  const unread = join(folder, '1-1-1.jsonl')
  const read = join(folder, '2-1-1.jsonl')
  symlinkSync(join(root, 'elsewhere'), unread)
  writeFileSync(read, 'no call\n')
  expect(takeOutbox(home, telemetry)).toContain(unread)
  expect(lstatSync(unread).isSymbolicLink()).toBe(true)
  expect(existsSync(read)).toBe(false)
  expect(take).toHaveBeenCalledExactlyOnceWith([], { rejected: 1 })
})
