/** The daemon's side of Claude Code's status line: what it leaves is taken in, and what stands in it is said. */
import { statSync } from 'node:fs'
import { type Reply, type Route, readFields, refuseRequest } from '#agent/daemon/door.ts'
import type { Runtime } from '#agent/daemon/runtime.ts'
import { waitingOf } from '#agent/daemon/status.ts'
import { type Home, readText } from '#agent/home.ts'
import { isFresh } from '#core/figure.ts'
import { MICROS_PER_UNIT } from '#core/money.ts'
import type { SeenPlan } from '#core/plan-window.ts'
import { CLAUDE_WINDOWS, readStatusSample, STATUS_SAMPLE_MAX, statusSampleFile } from './status-sample.ts'
import { statusText } from './status-text.ts'

/** What the program that Claude Code starts for its status line has left; looked into when it has changed. */
export class StatusLineFile {
  private mark = ''

  constructor(private readonly home: Home) {}

  /** What was told since the last look; undefined when nothing was, or nothing that can be read. */
  look(): SeenPlan | undefined {
    const path = statusSampleFile(this.home.root)
    const stat = statSync(path, { throwIfNoEntry: false })
    const mark = stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : ''
    if (mark === this.mark) return undefined
    this.mark = mark
    const sample = readStatusSample(readText(path, STATUS_SAMPLE_MAX) ?? '')
    if (!sample) return undefined
    const windows = Object.entries(sample.windows).map(([name, { used, resetsAt }]) => ({
      window: CLAUDE_WINDOWS[name as keyof typeof CLAUDE_WINDOWS],
      usedPct: used,
      resetsAt: resetsAt * 1000,
    }))
    return { plan: 'anthropic', observedAt: sample.at, windows }
  }
}

/** `POST /status-line {session}`: what the line says of a session of Claude Code. */
export const statusLineRoute = (runtime: Runtime): Route => ({
  method: 'POST',
  path: /^\/status-line$/,
  token: 'hook',
  handle: ({ body }): Reply => {
    const asked = readFields(body, ['session'])
    if (typeof asked?.session !== 'string') return refuseRequest(400, 'BAD_INPUT', 'This takes session.')
    return { status: 200, text: lineOf(runtime, asked.session) }
  },
})

function lineOf(runtime: Runtime, id: string): string {
  const now = runtime.now()
  const session = runtime.sessions.get('claude-code', id)
  const readings = session ? runtime.planReadings(session) : runtime.planReadings({ client: 'claude-code' })
  const waiting = waitingOf(runtime).length
  return statusText({
    ...(session?.cost === undefined ? {} : { costUsd: session.cost / MICROS_PER_UNIT }),
    windows: readings
      .filter(one => isFresh(one, now))
      .map(({ qualifier = '', value }) => ({ name: qualifier, leftPct: (value as number) / MICROS_PER_UNIT })),
    waiting,
    isBound: (session?.unpriced.length ?? 0) > 0,
  })
}
