/** A session that an agent has started belongs to whom the agent's own does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ledgerDays, readLedgerDay } from '#agent/usage/ledger.ts'
import { Machine } from './world.ts'

let machine: Machine
let child: ChildProcess
beforeEach(async () => {
  machine = new Machine()
  await machine.start()
  child = spawn('sleep', ['60'], { stdio: 'ignore' })
})
afterEach(() => void child.kill())

const start = (session: string, pid: number, tags?: string, cwd = machine.cwd) =>
  machine.hook(
    { hook_event_name: 'SessionStart', session_id: session, cwd, source: 'startup' },
    { 'x-holdpoint-client-pid': String(pid), ...(tags ? { 'x-holdpoint-tags': tags } : {}) },
  )

/** A call of a session, as its client records it, and to whom it was attributed. */
async function attributed(session: string): Promise<unknown> {
  const folder = join(machine.folder, 'dev', '.claude', 'projects', '-x')
  mkdirSync(folder, { recursive: true })
  const message = { id: `msg_${session}`, model: 'claude-opus-4-6', content: [], usage: { output_tokens: 1 } }
  const line = { type: 'assistant', sessionId: session, timestamp: new Date(machine.now()).toISOString(), message }
  appendFileSync(join(folder, `${session}.jsonl`), `${JSON.stringify(line)}\n`)
  await machine.daemon.tick()
  const calls = (await Promise.all(ledgerDays(machine.home).map(day => readLedgerDay(machine.home, day)))).flat()
  const { tags, from } = calls.find(({ place }) => place.session === session)!.place
  return { tags, from }
}

// elsewhere nobody says at no cost who started a process
test.runIf(process.platform === 'linux')(
  'what its own run says goes first, then what its parent’s was, and a restart of the daemon changes nothing',
  async () => {
    await start('parent', process.pid, 'tenant=acme,project=web')
    await start('child', child.pid!, 'project=docs', join(machine.folder, 'elsewhere'))
    await machine.daemon.stop()
    await machine.start()
    expect(await attributed('child')).toEqual({
      tags: { project: 'docs', tenant: 'acme' },
      from: { project: 'run', tenant: 'parent' },
    })
  },
)

test('a session that has ended, and one whose process did not start it, are nobody’s parents', async () => {
  await start('ended', process.pid, 'tenant=acme')
  await machine.hook({ hook_event_name: 'SessionEnd', session_id: 'ended', reason: 'exit' })
  await start('stranger', 1_999_999_999, 'tenant=globex')
  await start('child', child.pid!)
  expect(await attributed('child')).toEqual({ tags: {}, from: {} })
})
