/** The proxy's question to the daemon: bounded, and without an answer the request goes on as it came. */
import { type Home, readJson } from '#agent/home.ts'
import { findImpostor } from '#agent/hook/listener.ts'
import { askLoopback, type DoorAddress } from '#agent/hook/loopback.ts'
import { folderTrouble, socketPlace } from '#agent/hook/socket-place.ts'
import type { UsageClient } from '#core/usage/bucket.ts'

/** A request of an agent waits no longer than this for a decision. */
export const ASK_MS = 150

/** What is asked about one request: the route that would be applied, and whether the call may go on at all. */
export type Question = {
  client: UsageClient
  session?: string
  agent?: string
  route?: { provider: string; from: string; to: string }
  stop?: true
}
export type Verdict = {
  route?: 'go' | 'hold'
  /** The call is stopped, with what its agent is told. */
  stop?: { text: string; handle: string }
}

/** Undefined when nobody has answered in time. */
export async function askVerdict(home: Home, question: Question): Promise<Verdict | undefined> {
  const started = Date.now()
  try {
    const found = await findDoor(home)
    if (!found) return undefined
    const answer = await askLoopback({
      ...found.at,
      method: 'POST',
      path: '/proxy/judge',
      headers: { ...found.headers, 'x-holdpoint-sent': String(started) },
      body: JSON.stringify(question),
      timeoutMs: Math.max(1, ASK_MS - (Date.now() - started)),
    })
    return answer.status === 200 ? (JSON.parse(answer.body) as Verdict) : undefined
  } catch {
    return undefined
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
