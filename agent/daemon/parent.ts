import { readChain } from '#agent/guard/ancestry.ts'
import type { Runtime } from './runtime.ts'
import type { Session } from './session.ts'

/** A session that was quiet for so long has ended without saying so, and its process number may be another's. */
const ALIVE_MS = 24 * 3600_000

/**
 * A session that an agent's tool call has started belongs to whom that agent's own does, wherever it works. Its client's process
 * is asked who started it; Linux alone tells that at no cost.
 */
export function noteParent(runtime: Runtime, session: Session, clientPid: number | undefined): void {
  if (clientPid === undefined || process.platform !== 'linux') return
  session.clientPid = clientPid
  const chain = readChain(clientPid)
  if (!chain.readable) return
  const running = runtime.sessions
    .all()
    .filter(one => one !== session && !one.ended && runtime.now() - one.lastSeen < ALIVE_MS)
  for (const { pid } of chain.links.slice(1)) {
    const parent = running.find(one => one.clientPid === pid)
    if (!parent) continue
    session.parentTags = { ...runtime.tagsOf(parent) }
    return
  }
}

/** The client's process, as the command hook's environment names it. */
export function clientPidOf(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  const said = headers['x-holdpoint-client-pid']
  return typeof said === 'string' && /^[1-9]\d{0,9}$/.test(said) ? Number(said) : undefined
}
