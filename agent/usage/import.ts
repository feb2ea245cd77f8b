/** Reading the clients' records from the command: by the daemon where one runs, else by this process under the ledger's lock. */
import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { USAGE_SOURCES } from '#agent/clients/sources.ts'
import { CommandFailure } from '#agent/commands/exit.ts'
import { keptSession } from '#agent/daemon/kept.ts'
import type { Session } from '#agent/daemon/session.ts'
import { askDaemon } from '#agent/daemon-client.ts'
import type { Home } from '#agent/home.ts'
import { Attributor } from './attribute.ts'
import { Collector, type CollectProgress } from './collect.ts'
import { KeptTags } from './kept-tags.ts'
import { Ledger } from './ledger.ts'
import { takeLedger } from './ledger-lock.ts'
import { Marks } from './marks.ts'
import type { UsageStatus } from './usage.ts'

const LOOK_EVERY_MS = 100

/** `by`: who has read. `nobody`: another process holds this home and does not answer, or nothing can be written there. */
export type Imported = { by: 'daemon' | 'command' | 'nobody'; reading?: CollectProgress; why?: string }

/** Brings the ledger up to now; `tell` hears how far it has come. */
export async function bringUpToDate(home: Home, tell: (progress: CollectProgress) => void): Promise<Imported> {
  try {
    return await byDaemon(home, tell)
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    if (error.code !== 'daemon_missing') return { by: 'nobody', why: error.message }
  }
  return byCommand(home, tell)
}

async function byDaemon(home: Home, tell: (progress: CollectProgress) => void): Promise<Imported> {
  await askDaemon(home, 'POST', '/api/usage/collect', {})
  for (;;) {
    const { reading, problem } = await askDaemon<UsageStatus>(home, 'GET', '/api/usage')
    tell(reading)
    if (!reading.running) return { by: 'daemon', reading, ...(problem === undefined ? {} : { why: problem }) }
    await sleep(LOOK_EVERY_MS)
  }
}

async function byCommand(home: Home, tell: (progress: CollectProgress) => void): Promise<Imported> {
  let unlock: () => void
  try {
    unlock = takeLedger(home)
  } catch (error) {
    return { by: 'nobody', why: (error as Error).message }
  }
  const marks = new Marks(home)
  const sessions = keptSessions(home)
  const collector = new Collector({
    sources: USAGE_SOURCES,
    clientHome: { homeDir: homedir(), env: process.env },
    ledger: new Ledger(home, Date.now),
    marks: () => marks,
    attributor: new Attributor(new KeptTags(home)),
    now: Date.now,
    knownSession: (client, session) => sessions.get(`${client}\n${session}`),
  })
  const looking = setInterval(() => tell(collector.progress), LOOK_EVERY_MS)
  try {
    await collector.run()
    return { by: 'command', reading: collector.progress }
  } catch (error) {
    return { by: 'nobody', why: (error as Error).message }
  } finally {
    clearInterval(looking)
    unlock()
  }
}

/** What hooks have told of sessions. */
function keptSessions(home: Home): Map<string, Session> {
  const found = new Map<string, Session>()
  let names: string[] = []
  try {
    names = readdirSync(home.sessions).filter(name => name.endsWith('.json'))
  } catch {
    return found
  }
  for (const name of names) {
    const session = keptSession(join(home.sessions, name))
    if (session) found.set(`${session.client}\n${session.id}`, session)
  }
  return found
}
