import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { takeLock } from '#agent/daemon/lock.ts'
import { openHome } from '#agent/home.ts'

const undo: (() => void)[] = []
afterEach(() => {
  for (const step of undo.splice(0)) step()
})

function home() {
  const root = mkdtempSync(join(tmpdir(), 'holdpoint-lock-'))
  undo.push(() => rmSync(root, { recursive: true, force: true }))
  return openHome(root)
}

it.runIf(process.platform === 'linux')('a killed daemon that nobody has reaped holds its home no longer', async () => {
  // the shell becomes a sleep, which never waits for the child it was given
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
  undo.push(() => parent.kill('SIGKILL'))
  const pid = Number(await new Promise<string>(resolve => parent.stdout.once('data', part => resolve(String(part)))))
  const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  await expect.poll(() => stat()[0], { timeout: 10_000 }).toBe('Z')
  const place = home()
  writeFileSync(place.lock, JSON.stringify({ pid, startedAt: stat()[19] }))
  expect(takeLock(place)).toBeTypeOf('function')
})

it('a daemon that runs keeps its home', () => {
  const place = home()
  const release = takeLock(place)!
  expect(() => takeLock(place)).toThrow('already running')
  release()
  expect(takeLock(place)).toBeTypeOf('function')
})
