/** The proxy's question to the daemon: bounded, and without an answer the request goes on as it came. */
import { type Home, readJson } from '#agent/home.ts'
import { findImpostor } from '#agent/hook/listener.ts'
import { askLoopback, type DoorAddress } from '#agent/hook/loopback.ts'
import { folderTrouble, socketPlace } from '#agent/hook/socket-place.ts'
import type { UsageClient } from '#core/usage/bucket.ts'
import type { WindowReading } from './windows.ts'

/** A request of an agent waits no longer than this for a decision. */
export const ASK_MS = 150

/** What is asked about one request: the route that would be applied, and whether the call may go on at all. */
export type Question = {
  client: UsageClient
  session?: string
  agent?: string
  route?: { provider: string; from: string; to: string }
  stop?: true
  /** How long the answer is waited for: what comes later binds nobody. */
  waitMs: number
}
export type Verdict = {
  route?: 'go' | 'hold'
  /** The call is stopped, with what its agent is told. */
  stop?: { text: string; handle: string }
}

/** Undefined when nobody has answered in time. */
export const askVerdict = (home: Home, question: Question): Promise<Verdict | undefined> =>
  tell<Verdict>(home, '/proxy/judge', question, question.waitMs)

async function tell<T>(home: Home, path: string, body: object, timeoutMs: number): Promise<T | undefined> {
  const started = Date.now()
  try {
    const found = await findDoor(home)
    if (!found) return undefined
    const answer = await askLoopback({
      ...found.at,
      method: 'POST',
      path,
      headers: { ...found.headers, 'x-holdpoint-sent': String(started) },
      body: JSON.stringify(body),
      timeoutMs: Math.max(1, timeoutMs - (Date.now() - started)),
    })
    return answer.status === 200 ? (JSON.parse(answer.body) as T) : undefined
  } catch {
    return undefined
  }
}

/** The daemon hears of a plan at most so often: its figures are good for minutes. */
const PLAN_EVERY_MS = 5000
const PLAN_MS = 2000

/** Tells the daemon what answers said of plans' windows. Nobody waits for it. */
export class PlanTeller {
  private readonly waiting = new Map<string, WindowReading>()
  private timer: NodeJS.Timeout | undefined
  private toldAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly home: Home,
    private readonly everyMs = PLAN_EVERY_MS,
  ) {}

  note(readings: readonly WindowReading[]): void {
    for (const reading of readings) this.waiting.set(`${reading.provider} ${reading.window}`, reading)
    const wait = Math.max(0, this.toldAt + this.everyMs - performance.now())
    this.timer ??= setTimeout(() => void this.send(), wait).unref()
  }

  private async send(): Promise<void> {
    this.timer = undefined
    this.toldAt = performance.now()
    const readings = [...this.waiting.values()]
    this.waiting.clear()
    for (const plan of ['anthropic', 'openai']) {
      const own = readings.filter(({ provider }) => provider === plan)
      const windows = own.flatMap(({ window, usedPct, resetsAt }) =>
        resetsAt === undefined ? [] : [{ window, usedPct, resetsAt }],
      )
      const observedAt = Math.max(...own.map(({ atMs }) => atMs))
      if (windows.length > 0) await tell(this.home, '/proxy/plan', { plan, observedAt, windows }, PLAN_MS)
    }
  }
}

type Found = { at: DoorAddress; headers: Record<string, string> }

/** The daemon's socket; its port where the system has no such sockets, once it has proved that it is the daemon. */
async function findDoor(home: Home): Promise<Found | undefined> {
  const place = socketPlace(home.root)
  if (place) return folderTrouble(place) === undefined ? { at: { socket: place.path }, headers: {} } : undefined
  const door = readJson<{ port?: unknown; hookToken?: unknown }>(home.daemon)
  if (typeof door?.port !== 'number' || typeof door.hookToken !== 'string') return undefined
  const at = { port: door.port }
  return (await findImpostor(home.root, at, ASK_MS)) === undefined
    ? { at, headers: { Authorization: `Bearer ${door.hookToken}` } }
    : undefined
}
