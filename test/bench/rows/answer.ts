import { setTimeout as sleep } from 'node:timers/promises'
import { type Case, median, percentile, type Row } from '../bench.ts'
import { Connector, spend } from '../connector.ts'
import { type ControlPlane, SLUG, startControlPlane } from '../control-plane.ts'
import { RULES } from '../rules.ts'
import { withUndo } from '../undo.ts'

const REQUESTS = 20
/** How often the held call is tried again; what is measured is exact to this. */
const TRY_EVERY_MS = 5
/** A lead does not click faster than this. */
const PAUSE_MS = 300
const WAIT_MS = 15_000
const MEDIAN_MS = 300
const P95_MS = 2000

/** From a lead's click to the first try of the held call that goes on. */
export const row: Row = {
  name: 'answer',
  run: () =>
    withUndo(async later => {
      const plane = await startControlPlane(later)
      const { etag } = await plane.owner.ask<{ etag: string }>('boundary.current', {})
      await plane.owner.change('boundary.publish', { text: RULES, note: 'measured', etag })
      const machine = await Connector.install(later, '--join', await plane.joinUrl())
      await machine.startDaemon()
      const took: number[] = []
      for (let n = 0; n <= REQUESTS; n++) {
        const ms = await answerOne(plane, machine, n)
        if (n > 0) took.push(ms) // the first warms up
      }
      return [measured('median', median(took), MEDIAN_MS), measured('p95', percentile(took, 0.95), P95_MS)]
    }),
}

async function answerOne(plane: ControlPlane, machine: Connector, n: number): Promise<number> {
  const session = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  spend(machine.transcript(session), session, 20.14, n)
  const held = await machine.hook(session)
  const handle = /\bbnd-[0-9a-f]{12}\b/.exec(held.reason)?.[0]
  if (held.passed || !handle) throw new Error(`the call was not held for an approval: ${held.reason}`)
  await shown(plane, handle)
  await sleep(PAUSE_MS * (1 + Math.random()))

  const clicked = performance.now()
  const answer = { org: SLUG, handle, decision: 'approve', scope: 'step', until: [], reason: '' }
  const answered = plane.lead.change('approval.answer', answer)
  answered.catch(() => {}) // awaited below; a refusal must not end the process before
  for (;;) {
    if ((await machine.hook(session)).passed) break
    if (performance.now() - clicked > WAIT_MS) {
      await answered
      throw new Error(`${handle} was answered and still holds the call`)
    }
    await sleep(TRY_EVERY_MS)
  }
  const ms = performance.now() - clicked
  await answered
  return ms
}

/** Waits until the lead could see the request. */
async function shown(plane: ControlPlane, handle: string): Promise<void> {
  for (const began = performance.now(); performance.now() - began < WAIT_MS; ) {
    const { items } = await plane.lead.ask<{ items: { handle: string }[] }>('approval.list', { state: 'waiting' })
    if (items.some(item => item.handle === handle)) return
    await sleep(50)
  }
  throw new Error(`${handle} was not filed`)
}

const measured = (name: 'median' | 'p95', value: number, mustMs: number): Case => ({
  row: 'answer',
  case: `clicked → unblocked, ${name} of ${REQUESTS}`,
  value,
  unit: 'ms',
  against: 'what a person waits',
  againstValue: mustMs,
  ratio: value / mustMs,
  must: `${name} ${mustMs} ms`,
  ok: value <= mustMs,
})
